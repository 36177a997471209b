"""Fingerprints: the same wherever the lines of a finding move to, and another for each finding."""

from __future__ import annotations

import os
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from analyzers.report import Finding, Place, Raises
from autograd_lsp.reports.fingerprints import fingerprints

TEXT = "import torch\n\ndef f(y):\n    y.add_(1)\n    y.mul_(2)\n\ndef g(y):\n    y.add_(1)\n"


def found(text: str, word: str, path: str = "/project/a.py", code: str = "AG104") -> list[Finding]:
    """A finding at each place where `word` is."""
    data, wanted = text.encode(), word.encode()
    findings = []
    start = data.find(wanted)
    while start >= 0:
        findings.append(Finding(code, "rule", "error", "message", Place(path, start, start + len(wanted))))
        start = data.find(wanted, start + 1)
    return findings


def prints(text: str, findings: list[Finding], folder: str = "/project") -> list[str]:
    return fingerprints(findings, lambda path: text, folder)


def test_moved_and_indented_lines_keep_theirs() -> None:
    moved = "# é\n\n\n" + TEXT.replace("    ", "\t\t").replace("\n", "\r\n")
    assert prints(TEXT, found(TEXT, "y.add_(1)")) == prints(moved, found(moved, "y.add_(1)"))


def test_an_edit_of_another_line_changes_none() -> None:
    edited = TEXT.replace("y.mul_(2)", "y.mul_(2); print(y)\n    print(y)")
    assert prints(TEXT, found(TEXT, "y.add_(1)")) == prints(edited, found(edited, "y.add_(1)"))


def test_an_edit_of_the_line_itself_changes_it() -> None:
    edited = TEXT.replace("y.mul_(2)", "y.mul_(2); print(y)")
    assert prints(TEXT, found(TEXT, "y.mul_(2)")) != prints(edited, found(edited, "y.mul_(2)"))


def test_equal_lines_are_told_apart_from_the_top() -> None:
    first, second = found(TEXT, "y.add_(1)")
    assert prints(TEXT, [second, first]) == prints(TEXT, [first, second])[::-1]
    assert len({*prints(TEXT, [first, second])}) == 2
    assert prints(TEXT, [first]) == prints(TEXT, [first, second])[:1]


def test_code_and_path_and_lines_count_and_nothing_else() -> None:
    [finding] = found(TEXT, "y.mul_(2)")
    here, start = finding.place.path, finding.place.start
    [made] = prints(TEXT, [finding])
    for same in (
        replace(finding, severity="warning", message="another", name="other"),
        replace(finding, raises=Raises(finding.place, "RuntimeError", "so", True, False, False)),
        replace(finding, place=Place(here, start + 1, start + 3)),
    ):
        assert prints(TEXT, [same]) == [made]
    for other in (
        replace(finding, code="AG105"),
        replace(finding, place=Place("/project/b.py", start, finding.place.end)),
        replace(finding, place=Place(here, start, TEXT.index("def g") + 1)),
    ):
        assert prints(TEXT, [other]) != [made]


def test_a_place_that_ends_with_the_line_break_covers_one_line() -> None:
    [finding] = found(TEXT, "y.mul_(2)")
    longer = replace(finding, place=replace(finding.place, end=finding.place.end + 1))
    assert prints(TEXT, [finding]) == prints(TEXT, [longer])


def test_the_same_tree_in_another_folder_has_the_same() -> None:
    here, there = found(TEXT, "y.add_(1)"), found(TEXT, "y.add_(1)", "/home/of/other/a.py")
    assert prints(TEXT, here) == prints(TEXT, there, "/home/of/other")
    assert prints(TEXT, here) != prints(TEXT, here, "/")
    assert fingerprints(here, lambda path: TEXT) == fingerprints(here, lambda path: TEXT, os.getcwd())


@settings(deadline=None)
@given(st.text(), st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 99), st.integers(0, 9)), max_size=9))
def test_no_two_are_equal_whatever_the_text(text: str, places: list[tuple[str, int, int]]) -> None:
    text = text.encode("utf-8", "replace").decode()
    findings = [Finding("AG104", "r", "error", "m", Place(f"/{name}", at, at + size)) for name, at, size in places]
    made = prints(text, findings)
    assert len({*made}) == len(findings)


def test_names_and_texts_that_are_not_unicode() -> None:
    [finding] = found(TEXT, "y.mul_(2)", "/project/\udce9.py")
    assert prints(TEXT.replace("2", "\udce9"), [finding]) != prints(TEXT, [finding])
