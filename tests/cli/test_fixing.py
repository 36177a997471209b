"""Edits: which go together, and what they leave of a text, its encoding and its line ends."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st

from analyzers.report import Edit, Finding, Fix, Place
from autograd_lsp.cli.checked import Checked
from autograd_lsp.cli.fixing.fix import make_fixes
from autograd_lsp.config import Configuration
from autograd_lsp.files.sources import Source
from autograd_lsp.reports.make import Reader
from autograd_lsp.reports.report import Report
from autograd_lsp.text.edits import compatible, edited, safe_fix

LINE_ENDS = st.sampled_from(["\n", "\r\n", "\r"])
ENCODINGS = {
    "utf-8": "",
    "utf-8-sig": "",
    "latin-1": "# -*- coding: latin-1 -*-",
    "cp1252": "#!/usr/bin/python\n# vim: set fileencoding=cp1252 :",
    "gbk": "# coding: gbk",
    "shift_jis": "# coding: shift_jis",
}
WORDS = {"latin-1": "é", "cp1252": "€", "gbk": "中", "shift_jis": "表", "utf-8": "😀", "utf-8-sig": "\ufeffé"}


def edit(start: int, end: int, text: str, path: str = "/a.py") -> Edit:
    return Edit(Place(path, start, end), text)


edits = st.builds(
    lambda start, size, text, path: edit(start, start + size, text, path),
    st.integers(0, 12),
    st.integers(0, 3),
    st.sampled_from(["", "x", "y"]),
    st.sampled_from(["/a.py", "/b.py"]),
)
fixes = st.builds(lambda found: Fix("title", True, tuple(found)), st.lists(edits, min_size=1, max_size=2))


def overlap(one: Edit, other: Edit) -> bool:
    a, b = one.place, other.place
    return one != other and a.path == b.path and (bool(covered(a) & covered(b)) or a.start == b.start)


def covered(place: Place) -> set[int]:
    """Bytes are odd numbers, and the places between them even ones."""
    return {*range(2 * place.start + 1, 2 * place.end)} or {2 * place.start}


@settings(deadline=None, max_examples=50, derandomize=True)
@given(st.lists(fixes, max_size=8))
def test_a_fix_is_taken_whole_and_touches_no_other(found: list[Fix]) -> None:
    taken, made = compatible(found)
    assert {one for fix in taken for one in fix.edits} == {*made}
    for fix in taken:
        for other in taken:
            if fix is not other:
                new = [one for one in fix.edits if one not in other.edits]
                assert not any(overlap(one, two) for one in new for two in other.edits if two not in fix.edits)
    for fix in found:
        if fix not in taken:
            assert any(overlap(one, two) for one in fix.edits for two in made)


def test_an_edit_that_two_want_is_made_once() -> None:
    zero = edit(5, 5, "opt.zero_grad()\n")
    taken, made = compatible([Fix("one", True, (zero,)), Fix("two", True, (zero, edit(9, 10, "x")))])
    assert (len(taken), made) == (2, [zero, edit(9, 10, "x")])


def test_the_first_safe_fix_counts() -> None:
    unsafe, safe, other = Fix("a", False, ()), Fix("b", True, ()), Fix("c", True, ())
    finding = Finding("AG104", "rule", "error", "message", Place("/a.py", 0, 0))
    assert safe_fix(finding) is None
    assert safe_fix(Finding("AG104", "", "error", "", finding.place, fixes=(unsafe, safe, other))) == safe


@settings(deadline=None, max_examples=50, derandomize=True)
@given(
    st.lists(st.tuples(st.text("aé中😀\n\r\t\x0c\u2028", max_size=5), st.text("bß", max_size=3)), max_size=6),
    st.text(max_size=9),
)
def test_everything_beside_the_edits_stays(parts: list[tuple[str, str]], rest: str) -> None:
    """Each part is a text that stays, and one that takes the place of an X."""
    rest = rest.encode("utf-8", "replace").decode()
    text, wanted, changes = "", "", []
    for kept, new in parts:
        text, wanted = text + kept, wanted + kept + new
        at = len(text.encode())
        text += "X"
        changes.append(edit(at, at + 1, new))
    assert edited(text + rest, changes[::-1]) == wanted + rest


@settings(deadline=None, max_examples=50, derandomize=True)
@given(st.lists(LINE_ENDS, min_size=1, max_size=5), st.data())
def test_a_new_line_ends_as_the_one_where_it_is_put(ends: list[str], data: st.DataObject) -> None:
    """Also at the end of a file that has no line break there."""
    lines = [f"line{number}" for number in range(len(ends) + 1)]
    text = "".join(map(str.__add__, lines, [*ends, ""]))
    number = data.draw(st.integers(0, len(ends)))
    at = len("".join(map(str.__add__, lines[:number], ends)))
    end = ends[min(number, len(ends) - 1)]
    assert edited(text, [edit(at, at, "a\nb\r\nc\n")]) == f"{text[:at]}a{end}b\r\nc{end}{text[at:]}"


def test_a_text_of_one_line_gets_a_newline() -> None:
    assert edited("x", [edit(0, 0, "y\n")]) == "y\nx"


class Words:
    """A check that finds each `bad`, and would have `good` there."""

    def __init__(self, *paths: Path) -> None:
        self.sources = [Source(path.name, str(path)) for path in paths]

    def __call__(self, texts: Mapping[str, str]) -> Checked:
        return Checked([self.report(source, Reader(texts)) for source in self.sources], frozenset())

    def report(self, source: Source, read: Reader) -> Report:
        data = read(source.path) or b""
        findings = []
        at = data.find(b"bad")
        while at >= 0:
            place = Place(source.path, at, at + 3)
            fix = Fix("Be good", True, (Edit(place, "good\nmore = 1"),))
            findings.append(Finding("AG104", "rule", "error", "bad", place, fixes=(fix,)))
            at = data.find(b"bad", at + 1)
        return Report(source, tuple(findings), texts={source.path: data.decode()})


@settings(deadline=None, max_examples=50, derandomize=True)
@given(
    st.sampled_from([*ENCODINGS]),
    st.lists(st.sampled_from(["x = bad", "s = 'W'", "# W bad", "#", "\tif_ = 1 # no"]), min_size=1, max_size=5),
    st.lists(LINE_ENDS, min_size=7, max_size=7),
    st.booleans(),
)
def test_encoding_and_line_ends_of_a_file_stay(
    encoding: str, lines: list[str], ends: list[str], has_last: bool
) -> None:
    """Mixed line ends, with or without one at the end."""
    lines = [line.lstrip("\t").replace("W", WORDS[encoding].replace("\ufeff", "")) for line in lines]
    lines = [*ENCODINGS[encoding].splitlines(), *lines]
    ends = [*ends[: len(lines) - 1], ends[-1] if has_last else ""]
    before = "".join(map(str.__add__, lines, ends))
    after = ""
    last = "\n"
    for line, end in zip(lines, ends, strict=True):
        last = end or last
        after += line.replace("bad", f"good{last}more = 1") + end
    with TemporaryDirectory() as folder:
        path = Path(os.path.realpath(folder), "a.py")
        path.write_bytes(before.encode(encoding))
        check = Words(path)
        for _ in range(2):
            fixed = make_fixes(check, check.sources, Configuration(isolated=True), write=True)
            assert not fixed.complaints
            assert path.read_bytes() == after.encode(encoding)
        assert not fixed.changes
        assert os.listdir(path.parent) == ["a.py"]
