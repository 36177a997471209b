"""The tables of `examples/README.md` say what torch does with each example, and what the analyzer reports of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.oracle import Pool, Program
from tests.oracle import Raised as Seen
from tests.support.analyzer import Finding, Sources, Way, analyze

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a table; `line` and `cause` are 0 where the table has a dash."""

    path: Path
    torch: str
    line: int
    message: str
    cause: int
    reported: str


def read_rows() -> Iterator[Row]:
    for text in (EXAMPLES / "README.md").read_text(encoding="utf-8").splitlines():
        if text.startswith("| ["):
            link, torch, line, message, cause, reported = (cell.strip() for cell in text.strip("|").split("|"))
            path = EXAMPLES / link.partition("](")[2].rstrip(")")
            yield Row(path, torch, _number(line), message, _number(cause), reported)


def _number(cell: str) -> int:
    return 0 if cell == "-" else int(cell)


ROWS = list(read_rows())
each_row = pytest.mark.parametrize("row", ROWS, ids=lambda row: row.path.stem)


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    """One worker for all examples."""
    with Pool(1) as worker:
        yield worker


def test_every_example_has_a_row() -> None:
    assert sorted(row.path for row in ROWS) == sorted(EXAMPLES.rglob("*.py"))


@each_row
def test_torch_does_what_the_table_says(row: Row, pool: Pool) -> None:
    run = pool.run([Program.at(row.path)])[0]
    seen: list[Seen] = [*([run.raised] if run.raised else []), *run.caught]
    assert run.outcome == ("raises" if row.torch == "raises" else "ok")
    assert bool(run.caught) == (row.torch == "catches")
    assert [item.line for item in seen] == ([row.line] if row.line else [])
    assert all(item.message.startswith(row.message) for item in seen)


@each_row
def test_the_analyzer_reports_what_the_table_says(row: Row, way: Way) -> None:
    findings = analyze(Sources.at(row.path), way).findings
    if row.reported in {"-", "missed"}:
        assert findings == ()
        return
    (finding,) = findings
    assert finding.code == row.reported
    assert row.cause in {finding.at.number, *(line.number for line in finding.related)}
    assert_agrees_with_torch(finding, row)


def assert_agrees_with_torch(finding: Finding, row: Row) -> None:
    """An error where torch raises, at its line and in its words; no error where it does not."""
    if row.torch == "runs":
        assert finding.raises is None
        assert finding.severity != "error"
        return
    assert finding.severity == "error"
    assert finding.raises is not None
    assert finding.raises.certain
    assert finding.raises.caught == (row.torch == "catches")
    assert finding.raises.at.number == row.line
    assert finding.raises.message.startswith(row.message)
