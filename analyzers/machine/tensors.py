"""One operator step: what torch's autograd does when an operator runs.

The result requires grad iff grad mode is on, an input that the operator is differentiable to requires grad, and the
result's dtype can. What the node keeps comes from the operator's row. A write checks leaf and view rules, bumps the
version counter and rebases the history: the tensor, or the base that it is a view of, gets a new place in the graph.

    y = x.exp()        # node ExpBackward0 keeps y at version 0
    y[0] = 0.0         # y at version 1; y's place in the graph is now CopySlices
    y.sum().backward() # ExpBackward0 asks for y at version 0: modified by an inplace operation
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from analyzers.domain import truth
from analyzers.domain.join import versions_equal
from analyzers.domain.lineage import Cut, Lineage
from analyzers.domain.objects import VERSION_BASE, Counter, Edge, Node, Operand, Saved, Shape, Storage, Tensor, Write
from analyzers.domain.values import Ref, Tup, Value
from analyzers.machine.core import Machine, PyRaise
from analyzers.machine.events import LeafWritten, Plain, ViewWritten
from analyzers.machine.gathered import carry

FLOATING = frozenset({"float16", "float32", "float64", "bfloat16", "float8_e4m3fn", "float8_e5m2"})
COMPLEX = frozenset({"complex32", "complex64", "complex128"})


def can_require_grad(dtype: str | None) -> truth.Truth:
    if dtype is None:
        return None
    return dtype in FLOATING or dtype in COMPLEX


def tensor_at(m: Machine, ident: int) -> Tensor:
    found = m.st.get(ident)
    assert isinstance(found, Tensor)
    return found


def version_of(m: Machine, tensor: Tensor) -> int | None:
    counter = m.st.get(tensor.counter)
    assert isinstance(counter, Counter)
    return counter.version


def version_kept(m: Machine, tensor: Tensor) -> int | None:
    """The version, for whoever keeps it to find out later whether anything was written since."""
    version = version_of(m, tensor)
    m.counters_kept |= {tensor.counter, tensor.storage}
    if version is not None and version >= VERSION_BASE:
        m.versions_kept.add(version)
    return version


# --- views ------------------------------------------------------------------------------------------------------


def refreshed(m: Machine, ident: int) -> Tensor:
    """A tensor as torch would show it: a view whose base was written since gets its place in the graph anew."""
    tensor = tensor_at(m, ident)
    if tensor.base is None:
        return tensor
    above = tensor.base
    base = refreshed(m, above)
    if base.requires_grad is False and (tensor.requires_grad is False or tensor.edge is None):
        return tensor
    current = version_of(m, tensor)
    same = versions_equal(tensor.attr_version, current) if tensor.attr_version >= 0 else None
    requires = truth.any_of((tensor.requires_grad, base.requires_grad))
    if same:
        if requires is not tensor.requires_grad:
            tensor = replace(tensor, requires_grad=requires)
            m.st.put(ident, tensor)
        return tensor
    if same is None:
        tensor = replace(tensor, requires_grad=requires, edge=Edge() if requires is not False else None)
        m.st.put(ident, tensor)
        return tensor
    if tensor.creation != "default":
        return replace(tensor, requires_grad=requires)
    node = Node(
        ("AsStridedBackward0",), (edge_to(m, above),), loc=m.here(), what="view", seq=m.next_sequence(),
        epoch=tuple(m.iterations), via=m.via(),
    )  # fmt: skip
    made = m.new(node)
    tensor = replace(tensor, requires_grad=requires, edge=Edge(made.id), attr_version=current or 0)
    m.st.put(ident, tensor)
    return tensor


def requires_grad_of(m: Machine, ident: int) -> truth.Truth:
    """`requires_grad`, which unlike `grad_fn` may be read of a view without giving it its place in the graph."""
    tensor = tensor_at(m, ident)
    if tensor.base is None:
        return tensor.requires_grad
    return truth.any_of((tensor.requires_grad, tensor_at(m, tensor.base).requires_grad))


def is_stale(m: Machine, tensor: Tensor) -> bool:
    """A view made in `no_grad`, or one of several, whose base was written since: torch refuses to use it."""
    if tensor.base is None or tensor.creation in {"default", "unknown"} or tensor.attr_version < 0:
        return False
    if tensor.edge is None and refreshed(m, tensor.base).requires_grad is False:
        # It became a leaf of its own, which no write elsewhere changes.
        return False
    return versions_equal(tensor.attr_version, version_of(m, tensor)) is False


def edge_to(m: Machine, ident: int) -> Edge | None:
    """The edge that a node gets to an input."""
    tensor = refreshed(m, ident)
    if tensor.requires_grad is False:
        return None
    maybe = tensor.requires_grad is None
    if tensor.edge is None:
        return Edge(leaf=ident, maybe=maybe)
    return replace(tensor.edge, maybe=True) if maybe else tensor.edge


def leaves_behind(m: Machine, ident: int) -> set[int] | None:
    """The leaves that a tensor's graph leads to; None where some of it is not known."""
    found: set[int] = set()
    seen: set[int] = set()
    stack = [edge_to(m, ident)]
    while stack:
        edge = stack.pop()
        if edge is None:
            continue
        if edge.node is None:
            if edge.leaf is None:
                return None
            found.add(edge.leaf)
        elif edge.node not in seen:
            seen.add(edge.node)
            stack += m.node(edge.node).edges
    return found


