"""Casts: `to`, `type` and others, which may return the tensor itself; numbers read from tensors."""

from __future__ import annotations

from analyzers.domain import truth
from analyzers.domain.copies import replace
from analyzers.domain.lineage import Lineage
from analyzers.domain.objects import Edge, Storage, Tensor
from analyzers.domain.values import FALSE, NONE, TRUE, Builtin, Ref, Unknown, Value
from analyzers.machine.autograd.graph import make_node, refreshed
from analyzers.machine.autograd.results import new_result
from analyzers.machine.autograd.tensors import can_require_grad, tensor_at
from analyzers.machine.autograd.versions import version_kept
from analyzers.machine.core.machine import Machine
from analyzers.machine.operators.arguments import Bound, dtype_of
from analyzers.machine.operators.dispatch import kernel, op
from analyzers.machine.operators.possible_shapes import note_computed
from analyzers.machine.operators.recording import step_of
from analyzers.ops import table
from analyzers.ops.table import Row

NEAR = 20
"""The most steps of a trail that are looked at for a cut."""


@kernel("to", "type", "type_as", "float", "double", "half", "bfloat16", "long", "int", "bool", "cpu", "cuda")
def _to(m: Machine, row: Row, bound: Bound, what: str) -> Value | None:
    form = bound.get("memory_format", NONE)
    other = bound.get("other", NONE)
    floats = isinstance(other, Ref) and m.tensor(other) is not None and refreshed(m, other.id).requires_grad is True
    return cast(m, bound["self"], _wanted_dtype(m, row, bound), what, bound.get("copy", FALSE), form, floats=floats)


def _wanted_dtype(m: Machine, row: Row, bound: Bound) -> str | None:
    """The requested dtype; "" if there is none, None if unknown."""
    if "other" in bound:
        other = m.tensor(bound["other"])
        return other.dtype if other is not None else None
    if "dtype" in bound:
        if bound["dtype"] == NONE:
            return ""
        return dtype_of(bound["dtype"])
    return ""


def cast(
    m: Machine,
    value: Value,
    dtype: str | None,
    what: str,
    copy: Value = FALSE,
    form: Value = NONE,
    moves: truth.Truth = False,
    *,
    floats: bool = False,
) -> Value:
    """`.to(dtype)`: the same tensor if nothing changes, otherwise a copy. Of moves to another device only those of
    leaves that require grad are followed, for which they make a difference. `floats` says that the dtype, if nobody
    knows it, is of floating point."""
    tensor = m.tensor(value)
    if tensor is None or not isinstance(value, Ref):
        return m.unknown_tensor(m.lineage(value))
    to_device = moves is None and m.config.presumes
    if moves is None and (tensor.is_leaf is False or tensor.requires_grad is False or tensor.moved):
        moves = False
    stays = copy == FALSE and _keeps_order(tensor, form) and dtype is not None and dtype in {"", tensor.dtype}
    if stays and moves is False:
        return _marked(m, value, to_device)
    copies = _keeps_order(tensor, form) or copy == TRUE or dtype not in {"", tensor.dtype}
    copies = (m.config.presumes and not _was_cut(tensor)) if stays else copies or _changes_order(tensor, form)
    if stays:
        _note_move(m, copies)
    if dtype is not None and tensor.dtype is not None and copies:
        wanted = dtype or tensor.dtype
        made = op(m, "_to_copy", what, self=value, dtype=Builtin("torch." + wanted), memory_format=form)
        return _marked(m, made, to_device)
    # A copy or the same tensor: only what holds for both.
    row = table.row("_to_copy")
    assert row is not None
    step = step_of(m, row, {"self": value}, what)
    source = refreshed(m, value.id)
    step.requires = source.requires_grad
    step.kind, step.names = "unknown", ()
    requires = truth.both(m.st.grad, source.requires_grad)
    able = can_require_grad(dtype or tensor.dtype)
    if able is None and (floats or (dtype == "" and source.requires_grad)):
        able = True  # what requires grad is of floating point
    if able is False:
        requires = False
    elif requires is not False and (able is None or m.st.grad is not True):
        requires = None
    if m.st.grad is False and source.requires_grad is not False:
        requires = None
    node = make_node(m, step, ()) if requires is not False else None
    # What is not known is presumed to be a device.
    now = tensor.dtype if dtype == "" or (dtype is None and m.config.presumes) else dtype
    result = new_result(m, step, tensor.shape, now, node, requires=requires, contiguous=None)
    note_computed(m, row, {"self": value}, result)
    copied = tensor_at(m, result.id)
    copied.moved = to_device or source.moved
    if requires is not False:
        # Of what is no leaf both lead on to the same graph.
        copied.edge = Edge(node) if source.is_leaf is False and requires else Edge()
        copied.aliases = (value.id,)
    return result


def _note_move(m: Machine, copies: bool) -> None:
    """What is moved to a device that nobody knows stays, or is presumed to be copied."""
    if copies:
        m.presume("this is another device than the tensor's")
    elif not m.config.presumes:
        m.record.unresolved.data = True


def _marked(m: Machine, value: Value, moved: bool) -> Value:
    """The same, marked if it comes from a move to a device."""
    tensor = m.tensor(value)
    if moved and isinstance(value, Ref) and tensor is not None and not tensor.moved:
        m.st.put(value.id, replace(tensor, moved=True))
    return value


def _was_cut(tensor: Tensor) -> bool:
    """Whether a tensor is made of what had a graph, and is where that was: `net(x).detach().requires_grad_()`."""
    return tensor.lineage is not None and any(step.cut is not None for step in tensor.lineage.walk(NEAR))


def _keeps_order(tensor: Tensor, form: Value) -> bool:
    """Whether a memory format requests no change in the order of elements."""
    if form == Builtin("torch.contiguous_format"):
        return tensor.contiguous is True
    return form in (NONE, Builtin("torch.preserve_format"))


def _changes_order(tensor: Tensor, form: Value) -> bool:
    """Whether row-major elements must be moved into a channels-last order."""
    shape = tensor.shape
    if tensor.contiguous is not True or shape is None or None in shape or form != Builtin("torch.channels_last"):
        return False
    return len(shape) == 4 and shape[1] != 1 and shape[2:] != (1, 1) and 0 not in shape


@kernel("item")
def _item(m: Machine, row: Row, bound: Bound, what: str) -> Value | None:
    return number_from(m, bound["self"], what)


def number_from(m: Machine, value: Value, what: str) -> Value:
    """A Python number read from a tensor: its trail continues, its graph does not."""
    tensor = m.tensor(value)
    if tensor is None:
        return Unknown(None, None, m.lineage(value))
    kind = "number"
    if tensor.dtype is not None:
        kind = "bool" if tensor.dtype == "bool" else "int" if "int" in tensor.dtype else "float"
        if tensor.dtype.startswith("complex"):
            kind = "complex"
    had = refreshed(m, value.id).requires_grad if isinstance(value, Ref) else None
    if had and kind == "number":
        kind = "float"
    trail = Lineage(what, m.here(), (tensor.lineage,) if tensor.lineage else (), "left-torch" if had else None, m.via())
    return Unknown(kind, content_symbol(m, tensor, what), trail)


def content_symbol(m: Machine, tensor: Tensor, what: object) -> object:
    """A symbol for a tensor's current content: the same until the tensor is written."""
    version = version_kept(m, tensor)
    storage = m.st.get(tensor.storage)
    if version is None or not isinstance(storage, Storage):
        return None
    return ("content", tensor.storage, tensor.counter, version, storage.count, tensor.view_op, tensor.base, what)
