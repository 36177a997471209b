"""What an optimizer should train but does not: modules its owner does not register, parameters added too late.

Checked when an optimizer steps, since only then the parameters have their gradients, and the optimizer its groups.
"""

from __future__ import annotations

from collections.abc import Iterator

from analyzers.domain.lineage import Lineage
from analyzers.domain.objects import ClassObj, DictObj, Instance, ListObj, Tensor, by_name
from analyzers.domain.values import NONE, Ref, Tup, Value
from analyzers.machine.autograd.accumulation import became_one
from analyzers.machine.autograd.graph import requires_grad_of
from analyzers.machine.autograd.likely_tensors import PresumedParameters
from analyzers.machine.autograd.tensors import tensor_at
from analyzers.machine.autograd.trainables import all_known, parameters_of
from analyzers.machine.core.events import BackwardCall, GradTaken, LeftOut, ParameterLost
from analyzers.machine.core.machine import Machine
from analyzers.machine.core.signals import GradientRead, TensorStored, hears
from analyzers.machine.core.streams import Supposed
from analyzers.machine.objects.classes import is_a
from analyzers.machine.observers.looks import Looks
from analyzers.machine.observers.misdirected_gradients import TargetNetworks

LOOKS = 16
"""The most steps of one optimizer that are examined."""


class UntrainedParameters:
    def __init__(self) -> None:
        self.looks = Looks(LOOKS)
        self.read: set[int] = set()
        """The leaves whose gradient the program itself has read."""


@hears(GradientRead)
def _gradient_read(m: Machine, signal: GradientRead) -> None:
    read = m.notebook(UntrainedParameters).read
    if signal.leaf not in read:
        read.add(signal.leaf)
        m.note(GradTaken(m.site(), signal.leaf))


def look(m: Machine, optimizer: Ref) -> None:
    """Report what a step leaves out."""
    if not m.notebook(UntrainedParameters).looks.take(optimizer.id) or not all_known(m, optimizer, perhaps=True):
        return
    trained = set(parameters_of(m, optimizer, perhaps=True))
    if all_known(m, optimizer):
        _note_unreached(m, optimizer, trained)
    instances = m.st.made(Instance)
    modules = {ident: found for ident, found in instances if _is_module(found)}
    others = [Ref(ident) for ident, found in instances if "param_groups" in found.attrs]
    if not all(all_known(m, other, perhaps=True) for other in others):
        return
    held = {ident for other in others for ident in parameters_of(m, other, perhaps=True)}
    held.update(alias for ident in tuple(held) for alias in tensor_at(m, ident).aliases)
    held.update(became_one(m, held))
    registered = {child for found in modules.values() for child in _members(m, found, "_modules")}
    _note_nowhere(m, optimizer, held)
    for ident, found in modules.items():
        _note_contained(m, optimizer, found, registered, held)
        if ident not in registered:
            _note_late(m, optimizer, ident, trained, held)


def _note_unreached(m: Machine, optimizer: Ref, trained: set[int]) -> None:
    if not any(isinstance(tensor_at(m, ident).grad, Ref) for ident in trained):
        return
    supposed = m.notebook(Supposed)
    # What is never called may be a part of something else, nobody knows of what.
    presumed = m.notebook(PresumedParameters)
    spared = presumed.made - presumed.computed
    if m.config.presumes:
        spared |= _in_lists_begun(m)
    for ident in sorted(trained - spared):
        tensor = tensor_at(m, ident)
        if (
            tensor.grad == NONE
            and tensor.requires_grad is True
            and not tensor.shared_grad
            and not tensor.aliases  # one of these was perhaps reached
            and not supposed.holds(ident)
        ):
            m.note(LeftOut(m.site(), optimizer.id, "unreached", "", "", ident, tensor.lineage))


def _in_lists_begun(m: Machine) -> set[int]:
    """The parameters in lists of modules of which a backward has reached the first: a loop over a list that goes along
    with another, of unknown length, comes to the others, too."""
    found: set[int] = set()
    for _, owner in m.st.made(Instance):
        if not is_a(m, owner.cls, "torch.nn.ModuleList"):
            continue
        first, *others = [set(_parameters(m, item)) for item in _members(m, owner, "_modules")] or [set()]
        if any(isinstance(tensor_at(m, ident).grad, Ref) for ident in first):
            found.update(*others)
    return found


def _note_nowhere(m: Machine, optimizer: Ref, held: set[int]) -> None:
    """Leaves filled by the last backward that no optimizer holds, except those created in this iteration."""
    last = next((event for event in reversed(m.record.events) if isinstance(event, BackwardCall)), None)
    presumed = m.notebook(PresumedParameters).made
    for ident in last.reached if last is not None and not last.unknown else ():
        tensor = m.st.find(ident)
        if (
            ident in held | m.notebook(UntrainedParameters).read
            or not isinstance(tensor, Tensor)
            or not held.isdisjoint(tensor.aliases)
            or tensor.storage in m.notebook(TargetNetworks).storages
        ):
            continue
        if m.extent.began and m.extent.began[-1] < ident <= m.ids.last:
            continue
        made = tensor.lineage
        if made is not None and made.cut is None and made.what != "deepcopy" and isinstance(tensor.grad, Ref):
            beside = tensor.parameter and ident not in presumed and not presumed.isdisjoint(held)
            m.note(LeftOut(m.site(), optimizer.id, "beside" if beside else "nowhere", "", "", ident, made))


