"""What a model returns that nobody knows: a tensor with the graph of its weights, or anything that holds some."""

from __future__ import annotations

from collections.abc import Sequence

from analyzers.domain import truth
from analyzers.domain.copies import replace
from analyzers.domain.join import reach_of
from analyzers.domain.lineage import Cut, Lineage
from analyzers.domain.objects import DictObj, Edge, ListObj, Tensor
from analyzers.domain.values import NONE, Ref, Tup, Unknown, Value
from analyzers.machine.autograd.graph import edge_to, refreshed
from analyzers.machine.autograd.likely_tensors import PartsWalked, PresumedParameters, is_doubted, with_graph
from analyzers.machine.autograd.saved_tensors import check_savable, save
from analyzers.machine.autograd.tensors import tensor_at
from analyzers.machine.autograd.trainables import is_module, members, unseen, weights
from analyzers.machine.core.arguments import Args
from analyzers.machine.core.machine import Machine
from analyzers.machine.core.ports import PORTS
from analyzers.machine.core.registries import answers
from analyzers.machine.operators.possible_shapes import is_sliced, note_sliced
from analyzers.syntax import nodes as n


@answers("autograd_machine.presumed_output")
def _presumed_output(m: Machine, args: Args) -> Value:
    """The result of a presumed model: a tensor, or anything that contains some."""
    PORTS.python.run_callbacks(m)
    made = _computed_by_model(m, args)
    if isinstance(made, Ref) and any(is_sliced(m, part.id) for value in args.pos[1:] for part in _tensors_in(m, value)):
        note_sliced(m, made.id)
    return made


def computed_by_one_of(m: Machine, func: Unknown, args: Args) -> Value | None:
    """What a call returns of one of several modules, nobody knows which: of `self.layers[i]`, of the element that
    stands for the rest of a list. All of them stand for it, as each is one in some round."""
    layers, node = tuple(Ref(ident) for ident in func.reach), m.frame.node
    if func.symbol is not None or len(layers) < 2 or not all(is_module(m, layer) for layer in layers):
        return None
    if isinstance(node, n.Call) and isinstance(node.func, n.Attribute):
        return None  # a method of one, and not one itself
    own = dict.fromkeys(value for layer in layers for _, value in members(m, layer, "_parameters"))
    m.presume("one of several layers is called")
    return _computed_by_model(m, Args([NONE, *own, *args.all()]))


def _computed_by_model(m: Machine, args: Args) -> Value:
    model, *given = args.pos
    operands = [part for value in given for part in _tensors_in(m, value)]
    perhaps = [edge for value in _perhaps_used(m, model, operands) if (edge := edge_to(m, value.id)) is not None]
    presumed = m.notebook(PresumedParameters)
    used = {part.id for part in operands}
    presumed.computed |= used & presumed.weighty if m.st.grad is False else used
    required = truth.any_of(refreshed(m, v.id).requires_grad for v in operands)
    required = None if perhaps and not required else required
    off: Cut | None = "no-grad" if m.st.grad is False else None
    parents = m.parents(given)
    lineage = Lineage("model", m.here(), parents, off if required else None, m.via())
    if not required and any(is_doubted(m, parent) for parent in parents):
        lineage = replace(lineage, perhaps_cut=off)
    if any(_may_be_parameter(m, value) for value in given):
        return Unknown(None, None, lineage)
    if m.st.grad is True and required is True:
        if not any(refreshed(m, v.id).requires_grad and not tensor_at(m, v.id).parameter for v in operands):
            # A layer saves its input; a loss that compares two need not save the one that has no graph.
            for value in operands:
                check_savable(m, value.id)
        edges = (edge_to(m, v.id) for v in operands)
        # A model of several layers saves its weights, for the gradients of what is before them.
        kept = (save(m, v.id, "weight") for v in operands if tensor_at(m, v.id).parameter)
        known = [edge for edge in edges if edge is not None]
        made = with_graph(m, (*known, *(replace(edge, maybe=True) for edge in perhaps)), lineage, tuple(kept))
        edge = tensor_at(m, made.id).edge
        if edge is not None and edge.node is not None and _are_several(m, operands):
            m.notebook(PartsWalked).several.add(edge.node)
        return made
    required = truth.both(m.st.grad, required)
    made = m.new_tensor(None, "float32", requires_grad=required, lineage=replace(lineage, doubted=required is None))
    edge = None if required is False else Edge()
    m.st.update(made.id, Tensor, lambda t: replace(t, edge=edge, presumed=True, contiguous=None))
    return made


def _are_several(m: Machine, operands: Sequence[Ref]) -> bool:
    return sum(not tensor_at(m, value.id).parameter for value in operands) > 1


def _perhaps_used(m: Machine, model: Value, operands: Sequence[Ref]) -> list[Ref]:
    """The weights with which a presumed model perhaps computes, too: of what a part of it was given as a hook
    (`net.blocks[0].register_forward_hook(self.add)`), of parts that it need not have, and where a part of it computes,
    of those that the program has put into it."""
    given = m.given_to(model.id) if isinstance(model, Ref) else ()
    more = reach_of(unseen(m, model) or NONE)
    held: dict[Value, None] = dict.fromkeys(Ref(ident) for ident in weights(m, model))
    held.update(dict.fromkeys(v for ident in (*given, *more) for _, v in members(m, Ref(ident), "_parameters")))
    return [value for value in held if isinstance(value, Ref) and value not in operands and m.tensor(value) is not None]


def _may_be_parameter(m: Machine, value: Value) -> bool:
    """Whether something was put in place of parameters, nobody knows of which."""
    held = [m.st.find(ident) for ident in value.reach] if isinstance(value, Unknown) else []
    return any(isinstance(found, Tensor) and found.parameter for found in held)


@answers("autograd_machine.tensors_in")
def _held_tensors(m: Machine, args: Args) -> Value:
    """The tensors in a result of which it is known whether they have a graph."""
    found = _tensors_in(m, args.get(0, "made"))
    return m.new(ListObj(tuple(value for value in found if tensor_at(m, value.id).requires_grad is not None)))


def _tensors_in(m: Machine, value: Value) -> list[Ref]:
    """A tensor, or those in a list, a tuple or a dict, or that something unknown was made of."""
    found = m.obj(value)
    parts: tuple[Value, ...]
    match value, found:
        case Unknown(reach=reach), _:
            parts = tuple(Ref(ident) for ident in reach if isinstance(m.st.find(ident), Tensor))
        case Tup(items=items), _:
            parts = items
        case _, ListObj(items=items, rest=rest):
            parts = (*items, *(() if rest is None else (rest,)))
        case _, DictObj():
            parts = tuple(found.values)
        case _:
            return [value] if isinstance(value, Ref) and m.tensor(value) is not None else []
    return [tensor for part in parts for tensor in _tensors_in(m, part)]
