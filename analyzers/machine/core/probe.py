"""The base class of recorders and test probes that watch a run.

It is never compiled: an uncompiled class cannot inherit from a compiled one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from analyzers.domain.state import State
from analyzers.domain.values import Value
from analyzers.syntax import nodes as n

if TYPE_CHECKING:
    from analyzers.machine.core.machine import Machine


class Probe:
    """Watches a run without changing it; this base class ignores everything."""

    def read(self, m: Machine, node: n.Node, value: Value) -> None:
        """The value read from a name or an attribute."""

    def bound(self, m: Machine, target: n.Node, value: Value) -> None:
        """The value a target holds from here on."""

    def calls(self, m: Machine, node: n.Call, func: Value) -> None:
        """A call begins; its arguments have been evaluated."""

    def called(self, m: Machine, node: n.Call, result: Value) -> None:
        """A call has returned."""

    def enters(self, m: Machine) -> None:
        """The body of a function of the program begins, in the last frame."""

    def done(self, m: Machine, statement: n.Node, before: State) -> None:
        """A simple statement has led from the state `before` to the current one."""
