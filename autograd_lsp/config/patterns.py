"""Patterns as git reads them in a `.gitignore`, each as a regular expression that takes linear time.

A star can be matched in many ways, and where what follows does not fit, a naive expression tries all of them: the time
that `*a*a*a*a*b` takes grows with the power of its stars. But what stands between two stars has a fixed length, so the
first place where it fits is as good as any later one. Such a part is never matched a second time, which is said by a
lookahead and a reference back to what it saw, as Python 3.10 has no atomic groups.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count


@dataclass(frozen=True, slots=True)
class Pattern:
    expression: re.Pattern[str]
    is_taken_back: bool
    for_folders: bool

    def matches(self, path: str, *, is_folder: bool) -> bool:
        """Whether this speaks of a path, with slashes, that is relative to where patterns start."""
        return (is_folder or not self.for_folders) and self.expression.fullmatch(path) is not None


LONGEST = 4_096
"""Characters of a pattern: no path is longer. A longer one is none; it would take seconds to compile."""


def read_pattern(line: str) -> Pattern | None:
    """What a line says; None if it is empty, a comment, or no pattern."""
    if len(line) > LONGEST or line.startswith("#"):
        return None
    text = re.sub(r"(?<!\\) +$", "", line.removesuffix("\r"))
    if not text:
        return None
    is_taken_back = text.startswith("!")
    text = text[is_taken_back:]
    for_folders = text.endswith("/")
    text = text[: len(text) - for_folders]
    if not text:
        return None
    # Without a slash but at its end a pattern speaks of names, wherever they are.
    anywhere = "/" not in text
    try:
        expression = re.compile(_expression(text.removeprefix("/"), anywhere=anywhere), re.DOTALL)
    except (ValueError, re.error):
        return None
    return Pattern(expression, is_taken_back, for_folders)


_PIECE = re.compile(
    r"(?P<above>(?:^|(?<=/))\*\*+/)|(?P<below>(?<=/)\*\*+$)|(?P<all>\*+)|(?P<one>\?)|(?P<slash>\\?/)"
    r"|\[(?P<not>[!^]?)(?P<class>\]?(?:\\.|\[:\w+:\]|[^\]\\])*)\]|\\(?P<escaped>.)|(?P<plain>[^*?\[\\])",
    re.DOTALL,
)
_CLASSES = {
    "alnum": "a-zA-Z0-9", "alpha": "a-zA-Z", "blank": r" \t", "digit": "0-9", "lower": "a-z", "space": r"\s",
    "upper": "A-Z", "word": r"\w", "xdigit": "0-9a-fA-F",
}  # fmt: skip


def _expression(text: str, *, anywhere: bool) -> str:
    """The regular expression of what a pattern matches; ValueError where it matches nothing."""
    rows: list[list[list[str]]] = [[], []] if anywhere else [[]]
    """Names in a row, each as its parts between stars. Between rows there may be any folders."""
    name, below = [""], ""
    for piece in _pieces(text):
        match piece.lastgroup:
            case "above":
                rows.append([])
            case "below":
                below = ".+"
            case "slash":
                rows[-1].append(name)
                name = [""]
            case "all":
                name.append("")
            case "one":
                name[-1] += "[^/]"
            case "class":
                name[-1] += _class(piece["class"], piece["not"])
            case _:
                name[-1] += re.escape(piece["escaped"] or piece["plain"])
    rows[-1].append(name)
    numbers = count()
    made = ["/".join(_name(parts, numbers) for parts in row) for row in rows]
    middle = [_once(f"(?:[^/]*/)*?{row}/", numbers) for row, names in zip(made[1:-1], rows[1:-1], strict=True) if names]
    begin = f"{made[0]}/" if len(made) > 1 and rows[0] else ""
    return "".join([begin, *middle, "(?:.*/)?" if len(made) > 1 else "", made[-1], below])


def _pieces(text: str) -> Iterator[re.Match[str]]:
    place = 0
    while place < len(text):
        piece = _PIECE.match(text, place)
        if piece is None:
            raise ValueError(text)
        place = piece.end()
        yield piece


def _class(inside: str, inverted: str) -> str:
    inside = re.sub(r"\[:(\w+):\]", lambda name: _CLASSES.get(name[1], ""), inside)
    inside = re.sub(r"(?<!\\)[\[&~|]", r"\\\g<0>", inside)
    inside = re.sub(r"^\]", r"\\]", inside)
    return f"(?!/)[{'^' if inverted else ''}{inside}]"


def _name(parts: list[str], numbers: Iterator[int]) -> str:
    """A name of a path, by its parts between stars."""
    first, *middle = parts[:-1] or parts
    last = f"[^/]*{parts[-1]}" if len(parts) > 1 else ""
    return "".join([first, *(_once(f"[^/]*?{part}", numbers) for part in middle), last])


def _once(expression: str, numbers: Iterator[int]) -> str:
    """Matched as it is first, whatever follows."""
    name = f"n{next(numbers)}"
    return f"(?=(?P<{name}>{expression}))(?P={name})"
