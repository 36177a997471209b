"""Pointing at a program: `^` under a line marks where, and is taken out before anybody reads the program.

y.add_(1)
# ^
"""

from __future__ import annotations

from analyzers.host import Host
from analyzers.report import Card, Place
from autograd_lsp.render.card import card_plaintext

PATH = "/nowhere/program.py"


def unmarked(text: str) -> tuple[str, int, int]:
    """The program, the byte that its mark points at, and the line of that byte, from 1."""
    lines = text.splitlines(keepends=True)
    number = next(index for index, line in enumerate(lines) if line.strip(" #\n") == "^")
    column = lines[number].index("^")
    program = "".join([*lines[:number], *lines[number + 1 :]])
    return program, len("".join(lines[: number - 1]).encode()) + column, number


def card_of(text: str) -> Card | None:
    """What a hover at the mark has to say."""
    program, offset, _ = unmarked(text)
    host = Host()
    host.set_text(PATH, program)
    return host.snapshot().card(PATH, offset)


def said(text: str) -> list[str]:
    """The lines of a hover at the mark, without markup; none where it says nothing."""
    program, _, _ = unmarked(text)
    card = card_of(text)

    def where(place: Place) -> str:
        above = program.encode().count(b"\n", 0, place.start)
        return f"line {above + 1}"

    return [] if card is None else card_plaintext(card, (), where).splitlines()
