"""Inputs from outside: open buffers and files, their settings, and their surroundings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Protocol, TypeAlias, cast

from analyzers.machine.core.program import Release
from analyzers.program import prelude
from analyzers.queries.engine import Database, query
from analyzers.queries.families import Cell, Input
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


SHARED: dict[str, Input[str, object]] = {one.name: cast("Input[str, object]", one) for one in (BUFFER, STAMP, OUTSIDE)}
"""The inputs by which a run may come out differently."""


class Partner(Protocol):
    """Another process with a world of its own, whose inputs are kept the same, and which makes runs for this one."""

    def tell(self, family: str, key: object, value: object) -> None:
        """An input has another value; `None` where it has none any more."""

    def begin(self, jobs: Sequence[tuple[str, int]]) -> None:
        """Runs on presumed values, by file and index, that will be asked for; any others are wanted no longer."""

    def answer(self, path: str, index: int, make_way: Callable[[], None]) -> object:
        """What came of one, for the inputs that were told last; None where nothing comes. Waits, and makes way."""


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
        self.partner: Partner | None = None
        self.shared: dict[str, tuple[int, ...]] = {}
        """The runs that files last needed of the partner."""

    def share(self, partner: Partner) -> None:
        """Let the partner know all inputs from now on."""
        with self._lock:
            for cell, value in self.inputs():
                _tell(partner, cell, value)
            self.partner = partner

    def written(self, cell: Cell, value: object) -> None:
        if self.partner is not None:
            _tell(self.partner, cell, value)

    def take_over(self, family: str, key: str, value: object) -> None:
        """What a partner was told."""
        if value is None:
            self.remove(SHARED[family], key)
        else:
            self.set(SHARED[family], key, value)

    def forget(self) -> None:
        super().forget()
        self.cut.clear()
        self.outlines.clear()
        self.blocks.clear()

    def drop_oldest(self) -> None:
        super().drop_oldest()
        for cut in list(self.cut)[: len(self.cut) // 2]:
            del self.cut[cut]


def _tell(partner: Partner, cell: Cell, value: object) -> None:
    name = cast("Input[str, object]", cell[0]).name
    if name in SHARED:
        partner.tell(name, cell[1][0], value)


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
