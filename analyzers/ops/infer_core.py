"""What the shape rules are written in: partly known tensor types, broadcasting, and the registry of rules.

A rule is a function from a `Call` to the types of what the operator returns. It may leave anything unknown but never
guesses, and raises `ShapeError` only when torch is certain to raise too.

    add(self: f32[None, 3], other: f32[4, 1])  ->  f32[4, 3]     an unknown size meeting 4 is 1 or 4, so the result is 4
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias, TypeVar

from analyzers.ops.promote import result_type

Shape: TypeAlias = "tuple[int | None, ...] | None"


class _Unknown:
    """The one Python value that stands for any."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "UNKNOWN"


UNKNOWN: Final = _Unknown()


class ShapeError(Exception):
    """Torch is certain to refuse these shapes; the message is worded as torch words it where that is simple."""

    def __init__(self, message: str, exception: str = "RuntimeError") -> None:
        super().__init__(message)
        self.exception = exception


@dataclass(frozen=True, slots=True)
class TensorType:
    """`shape` None: unknown rank; a None inside: that size is unknown. `wrapped`: a Python number among tensors."""

    shape: Shape
    dtype: str | None
    wrapped: bool = False


ANY: Final = TensorType(None, None)

MOST_PIECES: Final = 64
"""How many of the tensors in a long list are told apart: `torch.zeros(10**7).unbind()` has as many as it likes."""


@dataclass(frozen=True)
class Pieces:
    """The tensors of a list: the first ones, and what all that follow are like, if any do."""

    first: tuple[TensorType, ...]
    rest: TensorType | None = None

    @classmethod
    def of(cls, count: int, at: Callable[[int], TensorType]) -> Pieces:
        """`count` pieces, whose sizes never grow from one to the next."""
        first = tuple(map(at, range(min(count, MOST_PIECES))))
        if count <= MOST_PIECES:
            return cls(first)
        longest, shortest = at(MOST_PIECES), at(count - 1)
        if longest.shape is None or shortest.shape is None:
            return cls(first, longest)
        sizes = zip(longest.shape, shortest.shape, strict=True)
        return cls(first, TensorType(tuple(x if x == y else None for x, y in sizes), longest.dtype))

    def all(self) -> tuple[TensorType, ...]:
        """The first pieces, and the one that is like all others."""
        return self.first if self.rest is None else (*self.first, self.rest)

    def limited(self, count: int | None) -> Pieces:
        """The first `count` pieces, if that many are known."""
        return self if count is None or count > len(self.first) else Pieces(self.first[:count])


_BOOL: Final = TensorType((), "bool", True)
_INT: Final = TensorType((), "int64", True)
_FLOAT: Final = TensorType((), "float64", True)
_COMPLEX: Final = TensorType((), "complex128", True)
NUMBERS: Final = {
    "bool": _BOOL, "int": _INT, "float": _FLOAT, "complex": _COMPLEX, "number": TensorType((), None, True),
}  # fmt: skip
"""A number of which only the type is known, by that type's name; of a `number`, only that it is a real one."""


def as_tensor(value: object) -> TensorType:
    """A value where torch takes a tensor: Python numbers are wrapped, everything else that is no tensor is unknown."""
    if isinstance(value, TensorType):
        return value
    if isinstance(value, bool):
        return _BOOL
    if isinstance(value, int):
        return _INT
    if isinstance(value, float):
        return _FLOAT
    return _COMPLEX if isinstance(value, complex) else ANY


@dataclass(frozen=True, slots=True)
class OpenList:
    """A list of arguments: `items`, and then any number of others of which each is like `rest`."""

    items: tuple[object, ...]
    rest: object | None


@dataclass(slots=True)
class Call:
    """The arguments of one operator call, read with the tolerance that partial knowledge asks for."""

    args: Mapping[str, object]
    default: str

    def tensor(self, *names: str) -> TensorType:
        for name in names:
            if name in self.args:
                return as_tensor(self.args[name])
        return ANY

    def optional(self, name: str) -> TensorType | None:
        value = self.args.get(name)
        return None if value is None else as_tensor(value)

    def tensors(self, name: str) -> list[TensorType] | None:
        value = self.args.get(name)
        return [as_tensor(item) for item in value] if isinstance(value, (list, tuple)) else None

    def open_tensors(self, name: str) -> list[TensorType] | None:
        """The tensors of a list of unknown length, the last one for those that may be there."""
        value = self.args.get(name)
        return [as_tensor(item) for item in (*value.items, value.rest)] if isinstance(value, OpenList) else None

    def number(self, name: str, default: int | None = None) -> int | None:
        value = self.args.get(name, default)
        return value if isinstance(value, int) else None

    def flag(self, name: str, default: bool = False) -> bool | None:
        value = self.args.get(name, default)
        return value if isinstance(value, bool) else None

    def ints(self, name: str, default: Sequence[int] | None = None) -> tuple[int | None, ...] | None:
        """A list of ints, one int standing for a list of one; None when the length is not known."""
        return as_ints(self.args.get(name, default))

    def given(self, name: str) -> bool:
        """Passed and not None; an unknown value counts as passed, although it may be None."""
        return self.args.get(name) is not None

    def absent(self, name: str) -> bool:
        return self.args.get(name) is None

    def cast(self, fallback: str | None) -> str | None:
        """The dtype asked for, or else the fallback."""
        value = self.args.get("dtype")
        return fallback if value is None else value if isinstance(value, str) else None


