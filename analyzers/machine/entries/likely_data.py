"""Data that nobody knows.

What is used as a tensor is in a presumed run the same tensor each time. The items of a loader have no graph. Neither
have arguments and what is in them, but nothing is told of a loss for that reason alone. What an unknown call returned
may have one, as the call may be a model.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Sequence

from analyzers.domain import truth
from analyzers.domain.copies import replace
from analyzers.domain.join import reach_of
from analyzers.domain.lineage import Lineage
from analyzers.domain.objects import Array, Tensor
from analyzers.domain.stand_ins import asked
from analyzers.domain.values import FALSE, NONE, TRUE, Const, Ref, SliceValue, Tup, Unknown, Value
from analyzers.machine.autograd.likely_tensors import GUESS, PresumedParameters, presumed_loss
from analyzers.machine.autograd.partly_frozen import note_partly_frozen, unfreeze_some
from analyzers.machine.autograd.reachability import holds_graph, holds_made_graph, tensors_held
from analyzers.machine.autograd.trainables import is_module, members
from analyzers.machine.core.arguments import Args
from analyzers.machine.core.calling import origin_of
from analyzers.machine.core.events import FlagSet
from analyzers.machine.core.library_names import outside_name
from analyzers.machine.core.machine import Machine
from analyzers.machine.core.ports import PORTS
from analyzers.machine.core.registries import GUESSES, Guess, answers
from analyzers.machine.entries.likely_models import stands_in
from analyzers.machine.libraries.torch.unknown_tensors import is_of_tensors, tensors_have
from analyzers.machine.objects.attributes import call_method, get_attribute, set_attribute
from analyzers.machine.operators.possible_shapes import note_sliced
from analyzers.syntax import nodes as n
from analyzers.syntax.roles import dotted


def tensor_for(m: Machine, value: Unknown, *, keeps: bool) -> Value | None:
    """The tensor that an unknown value most likely is, where it is used as one.

    With `keeps` it has the graph of what it is made of, if that has one; without, nothing is presumed then.
    """
    if not m.config.presumes or value.type not in {None, "tensor"}:
        return None
    given, is_unrecorded = m.given_to(origin_of(value.symbol)), m.test(_is_unrecorded, value.symbol)
    if holds_made_graph(m, given) if is_unrecorded else holds_graph(m, given):
        return None
    known = stand_in(m, value)
    if known is not None:
        return known
    if is_unrecorded:
        m.presume("what is computed without gradients has no graph", of_data=True)
        return _stand(m, value, sure=True)
    keeps = keeps or value.symbol in m.notebook(Inputs).symbols
    is_open = keeps and bool(m.passed_to(origin_of(value.symbol))) and not _is_plain(value.symbol)
    made = presumed_loss(m, value) if is_open else value
    if isinstance(made, Ref):
        m.presume("the input keeps the graph of what it is made of", of_data=True)
        return made
    if holds_graph(m, value.reach) and not _is_plain(value.symbol):
        return None
    m.presume("the input is data without a graph", of_data=True)
    return _stand(m, value, sure=keeps)


def stand_in(m: Machine, value: Value) -> Ref | None:
    """The tensor that an unknown value was taken for before."""
    if not isinstance(value, Unknown) or value.symbol is None or not m.config.presumes:
        return None
    kept = m.standing_for(value.symbol)
    return Ref(kept) if kept is not None and isinstance(m.st.find(kept), Tensor) else None


def note_loaded(m: Machine, item: Value) -> None:
    """What comes from something that nobody knows, and is made of nothing but data, are data."""
    if isinstance(item, Unknown) and item.symbol is not None and m.config.presumes:
        if not holds_graph(m, item.reach):
            m.indexes.loaded.add(item.symbol)


class Batches:
    """What a loader gives has a dimension for its items, even where an item is a number: its parts, by their symbols,
    and the tensors that stand for some."""

    def __init__(self) -> None:
        self.symbols: set[object] = set()
        self.listings: set[object] = set()
        """The parts of a batch one by one: `batch.values()`."""
        self.tensors: set[int] = set()


def is_batch(m: Machine, symbol: object) -> bool:
    return m.test(_is_of_batches, symbol)


def note_batch(m: Machine, whole: Unknown | None, parts: Iterable[Value]) -> None:
    """Note parts of a batch, `whole`; or batches, for None."""
    if whole is None or m.test(_is_of_batches, whole.symbol):
        m.effect(_add_batches, tuple([part.symbol for part in parts if isinstance(part, Unknown) and part.symbol]))


def _is_of_batches(m: Machine, symbol: object) -> bool:
    return _is_of(symbol, m.notebook(Batches, told=True).symbols)


def _add_batches(m: Machine, symbols: tuple[object, ...]) -> None:
    m.notebook(Batches, told=True).symbols.update(symbols)


class Inputs:
    """What modules of the program compute with, by symbols."""

    def __init__(self) -> None:
        self.symbols: set[object] = set()


def note_input(m: Machine, value: Unknown) -> None:
    if value.symbol is not None:
        m.notebook(Inputs).symbols.add(value.symbol)


class CutOff:
    """Where graphs ended in a library's function that returns data, by what it returned."""

    def __init__(self) -> None:
        self.at: dict[object, Lineage] = {}

    def behind(self, symbol: object) -> tuple[Lineage, ...]:
        """The step that cut the graph of data, or of that whose attribute or item they are."""
        while isinstance(symbol, tuple) and symbol not in self.at:
            symbol = symbol[0]
        return (self.at[symbol],) if symbol in self.at else ()