def grad_fn_names(m: Machine, tensor: Tensor) -> tuple[str, ...] | None:
    """The names that `grad_fn` may have; empty for none, None when not known."""
    if tensor.requires_grad is False:
        return ()
    if tensor.edge is None:
        return () if tensor.requires_grad else None if tensor.base is not None else ()
    if tensor.edge.node is None or tensor.requires_grad is None:
        return None
    node = m.node(tensor.edge.node)
    if node.kind == "unknown" and not node.names:
        return None
    return node.names or None


# --- building nodes ---------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Step:
    """An operator about to be recorded: its inputs by parameter name, as tensor ids."""

    name: str
    what: str
    inputs: dict[str, tuple[int, ...]]
    names: tuple[str, ...]
    differentiable: tuple[str, ...] = ()
    kind: str = "op"
    parents: tuple[Lineage, ...] = ()
    forced: bool = False
    payload: Value | None = None
    requires: truth.Truth = field(default=False)
    scalars: tuple[tuple[str, Value], ...] = ()
    hidden: bool = False

    def operands(self) -> list[int]:
        return [i for name in self.differentiable for i in self.inputs.get(name, ())]


def inputs_require_grad(m: Machine, step: Step) -> truth.Truth:
    return truth.any_of(requires_grad_of(m, i) for i in step.operands())


def check_usable(m: Machine, step: Step) -> None:
    """Using a stale view where its place in the graph is needed raises."""
    if m.st.grad is not True:
        return
    for ident in step.operands():
        tensor = tensor_at(m, ident)
        if is_stale(m, tensor) and requires_grad_of(m, ident):
            raise view_error(m, tensor, step.what, indirect=True)


def check_readable(m: Machine, ident: int, what: str) -> None:
    """Asking a stale view for its place in the graph raises, in any grad mode."""
    tensor = tensor_at(m, ident)
    if is_stale(m, tensor) and requires_grad_of(m, ident):
        raise view_error(m, tensor, what, indirect=True)


def view_error(m: Machine, tensor: Tensor, what: str, *, indirect: bool) -> PyRaise:
    node = m.node(tensor.edge.node) if tensor.edge is not None and tensor.edge.node is not None else None
    modified = (
        "its base or another view of its base has been modified inplace" if indirect else "is being modified inplace"
    )
    if tensor.creation in {"no-grad", "inference"} or node is None:
        mode = "inference mode" if tensor.creation == "inference" else "no_grad mode"
        if node is None:
            message = f"A view was created in {mode} and {modified}"
        else:
            output = tensor.edge.output if tensor.edge is not None else 0
            made = f"Output {output} of {_spoken(node)} is a view of a view which was created in"
            message = f"{made} {mode} and {modified}"
    else:
        output = tensor.edge.output if tensor.edge is not None else 0
        message = f"Output {output} of {_spoken(node)} is a view and {modified}"
    cause = ViewWritten(subject_name(m), what, tensor.creation, tensor.view_op, tensor.lineage)
    return m.throw("RuntimeError", message, cause)


def _spoken(node: Node) -> str:
    """A node's name as torch's messages about views say it: `Unbind`, where `grad_fn` is `UnbindBackward0`."""
    name = node.names[0] if node.names else ""
    return name[: max(name.rfind("Backward"), 0)] or name


def subject_name(m: Machine) -> str:
    """The user's words for what is being operated on: the target of a write, the owner of a method."""
    from analyzers.syntax import nodes as n

    node = m.user_frame().node
    match node:
        case n.AugAssign(target=target):
            return m.source(target)
        case n.Call(func=n.Attribute(attr="backward" | "manual_backward"), args=(loss, *_)) if m.frame.library:
            return m.source(loss)
        case n.Call(func=n.Attribute(value=value)):
            return m.source(value)
        case n.Call(args=(first, *_)):
            return m.source(first)
        case n.Subscript(value=value):
            return m.source(value)
        case n.Attribute(value=value):
            return m.source(value)
        case n.Assign(targets=(target, *_)):
            return m.source(target)
    return m.source(node)


