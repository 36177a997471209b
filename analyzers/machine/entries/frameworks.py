"""Training frameworks: drives a class whose methods the framework would call.

    class Net(LightningModule):
        def training_step(self, batch, batch_idx):   # a trainer calls this, clears, goes backward, and steps
            return self.loss(self(batch))

The frameworks' own classes are in the prelude. A user's class is driven by `analyzers/prelude/presumed/` on unknown
batches; what backward then finds is reported at the end of the user's method.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from analyzers.domain.lineage import Loc
from analyzers.domain.objects import DictObj
from analyzers.domain.values import NONE, Const, Func, Method, Unknown, Value
from analyzers.machine.autograd.likely_tensors import presumed_loss
from analyzers.machine.core.arguments import Args
from analyzers.machine.core.calling import call
from analyzers.machine.core.causes import NoGraph, Raised
from analyzers.machine.core.events import BackwardCall, StepWithoutLoss
from analyzers.machine.core.machine import Machine
from analyzers.machine.core.registries import answers
from analyzers.machine.interpreter.linking import library_call
from analyzers.machine.objects.classes import find_in_class, is_a
from analyzers.syntax import nodes as n

DRIVEN = {
    "training_step": (("lightning.LightningModule", "train_lightning"), ("transformers.Trainer", "train_transformers")),
    "compute_loss": (("transformers.Trainer", "train_transformers"),),
}
"""The methods that a framework calls to train: the classes that have them, and the driver for each."""

TRAINED = "forward"
"""The method of modules through which a backward goes, whoever calls it."""


CONTRACT = frozenset({"automatic_optimization"})
"""Attributes that tell a framework how to call a class: the values set by `__init__` are kept."""


NO_LOSS = (
    "In automatic optimization, `training_step` must return a Tensor, a dict, or None (where the step will be skipped)."
)


def driver_of(m: Machine, func: Func) -> str | None:
    """The driver of a method's class, if a framework calls the method."""
    if func.owner is None:
        return None
    for base, driver in DRIVEN.get(func.node_name, ()):
        if is_a(m, func.owner, base):
            # A component of another module has no optimizer of its own.
            whole = driver != "train_lightning" or find_in_class(m, func.owner, "configure_optimizers") is not None
            return driver if whole else None
    return None


def drive(m: Machine, func: Func, driver: str, instance: Value) -> None:
    """Train an instance; anything that happens outside the user's code is reported at the end of the method."""
    with _at_the_end(m, func, "a trainer calls the methods of this class in their usual order"):
        library_call(m, f"presumed.{driver}", Args([instance]))


@contextmanager
def _at_the_end(m: Machine, func: Func, presumption: str) -> Iterator[None]:
    m.frame.node = m.frame.statement = _end_of(m, func)
    m.frame.chunk = func.chunk
    m.frame.stands_in = True
    end = m.here()
    m.presume(presumption, end)
    try:
        yield
    finally:
        for event in m.record.events:
            if isinstance(event, Raised) and event.site.loc == end:
                event.outside = True


def is_trained(m: Machine, func: Func) -> bool:
    """Whether this is what a module computes: its results are taken to lead to a loss."""
    return func.owner is not None and func.node_name == TRAINED and is_a(m, func.owner, "torch.nn.Module")


def go_backward(m: Machine, func: Func, made: Value) -> None:
    """Run backward through what a module returned; what that raises is reported at the end of its `forward`. It is no
    call of the program's."""
    noted = len(m.record.events)
    with _at_the_end(m, func, "a backward goes through what `forward` returns"):
        library_call(m, "presumed.go_backward", Args([made]))
    m.record.events[noted:] = [event for event in m.record.events[noted:] if not isinstance(event, BackwardCall)]


def _end_of(m: Machine, func: Func) -> n.Node:
    """The last value the method returns at its top level, or its last statement; the method if none of it parses."""
    node = m.whole(func)
    if not isinstance(node, n.FunctionDef) or not node.body:
        return node
    body = node.body
    last = next((s for s in reversed(body) if isinstance(s, n.Return)), None)
    return body[-1] if last is None else last.value or last


@answers("autograd_machine.call_fitting")
def _call_fitting(m: Machine, args: Args) -> Value:
    """Call a method with as many of the arguments as it accepts."""
    func, given = args.pos[0], args.pos[1:]
    inner = func.func if isinstance(func, Method) else func
    if isinstance(inner, Func) and inner.node.args.vararg is None:
        parameters = (*inner.node.args.posonly, *inner.node.args.args)
        count = len(parameters) - isinstance(func, Method)
        required = count - len(inner.defaults)
        given = [*given[:count], *(Unknown() for _ in range(required - len(given)))]
    return call(m, func, Args(given))


@answers("autograd_machine.loss_of")
def _loss_of(m: Machine, args: Args) -> Value:
    """The loss in the result of `training_step`; None if the step is skipped."""
    value, step = args.pos
    found = m.obj(value)
    if isinstance(found, DictObj):
        value = found.items.get(Const("loss"), Unknown())
    if value == NONE:
        inner = step.func if isinstance(step, Method) else step
        if isinstance(inner, Func):
            end = _end_of(m, inner)
            m.note(StepWithoutLoss(m.site(), Loc(inner.module, inner.chunk, end.start, end.end)))
        return NONE
    if isinstance(value, Const) or (isinstance(value, Unknown) and value.type is not None and value.type != "tensor"):
        raise m.throw("MisconfigurationException", NO_LOSS, NoGraph("loss", m.lineage(value)))
    return presumed_loss(m, value) if m.config.presumes else value
