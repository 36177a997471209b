"""Inputs and queries: families of values, one for each key. A *cell* is one of them with its key."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Generic, ParamSpec, TypeAlias, TypeVar, cast

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")
P = ParamSpec("P")

Cell: TypeAlias = tuple[object, tuple[object, ...]]
"""An input or a query, with its key; or an entry of a query's value: `ENTRY`, the query's cell and the entry's key."""

ENTRY = "entry"


class Asked:
    """Who is asked for the value of a query: the database, of which a query has to know no more."""

    def fetch(self, wanted: Query[..., object], key: tuple[object, ...]) -> object:
        """The value of a query; `Query.__call__` is the typed way here."""
        raise NotImplementedError


class Input(Generic[K, V]):
    """A family of inputs, one for each key."""

    def __init__(self, name: str) -> None:
        self.name = name


class Query(Generic[P, V]):
    """A memoised function. `on_cycle` gives its value where it needs itself; `capacity` bounds the values kept; `eager`
    is the level of an eager query, 0 of another; `remembers` bounds the former values kept, of all keys together."""

    def __init__(
        self,
        name: str,
        function: Callable[..., V],
        on_cycle: Callable[P, V] | None,
        capacity: int | None,
        eager: int,
        remembers: int,
    ) -> None:
        self.name = name
        self.function = function
        self.on_cycle = on_cycle
        self.capacity = capacity
        self.eager = eager
        self.remembers = remembers

    def __call__(self, db: Asked, /, *args: P.args, **kwargs: P.kwargs) -> V:
        if kwargs:
            raise TypeError(f"{self.name} takes its key by position")
        return cast(V, db.fetch(cast("Query[..., object]", self), args))


def query_of(cell: Cell) -> Query[..., object]:
    return cast("Query[..., object]", cell[0])


def fallback(cell: Cell) -> object:
    """What a query is worth that needs itself."""
    on_cycle = query_of(cell).on_cycle
    return None if on_cycle is None else on_cycle(*cell[1])