def edges_of(m: Machine, step: Step) -> tuple[Edge | None, ...]:
    return tuple(edge_to(m, i) for i in step.operands())


def make_node(m: Machine, step: Step, saved: Sequence[Saved], edges: tuple[Edge | None, ...] | None = None) -> int:
    node = Node(
        step.names,
        edges_of(m, step) if edges is None else edges,
        tuple(saved),
        loc=m.here(),
        what=step.what,
        kind=step.kind,
        seq=m.next_sequence(),
        epoch=tuple(m.iterations),
        payload=step.payload,
        via=m.via(),
        operands=tuple(operand(m, i) for i in step.operands()),
        scalars=step.scalars,
        hidden=step.hidden,
    )
    return m.new(node).id


def operand(m: Machine, ident: int) -> Operand:
    """What a node remembers of an input that it has an edge to."""
    tensor = tensor_at(m, ident)
    return Operand(tensor.shape, tensor.dtype, tensor.contiguous)


def check_savable(m: Machine, ident: int) -> None:
    """Refuse to keep an inference tensor for backward."""
    tensor = tensor_at(m, ident)
    if tensor.inference and m.st.inference is False:
        raise m.throw(
            "RuntimeError", "Inference tensors cannot be saved for backward.",
            Plain("inference", tensor.lineage),
        )  # fmt: skip


def save(m: Machine, ident: int, name: str, *, is_output: bool = False, maybe: bool = False) -> Saved:
    """Keep a tensor for backward, at its present version."""
    tensor = tensor_at(m, ident)
    storage = m.st.get(tensor.storage)
    writes = storage.count if isinstance(storage, Storage) else 0
    if m.st.saved_hooks is not False or m.st.casting == "?":
        # Hooks keep something else; autocast keeps casts of its own.
        m.counters_kept.add(tensor.storage)
        return Saved(name, None, None, ident, is_output, tensor.storage, writes, maybe)
    placed = tensor.requires_grad is True and tensor.edge is not None and tensor.edge.node is not None
    return Saved(
        name, tensor.counter, version_kept(m, tensor), ident, is_output, tensor.storage, writes, maybe, tensor.lineage,
        placed and not is_output,
    )  # fmt: skip


PRIVATE = Saved("", None, None)


def lost_graph(m: Machine, operands: Sequence[int], cut: Cut | None) -> Cut | None:
    """The cut to note on a result without graph: none if no operand had one."""
    for ident in operands:
        tensor = refreshed(m, ident)
        if tensor.requires_grad:
            if cut is not None:
                return cut
            return "inference" if m.st.inference else "no-grad"
    return None


def result_requires_grad(m: Machine, step: Step, dtype: str | None) -> truth.Truth:
    requires = truth.both(m.st.grad, step.requires)
    if m.st.inference:
        return False
    able = can_require_grad(dtype)
    if able is False:
        return False
    return requires


def new_result(
    m: Machine,
    step: Step,
    shape: Shape,
    dtype: str | None,
    node: int | None,
    output: int = 0,
    *,
    requires: truth.Truth,
    cut: Cut | None = None,
    contiguous: truth.Truth = True,
) -> Ref:
    """A result with memory of its own."""
    if shape is not None and all(size == 1 for size in shape):
        contiguous = True
    if m.st.casting == "?" and dtype in FLOATING:
        dtype = None
    storage = m.fresh()
    m.st.put(storage, Storage())
    counter = m.fresh()
    m.st.put(counter, Counter())
    lineage = Lineage(step.what, m.here(), step.parents, cut, m.via(), requires is True)
    edge = None
    if requires is not False:
        edge = Edge(node, output) if node is not None else Edge()
    return m.new(
        Tensor(
            storage=storage,
            counter=counter,
            requires_grad=requires,
            edge=edge,
            shape=shape,
            dtype=dtype,
            inference=m.st.inference,
            contiguous=contiguous,
            lineage=lineage,
        )
    )


