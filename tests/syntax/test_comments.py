"""Suppression comments are found where they are comments, with their lines, codes and spans."""

from __future__ import annotations

import pytest

from analyzers.syntax.comments import Suppression
from analyzers.syntax.parse import parse
from analyzers.syntax.split import split


def found(source: str) -> list[Suppression]:
    text = source.encode()
    return list(split(text, parse(text)).directives)


def test_codes_with_spans() -> None:
    source = "x = 1\ny.add_(1)  # autograd: ignore[AG104, ag101]\n"
    (one,) = found(source)
    assert (one.line, one.whole_file) == (1, False)
    assert source[one.start : one.end] == "# autograd: ignore[AG104, ag101]"
    assert one.codes is not None
    assert [(code.name, source[code.start : code.end]) for code in one.codes] == [
        ("AG104", "AG104"),
        ("AG101", "ag101"),
    ]
    assert one.silences("AG101") and not one.silences("AG102")


def test_bare_ignore_silences_everything() -> None:
    (one,) = found("y.add_(1)  # why not  # autograd: ignore\n")
    assert one.codes is None and one.silences("AG104")


def test_an_empty_list_silences_nothing() -> None:
    (one,) = found("y  # autograd: ignore[]\n")
    assert not one.silences("AG104")


def test_whole_file() -> None:
    one, other = found("# autograd: ignore-file[AG104]\n# autograd:ignore-file\n")
    assert one.whole_file and one.silences("AG104") and not one.silences("AG101")
    assert other.whole_file and other.silences("AG101")


@pytest.mark.parametrize(
    ("comment", "codes"),
    [
        ("# noqa", None),
        ("#NoQA", None),
        ("# noqa because", None),
        ("# noqa  # why", None),
        ("# noqa#why", None),
        ("# why # noqa", None),
        ("# noqa: AG104", ["AG104"]),
        ("# noqa:ag104", ["AG104"]),
        ("# NOQA : AG104", ["AG104"]),
        ("# noqa: E501, AG104 because", ["E501", "AG104"]),
        ("# noqa: E501 AG104", ["E501", "AG104"]),
        ("# noqa: E501,AG104,", ["E501", "AG104"]),
        ("# noqa: E501, , AG104", ["E501", "AG104"]),
        ("# noqa: E501AG104", ["E501", "AG104"]),
        ("# noqa: E501 because AG104", ["E501"]),
    ],
)
def test_noqa_on_a_line(comment: str, codes: list[str] | None) -> None:
    source = f"y  {comment}\n"
    (one,) = found(source)
    assert one.shared and not one.whole_file
    assert (one.codes and [code.name for code in one.codes]) == codes
    assert all(source[code.start : code.end].upper() == code.name for code in one.codes or ())


@pytest.mark.parametrize(
    ("line", "codes"),
    [
        ("# ruff: noqa", None),
        ("#flake8:noqa", None),
        ("    # Ruff: NOQA because", None),
        ("# why # flake8: noqa", None),
        ("# ruff: noqa: AG104", ["AG104"]),
        ("# flake8: noqa:E501 ag104", ["E501", "AG104"]),
    ],
)
def test_noqa_for_a_file(line: str, codes: list[str] | None) -> None:
    (one,) = found(f"x = 1\nif x:\n    pass\n{line}\n")
    assert one.shared and one.whole_file and one.line == 3
    assert (one.codes and [code.name for code in one.codes]) == codes


@pytest.mark.parametrize(
    "line",
    [
        "y  # noqa:",
        "y  # noqa: because",
        "y  # noqa : because",
        "y  # noqa-because",
        "y  # noqa, AG104",
        "y  # noqabc",
        "y  # no noqa",
        "y  # ruff: noqa",
        "y  # ruff: noqa: AG104",
        "# ruff: noqa: because",
        "# pylint: noqa",
        "s = '''\n# ruff: noqa\n'''",
        "s = '''\n# '''  # ruff: noqa",
    ],
)
def test_what_ruff_takes_for_no_directive_is_none(line: str) -> None:
    assert found(line + "\n") == []


def test_one_of_very_many_comments_in_a_row_counts() -> None:
    many = "# why\n" * 500
    one, other = found(many + "# autograd: ignore-file[AG104]\n# ruff: noqa\n" + many)
    assert one.whole_file and one.silences("AG104")
    assert other.whole_file
    assert not found('"""\n' + many + "# autograd: ignore-file\n" + many + '"""\n')
    assert not found(many + "x = 1  # ruff: noqa\n" + many)


def test_a_string_silences_nothing() -> None:
    assert found('x = "# autograd: ignore"\n') == []


def test_other_words_are_not_directives() -> None:
    assert found("x  # autograd: ignored by all\ny  # autograd is ignored\n") == []