Result: TypeAlias = "TensorType | tuple[TensorType, ...] | None"
Rule: TypeAlias = "Callable[[Call], Result]"
ListRule: TypeAlias = "Callable[[Call], Pieces | None]"
RULES: dict[str, Rule] = {}
LIST_RULES: dict[str, ListRule] = {}
BROADCASTING: set[str] = set()  # their in-place form must not need to grow `self`
_R = TypeVar("_R", bound=Callable[[Call], object])


def rule(names: str, *, broadcasting: bool = False) -> Callable[[_R], _R]:
    """Registers one rule for several operators, their names separated by blanks."""

    def register(function: _R) -> _R:
        for name in names.split():
            RULES[name] = function  # type: ignore[assignment]
        if broadcasting:
            BROADCASTING.update(names.split())
        return function

    return register


def list_rule(names: str) -> Callable[[ListRule], ListRule]:
    def register(function: ListRule) -> ListRule:
        for name in names.split():
            LIST_RULES[name] = function
        return function

    return register


def range_length(start: int, stop: int, step: int) -> int:
    """The length of a range whose step is not zero; `len` takes no more than a machine word."""
    return max(-((start - stop) // step), 0)


def as_ints(value: object) -> tuple[int | None, ...] | None:
    if isinstance(value, (list, tuple)):
        return tuple(item if isinstance(item, int) else None for item in value)
    return (value,) if isinstance(value, int) else None


def promote(*types: TensorType, default: str = "float32") -> str | None:
    """The dtype that torch computes in for these operands."""
    first = types[0].dtype
    for operand in types:
        if operand.wrapped or operand.dtype != first:
            break
    else:
        return first
    if any(operand.wrapped and operand.dtype is None for operand in types):
        found = {promote(*(_taken_for(t, number) for t in types), default=default) for number in (_BOOL, _INT, _FLOAT)}
        return found.pop() if len(found) == 1 else None
    return result_type(
        tuple((t.dtype, "n" if t.wrapped else "?" if t.shape is None else "d" if t.shape else "z") for t in types),
        default,
    )


def _taken_for(operand: TensorType, number: TensorType) -> TensorType:
    return number if operand.wrapped and operand.dtype is None else operand


def numel(shape: Shape) -> int | None:
    if shape is None:
        return None
    total: int | None = 1
    for size in shape:
        if size == 0:
            return 0
        total = None if size is None or total is None else total * size
    return total


def broadcast(*shapes: Shape) -> Shape:
    """The common shape, unknown if any rank is; ShapeError when two known sizes clash."""
    result: Shape = ()
    some_unknown = False
    for shape in shapes:
        if shape is None:
            some_unknown = True
        elif result == ():
            result = shape
        elif shape and shape != result:
            result = _broadcast_two(result, shape)  # type: ignore[arg-type]
    return None if some_unknown else result


def _broadcast_two(a: tuple[int | None, ...], b: tuple[int | None, ...]) -> tuple[int | None, ...]:
    lead = len(a) - len(b)
    sizes = list(a[:lead] if lead > 0 else b[:-lead] if lead else ())
    long_a, long_b = (a[lead:], b) if lead >= 0 else (a, b[-lead:])
    for x, y in zip(long_a, long_b, strict=True):
        if y in (x, 1):
            sizes.append(x)
        elif x in (1, None):
            sizes.append(y)
        elif y is None:
            sizes.append(x)
        else:
            raise ShapeError(
                f"The size of tensor a ({x}) must match the size of tensor b ({y}) "
                f"at non-singleton dimension {len(sizes)}"
            )
    return tuple(sizes)


def fits(inner: Shape, outer: Shape) -> bool:
    """False only when `inner` certainly cannot be expanded to `outer`."""
    if inner is None or outer is None:
        return True
    if len(inner) > len(outer):
        return False
    tail = outer[len(outer) - len(inner) :]
    return all(x is None or y is None or x in (1, y) for x, y in zip(inner, tail, strict=True))


def wrap_dim(dim: int, rank: int) -> int:
    """A dimension counted from the front; a zero-dimensional tensor takes 0 and -1."""
    bound = rank or 1
    if not -bound <= dim < bound:
        message = f"Dimension out of range (expected to be in range of [{-bound}, {bound - 1}], but got {dim})"
        raise ShapeError(message, "IndexError")
    return dim + bound if dim < 0 else dim


def meet_sizes(a: int | None, b: int | None) -> int | None:
    """Of two sizes that torch requires to be equal, the one that is known."""
    return b if a is None else a


def same_dtype(*types: TensorType | None) -> str | None:
    """Of operands whose dtypes torch requires to be equal, the one that is known; not checked when all are empty."""
    known = {t.dtype for t in types if t is not None and t.dtype is not None and not t.wrapped}
    return known.pop() if len(known) == 1 else None


def unknown_sizes(shape: Shape) -> Shape:
    return None if shape is None else (None,) * len(shape)


def show(shape: Shape) -> str:
    return "?" if shape is None else "[" + ", ".join("?" if size is None else str(size) for size in shape) + "]"
