"""Inputs from outside: open buffers and files, their settings, and their surroundings."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TypeAlias

from analyzers.machine.core.program import Release
from analyzers.program import prelude
from analyzers.queries.engine import Database, query
from analyzers.queries.families import Input
from analyzers.report import Choice, Finding
from analyzers.syntax.outline import Outline
from analyzers.syntax.split import Module

Recall: TypeAlias = Callable[
    [str, Callable[[str], bytes | None], Callable[[str], Choice], Callable[[], frozenset[str]]],
    tuple[Finding, ...] | None,
]
"""What an earlier run has found in a file, if all that it rests on is as it was: it asks for the texts, for what is
chosen, and which files are looked at together."""


MOST_TEXT = 4_000_000
"""Bytes of a file beyond which it holds data, more than code: to read it as a program takes long, and more memory than
there may be."""


BUFFER = Input[str, bytes]("buffer")


STAMP = Input[str, int]("stamp")


CHOICES = Input[None, int]("choices")


OUTSIDE = Input[str, str]("outside")


TOGETHER = Input[None, frozenset[str]]("together")


class World(Database):
    """The database with the way to files, to what is chosen for them and to what lies outside of them, and the numbers
    given to runs."""

    def __init__(
        self,
        read: Callable[[str], bytes | None],
        choose: Callable[[str], Choice],
        look_up: Callable[[str], str],
        torch_release: Callable[[], Release | None],
        recall: Recall,
    ) -> None:
        super().__init__()
        self.read_file = read
        self.choose = choose
        self.look_up = look_up
        self.torch_release = torch_release
        self.recall = recall
        self.looked_back: set[str] = set()
        """The files of which it was asked what was found earlier: once, as one that has changed runs."""
        self.blocks: dict[tuple[str, bool], int] = {}
        self.cut: dict[str, Module] = {}
        """Files as they were cut last, the latest at the end: an edit is cut by what was before it."""
        self.outlines: dict[str, tuple[tuple[str, ...], Outline]] = {}
        """The outlines of files, with the keys of the chunks that they are of."""
        self.asked: set[str] = set()
        """The files that anybody has looked for."""

    def forget(self) -> None:
        super().forget()
        self.cut.clear()
        self.outlines.clear()
        self.blocks.clear()

    def drop_oldest(self) -> None:
        super().drop_oldest()
        for cut in list(self.cut)[: len(self.cut) // 2]:
            del self.cut[cut]


def world_of(db: Database) -> World:
    assert isinstance(db, World)
    return db


@query
def source(db: Database, path: str) -> bytes | None:
    """A file's text: the open buffer, else the disk."""
    if prelude.is_prelude(path):
        return prelude.read(path)
    try:
        return db.read(BUFFER, path)
    except KeyError:
        pass
    with suppress(KeyError):
        db.read(STAMP, path)
    world_of(db).asked.add(path)
    return world_of(db).read_file(path)


@query(eager=1)
def exists(db: Database, path: str) -> bool:
    """Whether there is a file to import."""
    text = source(db, path)
    return text is not None and len(text) <= MOST_TEXT


@query(eager=1)
def is_too_large(db: Database, path: str) -> bool:
    return len(source(db, path) or b"") > MOST_TEXT


@query
def outside_kind(db: Database, dotted: str) -> str:
    """What is known by now of a name of an installed library."""
    with suppress(KeyError):
        return db.read(OUTSIDE, dotted)
    return world_of(db).look_up(dotted)


@query
def choice(db: Database, path: str) -> Choice:
    with suppress(KeyError):
        db.read(CHOICES, None)
    return world_of(db).choose(path)


def looked_at_together(db: Database) -> frozenset[str]:
    try:
        return db.read(TOGETHER, None)
    except KeyError:
        return frozenset()
