"""Running modules from their first line, as a script or as an import."""

from __future__ import annotations

from analyzers.domain.lineage import Loc
from analyzers.domain.objects import Env
from analyzers.domain.values import Const
from analyzers.machine.core.budget import Limits, OutOfFuel
from analyzers.machine.core.events import doubt
from analyzers.machine.core.machine import Machine
from analyzers.machine.core.places import Frame
from analyzers.machine.core.probe import Probe
from analyzers.machine.core.program import ModuleRun, Program
from analyzers.machine.entries.attached import attached_calls
from analyzers.machine.interpreter.dispatch import run_block
from analyzers.machine.interpreter.flow import join_all
from analyzers.machine.observers.bindings import bindings_of
from analyzers.machine.observers.graph_liveness import report_dead
from analyzers.maps import Map
from analyzers.syntax import nodes as n

IMPORTED = Limits(steps=20_000, states=1)
"""The limits of an imported module's run; other runs continue from it, so it keeps a single state."""


PRESUMED = Limits(steps=16_000)
"""The limits of a module's run on presumed values, which is in addition to the normal run."""


NARROW = Limits(steps=50_000, states=1, outcomes=1, rounds=1)
"""The limits of one more such run, if the first did not come to its end: it gets further, as it keeps nothing apart,
and as options of the command line have their defaults."""


def run_module(
    program: Program,
    path: str,
    *,
    main: bool,
    limits: Limits | None = None,
    probe: Probe | None = None,
    presume: bool = False,
    attached: frozenset[Loc] = frozenset(),
) -> ModuleRun:
    """Run a module from its first line. With `presume`, names may hold what their role suggests, and nothing is
    certain."""
    machine = Machine(program, program.block(path, main), limits=limits)
    machine.config.probe = probe
    machine.config.main = main
    machine.config.presumes = presume
    machine.config.takes_defaults = presume and limits is NARROW
    machine.config.attached = attached
    name = "__main__" if main else program.module_name(path)
    env = machine.new(Env(Map({"__name__": Const(name), "__file__": Const(path)}), None, path)).id
    root = n.Pass(0, 0)
    machine.extent.frames.append(Frame(path, "", "<module>", env, None, path.startswith("<"), root, root))
    start, before = machine.st, machine.indexes.default_dtype
    exhausted = False
    try:
        flow = run_block(machine, program.body(path), [machine.st])
        ends = flow.normal or [s for s, _ in flow.raises][-1:] or [start]
        final = join_all(machine, ends)
        if main:
            report_dead(machine)
    except (OutOfFuel, RecursionError):
        exhausted = True
        doubt(machine.record.events)
        final = machine.st
    final.forget_writes()
    return ModuleRun(
        path,
        program.block(path, main),
        final,
        env,
        tuple(machine.record.events),
        bindings_of(machine),
        frozenset(machine.record.entered),
        machine.ids.next,
        machine.record.passed,
        exhausted,
        tuple(machine.record.functions),
        machine.record.trains,
        tuple(machine.record.presumptions),
        tuple(machine.record.deferred),
        machine.indexes.default_dtype if machine.indexes.default_dtype != before else None,
        machine.record.unresolved,
        dict(machine.record.hidden_facts),
        attached_calls(machine, machine.record.events),
    )
