"""Patterns of files match what they say, in linear time: held against a plain expression that may take for ever."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from autograd_lsp.config.layer import matches
from autograd_lsp.config.patterns import read_pattern

HOSTILE = {
    "*a" * 40 + "*b": "a" * 250,
    "**/a/" * 40 + "b": "a/" * 120 + "c",
    "**/*a*a*a/" * 20 + "b": "aaaaaaa/" * 30 + "c",
    "[a-z]*" * 40 + "0": "a" * 250,
    "**/" * 60 + "x*y": "a/" * 120,
    "?*" * 60 + "b": "a" * 250,
}


def _plain(text: str) -> re.Pattern[str]:
    """The same by definition: a star is anything but slashes, and two that are a name of their own are any folders."""
    begin = "" if "/" in text.removesuffix("/") else "(?:.*/)?"
    made, place = "", 0
    text = text.removesuffix("/").removeprefix("/")
    while place < len(text):
        at_start = place == 0 or text[place - 1] == "/"
        if at_start and (above := re.match(r"\*\*+/", text[place:])):
            made, place = made + "(?:.*/)?", place + above.end()
        elif place and at_start and (below := re.match(r"\*\*+$", text[place:])):
            made, place = made + ".+", place + below.end()
        elif star := re.match(r"\*+", text[place:]):
            made, place = made + "[^/]*", place + star.end()
        else:
            made, place = made + ("[^/]" if text[place] == "?" else re.escape(text[place])), place + 1
    return re.compile(begin + made, re.DOTALL)


@settings(max_examples=1_500, deadline=None)
@example("//**/?", ["a"])
@given(st.text("ab*?/", min_size=1, max_size=9), st.lists(st.text("ab", min_size=1), min_size=1, max_size=5))
def test_a_pattern_matches_what_it_says(text: str, names: list[str]) -> None:
    path = "/".join(names)
    pattern = read_pattern(text)
    if pattern is None:
        assert text == "/"
        return
    assert pattern.matches(path, is_folder=True) == bool(_plain(text).fullmatch(path))


@pytest.mark.parametrize("text", HOSTILE)
def test_stars_do_not_multiply(text: str) -> None:
    """Each of these would outlast the test run."""
    pattern = read_pattern(text)
    assert pattern is not None
    assert not pattern.matches(HOSTILE[text], is_folder=False)


def test_a_line_longer_than_any_path_is_no_pattern() -> None:
    assert read_pattern("a" * 4_096) is not None
    assert read_pattern("a" * 4_097) is None
    assert read_pattern("*" * 1_000_000) is None


def test_what_lies_below_an_excluded_folder_is_excluded() -> None:
    patterns = ("out/", "!out/kept.py", "*.gen.py", "!keep.gen.py")
    assert matches(patterns, "/p", "/p/out/kept.py")
    assert matches(patterns, "/p", "/p/a/b.gen.py")
    assert not matches(patterns, "/p", "/p/a/keep.gen.py")
    assert not matches(patterns, "/p", "/p/out")
    assert matches(patterns, "/p", "/p/out", is_folder=True)