def new_view(
    m: Machine,
    step: Step,
    of: int,
    shape: Shape,
    node: int | None,
    output: int = 0,
    *,
    multi: bool = False,
    dtype: str | None = None,
    contiguous: truth.Truth = None,
    cut: Cut | None = None,
) -> Ref:
    """A result that shares the memory and the version counter of `of`."""
    source = refreshed(m, of)
    base = source.base if source.base is not None else of
    if m.st.inference:
        creation = "inference"
    elif m.st.grad is False:
        creation = "no-grad"
    elif m.st.grad is None:
        creation = "unknown"
    else:
        creation = "multi" if multi else "default"
    if creation == "default":
        creation = source.creation if source.base is not None or source.creation == "unknown" else "default"
    requires: truth.Truth
    if node is not None:
        requires = source.requires_grad
        edge: Edge | None = Edge(node, output)
    else:
        requires = source.requires_grad if m.st.grad is False else False
        if m.st.grad is None:
            requires = None if source.requires_grad is not False else False
        edge = Edge() if requires is None else None
        if source.requires_grad is False:
            requires, edge = False, None
    # A leaf that is itself a view gives its views no grad in `no_grad`: only the base decides.
    if node is None and requires and source.base is not None and not refreshed(m, base).requires_grad:
        requires = False
    lineage = Lineage(step.what, m.here(), step.parents, cut, m.via(), node is not None and requires is True)
    return m.new(
        Tensor(
            storage=source.storage,
            counter=source.counter,
            requires_grad=requires,
            edge=edge,
            base=base,
            creation=creation,
            view_op=step.what,
            attr_version=_attr_version(m, source),
            shape=shape,
            dtype=dtype or source.dtype,
            inference=source.inference,
            contiguous=contiguous,
            wrapper=source.wrapper,
            overlapping=source.overlapping,
            offset=None,
            lineage=lineage,
        )
    )


def _attr_version(m: Machine, tensor: Tensor) -> int:
    version = version_kept(m, tensor)
    return -1 if version is None else version


# --- writes -----------------------------------------------------------------------------------------------------


def check_write(m: Machine, ident: int, step: Step) -> None:
    """What torch checks before it writes to a tensor.

    It asks whether the tensor has a `grad_fn` by now. A view made before its base got one has none until it is used,
    so torch takes it for a leaf.
    """
    tensor = replace(tensor_at(m, ident), requires_grad=requires_grad_of(m, ident))
    if tensor.inference and m.st.inference is False and tensor.creation != "detached":
        raise m.throw(
            "RuntimeError", "Inplace update to inference tensor outside InferenceMode is not allowed",
            Plain("inference", tensor.lineage),
        )  # fmt: skip
    requires = truth.any_of((step.requires, tensor.requires_grad))
    if requires is False or m.st.grad is False:
        return
    sure = requires is True and m.st.grad is True
    if tensor.creation == "unknown" and sure:
        # It raises if the tensor is a view of some kind, or for another reason if it is not.
        m.st.doubtful = True
        return
    if tensor.base is not None:
        if tensor.creation not in {"default", "unknown"} and sure:
            raise view_error(m, tensor, step.what, indirect=False)
        base = refreshed(m, tensor.base)
        if tensor.requires_grad and base.is_leaf and m.st.grad is True:
            cause = LeafWritten(subject_name(m), step.what, True, base.lineage)
            raise m.throw(
                "RuntimeError", "a view of a leaf Variable that requires grad is being used in an in-place operation",
                cause,
            )  # fmt: skip
    if tensor.requires_grad and tensor.edge is None and m.st.grad is True:
        cause = LeafWritten(subject_name(m), step.what, False, tensor.lineage, late=tensor.base is not None)
        raise m.throw(
            "RuntimeError", "a leaf Variable that requires grad is being used in an in-place operation", cause
        )


def bump(m: Machine, ident: int, what: str) -> None:
    """Count a write."""
    tensor = tensor_at(m, ident)
    counter = m.st.get(tensor.counter)
    assert isinstance(counter, Counter)
    version = None if counter.version is None else counter.version + 1
    write = Write(version or 0, m.here(), what, False, _short(counter.writes), m.via())
    m.st.put(tensor.counter, Counter(version, write))
    storage = m.st.get(tensor.storage)
    assert isinstance(storage, Storage)
    m.st.put(tensor.storage, Storage(write, storage.count + 1))
    carry(m, tensor.storage, storage.count, what)
    for alias in tensor.aliases:
        blur_tensor(m, alias)


def _short(write: Write | None, keep: int = 24) -> Write | None:
    """The last writes only, so that a long loop does not grow a chain without end."""
    count = 0
    step = write
    while step is not None and count < keep:
        step = step.previous
        count += 1
    return write if step is None else None


def write_hidden(m: Machine, storage: int, what: str) -> None:
    """A write that no version counter sees."""
    found = m.st.get(storage)
    if isinstance(found, Storage):
        write = Write(found.count + 1, m.here(), what, True, None, m.via())
        m.st.put(storage, Storage(write, found.count + 1))
        carry(m, storage, found.count, what)


