"""The other side of a partnership: a world whose inputs another process tells, and the runs that it wants made."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import ExitStack
from typing import cast

from analyzers.host import CancelToken, Host
from analyzers.host.presuming import READ, Answer, Read, digest, presumed
from analyzers.host.world import outside_kind, source
from analyzers.machine.core.program import Release
from analyzers.program import prelude
from analyzers.queries.families import ENTRY, Cell, Query
from analyzers.queries.origins import Origins


class Helper:
    def __init__(self, look_up: Callable[[str], str], torch_release: Callable[[], Release | None]) -> None:
        self.host = Host(look_up=look_up, torch_release=torch_release)
        self._reads = Origins(self.host.world, (*READ.values(), ENTRY, outside_kind))
        self.told = 0
        """The number of what was told last."""
        self._telling = threading.Lock()
        """Held while inputs change, and until it is known what a run began with."""

    def take_over(self, number: int, family: str, key: str, value: object) -> None:
        """What was told, with its number: a run under way is cancelled."""
        with self._telling:
            self.host.world.take_over(family, key, value)
            self.told = number

    def answer(self, path: str, index: int, token: CancelToken) -> tuple[int, Answer]:
        """A run, and the number of what was told last before it.

        Raises:
            Cancelled: something else was told meanwhile, or it is wanted no longer.
        """
        self.host.shrink_if_large()
        world = self.host.world
        with ExitStack() as held:
            with self._telling:
                held.enter_context(world.snapshot(token))
                told = self.told
            made = presumed(world, path, index)
            cell: Cell = (presumed, (path, index))
            cells = self.host.origins.of(cell)
            files = [str(key[0]) for kind, key in cells if kind is source]
            names = [str(key[0]) for kind, key in cells if kind is outside_kind]
            return told, Answer(
                made,
                tuple((file, digest(world, file)) for file in files if not prelude.is_prelude(file)),
                tuple((name, outside_kind(world, name)) for name in names),
                tuple(read for read in map(_read, self._reads.of(cell)) if read is not None),
            )


def _read(cell: Cell) -> Read | None:
    """None for what is part of this package, and for what is read anyway."""
    kind, key = cell
    entry: tuple[object, ...] = ()
    if kind is ENTRY:
        table, one = key
        (kind, key), entry = cast(Cell, table), (one,)
    if not isinstance(kind, Query) or kind is outside_kind or prelude.is_prelude(str(key[0])):
        return None
    return kind.name, key, entry
