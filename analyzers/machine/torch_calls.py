"""Calls of torch's operators: from a Python call to a row of the operator table, and from the row to results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from analyzers.domain import truth
from analyzers.domain.lineage import Cut
from analyzers.domain.objects import Edge, Instance, ListObj, Saved, Shape, Tensor
from analyzers.domain.values import NONE, Builtin, Const, RangeValue, Ref, Tup, Unknown, Value
from analyzers.machine.autocast import converts, run_converted
from analyzers.machine.compositions import composed
from analyzers.machine.core import Machine
from analyzers.machine.events import NumberWanted, Plain
from analyzers.machine.followers import look_at_copy
from analyzers.machine.gathered import forget, look_at_write
from analyzers.machine.memory import (
    change_layout,
    check_memory,
    doubt_overlap,
    lay_out,
    lay_out_pieces,
    lay_out_results,
    result_contiguous,
    view_layout,
)
from analyzers.machine.outputs import write_out
from analyzers.machine.packing import packed, perhaps_packed
from analyzers.machine.reach import may_lead_on
from analyzers.machine.sparse import note_layouts
from analyzers.machine.tensors import (
    PRIVATE,
    RESHAPING,
    Step,
    bump,
    can_require_grad,
    check_savable,
    check_usable,
    check_write,
    edge_to,
    edges_of,
    inputs_require_grad,
    lost_graph,
    make_node,
    new_result,
    new_view,
    rebase,
    refreshed,
    result_requires_grad,
    save,
    subject_name,
    tensor_at,
)
from analyzers.ops import infer as shapes
from analyzers.ops import table
from analyzers.ops.infer import OpenList, TensorType
from analyzers.ops.resolve import resolve
from analyzers.ops.table import Row

DTYPES = {
    "float": "float32", "double": "float64", "half": "float16", "long": "int64", "int": "int32", "short": "int16",
    "cfloat": "complex64", "cdouble": "complex128", "chalf": "complex32",
}  # fmt: skip

DTYPE_NAMES = frozenset(
    [
        "float16",
        "float32",
        "float64",
        "bfloat16",
        "int8",
        "int16",
        "int32",
        "int64",
        "uint8",
        "uint16",
        "uint32",
        "uint64",
        "bool",
        "complex32",
        "complex64",
        "complex128",
        "float8_e4m3fn",
        "float8_e5m2",
    ]
) | frozenset(DTYPES)


_FUNCTIONAL = ("<prelude>/torch.nn.functional/", "<prelude>/torch.nn.init/")
"""Descriptions of Python functions that hand on to operators what they are given."""


def dtype_of(value: Value) -> str | None:
    """`torch.float` -> `float32`."""
    if isinstance(value, Builtin):
        last = value.name.rsplit(".", 1)[-1]
        if value.name.startswith("torch.") and last in DTYPE_NAMES:
            return DTYPES.get(last, last)
        return {"builtins.float": "float64", "builtins.int": "int64", "builtins.bool": "bool"}.get(value.name)
    return None


def kind_of(m: Machine, value: Value) -> str:
    """What the overload choice needs to know of an argument."""
    match value:
        case Const(value=v):
            if v is None:
                return "none"
            kind = type(v).__name__
            return kind if kind in {"int", "float", "bool", "complex", "str"} else "object"
        case Unknown(type=t):
            return t if t in {"int", "float", "bool", "complex", "str"} else "unknown"
        case Tup(items=items):
            return _list_kind(m, items)
        case RangeValue():
            return "list:int"
        case Builtin(name=name):
            if dtype_of(value) is not None:
                return "dtype"
            if "memory_format" in name or name in {
                "torch.contiguous_format",
                "torch.channels_last",
                "torch.preserve_format",
            }:
                return "memory_format"
            return "layout" if name in {"torch.strided", "torch.sparse_coo"} else "object"
        case Ref():
            found = m.obj(value)
            if isinstance(found, Tensor):
                return "tensor"
            if isinstance(found, ListObj):
                if found.rest is not None:
                    first = found.items[0] if found.items else found.rest
                    inner = kind_of(m, first)
                    return "list:" + (inner if inner in {"tensor", "int", "float", "bool"} else "unknown")
                return _list_kind(m, found.items)
            if isinstance(found, Instance) and found.cls == "torch.device":
                return "device"
            if isinstance(found, Instance) and found.cls == "torch.Generator":
                return "generator"
            return "object"
    return "object"


def _list_kind(m: Machine, items: Sequence[Value]) -> str:
    if not items:
        return "list:empty"
    kinds = {kind_of(m, item) for item in items}
    if len(kinds) == 1:
        return "list:" + kinds.pop()
    if kinds <= {"int", "bool"}:
        return "list:int"
    if kinds <= {"int", "float", "bool"}:
        return "list:float"
    if "tensor" in kinds and kinds <= {"tensor", "none"}:
        return "list:tensor"
    return "list:unknown"


def type_of_argument(m: Machine, value: Value) -> object:
    """An argument as shape inference wants it."""
    match value:
        case Const(value=v):
            return v
        case Unknown(type=kind) if kind in shapes.NUMBERS:
            return shapes.NUMBERS[kind]
        case Tup(items=items):
            return [type_of_argument(m, i) for i in items]
        case Builtin():
            name = dtype_of(value)
            return name if name is not None else shapes.UNKNOWN
        case RangeValue():
            from analyzers.machine.iteration import range_items

            numbers = range_items(value)
            return [type_of_argument(m, i) for i in numbers] if numbers is not None else shapes.UNKNOWN
        case Ref():
            found = m.obj(value)
            if isinstance(found, Tensor):
                return TensorType(found.shape, found.dtype)
            if isinstance(found, ListObj):
                known = [type_of_argument(m, i) for i in found.items]
                if found.rest is None:
                    return known
                rest = type_of_argument(m, found.rest)
                return OpenList(tuple(known), rest) if isinstance(rest, TensorType) else shapes.UNKNOWN
    return shapes.UNKNOWN


def tensors_in(m: Machine, value: Value) -> tuple[int, ...]:
    """The tensors that one argument holds."""
    if isinstance(value, Tup):
        return tuple(i for item in value.items for i in tensors_in(m, item))
    if isinstance(value, Ref):
        found = m.obj(value)
        if isinstance(found, Tensor):
            return (value.id,)
        if isinstance(found, ListObj):
            rest = (found.rest,) if found.rest is not None else ()
            return tuple(i for item in (*found.items, *rest) for i in tensors_in(m, item))
    return ()


def unknown_operand(m: Machine, value: Value) -> bool:
    """Whether an argument may be, or hold, a tensor that the machine does not see."""
    match value:
        case Unknown(type=t):
            return t is None or t == "tensor"
        case Tup(items=items):
            return any(unknown_operand(m, i) for i in items)
        case Ref():
            found = m.obj(value)
            if isinstance(found, ListObj):
                return any(unknown_operand(m, i) for i in found.items) or (
                    found.rest is not None and unknown_operand(m, found.rest)
                )
            return isinstance(found, Instance)
    return False


def call_torch(
    m: Machine, name: str, args: Sequence[Value], kwargs: Mapping[str, Value], count: int | None = None
) -> Value:
    """Call an operator by its Python name; `count` is the number of pieces wanted of one that returns a list."""
    kinds = [kind_of(m, a) for a in args]
    named = {k: kind_of(m, v) for k, v in kwargs.items() if k not in {"requires_grad", "pin_memory", "generator"}}
    found = resolve(name, kinds, named)
    if found is None:
        return unresolved(m, name, args, kwargs)
    bound: dict[str, Value] = {}
    for parameter, (where, key) in found.binding.items():
        if where == "arg":
            bound[parameter] = args[int(key)]
        elif where == "rest":
            bound[parameter] = Tup(tuple(args[int(key) :]))
        else:
            bound[parameter] = kwargs[str(key)]
    if found.coerced and not m.within and (not m.frame.library or m.frame.module.startswith(_FUNCTIONAL)):
        _refuse_number(m, name, found.candidates, bound)
    row = _as_cpp_calls(m, found.row, bound)
    others = [c for c in found.candidates if c.grad_fn != found.row.grad_fn or c.kind != found.row.kind]
    what = m.within or name.rsplit(".", 1)[-1].strip("_")
    result = apply(m, row, bound, what=what, doubtful=bool(others), count=count)
    wants = kwargs.get("requires_grad")
    if wants is not None and isinstance(result, Ref):
        from analyzers.machine.flags import flag_new

        flag_new(m, result, wants)
    return result


def _refuse_number(m: Machine, name: str, candidates: Sequence[Row], bound: Mapping[str, Value]) -> None:
    """Where torch takes a number, a tensor of one element will do, unless it requires grad."""
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
    """In a composition, arithmetic with a number is what C++ calls; from Python the number becomes a tensor first."""
    number = kind_of(m, bound.get("other", NONE)) in {"int", "float", "bool", "complex"}
    if m.within and number and row.overload == "Tensor":
        return table.row(f"{row.base}.Scalar") or row
    return row


def unresolved(m: Machine, name: str, args: Sequence[Value], kwargs: Mapping[str, Value]) -> Value:
    """An operator that the table does not know, or a call that fits none of its overloads."""
    m.unmodelled[name] = m.unmodelled.get(name, 0) + 1
    m.doubts += 1
    values = [*args, *kwargs.values()]
    if name.endswith("_") and not name.endswith("__") and args and isinstance(args[0], Ref):
        from analyzers.machine.havoc import havoc_value

        havoc_value(m, args[0])
        return args[0]
    return opaque_result(m, name, values)


def opaque_result(m: Machine, name: str, values: Sequence[Value]) -> Ref:
    """A tensor computed from `values` in a way that the machine does not know."""
    operands = tuple(i for v in values for i in tensors_in(m, v))
    hidden = any(unknown_operand(m, v) for v in values)
    step = Step(name, name, {"all": operands}, (), ("all",), "unknown", m.parents(values))
    requires = truth.both(m.st.grad, inputs_require_grad(m, step))
    if m.presumes and requires:
        return _presumed_result(m, step)
    if hidden and requires is False and m.st.grad is not False:
        requires = None
    if requires is not False:
        requires = None
    node = make_node(m, step, ()) if requires is not False else None
    cut = lost_graph(m, operands, None) if m.st.grad is False else None
    result = new_result(m, step, None, None, node, requires=requires, cut=cut, contiguous=None)
    if hidden:
        tensor = tensor_at(m, result.id)
        tensor.edge = Edge() if requires is not False else None
    if hidden or any(tensor_at(m, i).sparse is not False for i in operands):
        tensor_at(m, result.id).sparse = None
    return result


def _presumed_result(m: Machine, step: Step) -> Ref:
    """An operator that the machine does not know is taken for one with a derivative."""
    step.kind = "op"
    return new_result(m, step, None, None, make_node(m, step, ()), requires=True, contiguous=None)


# --- rows -------------------------------------------------------------------------------------------------------


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
    from analyzers.machine.composites import COMPOSITES

    what = what or row.base
    if converts(m, row):
        return run_converted(m, row, bound, lambda b: apply(m, row, b, what=what, doubtful=doubtful, count=count))
    if row.out:
        return write_out(m, row, bound, what)
    if row.alias_of is not None:
        target = table.row(row.alias_of)
        if target is not None and not doubtful:
            renamed = {
                theirs.name: bound[ours.name]
                for ours, theirs in zip(row.args, target.args, strict=False)
                if ours.name in bound
            }
            return apply(m, target, renamed, what=what, count=count)
    handler = COMPOSITES.get(row.base)
    if handler is not None:
        result = handler(m, row, bound, what)
        if result is not None:
            return result
    if row.kind == "composite":
        result = composed(m, row, bound, what)
        if result is not None:
            return result
        if not row.inplace:
            return _composite(m, row, bound, what, count)
    return run_row(m, row, bound, what=what, doubtful=doubtful, count=count)


def step_of(m: Machine, row: Row, bound: Mapping[str, Value], what: str) -> Step:
    inputs = {name: tensors_in(m, value) for name, value in bound.items()}
    differentiable = tuple(n for n in row.differentiable if inputs.get(n))
    names = (row.grad_fn,) if row.grad_fn else ()
    kind = "unimplemented" if row.kind == "not-implemented" else "op"
    step = Step(row.base, what, inputs, names, differentiable, kind, m.parents(list(bound.values())))
    step.payload = Const(row.base)
    step.scalars = tuple((n, v) for n, v in bound.items() if isinstance(v, Const | Tup) and not inputs.get(n))
    step.hidden = may_lead_on(m, bound.values())
    return step


def run_row(
    m: Machine,
    row: Row,
    bound: dict[str, Value],
    *,
    what: str,
    doubtful: bool = False,
    count: int | None = None,
) -> Value:
    step = step_of(m, row, bound, what)
    if row.kind == "not-implemented" and row.arg("pin_memory") is not None:
        # What makes a tensor from sizes and numbers does so below autograd.
        return _run_plain(m, row, bound, step, count)
    if row.kind == "not-implemented":
        # Its node has edges only to what requires grad.
        step.differentiable = tuple(
            n for n, ids in step.inputs.items() if any(refreshed(m, i).requires_grad is not False for i in ids)
        )
        step.names = ("NotImplemented",)
        step.payload = Const(f"aten::{row.base}")
    step.requires = False if row.kind == "no-grad" else inputs_require_grad(m, step)
    hidden = any(unknown_operand(m, bound[n]) for n in row.differentiable if n in bound)
    if hidden and not step.requires and row.kind != "no-grad":
        step.requires = None
    if doubtful:
        step.kind, step.names = "unknown", ()
    if row.kind != "no-grad":
        _check_forbidden(m, row, step)
    if row.inplace:
        return _run_in_place(m, row, bound, step)
    if row.kind != "no-grad":
        check_usable(m, step)
    if row.view in {"view", "multi"}:
        return _run_view(m, row, bound, step, count)
    return _run_plain(m, row, bound, step, count)


def _check_forbidden(m: Machine, row: Row, step: Step) -> None:
    for name in row.forbidden:
        for ident in step.inputs.get(name, ()):
            if refreshed(m, ident).requires_grad and m.st.grad is True:
                message = f"The function '{row.base}' is not differentiable with respect to argument '{name}'."
                raise m.throw("RuntimeError", message, Plain())
    if row.gradient_not_implemented and step.requires:
        bad = [i for n in row.gradient_not_implemented for i in step.inputs.get(n, ())]
        if bad and all(refreshed(m, i).requires_grad for i in bad):
            step.kind = "unimplemented"


def types_of(m: Machine, bound: Mapping[str, Value]) -> dict[str, object]:
    return {name: type_of_argument(m, value) for name, value in bound.items()}


def infer(m: Machine, row: Row, bound: Mapping[str, Value]) -> tuple[TensorType, ...] | None:
    try:
        return shapes.infer(row.base, types_of(m, bound), default_dtype=m.default_dtype)
    except shapes.ShapeError as refused:
        refuse(m, refused)
        return None


def infer_list(m: Machine, row: Row, bound: Mapping[str, Value]) -> tuple[TensorType, ...] | None:
    try:
        return shapes.infer_list(row.base, types_of(m, bound))
    except shapes.ShapeError as refused:
        refuse(m, refused)
        return None


def refuse(m: Machine, error: shapes.ShapeError) -> None:
    """Torch raises for these sizes. Where the prelude asked, it may have asked for what torch does not do itself."""
    if not m.frame.library and not m.within:
        raise m.throw(error.exception, str(error))


def saved_tensors(m: Machine, row: Row, step: Step, bound: Mapping[str, Value]) -> list[object]:
    """What the node keeps of its inputs: `Saved`s; outputs come later, as their table rows."""
    out: list[object] = []
    for entry in row.saves:
        maybe = False
        if entry.for_inputs is not None:
            needed = truth.any_of(
                refreshed(m, i).requires_grad for name in entry.for_inputs for i in step.inputs.get(name, ())
            )
            if needed is False and not any(unknown_operand(m, bound[n]) for n in entry.for_inputs if n in bound):
                continue
            maybe = needed is not True
        if entry.is_output:
            out.append(entry)
            continue
        if entry.is_private or entry.name not in bound:
            if entry.is_private or row.arg(entry.name) is None:
                out.append(packed(m, Saved(entry.name or "", None, None)))
            continue
        ids = step.inputs.get(entry.name, ())
        if not ids:
            if bound[entry.name] != NONE:
                out.append(perhaps_packed(m, bound[entry.name]))
            continue
        for ident in ids:
            check_savable(m, ident)
            out.append(packed(m, save(m, ident, entry.name, maybe=maybe)))
    return out


def _recorded(m: Machine, step: Step) -> truth.Truth:
    """Whether a node is made."""
    if m.st.inference:
        return False
    return truth.both(m.st.grad, step.requires)


def _cut_of(m: Machine, row: Row, step: Step, dtype: str | None) -> Cut | None:
    operands = [i for ids in step.inputs.values() for i in ids]
    if row.kind == "no-grad":
        return lost_graph(m, operands, "no-derivative")
    if can_require_grad(dtype) is False:
        return lost_graph(m, operands, "integer")
    if m.st.grad is False or m.st.inference:
        return lost_graph(m, operands, None)
    return None


def _run_plain(m: Machine, row: Row, bound: dict[str, Value], step: Step, count: int | None) -> Value:
    types = infer(m, row, bound)
    recorded = _recorded(m, step)
    operands = [i for ids in step.inputs.values() for i in ids]
    contiguous = result_contiguous(m, row.base, bound.get("memory_format", NONE), operands)
    kept = saved_tensors(m, row, step, bound) if recorded is not False else []
    kinds = [r.type for r in row.returns]
    if kinds == ["Tensor[]"]:
        listed = infer_list(m, row, bound)
        number = len(listed) if listed is not None else count
        node = _node(m, step, kept, recorded)
        if number is None:
            return m.new(ListObj((), new_result(m, step, None, None, node, requires=recorded, contiguous=None)))
        outs = []
        for i in range(number):
            t = listed[i] if listed is not None else None
            requires = result_requires_grad(m, step, t.dtype if t else None)
            shape, dtype = (t.shape, t.dtype) if t else (None, None)
            outs.append(new_result(m, step, shape, dtype, node, i, requires=requires, contiguous=None))
        return Tup(tuple(outs))
    results: list[Ref] = []
    tensor_returns = [i for i, k in enumerate(kinds) if k == "Tensor"]
    if not tensor_returns:
        return Unknown("bool" if "bool" in kinds else "int" if kinds and "int" in kinds[0] else None)
    wanted: list[tuple[TensorType | None, truth.Truth, Cut | None]] = []
    for order, position in enumerate(tensor_returns):
        t = types[order] if types is not None and order < len(types) else None
        dtype = t.dtype if t is not None else None
        if dtype is None and row.base in {"cat", "stack"}:
            dtype = _common_dtype(m, step)
            t = TensorType(t.shape if t is not None else None, dtype)
        requires = result_requires_grad(m, step, dtype)
        if position in row.not_differentiable:
            requires = False
        if row.condition is not None and requires:
            requires = requires if _condition_holds(row) else None
        wanted.append((t, requires, _cut_of(m, row, step, dtype)))
    if row.real_only:
        _refuse_complex(m, row, wanted)
    made = truth.any_of(w[1] for w in wanted)
    node = _node(m, step, kept, made)
    for position, (t, requires, cut) in zip(tensor_returns, wanted, strict=True):
        results.append(
            new_result(
                m, step, t.shape if t else None, t.dtype if t else None, node, position,
                requires=requires, cut=cut, contiguous=contiguous,
            )
        )  # fmt: skip
    lay_out_results(m, step, bound.get("memory_format", NONE), results, types_of(m, bound))
    note_layouts(m, row, bound, operands, results)
    if node is not None:
        _save_outputs(m, row, node, kept, results)
    names = tuple(r.name or "" for r in row.returns) if len(results) > 1 and row.returns[0].name else ()
    if len(results) == 1:
        return results[0]
    return Tup(tuple(results), "torch.return_types", names)


def _refuse_complex(m: Machine, row: Row, wanted: Sequence[tuple[TensorType | None, truth.Truth, Cut | None]]) -> None:
    for known, requires, _ in wanted:
        if requires and known is not None and (known.dtype or "").startswith("complex"):
            message = f"{row.base} does not support automatic differentiation for outputs with complex dtype."
            raise m.throw("RuntimeError", message, Plain())


def _common_dtype(m: Machine, step: Step) -> str | None:
    """The dtype that all tensors of a list of unknown length have."""
    dtypes = {tensor_at(m, i).dtype for i in step.inputs.get("tensors", ())}
    return dtypes.pop() if len(dtypes) == 1 else None


def _condition_holds(row: Row) -> bool:
    """Conditions in the table are about dtypes that gradients exist for; floats always have them."""
    return row.condition is not None


def _node(m: Machine, step: Step, kept: list[object], recorded: truth.Truth) -> int | None:
    if recorded is False:
        return None
    return make_node(m, step, [k for k in kept if isinstance(k, Saved)])


def _save_outputs(m: Machine, row: Row, node: int, kept: list[object], results: Sequence[Ref]) -> None:
    """Results that the node keeps: known only once they are there."""
    from dataclasses import replace

    from analyzers.ops.table import Saved as SavedRow

    saved: list[Saved] = []
    for entry in kept:
        if isinstance(entry, SavedRow):
            if 0 <= entry.index < len(results):
                saved.append(packed(m, save(m, results[entry.index].id, entry.name or "result", is_output=True)))
            else:
                saved.append(packed(m, PRIVATE))
        elif isinstance(entry, Saved):
            saved.append(entry)
    m.st.put(node, replace(m.node(node), saved=tuple(saved)))


# --- views and writes -------------------------------------------------------------------------------------------


SAME_ORDER = frozenset({"view", "unsqueeze", "squeeze", "detach", "alias", "view_as_real", "_reshape_alias"})


def _run_view(m: Machine, row: Row, bound: dict[str, Value], step: Step, count: int | None) -> Value:
    of = _view_source(m, row, step)
    if of is None:
        return opaque_result(m, row.base, list(bound.values()))
    recorded = _recorded(m, step)
    kept = saved_tensors(m, row, step, bound) if recorded is not False else []
    node = _node(m, step, kept, recorded)
    source = tensor_at(m, of)
    multi = row.view == "multi"
    if row.returns and row.returns[0].type.startswith("Tensor(") is False and row.returns[0].type == "Tensor[]":
        listed = infer_list(m, row, bound)
        number = len(listed) if listed is not None else count
        if number is None:
            piece = new_view(m, step, of, None, node, multi=multi, cut=_view_cut(m, of))
            doubt_overlap(tensor_at(m, piece.id))
            return m.new(ListObj((), piece))
        views = tuple(
            new_view(
                m, step, of, listed[i].shape if listed is not None else _row_shape(row, source), node, i,
                multi=multi, cut=_view_cut(m, of),
            )
            for i in range(number)
        )  # fmt: skip
        lay_out_pieces(m, row.base, of, types_of(m, bound), views)
        return Tup(views)
    types = infer(m, row, bound)
    shape = types[0].shape if types else None
    dtype = types[0].dtype if types else source.dtype
    contiguous = _view_contiguous(row, bound, source)
    layout = view_layout(m, row.base, of, types_of(m, bound), shape)
    view = new_view(m, step, of, shape, node, dtype=dtype, contiguous=contiguous, cut=_view_cut(m, of), multi=multi)
    if layout is not None:
        lay_out(tensor_at(m, view.id), layout)
    elif row.base == "expand":
        tensor_at(m, view.id).overlapping = source.overlapping or _grows(source.shape, shape)
    elif row.base in _PARTS:
        doubt_overlap(tensor_at(m, view.id))
    return view


_PARTS = frozenset({"select", "slice", "diagonal", "as_strided", "unfold"})
"""Views that leave elements out."""


def _grows(before: Shape, after: Shape) -> truth.Truth:
    """Whether an expanded tensor has elements that share memory."""
    if before is None or after is None:
        return None
    padded = (1,) * (len(after) - len(before)) + before
    if any(x == 1 and y is not None and y > 1 for x, y in zip(padded, after, strict=True)):
        return True
    return False if all((x is not None and x == y) or y == 1 for x, y in zip(padded, after, strict=True)) else None


def _row_shape(row: Row, source: Tensor) -> Shape:
    return source.shape[1:] if row.base == "unbind" and source.shape else None


def _view_cut(m: Machine, of: int) -> Cut | None:
    """A view made without grad keeps `requires_grad`, yet leads nowhere."""
    if m.st.grad is False and refreshed(m, of).requires_grad:
        return "inference" if m.st.inference else "no-grad"
    return None


def _view_source(m: Machine, row: Row, step: Step) -> int | None:
    for arg in row.args:
        if arg.alias is not None or arg.name == "self":
            ids = step.inputs.get(arg.name, ())
            if ids:
                return ids[0]
    return None


def _view_contiguous(row: Row, bound: Mapping[str, Value], source: Tensor) -> truth.Truth:
    if source.contiguous is not True:
        return None
    if row.base in SAME_ORDER:
        return True
    shape = source.shape
    if row.base in {"select", "slice"}:
        dim = bound.get("dim", Const(0))
        step = bound.get("step", Const(1))
        first = isinstance(dim, Const) and (dim.value == 0 or (shape is not None and len(shape) == 1))
        return True if first and isinstance(step, Const) and step.value in {1, None} else None
    if row.base in {"t", "transpose", "permute"}:
        return True if shape is not None and len(shape) < 2 else None
    return None


def _run_in_place(m: Machine, row: Row, bound: dict[str, Value], step: Step) -> Value:
    target_value = bound.get("self", NONE)
    if not isinstance(target_value, Ref) or m.tensor(target_value) is None:
        from analyzers.machine.havoc import havoc_value

        for value in bound.values():
            if isinstance(value, Unknown):
                havoc_value(m, value)
        return target_value
    ident = target_value.id
    look_at_write(m, ident, step.parents)
    look_at_copy(m, ident, step.parents)
    if row.base == "mul_" and bound.get("other") in {Const(0), Const(0.0)}:
        forget(m, ident)
    if row.kind == "composite":
        step.differentiable = tuple(n for n, ids in step.inputs.items() if ids)
        step.requires = inputs_require_grad(m, step)
        step.kind, step.names = "unknown", ()
    if row.kind == "no-grad":
        if not row.base.startswith("logical_"):
            check_write(m, ident, step)
        bump(m, ident, step.what)
        return target_value
    check_write(m, ident, step)
    check_usable(m, step)
    check_memory(m, ident, step)
    recorded = _recorded(m, step)
    kept = saved_tensors(m, row, step, bound) if recorded is not False else []
    if recorded is not False:
        edges = edges_of(m, step)
        base = tensor_at(m, ident).base
        base_edge = edge_to(m, base) if base is not None else None
        bump(m, ident, step.what)
        kept_inputs = [k for k in kept if isinstance(k, Saved)]
        outputs = [k for k in kept if not isinstance(k, Saved)]
        rebase(m, ident, step, kept_inputs, edges, base_edge)
        if outputs:
            _save_written(m, ident, outputs)
    else:
        bump(m, ident, step.what)
    types = infer(m, row, bound)
    if types and (row.base in RESHAPING or row.base == "addbmm_"):
        change_layout(m, row.base, ident, types_of(m, bound), types[0].shape)
    return target_value


def _save_written(m: Machine, ident: int, outputs: Sequence[object]) -> None:
    """An in-place operator that keeps its result keeps the tensor after the write."""
    from dataclasses import replace

    tensor = tensor_at(m, ident)
    holder = tensor
    if tensor.base is not None:
        holder = tensor_at(m, tensor.base)
    if holder.edge is None or holder.edge.node is None:
        return
    node = m.node(holder.edge.node)
    extra = tuple(save(m, ident, "result", is_output=True) for _ in outputs)
    m.st.put(holder.edge.node, replace(node, saved=(*node.saved, *extra)))


# --- composites without a handler -------------------------------------------------------------------------------


def _composite(m: Machine, row: Row, bound: dict[str, Value], what: str, count: int | None) -> Value:
    """An operator made of parts that the machine does not take apart: its graph is unknown, its flags often not."""
    operands = {name: tensors_in(m, value) for name, value in bound.items()}
    step = Step(row.base, what, operands, (), tuple(operands), "unknown", m.parents(list(bound.values())))
    step.requires = inputs_require_grad(m, step)
    step.hidden = may_lead_on(m, bound.values())
    if m.presumes and step.requires:
        step.kind = "op"
    if any(unknown_operand(m, v) for v in bound.values()) and not step.requires:
        step.requires = None
    types = infer(m, row, bound)
    tensor_returns = [r for r in row.returns if r.type == "Tensor"]
    if not tensor_returns:
        if row.returns and row.returns[0].type == "Tensor[]":
            return _opaque_list(m, row, bound, step, count)
        return Unknown(
            {"bool": "bool", "int": "int", "SymInt": "int", "Scalar": "float"}.get(
                row.returns[0].type if row.returns else ""
            )
        )
    if row.returns[0].alias is not None:
        from analyzers.machine.composites import maybe_view

        return maybe_view(m, row, bound, step, types)
    out = []
    for order in range(len(tensor_returns)):
        t = types[order] if types is not None and order < len(types) else None
        requires = result_requires_grad(m, step, t.dtype if t else None)
        if requires and (t is None or t.dtype is None) and not m.presumes:
            requires = None
        cut = _cut_of(m, row, step, t.dtype if t else None)
        node = make_node(m, step, ()) if requires is not False else None
        out.append(
            new_result(
                m, step, t.shape if t else None, t.dtype if t else None, node, requires=requires, cut=cut,
                contiguous=None,
            )
        )  # fmt: skip
    note_layouts(m, row, bound, [i for ids in operands.values() for i in ids], out)
    return out[0] if len(out) == 1 else Tup(tuple(out), "torch.return_types", tuple(r.name or "" for r in row.returns))


def _opaque_list(m: Machine, row: Row, bound: dict[str, Value], step: Step, count: int | None) -> Value:
    listed = infer_list(m, row, bound)
    number = len(listed) if listed is not None else count
    requires = result_requires_grad(m, step, None)
    requires = None if requires else requires
    node = make_node(m, step, ()) if requires is not False else None
    if number is None:
        return m.new(ListObj((), new_result(m, step, None, None, node, requires=requires, contiguous=None)))
    return Tup(
        tuple(
            new_result(
                m, step, listed[i].shape if listed else None, listed[i].dtype if listed else None, node, i,
                requires=requires, contiguous=None,
            )
            for i in range(number)
        )
    )  # fmt: skip


__all__ = ["apply", "call_torch", "dtype_of", "kind_of", "opaque_result", "run_row", "subject_name"]
