"""The lines that a fix changes, as they are shown below its title."""

from __future__ import annotations

import pytest

from analyzers.report import Edit, Fix, Place
from autograd_lsp.cli.formats.changed import changed_lines
from autograd_lsp.files.sources import Source
from autograd_lsp.reports.report import Report, Texts

TEXT = "a = 1\nwith b:\n    c = 2\nd = 3\ne = 4\n"


def shown(*edits: tuple[str, str]) -> list[str]:
    places = ((Place("a.py", TEXT.index(old), TEXT.index(old) + len(old)), new) for old, new in edits)
    fix = Fix("it", True, tuple(Edit(place, new) for place, new in places))
    texts = Texts(Report(Source("a.py", "a.py"), texts={"a.py": TEXT}))
    return [f"{line.number} {line.sign} {line.text}" for line in changed_lines(texts, fix)]


@pytest.mark.parametrize(
    ("edits", "lines"),
    [
        ([("d = 3", "d = 5")], ["4 - d = 3", "4 + d = 5"]),
        ([("d = 3\n", "")], ["4 - d = 3"]),
        ([("d = 3", "d = 3\nnew = 1")], ["4 | d = 3", "5 + new = 1"]),
        ([("a = 1", "new = 1\na = 1")], ["1 + new = 1"]),
        ([("    c", "c")], ["3 -     c = 2", "3 + c = 2"]),
        ([("d = 3\ne = 4\n", "e = 4\nd = 3\n")], ["4 + e = 4", "5 - e = 4"]),
        ([("1", "10"), ("4", "40")], ["1 - a = 1", "1 + a = 10", "5 - e = 4", "5 + e = 40"]),
        ([("d = 3", "\n".join("abcdef"))], []),
        ([], []),
    ],
)
def test_what_is_shown(edits: list[tuple[str, str]], lines: list[str]) -> None:
    assert shown(*edits) == lines


def test_a_fix_of_two_files_shows_none() -> None:
    texts = Texts(Report(Source("a.py", "a.py"), texts={"a.py": TEXT, "b.py": TEXT}))
    edits = tuple(Edit(Place(path, 0, 1), "x") for path in ("a.py", "b.py"))
    assert changed_lines(texts, Fix("it", True, edits)) == []