def _note_contained(m: Machine, optimizer: Ref, owner: Instance, registered: set[int], held: set[int]) -> None:
    for attr, value in by_name(owner.attrs):
        if attr in {"_modules", "_parameters", "_buffers"}:
            continue
        tensor = m.tensor(value)
        leaf = _leaf_of(m, value.id, tensor) if isinstance(value, Ref) and tensor is not None else None
        if leaf is not None and not tensor_at(m, leaf).parameter:
            _note_if_trained(m, optimizer, "plain", _class_name(m, owner), attr, leaf, held)
        for item in _contained(m, value):
            found = m.obj(item)
            if isinstance(found, Tensor) and found.parameter:
                _note_if_trained(m, optimizer, "container", _class_name(m, owner), attr, item.id, held)
            elif isinstance(found, Instance) and _is_module(found) and item.id not in registered:
                for ident in _parameters(m, item.id):
                    _note_if_trained(m, optimizer, "container", _class_name(m, owner), attr, ident, held)


def _leaf_of(m: Machine, ident: int, tensor: Tensor) -> int | None:
    """The leaf that a tensor is, or of which it is a copy: `torch.zeros(3, requires_grad=True).to(device)`."""
    if tensor.edge is None:
        return ident
    node = m.node(tensor.edge.node) if tensor.edge.node is not None else None
    if node is None or node.names != ("ToCopyBackward0",) or node.edges[0] is None:
        return None
    return node.edges[0].leaf


def _note_late(m: Machine, optimizer: Ref, module: int, trained: set[int], held: set[int]) -> None:
    parameters = list(_parameters(m, module))
    before = [ident for ident in parameters if ident < optimizer.id]
    if not before or not trained.issuperset(before):
        return
    for ident in parameters:
        if ident > optimizer.id:
            _note_if_trained(m, optimizer, "late", "", "", ident, held)


def _note_if_trained(
    m: Machine, optimizer: Ref, how: str, owner: str, attr: str, parameter: int, held: set[int]
) -> None:
    tensor = tensor_at(m, parameter)
    if parameter not in held and tensor.requires_grad is True and isinstance(tensor.grad, Ref):
        m.note(LeftOut(m.site(), optimizer.id, how, owner, attr, parameter, tensor.lineage))


def _contained(m: Machine, value: Value) -> Iterator[Ref]:
    found = m.obj(value)
    items: tuple[Value, ...] = ()
    if isinstance(value, Tup):
        items = value.items
    elif isinstance(found, ListObj):
        items = found.items
    elif isinstance(found, DictObj):
        items = tuple(found.values)
    for item in items:
        if isinstance(item, Ref):
            yield item


def _is_module(found: object) -> bool:
    return isinstance(found, Instance) and "_modules" in found.attrs and "_parameters" in found.attrs


def _members(m: Machine, owner: Instance, table: str) -> Iterator[int]:
    entries = m.obj(owner.attrs[table])
    if isinstance(entries, DictObj):
        yield from (value.id for value in entries.values if isinstance(value, Ref))


def _parameters(m: Machine, module: int) -> Iterator[int]:
    """The parameters registered with a module and its submodules."""
    seen: set[int] = set()
    stack = [module]
    while stack:
        ident = stack.pop()
        found = m.st.find(ident)
        if ident in seen or not isinstance(found, Instance) or not _is_module(found):
            continue
        seen.add(ident)
        yield from (p for p in _members(m, found, "_parameters") if isinstance(m.st.find(p), Tensor))
        stack += _members(m, found, "_modules")


def _class_name(m: Machine, owner: Instance) -> str:
    cls = m.st.find(owner.cls) if isinstance(owner.cls, int) else None
    return cls.name if isinstance(cls, ClassObj) else "module"


@hears(TensorStored)
def _look_at_attribute(m: Machine, signal: TensorStored) -> None:
    """Report an attribute computed from a parameter that is not registered: `Parameter(...) * 0.02`."""
    if not any(frame.qualname.endswith("__init__") and not frame.library for frame in m.extent.frames):
        return
    owner, name, value = signal.owner, signal.name, signal.value
    tensor = tensor_at(m, value.id)
    if not m.frame.library and tensor.requires_grad is False and _made_as_parameter(m, tensor.lineage):
        m.note(ParameterLost(m.site(), _class_name(m, owner), name, tensor.lineage))
    if requires_grad_of(m, value.id) is not True or tensor.edge is None or tensor.edge.node is None:
        return
    leaves = _leaves(m, tensor.edge.node)
    known = set(_members(m, owner, "_parameters"))
    if leaves and not leaves & known and all(tensor_at(m, leaf).parameter for leaf in leaves):
        m.note(ParameterLost(m.site(), _class_name(m, owner), name, tensor.lineage))


def _made_as_parameter(m: Machine, lineage: Lineage | None) -> bool:
    """Whether a tensor was cut off from a parameter created by the current statement: `Parameter(...).data`."""
    statement = m.site().statement
    step = lineage
    for _ in range(8):
        if step is None or step.loc is None or step.loc.chunk != statement.chunk:
            return False
        if not statement.start <= step.loc.start < statement.end:
            return False
        if step.what == "Parameter":
            return True
        step = step.parents[0] if step.parents else None
    return False


def _leaves(m: Machine, node: int) -> set[int]:
    """The leaves at the end of a short graph; none if it is long or partly unknown."""
    leaves: set[int] = set()
    stack = [node]
    for _ in range(8):
        if not stack:
            return leaves
        for edge in m.node(stack.pop()).edges:
            if edge is None:
                continue
            if edge.leaf is not None:
                leaves.add(edge.leaf)
            elif edge.node is not None:
                stack.append(edge.node)
            else:
                return set()
    return set()
