"""What is asked in the middle of another answer is what it is alone, and so is the other."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from analyzers.host import CancelToken, Host
from analyzers.queries.cancellation import Busy
from analyzers.report import Finding

CORPUS = sorted((Path(__file__).parents[1] / "corpus" / "a").glob("*_broken.py"))
PAIRS = list(pairwise(CORPUS[::5]))


def alone(path: Path) -> tuple[Finding, ...]:
    return Host().snapshot().findings(str(path))


@pytest.mark.parametrize(("one", "other"), PAIRS, ids=lambda path: path.stem)
def test_two_answers_do_not_disturb_each_other(one: Path, other: Path) -> None:
    host, seen, count = Host(), list[tuple[Finding, ...]](), 0

    def ask_the_other() -> None:
        nonlocal count
        count += 1
        if count % 20 == 1:
            seen.append(host.snapshot(CancelToken(ask_the_other), aside=True).findings(str(other)))

    answer = host.snapshot(CancelToken(ask_the_other)).findings(str(one))
    assert seen
    assert answer == alone(one)
    assert {*seen} == {alone(other)}
    assert host.snapshot().findings(str(other)) == alone(other)


def test_what_needs_something_under_way_is_refused(tmp_path: Path) -> None:
    """Here a module that both import. It is right when it is asked for again."""
    script, other = tmp_path / "script.py", tmp_path / "other.py"
    (tmp_path / "library.py").write_text(
        "import torch\nw = torch.ones(2, requires_grad=True)\ndef f(x):\n    return x.exp()\ny = f(f(f(w)))\n"
    )
    for path in (script, other):
        path.write_text("from library import y\ny.add_(1)\ny.sum().backward()\n")
    host, refused = Host(), 0

    def ask_the_other() -> None:
        nonlocal refused
        if any("library.py" in str(frame.cell[1]) for frame in host.world._frames):
            refused += 1
            with pytest.raises(Busy):
                host.snapshot(aside=True).findings(str(other))

    assert host.snapshot(CancelToken(ask_the_other)).findings(str(script)) == alone(script) != ()
    assert refused
    assert host.snapshot().findings(str(other)) == alone(other)
