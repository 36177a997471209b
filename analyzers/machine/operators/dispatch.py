"""Operator calls: picks the overload, then runs its kernel or its row.

A kernel gets the operator's arguments by schema name and returns its result, or None to leave the call to the generic
treatment, in which the graph of a composite is unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from analyzers.domain.copies import replace
from analyzers.domain.join import reach_of
from analyzers.domain.objects import ListObj
from analyzers.domain.values import NONE, Ref, Tup, Unknown, Value
from analyzers.machine.autograd.graph import refreshed
from analyzers.machine.autograd.requires_grad import flag_new
from analyzers.machine.core.arguments import Args
from analyzers.machine.core.causes import NumberWanted
from analyzers.machine.core.havoc import havoc_target, writes_in_place
from analyzers.machine.core.machine import Machine
from analyzers.machine.core.ports import PORTS
from analyzers.machine.core.tables import enter
from analyzers.machine.operators.arguments import Bound, kind_of, refuse
from analyzers.machine.operators.autocast import converts, run_converted
from analyzers.machine.operators.decompositions import composed
from analyzers.machine.operators.lists import of_some_length
from analyzers.machine.operators.opaque import decomposed, unresolved
from analyzers.machine.operators.out_variants import write_out
from analyzers.machine.operators.possible_shapes import note_computed
from analyzers.machine.operators.rows import run_row
from analyzers.ops import table
from analyzers.ops.infer import ShapeError
from analyzers.ops.resolve import resolve, signatures
from analyzers.ops.table import Row

_FUNCTIONAL = ("<prelude>/torch.nn.functional/", "<prelude>/torch.nn.init/")
"""Prelude models of Python functions that pass their arguments on to operators."""


def call_torch(
    m: Machine, name: str, args: Sequence[Value], kwargs: Mapping[str, Value], count: int | None = None
) -> Value:
    """Call an operator by its Python name; `count` is the number of items expected from one that returns a list."""
    if not writes_in_place(name):
        args = [of_some_length(m, a) for a in args]
    if m.config.presumes:
        args = [PORTS.likely.stand_in(m, a) or a for a in args]
        kwargs = {name: PORTS.likely.stand_in(m, a) or a for name, a in kwargs.items()}
    kinds = [kind_of(m, a) for a in args]
    named = {k: kind_of(m, v) for k, v in kwargs.items() if k not in {"requires_grad", "pin_memory", "generator"}}
    found = resolve(name, kinds, named)
    if found is None:
        return unresolved(m, name, args, kwargs)
    if len({tuple(given.type for given in row.returns) for row in found.candidates}) > 1 and not m.config.presumes:
        # `x.max(unknown)`: a tensor, or values and indices.
        values = [*args, *kwargs.values()]
        m.record.imprecisions += 1
        if "out" in kwargs:
            havoc_target(m, kwargs["out"])
        return Unknown(None, m.fresh(), m.trail(name.rsplit(".", 1)[-1], m.parents(values)), reach_of(*values))
    bound: dict[str, Value] = {}
    for parameter, (where, key) in found.binding.items():
        if where == "arg":
            bound[parameter] = args[int(key)]
        elif where == "rest":
            bound[parameter] = Tup(tuple(args[int(key) :]))
        else:
            bound[parameter] = kwargs[str(key)]
    if (
        found.coerced
        and not m.extent.enclosing_operator
        and (not m.frame.library or m.frame.module.startswith(_FUNCTIONAL))
    ):
        _refuse_number(m, name, found.candidates, bound)
    if m.config.presumes:
        bound = {name: _likely_operand(m, found.candidates, name, value) for name, value in bound.items()}
    row = _as_cpp_calls(m, found.row, bound)
    others = [c for c in found.candidates if c.grad_fn != found.row.grad_fn or c.kind != found.row.kind]
    what = m.extent.enclosing_operator or name.rsplit(".", 1)[-1].strip("_")
    result = apply(m, row, bound, what=what, doubtful=bool(others), count=count)
    if others:
        saved = [frozenset(entry.name for entry in candidate.saves) for candidate in found.candidates]
        doubt_saved(m, result, frozenset({""}).union(*saved) - frozenset.intersection(*saved), "unknown")
    wants = kwargs.get("requires_grad")
    if wants is not None and isinstance(result, Ref):
        required = PORTS.python.truth(m, wants)
        m.record.trains = m.record.trains or (required is True and not m.frame.library)
        flag_new(m, result, required)
    return result


def sizes_of(m: Machine, name: str, args: Args) -> list[Value] | None:
    """The positional arguments of `torch.zeros(4, *sizes)`, if what is passed can only be one list of sizes."""
    method = name.startswith("Tensor.")
    kinds = {kind_of(m, value) for value in args.pos[method:]}
    fitting = [each.max_positional == 1 and each.parameters[0].type.startswith("int[") for each in signatures(name)]
    if not args.starred or not any(fitting) or not (all(fitting) or "int" in kinds):
        return None
    if not kinds <= {"int", "unknown"}:
        return None
    return [*args.pos[:method], Unknown("torch.Size")]


def doubt_saved(m: Machine, result: Value, names: Collection[str], kind: str = "op") -> None:
    """Of a result's node, if it is of a kind: these operands were saved perhaps, or perhaps copies of them were."""
    tensor = m.tensor(result)
    if tensor is None or tensor.edge is None or tensor.edge.node is None:
        return
    node = m.node(tensor.edge.node)
    if node.kind == kind:
        saved = tuple(replace(kept, maybe=kept.maybe or kept.name in names) for kept in node.saved)
        m.st.put(tensor.edge.node, replace(node, saved=saved))


