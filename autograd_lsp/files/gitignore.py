"""What git is told to ignore: by the `.gitignore` files of a repository, and by its own `.git/info/exclude`.

As for git, the nearest file that speaks of a path counts, in it the last pattern that does, and nothing below an
ignored folder is taken back. Outside of a repository nothing is ignored.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass

from analyzers.program.disk import read_regular_file


@dataclass(frozen=True, slots=True)
class _Pattern:
    expression: re.Pattern[str]
    is_taken_back: bool
    for_folders: bool


class GitIgnore:
    """Reads each file once."""

    def __init__(self) -> None:
        self._tops: dict[str, str | None] = {}
        self._patterns: dict[str, tuple[_Pattern, ...]] = {}

    def ignores(self, path: str, *, is_folder: bool) -> bool:
        """Whether an absolute path is ignored by itself; whoever walks down has asked of the folders above."""
        for file, folder in self._files(os.path.dirname(path)):
            if file not in self._patterns:
                self._patterns[file] = _read(file)
            relative = path[len(os.path.join(folder, "")) :].replace(os.sep, "/")
            for pattern in self._patterns[file]:
                if (is_folder or not pattern.for_folders) and pattern.expression.fullmatch(relative):
                    return not pattern.is_taken_back
        return False

    @classmethod
    def below(cls, folder: str) -> GitIgnore | None:
        """For what lies in an absolute folder that somebody has named; None where that is ignored itself."""
        made = cls()
        top = made._top(os.path.dirname(folder))
        while top is not None and folder != top:
            if made.ignores(folder, is_folder=True):
                return None
            folder = os.path.dirname(folder)
        return made

    def _files(self, folder: str) -> Iterator[tuple[str, str]]:
        """The files that may speak of what lies in a folder, the nearest first, each with where its patterns start."""
        top = self._top(folder)
        if top is None:
            return
        while True:
            yield os.path.join(folder, ".gitignore"), folder
            if folder == top:
                break
            folder = os.path.dirname(folder)
        yield os.path.join(top, ".git", "info", "exclude"), top

    def _top(self, folder: str) -> str | None:
        """Of the repository that a folder lies in."""
        if folder not in self._tops:
            parent = os.path.dirname(folder)
            is_top = os.path.exists(os.path.join(folder, ".git"))
            self._tops[folder] = folder if is_top else None if parent == folder else self._top(parent)
        return self._tops[folder]


def _read(file: str) -> tuple[_Pattern, ...]:
    """The patterns of a file, the last one first. A line that is no pattern says nothing."""
    try:
        lines = read_regular_file(file).decode("utf-8-sig", "surrogateescape").split("\n")
    except OSError:
        return ()
    return tuple(pattern for line in reversed(lines) if (pattern := _pattern(line)) is not None)


def _pattern(line: str) -> _Pattern | None:
    text = re.sub(r"(?<!\\) +$", "", line.removesuffix("\r"))
    if not text or text.startswith("#"):
        return None
    is_taken_back = text.startswith("!")
    text = text[is_taken_back:]
    for_folders = text.endswith("/")
    text = text[: len(text) - for_folders]
    # Without a slash but at its end a pattern speaks of names, wherever they are.
    begin = "" if "/" in text else "(?:.*/)?"
    try:
        return _Pattern(re.compile(begin + _expression(text.removeprefix("/")), re.DOTALL), is_taken_back, for_folders)
    except (ValueError, re.error):
        return None


_PIECE = re.compile(
    r"(?P<above>(?:^|(?<=/))\*\*+/)|(?P<below>(?<=/)\*\*+$)|(?P<all>\*+)|(?P<one>\?)"
    r"|\[(?P<not>[!^]?)(?P<class>\]?(?:\\.|\[:\w+:\]|[^\]\\])*)\]|\\(?P<escaped>.)|(?P<plain>[^*?\[\\])",
    re.DOTALL,
)
_CLASSES = {
    "alnum": "a-zA-Z0-9", "alpha": "a-zA-Z", "blank": r" \t", "digit": "0-9", "lower": "a-z", "space": r"\s",
    "upper": "A-Z", "word": r"\w", "xdigit": "0-9a-fA-F",
}  # fmt: skip


def _expression(text: str) -> str:
    """The regular expression of what a pattern matches; ValueError where it matches nothing."""
    made: list[str] = []
    place = 0
    while place < len(text):
        piece = _PIECE.match(text, place)
        if piece is None:
            raise ValueError(text)
        place = piece.end()
        match piece.lastgroup:
            case "above":
                made.append("(?:.*/)?")
            case "below":
                made.append(".+")
            case "all":
                made.append("[^/]*")
            case "one":
                made.append("[^/]")
            case "class":
                inside = re.sub(r"\[:(\w+):\]", lambda name: _CLASSES.get(name[1], ""), piece["class"])
                inside = re.sub(r"(?<!\\)[\[&~|]", r"\\\g<0>", inside)
                inside = re.sub(r"^\]", r"\\]", inside)
                made.append(f"(?!/)[{'^' if piece['not'] else ''}{inside}]")
            case _:
                made.append(re.escape(piece["escaped"] or piece["plain"]))
    return "".join(made)
