"""Suppression comments are found where they are comments, with their lines, codes and spans."""

from __future__ import annotations

from analyzers.syntax.comments import Suppression, suppressions
from analyzers.syntax.parse import parse
from analyzers.syntax.split import split


def found(source: str) -> list[Suppression]:
    text = source.encode()
    return list(suppressions(text, split(text, parse(text)).is_comment))


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


def test_noqa_needs_codes() -> None:
    (one,) = found("y  # noqa: E501, AG104\nz  # noqa\n")
    assert one.silences("AG104") and not one.silences("AG101") and one.line == 0


def test_a_string_silences_nothing() -> None:
    assert found('x = "# autograd: ignore"\n') == []


def test_other_words_are_not_directives() -> None:
    assert found("x  # autograd: ignored by all\ny  # autograd is ignored\n") == []