def _refuse_number(m: Machine, name: str, candidates: Sequence[Row], bound: Mapping[str, Value]) -> None:
    """Where torch takes a number, a one-element tensor is accepted, unless it requires grad."""
    for parameter, value in bound.items():
        if not isinstance(value, Ref) or m.tensor(value) is None:
            continue
        tensor = refreshed(m, value.id)
        if tensor.requires_grad and all(_takes_number(row, parameter) for row in candidates):
            *_, space, short = name.split(".")
            called = f"{space}_{short}" if space in {"linalg", "special", "fft"} else short
            raise m.throw("TypeError", f"{called}()", NumberWanted(parameter, tensor.lineage))


def _takes_number(row: Row, parameter: str) -> bool:
    return any(arg.name == parameter and arg.type.removesuffix("?") in {"Scalar", "float"} for arg in row.args)


def _as_cpp_calls(m: Machine, row: Row, bound: Mapping[str, Value]) -> Row:
    """Inside a composite, arithmetic with a number runs as called from C++; in a call from Python the number first
    becomes a tensor."""
    number = kind_of(m, bound.get("other", NONE)) in {"int", "float", "bool", "complex"}
    if m.extent.enclosing_operator and number and row.overload == "Tensor":
        return table.row(f"{row.base}.Scalar") or row
    return row


def apply(
    m: Machine,
    row: Row,
    bound: dict[str, Value],
    *,
    what: str = "",
    doubtful: bool = False,
    count: int | None = None,
) -> Value:
    """Run one operator."""
    what = what or row.base
    if m.config.presumes and m.frame.library:
        bound = {name: _likely_operand(m, (row,), name, value) for name, value in bound.items()}
    result = _run(m, row, bound, what, doubtful, count)
    note_computed(m, row, bound, result)
    return result


def _run(m: Machine, row: Row, bound: dict[str, Value], what: str, doubtful: bool, count: int | None) -> Value:
    if converts(m, row):
        return run_converted(m, row, bound, lambda b: apply(m, row, b, what=what, doubtful=doubtful, count=count))
    if row.out:
        return write_out(m, row, bound, what, apply)
    if row.alias_of is not None:
        target = table.row(row.alias_of)
        if target is not None and not doubtful:
            renamed = {
                theirs.name: bound[ours.name]
                for ours, theirs in zip(row.args, target.args, strict=False)
                if ours.name in bound
            }
            return apply(m, target, renamed, what=what, count=count)
    handler = KERNELS.get(row.base)
    if handler is not None:
        try:
            result = handler(m, row, bound, what)
        except ShapeError as refused:
            refuse(m, refused)
            result = None
        if result is not None:
            return result
    if row.kind == "composite":
        result = composed(m, row, bound, what)
        if result is not None:
            return result
        if not row.inplace:
            return decomposed(m, row, bound, what, count)
    return run_row(m, row, bound, what=what, doubtful=doubtful, count=count)


def _likely_operand(m: Machine, rows: Sequence[Row], name: str, value: Value) -> Value:
    """A tensor for an unknown value that is taken as one, whichever of these rows is meant; a list of such for one that
    is taken as a list of tensors."""
    if not isinstance(value, Unknown | Tup | Ref) or m.tensor(value) is not None:
        return value
    taken = {None if (arg := row.arg(name)) is None else arg.type for row in rows}
    if taken <= {"Tensor", "Tensor?"}:
        return _likely_tensor(m, value)
    if taken != {"Tensor[]"}:
        return value
    if isinstance(value, Unknown) and value.symbol is not None:
        item = Unknown(None, (value.symbol, "each"), value.lineage, value.reach)
        each = _likely_tensor(m, item)
        return value if each is item else m.new(ListObj((each,), each))
    found = m.obj(value)
    if isinstance(found, ListObj):
        items = tuple(_likely_tensor(m, item) for item in found.items)
        rest = None if found.rest is None else _likely_tensor(m, found.rest)
        return value if (items, rest) == (found.items, found.rest) else m.new(ListObj(items, rest))
    return Tup(tuple(_likely_tensor(m, item) for item in value.items)) if isinstance(value, Tup) else value


def _likely_tensor(m: Machine, value: Value) -> Value:
    if not isinstance(value, Unknown):
        return value
    return PORTS.likely.tensor(m, value, keeps=m.frame.library) or value


Handler = Callable[[Machine, Row, Bound, str], "Value | None"]


KERNELS: dict[str, Handler] = {}


def kernel(*names: str) -> Callable[[Handler], Handler]:
    def register(handler: Handler) -> Handler:
        for name in names:
            enter(KERNELS, name, handler)
        return handler

    return register


def op(m: Machine, name: str, what: str, **bound: Value) -> Value:
    """Run the row `name` (including its overload) as part of the operator that the user called."""
    row = table.row(name) or table.row(name + ".default")
    assert row is not None, name
    return apply(m, row, bound, what=what)


def perhaps(m: Machine, name: str, what: str, **bound: Value) -> Value:
    """Run the row `name`, where torch may run another one with the same result and other nodes."""
    row = table.row(name)
    assert row is not None, name
    return apply(m, row, bound, what=what, doubtful=True)
