"""Makes a program smaller for as long as what is interesting about it stays.

Lines are deleted in runs of halving length, then one by one; a block's head may also go alone, its body moving out.
Delta debugging, with all candidates of a round judged together, since the judge is faster by the dozen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

Judge: TypeAlias = Callable[[Sequence[str]], Sequence[bool]]

_INDENT = "    "


def minimise(text: str, interesting: Judge) -> str:
    """The smallest program found that is `interesting` as `text` is."""
    lines = text.splitlines()
    length = max(1, len(lines) // 2)
    while True:
        smaller = _first(_without(lines, length), interesting)
        if smaller is not None:
            lines = smaller
            length = min(length, max(1, len(lines) // 2))
        elif length > 1:
            length //= 2
        else:
            smaller = _first(_unwrapped(lines), interesting)
            if smaller is None:
                return _text(lines)
            lines = smaller


def _first(candidates: Iterator[list[str]], interesting: Judge) -> list[str] | None:
    valid = [candidate for candidate in candidates if _compiles(candidate)]
    if not valid:
        return None
    verdicts = interesting([_text(candidate) for candidate in valid])
    return next((candidate for candidate, verdict in zip(valid, verdicts, strict=True) if verdict), None)


def _without(lines: list[str], length: int) -> Iterator[list[str]]:
    for start in range(0, len(lines), length):
        yield lines[:start] + lines[start + length :]


def _unwrapped(lines: list[str]) -> Iterator[list[str]]:
    for index, line in enumerate(lines):
        if not line.endswith(":"):
            continue
        depth = len(line) - len(line.lstrip())
        end = index + 1
        while end < len(lines) and lines[end].startswith(" " * depth + _INDENT):
            end += 1
        yield lines[:index] + [inner.removeprefix(_INDENT) for inner in lines[index + 1 : end]] + lines[end:]


def _compiles(lines: list[str]) -> bool:
    try:
        compile(_text(lines), "candidate", "exec")
    except SyntaxError:
        return False
    return True


def _text(lines: list[str]) -> str:
    return "\n".join(lines) + "\n"
