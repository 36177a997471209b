"""Pages and figures of a run that nobody has measured: ratios are ours over theirs, and equal runs look equal."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import report
from benchmarks.results import Result, Run, merged, percentile
from benchmarks.servers import OURS


def made_up() -> Run:
    machine: dict[str, str | int] = {
        "cores": 2,
        "architecture": "none",
        "system": "none",
        "gigabytes": 1,
        "python": "3",
        "torch": "2",
    }
    typing = Result("script-loop", "typing", "a script", 400, {OURS: [0.02, 0.03, 0.04], "ty": [0.01, 0.015, 0.02]})
    typing.failed["pyright"] = "pyright has ended"
    check = Result("check-cold", "check", "a tree", 400, {OURS: [1.0], "ty": [4.0]})
    return Run(False, False, {OURS: "1", "ty": "2"}, ["pyrefly"], "2000-01-01", machine, [typing, check])


def test_a_run_is_read_as_it_was_written(tmp_path: Path) -> None:
    made_up().write(tmp_path / "deep" / "results.json")
    assert Run.read(tmp_path / "deep" / "results.json") == made_up()


def test_a_percentile_lies_between_the_nearest() -> None:
    assert percentile([1.0], 0.95) == 1.0
    assert percentile([3.0, 1.0, 2.0], 0.5) == 2.0
    assert percentile([float(n) for n in range(101)], 0.95) == 95.0


def test_the_page_has_ratios_and_says_what_is_missing() -> None:
    page = report.page(made_up(), ["performance/typing.svg"])
    assert "| a script | 3 | 30.0 / 39.0 | ×2.00 (15.0 / 19.5) | failed |" in page
    assert "| a tree | 1 | 1.00 / 1.00 | ×0.25 (4.00 / 4.00) |" in page
    assert "Not installed, so not measured: pyrefly." in page
    assert "pyright failed in script-loop: pyright has ended." in page
    assert page.count("![") == 1


def test_two_runs_are_compared_by_their_ratios() -> None:
    later = made_up()
    later.results[0].seconds[OURS] = [0.06]
    first, second = report.compared(later, made_up())
    assert "×2.00 then" in first
    assert "×4.00 now (2.00)" in first
    assert "(1.00)" in second


def test_another_checkout_is_held_against_in_the_same_run() -> None:
    run = made_up()
    run.results[0].seconds |= {"before": [0.02, 0.01, 0.015], "before-compiled": [0.01]}
    [line] = report.against(run)
    assert line == "script-loop              autograd-lsp   each 2.667, all 2.000 of before"


def test_a_case_that_is_measured_again_counts_instead() -> None:
    later = made_up()
    del later.results[1]
    later.results[0].seconds[OURS] = [0.06]
    page = report.page(merged([made_up(), later]), [])
    assert "| a script | 3 | 60.0 / 60.0 | ×4.00 (15.0 / 19.5) | failed |" in page
    assert "| a tree | 1 | 1.00 / 1.00 | ×0.25 (4.00 / 4.00) |" in page
    assert "From 2 runs" in page
    assert "runs" not in report.page(made_up(), []).partition("##")[0]


def test_a_later_run_brings_cases_and_servers_of_its_own() -> None:
    later = made_up()
    later.versions = {OURS: "1", "pyrefly": "3"}
    later.results = [Result("check-warm", "check", "a wood", 400, {OURS: [2.0], "pyrefly": [4.0]})]
    run = merged([made_up(), later])
    assert run.versions == {OURS: "1", "ty": "2", "pyrefly": "3"}
    assert [result.case for result in run.results] == ["script-loop", "check-cold", "check-warm"]


def test_equal_runs_have_equal_figures(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    from benchmarks import plots

    first, second = plots.write(made_up(), tmp_path / "a"), plots.write(made_up(), tmp_path / "b")
    assert [path.name for path in first] == ["typing.svg", "check.svg"]
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]
