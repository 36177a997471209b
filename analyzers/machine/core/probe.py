"""The base class of recorders and test probes that watch a run.

It is never compiled: a class that is not compiled cannot inherit from one that is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from analyzers.domain.state import State
from analyzers.domain.values import Value
from analyzers.syntax import nodes as n

if TYPE_CHECKING:
    from analyzers.machine.core.machine import Machine


class Probe:
    """Is shown what a run comes by, and changes nothing; this one looks at none of it."""

    def read(self, m: Machine, node: n.Node, value: Value) -> None:
        """What a name or an attribute gives."""

    def bound(self, m: Machine, target: n.Node, value: Value) -> None:
        """What a target holds from here on."""

    def calls(self, m: Machine, node: n.Call, func: Value) -> None:
        """A call begins: its arguments are there."""

    def called(self, m: Machine, node: n.Call, result: Value) -> None:
        """A call has returned."""

    def done(self, m: Machine, statement: n.Node, before: State) -> None:
        """A simple statement has led from the state `before` to the present one."""
