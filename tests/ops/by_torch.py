"""What a case leaves behind in torch."""

from __future__ import annotations

import types
from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from tests.ops.cases import Case, Flags
from tests.ops.seen import UNKNOWN, GraphNode, Seen, SeenTensor

DEPTH = 64


def observe(case: Case, flags: Flags, code: types.CodeType) -> Seen:
    """Run the call on copies of the operands, and look."""
    leaves: dict[int, torch.Tensor] = {}
    operands: list[torch.Tensor] = []
    for i, given in enumerate(case.operands):
        own = given.clone()
        if i in flags.requires:
            leaves[i] = own.requires_grad_()
            own = own if flags.leaf else own.clone()
        if flags.view and i == 0:
            own = own[...]
        operands.append(own)
    before = [t._version for t in operands]
    space: dict[str, Any] = {"torch": torch, **{f"t{i}": t for i, t in enumerate(operands)}}
    torch.manual_seed(0)
    try:
        with torch.set_grad_enabled(flags.grad):
            exec(code, space)
    except Exception as error:
        return Seen(str(error) or type(error).__name__, {}, [])
    operands = [space[f"t{i}"] for i in range(len(operands))]
    results = dict(flat("r", space["r"]))
    names = {id(leaf): f"leaf{i}" for i, leaf in leaves.items()}
    seen = Seen(None, {}, [])
    for name, value in results.items():
        seen.results[name] = _look(name, value, names, operands) if isinstance(value, torch.Tensor) else None
    for i, tensor in enumerate(operands):
        found = _look(f"t{i}", tensor, names, [])
        found.written = tensor._version != before[i]
        seen.operands.append(found)
    _try_backward(seen, results, operands)
    return seen


def flat(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """The parts of a result, by name."""
    if isinstance(value, tuple | list) and not isinstance(value, torch.Size):
        for i, item in enumerate(value):
            yield from flat(f"{name}[{i}]", item)
    else:
        yield name, value


def _look(name: str, tensor: torch.Tensor, leaves: dict[int, str], operands: list[torch.Tensor]) -> SeenTensor:
    if tensor.layout is not torch.strided:
        return SeenTensor(name)
    try:
        seen = SeenTensor(name, tensor.requires_grad, tensor.is_leaf)
    except RuntimeError:
        # A view made without grad whose base was written since: torch does not say.
        return SeenTensor(name)
    seen.shape, seen.dtype = tuple(tensor.shape), str(tensor.dtype).removeprefix("torch.")
    seen.contiguous = tensor.is_contiguous()
    try:
        seen.graph = _graph(tensor, leaves)
    except RuntimeError:
        seen.graph = UNKNOWN
    if operands:
        seen.same_as = _position(tensor, operands)
        seen.view_of = _position(tensor._base, operands) if tensor._is_view() else -1
        seen.shares = next((i for i, t in enumerate(operands) if _share_versions(tensor, t)), -1)
    return seen


def _position(tensor: Any, among: list[torch.Tensor]) -> int:
    return next((i for i, other in enumerate(among) if other is tensor), -1)


def _share_versions(a: torch.Tensor, b: torch.Tensor) -> bool:
    before = b._version
    if a._version != before:
        return False
    with bumped(a):
        return b._version != before


class bumped:  # noqa: N801
    """As if the tensor had been written: one more on its version counter, for a while."""

    def __init__(self, tensor: torch.Tensor) -> None:
        self.tensor = tensor
        self.before = tensor._version

    def __enter__(self) -> None:
        torch._C._autograd._unsafe_set_version_counter((self.tensor,), (self.before + 1,))

    def __exit__(self, *_: object) -> None:
        torch._C._autograd._unsafe_set_version_counter((self.tensor,), (self.before,))


def _graph(tensor: torch.Tensor, leaves: dict[int, str]) -> GraphNode | None:
    if not tensor.requires_grad:
        return None
    if tensor.grad_fn is None:
        return GraphNode((leaves.get(id(tensor), "another leaf"),), ())
    return _node(tensor.grad_fn, leaves, DEPTH)


def _node(node: Any, leaves: dict[int, str], depth: int) -> GraphNode:
    if type(node).__name__ == "AccumulateGrad":
        return GraphNode((leaves.get(id(node.variable), "another leaf"),), ())
    if depth == 0:
        return GraphNode((type(node).__name__,), ())
    children = [None if child is None else _node(child, leaves, depth - 1) for child, _ in node.next_functions]
    return GraphNode((type(node).__name__,), tuple(children))


def _try_backward(seen: Seen, results: dict[str, Any], operands: list[torch.Tensor]) -> None:
    """What backward keeps: it raises if that has been written since."""
    tensors = {name: t for name, t in results.items() if isinstance(t, torch.Tensor) and t.layout is torch.strided}
    usable = [t for name, t in tensors.items() if getattr(seen.results[name], "is_leaf", UNKNOWN) is not UNKNOWN]
    roots = [t for t in usable if t.requires_grad and t.grad_fn is not None]
    if not roots:
        return
    message = _backward(roots)
    seen.refuses = message is not None and ("not implemented" in message or UNKNOWN)
    if message is not None:
        return
    for name, tensor in tensors.items():
        found = seen.results[name]
        assert found is not None
        found.saved = _is_saved(tensor, roots)
    for i, tensor in enumerate(operands):
        seen.operands[i].saved = _is_saved(tensor, roots)
    if _backward(roots, retain=False) is None:
        seen.keeps = not _succeeds(roots)


def _succeeds(roots: list[torch.Tensor]) -> bool:
    return _backward(roots) is None


def _is_saved(tensor: torch.Tensor, roots: list[torch.Tensor]) -> Any:
    with bumped(tensor):
        message = _backward(roots)
    if message is None:
        return False
    return True if "modified by an inplace operation" in message else UNKNOWN


def _backward(roots: list[torch.Tensor], *, retain: bool = True) -> str | None:
    try:
        torch.autograd.backward(roots, [torch.ones_like(root) for root in roots], retain_graph=retain)
    except RuntimeError as error:
        return str(error)
    return None


class _Tags(TorchDispatchMode):  # type: ignore[misc]
    def __init__(self) -> None:
        super().__init__()
        self.found = False

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.found |= torch.Tag.dynamic_output_shape in func.tags or torch.Tag.data_dependent_output in func.tags
        return func(*args, **(kwargs or {}))


def has_free_shapes(case: Case, code: types.CodeType) -> bool:
    """Whether what the operands hold decides on a shape."""
    mode = _Tags()
    try:
        with mode:
            given = _shapes(case.operands, code)
    except Exception:
        return True
    try:
        return mode.found or given != _shapes([t if t.is_floating_point() else t * 0 for t in case.operands], code)
    except Exception:
        return mode.found


def _shapes(operands: Sequence[torch.Tensor], code: types.CodeType) -> list[Any]:
    space: dict[str, Any] = {"torch": torch, **{f"t{i}": t.clone() for i, t in enumerate(operands)}}
    with torch.no_grad():
        exec(code, space)
    return [getattr(value, "shape", None) for _, value in flat("r", space["r"])]