def is_loaded(m: Machine, symbol: object) -> bool:
    """Whether an unknown value is an item of a loop, or an attribute or item of one."""
    return m.test(_is_loaded, symbol)


def _is_loaded(m: Machine, symbol: object) -> bool:
    return _is_of(symbol, m.indexes.loaded)


def _is_unrecorded(m: Machine, symbol: object) -> bool:
    return _is_of(symbol, m.indexes.unrecorded)


def _is_of(symbol: object, symbols: Container[object]) -> bool:
    """Whether an unknown value is one of these, or an attribute or item of one."""
    return _among(symbol, symbols) in symbols


def _among(symbol: object, symbols: Container[object]) -> object:
    """That of these symbols of which an unknown value is an attribute or item; any other, if there is none."""
    while isinstance(symbol, tuple) and symbol not in symbols:
        symbol = symbol[0]
    return symbol


def _is_plain(symbol: object) -> bool:
    """Whether this is `loss.data`, or an item of it."""
    while isinstance(symbol, tuple) and symbol[-1] != "data":
        symbol = symbol[0]
    return isinstance(symbol, tuple)


def _stand(m: Machine, value: Unknown, *, sure: bool) -> Ref:
    flag = asked(m.st, value.symbol)
    if flag is not None:
        made = plain(m, flag, GUESS)
    elif m.test(_is_unrecorded, value.symbol) and value.lineage is not None:
        made = plain(m, behind=(replace(value.lineage, cut="no-grad"),))
    elif is_loaded(m, value.symbol) or (sure and not _is_argument(value.symbol)):
        made = plain(m, behind=m.notebook(CutOff).behind(value.symbol))
    else:
        made = plain(m, what=GUESS)
    if m.indexes.unrecorded.get(_among(value.symbol, m.indexes.unrecorded)):
        m.st.update(made.id, Tensor, lambda t: replace(t, inference=True))
    if value.symbol is not None:
        m.st.stand_ins = m.st.stand_ins.set(value.symbol, made.id)
        if _is_of(value.symbol, m.notebook(Batches).symbols):
            m.notebook(Batches).tensors.add(made.id)
        if _may_be_one_item(value.symbol):
            note_sliced(m, made.id)
    return made


def _may_be_one_item(symbol: object) -> bool:
    """Whether this is `x[i : i + 1]`, or sliced by bounds that nobody knows."""
    while isinstance(symbol, tuple):
        for index in symbol[-1].items if isinstance(symbol[-1], Tup) else symbol[-1:]:
            match index:
                case SliceValue(Const(value=start), Const(value=end)) if end is None or isinstance(end, int):
                    if end is not None and end - (start if isinstance(start, int) else 0) == 1:
                        return True
                case SliceValue():
                    return True
        symbol = symbol[0]
    return False


