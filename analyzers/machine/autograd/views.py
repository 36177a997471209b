"""Views: which tensors share memory, which views are stale, and where their elements are in memory."""

from __future__ import annotations

from typing import Literal

from analyzers.domain import truth
from analyzers.domain.join import versions_equal
from analyzers.domain.lineage import Cut, Lineage
from analyzers.domain.objects import Counter, Edge, Node, Shape, Tensor
from analyzers.domain.values import Ref
from analyzers.machine.autograd.graph import Step, refreshed, requires_grad_of
from analyzers.machine.autograd.tensors import tensor_at
from analyzers.machine.autograd.versions import version_kept, version_of
from analyzers.machine.core.causes import ViewWritten
from analyzers.machine.core.exceptions import PyRaise
from analyzers.machine.core.machine import Machine
from analyzers.machine.core.naming import subject_name
from analyzers.machine.core.signals import GraphDropped, tell
from analyzers.ops.layout import Layout


def is_stale(m: Machine, tensor: Tensor) -> bool:
    """Whether a view made in `no_grad`, or one of several, had its base written since: torch refuses to use it."""
    if tensor.base is None or tensor.creation in {"default", "unknown"} or tensor.attr_version < 0:
        return False
    is_written = versions_equal(tensor.attr_version, version_of(m, tensor)) is False
    placed = tensor.edge is not None and tensor.edge.node is not None and not tensor.edge.maybe
    if is_written and not placed and (requires := refreshed(m, tensor.base).requires_grad) is not True:
        # It has become a leaf in its own right, unaffected by writes elsewhere, if these brought no graph along.
        if requires is None or tensor.edge is not None:
            m.may_raise()
        return False
    return is_written


def check_usable(m: Machine, step: Step) -> None:
    """Raise if a stale view is used where its place in the graph is needed."""
    if m.st.grad is not True:
        return
    for ident in step.operands():
        tensor = tensor_at(m, ident)
        if is_stale(m, tensor) and requires_grad_of(m, ident):
            raise view_error(m, tensor, step.what, indirect=True)


def check_readable(m: Machine, ident: int, what: str) -> None:
    """Raise if a stale view's place in the graph is read, in any grad mode."""
    tensor = tensor_at(m, ident)
    if is_stale(m, tensor) and requires_grad_of(m, ident):
        raise view_error(m, tensor, what, indirect=True)


def view_error(m: Machine, tensor: Tensor, what: str, *, indirect: bool, known: bool = True) -> PyRaise:
    """`known`: whether it is this view that is used, or perhaps a view of it."""
    node = m.node(tensor.edge.node) if tensor.edge is not None and tensor.edge.node is not None else None
    modified = (
        "its base or another view of its base has been modified inplace" if indirect else "is being modified inplace"
    )
    if not known:
        message = ""
    elif node is None and tensor.edge is not None:
        # Its place in the graph is not known, so of the message only the beginning may be.
        message = "" if tensor.creation in {"no-grad", "inference"} else "Output "
    elif tensor.creation in {"no-grad", "inference"} or node is None:
        mode = "inference mode" if tensor.creation == "inference" else "no_grad mode"
        if node is None:
            message = f"A view was created in {mode} and {modified}"
        else:
            message = _of_output(tensor, node, f"is a view of a view which was created in {mode} and {modified}")
    else:
        message = _of_output(tensor, node, f"is a view and {modified}")
    cause = ViewWritten(subject_name(m), what, tensor.creation, tensor.view_op, tensor.lineage)
    return m.throw("RuntimeError", message, cause)


def _of_output(tensor: Tensor, node: Node, rest: str) -> str:
    """Torch's message about a view that is some output of a node, as far as it is known."""
    edge = tensor.edge if tensor.edge is not None else Edge()
    return "Output " if edge.onward else f"Output {edge.output} of {_spoken(node)} {rest}"


def _spoken(node: Node) -> str:
    """A node's name in torch's messages about views: `Unbind` for a `grad_fn` of `UnbindBackward0`."""
    name = node.names[0] if node.names else ""
    return name[: max(name.rfind("Backward"), 0)] or name


