"""`python -m benchmarks`: our server and its peers on the same files, by turns.

With no options it measures everything, and writes docs/PERFORMANCE.md with its figures. With options that leave
something out, the same page goes into the folder of the results. Peers that are not installed are named and left out:
`pip install -e .[bench]` brings them all.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from rich.console import Console

from benchmarks import report
from benchmarks.cases import CASES
from benchmarks.measure import Effort
from benchmarks.results import Run, begin, merged
from benchmarks.run import measure
from benchmarks.servers import OURS, REPOSITORY, SERVERS, installed, of_checkout

_ALL = [server.name for server in SERVERS]
_QUICK = Effort(keystrokes=15, warm_up=3, starts=2, checks=1, budget=30.0)


def main(arguments: Sequence[str] | None = None) -> int:
    options = _options(arguments)
    told = Console(stderr=True)
    if options.list:
        for case in CASES:
            print(f"{case.name:<20} {case.title}")
        return 0
    run = merged([Run.read(path) for path in options.read]) if options.read is not None else _measured(options, told)
    report.show(run, Console())
    _write_page(run, REPOSITORY / "docs" if run.whole else options.out, told)
    if options.against is not None:
        print(*report.against(run), sep="\n")
    if options.compare is not None:
        print(*report.compared(run, Run.read(options.compare)), sep="\n")
    return 0


def _measured(options: argparse.Namespace, told: Console) -> Run:
    others = of_checkout(options.against.resolve()) if options.against is not None else []
    tools, missing = installed([OURS, *options.servers], others)
    for name in missing:
        told.print(f"{name} is not installed: left out", highlight=False)
    cases = [
        case for case in CASES if (case.name in options.cases if options.cases else case.quick or not options.quick)
    ]
    effort = _QUICK if options.quick else Effort()
    effort = Effort(
        keystrokes=options.keystrokes or effort.keystrokes,
        edits=options.keystrokes or effort.edits,
        warm_up=effort.warm_up,
        starts=effort.starts,
        checks=effort.checks,
        budget=options.budget or effort.budget,
        push=options.push,
    )
    whole = effort == Effort() and not others and not options.cases and set(options.servers) >= set(_ALL) - {OURS}
    run = begin(tools, missing, options.push)
    keep = partial(run.write, options.out / "results.json")
    with tempfile.TemporaryDirectory(prefix="benchmarks-") as folder:
        asyncio.run(measure(run, cases, tools, effort, Path(folder).resolve(), told, keep, options.quick))
    run.whole = whole
    keep()
    return run


def _write_page(run: Run, folder: Path, told: Console) -> None:
    try:
        from benchmarks import plots
    except ImportError:
        told.print("matplotlib is not installed: no figures")
        figures = []
    else:
        figures = [path.relative_to(folder).as_posix() for path in plots.write(run, folder / "performance")]
    page = folder / "PERFORMANCE.md"
    page.write_text(report.page(run, figures), encoding="utf-8")
    told.print(f"wrote {page}", highlight=False)


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    names = [case.name for case in CASES]
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="few keystrokes, and no large files, projects or trees")
    parser.add_argument("--cases", nargs="+", choices=names, metavar="CASE", help="these only (see --list)")
    parser.add_argument(
        "--servers", nargs="*", choices=_ALL, default=_ALL, metavar="SERVER", help="ours and these only"
    )
    parser.add_argument("--keystrokes", type=int, metavar="N", help="or edits, in each case")
    parser.add_argument(
        "--budget", type=float, metavar="SECONDS", help="for one case; what is not typed by then is not"
    )
    parser.add_argument("--push", action="store_true", help="ask no server: wait for what each publishes by itself")
    parser.add_argument(
        "--out", type=Path, default=REPOSITORY / "build" / "benchmarks", metavar="FOLDER", help="for results.json"
    )
    parser.add_argument(
        "--read",
        type=Path,
        nargs="+",
        metavar="RESULTS",
        help="measure nothing, and write the page of these, a later one's cases instead of an earlier one's",
    )
    parser.add_argument(
        "--compare", type=Path, metavar="RESULTS", help="show the ratios beside those of an earlier run"
    )
    parser.add_argument(
        "--against", type=Path, metavar="CHECKOUT", help="measure another checkout of ours by turns with this one"
    )
    parser.add_argument("--list", action="store_true", help="list the cases")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