def _is_argument(symbol: object) -> bool:
    """Whether this is what a function was passed that nobody calls, or a part of it."""
    origin = origin_of(symbol)
    return isinstance(origin, tuple) and origin[0] == "arg"


def plain(m: Machine, requires: truth.Truth = False, what: str = "loaded", behind: tuple[Lineage, ...] = ()) -> Ref:
    """A tensor without a graph, or anything made of such; None for `requires` if it may be no data, but a result."""
    made = m.new_tensor(None, None, requires_grad=requires, lineage=m.trail(what, behind))
    m.st.update(made.id, Tensor, lambda t: replace(t, presumed=True, contiguous=None))
    return made


def made_of_data(m: Machine, func: Value, args: Args) -> Ref | None:
    """What an unknown call returns that is passed data alone: more data."""
    reach = reach_of(func, *args.all())
    found = [m.st.find(ident) for ident in reach]
    if func == NONE or not found or not all(isinstance(one, Tensor | Array) for one in found):
        return None  # a name that holds None is filled with a function later, nobody knows with which
    if holds_graph(m, reach) or any(getattr(one, "parameter", False) for one in found) or is_class_outside(func):
        return None
    if not m.config.presumes:
        m.record.unresolved.data = True
        return None
    m.presume("what is computed from data are data", of_data=True)
    trails = tuple(one.lineage for one in found if isinstance(one, Tensor) and one.lineage is not None)
    if isinstance(func, Unknown) and _is_criterion(m) and _are_cut(trails):
        return m.new_tensor(None, "float32", lineage=m.trail("?", trails))
    made = plain(m, what=GUESS) if isinstance(func, Unknown) else plain(m)
    memories = {
        ident if one.base is None else one.base
        for ident, one in zip(reach, found, strict=True)
        if isinstance(one, Tensor)
    }
    if len(memories) == 1:
        m.st.update(made.id, Tensor, lambda t: replace(t, perhaps_of=min(memories)))
    return made


_CRITERION = re.compile(r"(?i)\w*(?:loss|crit|dice|entropy)\w*")


def _is_criterion(m: Machine) -> bool:
    """Whether what is called compares what it is passed, by its name, and has no weights."""
    call = m.frame.node
    return isinstance(call, n.Call) and bool(_CRITERION.fullmatch(dotted(call.func).rpartition(".")[2]))


def _are_cut(trails: Sequence[Lineage], limit: int = 200) -> bool:
    """Whether something that had a graph is behind data that have none."""
    return any(step.cut is not None for trail in trails for step in trail.walk(limit))


def is_class_outside(func: Value) -> bool:
    """Whether what is called is a class of a library, by its name: nobody knows what its objects do with data."""
    name = outside_name(func)
    return name is not None and name.rpartition(".")[2][:1].isupper()


def is_weight(symbol: object) -> bool:
    """Whether this is a parameter of something, by its name: modules have `requires_grad_` too."""
    return isinstance(symbol, tuple) and symbol[-1] in {"weight", "bias"}


def unfreeze(m: Machine, model: Ref) -> None:
    """Some of a model's parameters may learn, though all were frozen."""
    for ident in [value.id for _, value in members(m, model, "_parameters") if isinstance(value, Ref)]:
        m.st.update(ident, Tensor, lambda t: replace(t, requires_grad=None) if t.requires_grad is False else t)


def _unfreeze_parts(m: Machine, part: Unknown, *, sure: bool = True) -> None:
    """An unknown part of a model learns, or perhaps does: `model.layer4.requires_grad_(True)`."""
    for ident in part.reach:
        if is_module(m, Ref(ident)):
            learning = unfreeze_some(m, Ref(ident)) if sure else None
            for one, was in learning or () if m.record.trains else ():
                m.note(FlagSet(m.site(), one, was, of_some=True))
            if learning is None:
                unfreeze(m, Ref(ident))


