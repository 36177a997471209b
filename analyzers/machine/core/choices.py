"""One pass through a statement: which way each choice went, and how calls may end."""

from __future__ import annotations

from dataclasses import dataclass, field

from analyzers.domain import truth
from analyzers.domain.state import State
from analyzers.domain.values import Value
from analyzers.machine.core.exceptions import PyRaise


class Infeasible(Exception):  # noqa: N818
    """No run of the program gets here."""


@dataclass(slots=True)
class Path:
    """The choices made in one pass through a statement.

    A pass repeats an earlier one up to its last choice. What it allocates until then gets the same ids (`replay`), so
    that it can continue in a state in which the earlier pass left a call.
    """

    prefix: tuple[int, ...]
    replay: tuple[int, ...] = ()
    taken: list[int] = field(default_factory=list)
    allocated: list[int] = field(default_factory=list)
    open: list[tuple[tuple[int, ...], tuple[int, ...]]] = field(default_factory=list)
    memo: dict[tuple[object, ...], list[Outcome]] = field(default_factory=dict)


Truth3 = truth.Truth


@dataclass(slots=True)
class Outcome:
    """One way a call may end."""

    state: State
    value: Value
    raised: PyRaise | None = None