def blur_tensor(m: Machine, ident: int) -> None:
    """Something unknown may have written to a tensor, or run a backward through it."""
    tensor = m.st.get(ident)
    if not isinstance(tensor, Tensor):
        return
    counter = m.st.get(tensor.counter)
    if isinstance(counter, Counter):
        blurred = m.fresh() * VERSION_BASE
        if not _is_blurred(m, counter.version):
            m.st.put(tensor.counter, Counter(blurred, counter.writes))


def _is_blurred(m: Machine, version: int | None) -> bool:
    """Whether nobody can tell this version from what more unknown writes would make of it."""
    blur, writes = divmod(version or 0, VERSION_BASE)
    return m.is_own(blur) and writes == 0 and version not in m.versions_kept


RESHAPING = frozenset({"squeeze_", "unsqueeze_", "t_", "transpose_", "swapaxes_", "swapdims_", "as_strided_"})
"""Operators that count as writes and change no element: only the tensor itself gets another place in the graph."""


def rebase(
    m: Machine, ident: int, step: Step, saved: Sequence[Saved], edges: tuple[Edge | None, ...], base_edge: Edge | None
) -> None:
    """After a write that autograd records: give the written tensor its new place in the graph.

    `edges` lead to the operands as they were before the write, `base_edge` to the base of a view.
    """
    tensor = tensor_at(m, ident)
    requires = truth.both(m.st.grad, step.requires)
    if requires is False:
        return
    if requires is None:
        _rebase_unknown(m, ident, tensor)
        return
    if tensor.perhaps_of is not None:
        for target in (ident, tensor.perhaps_of):
            _rebase_unknown(m, target, tensor_at(m, target))
        return
    if tensor.base is None and tensor.creation == "unknown":
        # Perhaps a view of what nobody knows, which gets its place in the graph otherwise.
        m.st.put(ident, replace(tensor_at(m, ident), requires_grad=True, edge=Edge()))
        return
    if tensor.base is None or step.name in RESHAPING:
        edge = Edge(make_node(m, step, saved, edges))
        current = tensor_at(m, ident)
        version = current.attr_version if current.base is None else _attr_version(m, current)
        trail = _written(m, step, current.lineage)
        m.st.put(ident, replace(current, requires_grad=True, edge=edge, attr_version=version, lineage=trail))
        return
    base = tensor.base
    # The node of the written part has its own first edge replaced by the base's.
    rest = 1 if step.differentiable[:1] == ("self",) or step.names == ("NotImplemented",) else 0
    operands = tuple(operand(m, i) for i in step.operands())
    slices = Node(
        ("CopySlices",),
        (base_edge, *edges[rest:]),
        tuple(saved),
        loc=m.here(),
        what=step.what,
        kind="unimplemented" if step.kind == "unimplemented" else "copy-slices",
        seq=m.next_sequence(),
        epoch=tuple(m.iterations),
        payload=step.payload,
        via=m.via(),
        operands=(operand(m, base), *operands[rest:]),
        overlapping=tensor.overlapping is True,
    )
    made = m.new(slices)
    base_tensor = tensor_at(m, base)
    m.st.put(
        base,
        replace(base_tensor, requires_grad=True, edge=Edge(made.id), lineage=_written(m, step, base_tensor.lineage)),
    )
    _regenerate(m, ident, base)


def _regenerate(m: Machine, ident: int, base: int) -> None:
    tensor = tensor_at(m, ident)
    node = Node(
        ("AsStridedBackward0",), (edge_to(m, base),), loc=m.here(), what="view", seq=m.next_sequence(),
        epoch=tuple(m.iterations), via=m.via(),
    )  # fmt: skip
    made = m.new(node)
    m.st.put(ident, replace(tensor, requires_grad=True, edge=Edge(made.id), attr_version=_attr_version(m, tensor)))


def _rebase_unknown(m: Machine, ident: int, tensor: Tensor) -> None:
    for target in (ident, tensor.base):
        if target is None:
            continue
        found = tensor_at(m, target)
        requires = True if found.requires_grad and found.edge is not None else None
        m.st.put(target, replace(found, requires_grad=requires, edge=Edge()))


def _written(m: Machine, step: Step, before: Lineage | None) -> Lineage:
    parents = step.parents if before is None else (before, *step.parents)
    return Lineage(step.what, m.here(), parents, None, m.via(), True)


def pieces(values: Sequence[Ref]) -> Value:
    """The result of an operator that returns several tensors."""
    return values[0] if len(values) == 1 else Tup(tuple(values))