def _freeze_parts(m: Machine, part: Unknown) -> None:
    """An unknown part of a model no longer learns: of the whole, some does not. What the program itself has put into a
    model that nobody knows is not that part."""
    made = m.notebook(PresumedParameters).made
    for ident in part.reach:
        presumed = stands_in(m, Ref(ident))
        for _, value in members(m, Ref(ident), "_parameters"):
            if isinstance(value, Ref) and (value.id in made or not presumed):
                note_partly_frozen(m, value.id)
                m.st.update(value.id, Tensor, lambda t: replace(t, requires_grad=None) if t.requires_grad else t)


def _leaf(m: Machine, value: Unknown) -> Ref:
    """What the program makes require grad is most likely a leaf, such as a weight of a model that nobody knows."""
    m.presume("what is made to require grad is a leaf", of_data=True)
    for ident in value.reach:
        unfreeze(m, Ref(ident))
    made = plain(m)
    m.st.stand_ins = m.st.stand_ins.set(value.symbol, made.id)
    return made


class DataGuess(Guess):
    """A value whose methods only tensors have, or that was used as a tensor before."""

    def get_attribute(self, m: Machine, owner: Unknown, name: str) -> Value | None:
        # What `requires_grad_` is of, its argument tells.
        found = self._found(m, owner, name) if name != "requires_grad_" else None
        return None if found is None else get_attribute(m, found, name)

    def call_method(self, m: Machine, owner: Unknown, name: str, args: Args) -> Value | None:
        if name == "requires_grad_":
            return self._flag(m, owner, args) if m.config.presumes else None
        found = self._found(m, owner, name)
        return None if found is None else call_method(m, found, name, args)

    def _flag(self, m: Machine, owner: Unknown, args: Args) -> Value | None:
        """`part.requires_grad_(flag)`: of a module, most likely, where it is not called a weight."""
        if args.get(0, "requires_grad", TRUE) != TRUE:
            _freeze_parts(m, owner)
            return None
        is_part = any(stands_in(m, Ref(ident)) for ident in owner.reach) and not is_weight(owner.symbol)
        found = None if is_part else self._found(m, owner, "requires_grad_")
        _unfreeze_parts(m, owner)
        if found is None and is_weight(owner.symbol):
            found = _leaf(m, owner)
        return None if found is None else call_method(m, found, "requires_grad_", args)

    def set_attribute(self, m: Machine, owner: Unknown, name: str, value: Value) -> bool:
        if name != "requires_grad" or not m.config.presumes:
            m.record.unresolved.data = m.record.unresolved.data or name == "requires_grad"
            return False
        if value == FALSE:
            _freeze_parts(m, owner)
        else:
            _unfreeze_parts(m, owner, sure=value == TRUE)
        found = tensor_for(m, owner, keeps=False)
        if found is not None:
            set_attribute(m, found, name, value)
            beside = [ident for ident in owner.reach if not stands_in(m, Ref(ident))]
            for ident in tensors_held(m, beside):
                m.st.update(ident, Tensor, lambda t: replace(t, requires_grad=None) if t.is_leaf else t)
        return found is not None

    def _found(self, m: Machine, owner: Unknown, name: str) -> Value | None:
        if name == "backward" or not m.config.presumes:
            return None
        named = is_of_tensors(name) or (is_loaded(m, owner.symbol) and tensors_have(name))
        return PORTS.likely.tensor(m, owner, keeps=False) if named else PORTS.likely.stand_in(m, owner)


GUESSES.insert(0, DataGuess())


@answers("autograd_machine.presumed_data")
def _presumed_data(m: Machine, args: Args) -> Value:
    """What a loader yields from an unknown data set: tensors without a graph, or anything made of them. So is what is
    computed without gradients from the arguments."""
    if not m.config.presumes:
        m.record.unresolved.data = True
        return Unknown(None, m.fresh())
    m.presume("the data are tensors without a graph", of_data=True)
    batch = Unknown(None, m.fresh(), m.trail("loaded", ()))
    note_loaded(m, batch)
    note_batch(m, None, [batch])
    if any(tensor.requires_grad for value in args.pos if (tensor := m.tensor(value)) is not None):
        m.notebook(CutOff).at[batch.symbol] = Lineage("model", m.here(), m.parents(args.pos), "no-grad", m.via())
    return batch
