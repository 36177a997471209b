"""What one call left behind, in one form for torch and for the analyzer; and how the two are compared.

A field of the analyzer's is `UNKNOWN` where it claims nothing. A graph is a tree of names down to the operands' leaves.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final


class _Unknown:
    def __repr__(self) -> str:
        return "unknown"


UNKNOWN: Final = _Unknown()


@dataclass(slots=True)
class GraphNode:
    """`names` are those that `grad_fn` may have; None when not known, as are the `children`."""

    names: tuple[str, ...] | None
    children: tuple[GraphNode | None, ...] | None

    def __str__(self) -> str:
        names = "?" if self.names is None else "|".join(self.names)
        if self.children is None:
            return f"{names}(?)"
        inner = ", ".join("-" if child is None else str(child) for child in self.children)
        return f"{names}({inner})" if inner else names


@dataclass(slots=True)
class SeenTensor:
    """A result, or an operand after the call. `same_as` and `view_of` are operands by number, -1 for none."""

    name: str
    requires_grad: Any = UNKNOWN
    is_leaf: Any = UNKNOWN
    shape: Any = UNKNOWN
    dtype: Any = UNKNOWN
    graph: Any = UNKNOWN
    same_as: Any = UNKNOWN
    view_of: Any = UNKNOWN
    shares: Any = UNKNOWN
    saved: Any = UNKNOWN
    written: Any = UNKNOWN
    contiguous: Any = UNKNOWN


@dataclass(slots=True)
class Seen:
    """`raised` is the message. `results` hold None for no tensor.

    `refuses` says whether backward lacks a derivative on its way, `keeps` whether a second backward raises.
    """

    raised: str | None
    results: dict[str, SeenTensor | None]
    operands: list[SeenTensor]
    keeps: Any = UNKNOWN
    refuses: Any = UNKNOWN
    free_shapes: bool = False


FIELDS = ("requires_grad", "is_leaf", "dtype", "shape", "graph", "same_as", "view_of", "shares", "saved", "written")
VOLUNTARY = ("contiguous",)
"""What need not be claimed, but must not be wrong."""


@dataclass(frozen=True, slots=True, order=True)
class Difference:
    """`kind` is `wrong`, `unknown` or `missed` (a raise that was not foretold)."""

    kind: str
    field: str
    detail: str


def compare(said: Seen, truth: Seen) -> Iterator[Difference]:
    """All in which the analyzer differs from torch, or claims nothing."""
    if truth.raised is not None:
        yield from _compare_raise(said, truth.raised)
        return
    if said.raised is not None:
        yield Difference("wrong", "raises", f"said: {said.raised}")
        return
    if set(said.results) != set(truth.results) and None not in truth.results.values():
        counted = any(found is not None for found in said.results.values())
        if truth.free_shapes and not counted:
            return
        kind = "wrong" if counted else "unknown"
        yield Difference(kind, "results", f"said {list(said.results)}, torch {list(truth.results)}")
        return
    pairs = [(said.results.get(name), found) for name, found in truth.results.items()]
    for ours, theirs in [*pairs, *zip(said.operands, truth.operands, strict=True)]:
        if theirs is not None:
            yield from _compare_tensor(ours or SeenTensor(theirs.name), theirs, truth.free_shapes)
    for name in ("keeps", "refuses"):
        mine, real = getattr(said, name), getattr(truth, name)
        if real is not UNKNOWN and mine is not real:
            yield _difference(name, mine, real)


AUTOGRAD = (
    "leaf Variable that requires grad", "support automatic differentiation", "does not require grad",
    "is a view and", "variables that require grad", "requires gradients, and", "not differentiable",
    "derivative for", "requires grad, but",
)  # fmt: skip


def _compare_raise(said: Seen, message: str) -> Iterator[Difference]:
    if said.raised is not None:
        if not message.startswith(said.raised):
            yield Difference("wrong", "message", f"said: {said.raised}; torch: {message[:100]}")
    elif any(part in message for part in AUTOGRAD):
        yield Difference("missed", "raises", message[:120])


def _compare_tensor(ours: SeenTensor, theirs: SeenTensor, free_shapes: bool) -> Iterator[Difference]:
    for name in (*FIELDS, *VOLUNTARY):
        mine, real = getattr(ours, name), getattr(theirs, name)
        if real is UNKNOWN:
            continue
        match name:
            case "shape":
                verdict = _shapes(mine, real, free_shapes)
            case "graph":
                verdict = graphs(mine, real)
            case _:
                verdict = None if mine is UNKNOWN else mine == real
        if verdict is False or (verdict is None and name in FIELDS):
            yield _difference(f"{name}", mine if verdict is False else UNKNOWN, real, theirs.name)


def _difference(field: str, mine: object, real: object, name: str = "") -> Difference:
    place = f"{name}: " if name else ""
    if mine is UNKNOWN:
        return Difference("unknown", field, f"{place}torch {real}")
    return Difference("wrong", field, f"{place}said {mine}, torch {real}")


def _shapes(mine: Any, real: tuple[int, ...], free: bool) -> bool | None:
    if mine is UNKNOWN or mine is None:
        return True if free else None
    if len(mine) != len(real) or any(a not in (None, b) for a, b in zip(mine, real, strict=True)):
        return False
    return True if free or None not in mine else None


def graphs(mine: Any, real: GraphNode | None) -> bool | None:
    """Whether a claimed graph holds; None where it is not known in full."""
    if mine is UNKNOWN:
        return None
    if mine is None or real is None:
        return mine is None and real is None
    if mine.names is not None and not set(mine.names) & set(real.names or ()):
        return False
    if mine.names is None or mine.children is None:
        return None
    assert real.children is not None
    left, right = mine.children, real.children
    if len(left) != len(right):
        left = tuple(child for child in left if child is not None)
        right = tuple(child for child in right if child is not None)
    if len(left) != len(right):
        return None if any(child is UNKNOWN for child in left) else False
    verdicts = [graphs(a, b) for a, b in zip(left, right, strict=True)]
    if False in verdicts:
        return False
    return None if None in verdicts or len(mine.names) > 1 else True