def new_view(
    m: Machine,
    step: Step,
    of: int,
    shape: Shape,
    node: int | None,
    output: int = 0,
    *,
    onward: bool = False,
    multi: bool = False,
    dtype: str | None = None,
    contiguous: truth.Truth = None,
    cut: Cut | None = None,
) -> Ref:
    """A result that shares the memory and the version counter of `of`; `onward` as for an `Edge`."""
    source = refreshed(m, of)
    base = source.base if source.base is not None else of
    requires: truth.Truth
    if node is not None:
        requires = source.requires_grad
        # Where no gradients are recorded, the view of a leaf is one that requires grad, too.
        edge: Edge | None = Edge(node, output, maybe=m.st.grad is None, onward=onward)
    else:
        requires = source.requires_grad if m.st.grad is False else False
        if m.st.grad is None:
            requires = None if source.requires_grad is not False else False
        edge = Edge() if requires is None else None
        if source.requires_grad is False:
            requires, edge = False, None
    # In `no_grad`, views of a leaf that is itself a view do not inherit requires_grad: only the base decides.
    if node is None and requires and source.base is not None and not refreshed(m, base).requires_grad:
        requires = False
    attached = node is not None and requires is True
    lineage = Lineage(step.what, m.here(), step.parents, cut, m.via(), attached, requires is None)
    return m.new(
        Tensor(
            storage=source.storage,
            counter=source.counter,
            requires_grad=requires,
            edge=edge,
            base=base,
            creation=_creation(m, source, multi=multi),
            view_op=step.what,
            attr_version=attr_version(m, source),
            shape=shape,
            dtype=dtype or source.dtype,
            inference=source.inference,
            contiguous=contiguous,
            wrapper=source.wrapper,
            overlapping=source.overlapping,
            offset=None,
            moved=source.moved,
            lineage=lineage,
        )
    )


def _creation(m: Machine, source: Tensor, *, multi: bool) -> str:
    """How a view of `source` is created, which determines what happens when it is written."""
    if m.st.inference:
        return "inference"
    if m.st.grad is not True:
        return "no-grad" if m.st.grad is False else "unknown"
    if multi:
        return "multi"
    return source.creation if source.base is not None or source.creation == "unknown" else "default"


def attr_version(m: Machine, tensor: Tensor) -> int:
    version = version_kept(m, tensor)
    return -1 if version is None else version


ITSELF = "unsupported operation: more than one element of the written-to tensor refers to a single memory location"


def layout_of(tensor: Tensor) -> Layout | None:
    """The memory layout of a tensor's elements; None if unknown."""
    shape = sizes_of(tensor.shape)
    if shape is None or tensor.offset is None:
        return None
    if tensor.strides is not None:
        return Layout(shape, tensor.strides, tensor.offset) if len(tensor.strides) == len(shape) else None
    return Layout.packed(shape, tensor.offset) if tensor.contiguous is True else None


def sizes_of(shape: Shape) -> tuple[int, ...] | None:
    if shape is None:
        return None
    sizes = tuple(size for size in shape if size is not None)
    return sizes if len(sizes) == len(shape) else None


def lay_out(tensor: Tensor, layout: Layout) -> None:
    """Record the memory layout of a newly created tensor."""
    tensor.strides = layout.strides
    tensor.offset = layout.offset
    tensor.contiguous = layout.contiguous
    tensor.overlapping = layout.overlaps_itself


def doubt_overlap(part: Tensor) -> None:
    """A view of some elements of a tensor that overlaps itself: the view may or may not include the overlap."""
    if part.overlapping:
        part.overlapping = None


def whole_view(m: Machine, step: Step, value: Ref, node: int | None, output: int = 0) -> Ref:
    """A view of an entire tensor."""
    tensor = tensor_at(m, value.id)
    view = new_view(m, step, value.id, tensor.shape, node, output, contiguous=tensor.contiguous)
    layout = layout_of(tensor)
    if layout is not None:
        lay_out(tensor_at(m, view.id), layout)
    return view


def data_of(m: Machine, owner: Ref) -> Ref:
    """`t.data`: the same memory, but its own version counter and history."""
    counter = m.fresh()
    m.st.put(counter, Counter())
    return _without_history(m, owner, "data", counter)


def detach(m: Machine, owner: Ref) -> Ref:
    """`t.detach()`: the same memory and version counter, but no history."""
    return _without_history(m, owner, "detach", tensor_at(m, owner.id).counter)


def _without_history(m: Machine, owner: Ref, what: Literal["data", "detach"], counter: int) -> Ref:
    tensor = refreshed(m, owner.id)
    if tensor.edge is not None:
        tell(m, GraphDropped(tensor))
    cut: Cut | None = what if tensor.requires_grad else None
    lineage = Lineage(what, m.here(), (tensor.lineage,) if tensor.lineage else (), cut, m.via())
    return m.new(
        Tensor(
            tensor.storage, counter, shape=tensor.shape, dtype=tensor.dtype, contiguous=tensor.contiguous,
            inference=tensor.inference, creation="detached" if m.st.inference is False else "default",
            overlapping=tensor.overlapping, strides=tensor.strides, offset=tensor.offset, wrapper=tensor.wrapper,
            moved=tensor.moved, lineage=lineage,
        )
    )  # fmt: skip
