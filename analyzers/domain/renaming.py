"""Two heaps side by side: which id, trail and version of one stands for which of the other.

A call that was run once is put beside another way of entering it. What the first one read is *matched* with what is
there now: equal but for the names of heap objects, for the trails of values, and for how often something was written.
What the first one left can then be *renamed*: said of the objects of the second.

    one   x = Tensor(storage=7)    y = relu(x) = Tensor(storage=9, edge -> node 10)
    other x = Tensor(storage=31)   7 -> 31; what the call made moves as a block: 9 -> 33, 10 -> 34
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, Final

from immutables import Map

from analyzers.domain.lineage import Lineage
from analyzers.domain.objects import VERSION_BASE, Counter, Node, Saved, Storage, Tensor, Write
from analyzers.domain.state import BLOCK_BITS
from analyzers.domain.values import Const, Func, Native

SMALLEST_ID = 1 << BLOCK_BITS
"""Ids carry the number of their run above these bits, and runs count from one."""


class Mismatch(Exception):  # noqa: N818
    """The two differ in more than names."""


@dataclass(slots=True, frozen=True)
class Version:
    """How often the counter `counter` has counted by now."""

    counter: int
    version: int | None


class Renaming:
    """`first` to `last` are the ids that the call itself made, which move by `shift`; its nodes move by `later` in the
    order of all."""

    def __init__(self, first: int, last: int, shift: int, after: int, later: int) -> None:
        self.ids: dict[int, int] = {}
        self.back: dict[int, int] = {}
        self.trails: dict[Lineage, Lineage | None] = {}
        self.writes: dict[int, int] = {}
        """By counter or storage of the first way of entering, how many more writes it has seen on the second."""
        self.rounds: tuple[tuple[object, ...], tuple[object, ...]] = ((), ())
        self._first, self._last, self._shift = first, last, shift
        self._after, self._later = after, later
        self._made: dict[int, tuple[Lineage, Lineage]] = {}
        self._histories: dict[int, tuple[Write, Write | None]] = {}

    # --- matching -------------------------------------------------------------------------------------------

    def bind(self, one: int, other: int) -> None:
        """`other` stands for `one`, and for nothing else."""
        if self.ids.setdefault(one, other) != other or self.back.setdefault(other, one) != one:
            raise Mismatch

    def match(self, one: Any, other: Any) -> None:
        kind = type(one)
        if kind is not type(other):
            raise Mismatch
        compare = MATCH.get(kind)
        if compare is None:
            compare = MATCH[kind] = _matcher(kind)
        compare(self, one, other)

    def match_trail(self, one: Lineage | None, other: Lineage | None) -> None:
        if one is None or other is None:
            if one is not other:
                raise Mismatch
            return
        if self.trails.setdefault(one, other) is not other:
            raise Mismatch

    def match_writes(self, holder: int, one: int | None, other: int | None) -> None:
        """How often something was written: one may count on from where the other is."""
        if one is None or other is None or (one < VERSION_BASE) is not (other < VERSION_BASE):
            if one != other:
                raise Mismatch
            return
        if self.writes.setdefault(holder, other - one) != other - one:
            raise Mismatch

    def match_history(self, one: Write | None, other: Write | None) -> None:
        if one is None or other is None:
            if one is not other:
                raise Mismatch
            return
        self._histories.setdefault(id(one), (one, other))

    # --- renaming -------------------------------------------------------------------------------------------

    def ident(self, ident: int) -> int:
        if self._first < ident <= self._last:
            return ident + self._shift
        return self.ids.get(ident, ident)

    def version(self, holder: int, version: int | None) -> int | None:
        """Of something that the call itself made, a version that nobody knows exactly carries an id of the call's."""
        if version is None:
            return None
        if version >= VERSION_BASE << BLOCK_BITS:
            base, count = divmod(version, VERSION_BASE)
            if self._first < base <= self._last:
                return (base + self._shift) * VERSION_BASE + count
        return version + self.writes.get(holder, 0)

    def trail(self, lineage: Lineage | None) -> Lineage | None:
        if lineage is None:
            return None
        known = self.trails.get(lineage)
        if known is not None:
            return known
        done = self._made.get(id(lineage))
        if done is not None:
            return done[1]
        parents = tuple([self.trail(parent) for parent in lineage.parents])
        if all(a is b for a, b in zip(parents, lineage.parents, strict=True)):
            made = lineage
        else:
            made = Lineage(
                lineage.what, lineage.loc, parents, lineage.cut, lineage.via, lineage.attached, lineage.doubted,
                lineage.perhaps_cut,
            )  # fmt: skip
        self._made[id(lineage)] = (lineage, made)
        return made

    def history(self, holder: int, write: Write | None) -> Write | None:
        if write is None:
            return None
        known = self._histories.get(id(write))
        if known is not None:
            return known[1]
        previous = self.history(holder, write.previous)
        version = self.version(holder, write.version)
        if previous is write.previous and version == write.version:
            made = write
        else:
            made = Write(version or 0, write.loc, write.what, write.hidden, previous, write.via)
        self._histories[id(write)] = (write, made)
        return made

    def epoch(self, rounds: tuple[object, ...]) -> tuple[object, ...]:
        before, now = self.rounds
        return (*now, *rounds[len(before) :]) if rounds[: len(before)] == before else rounds

    def sequence(self, number: int) -> int:
        return number + self._later if number > self._after else number

    def of(self, value: Any) -> Any:
        kind = type(value)
        rename = RENAME.get(kind)
        if rename is None:
            rename = RENAME[kind] = _renamer(kind)
        return rename(self, value)


Matcher = Callable[[Renaming, Any, Any], None]
Renamer = Callable[[Renaming, Any], Any]


def _same(renaming: Renaming, one: Any, other: Any) -> None:
    del renaming
    if one is not other and one != other:
        raise Mismatch


def _itself(renaming: Renaming, value: Any) -> Any:
    del renaming
    return value


def _match_int(renaming: Renaming, one: int, other: int) -> None:
    if one < SMALLEST_ID or other < SMALLEST_ID:
        if one != other:
            raise Mismatch
    else:
        renaming.bind(one, other)


def _match_tuple(renaming: Renaming, one: tuple[Any, ...], other: tuple[Any, ...]) -> None:
    if len(one) != len(other):
        raise Mismatch
    for a, b in zip(one, other, strict=True):
        renaming.match(a, b)


def _rename_tuple(renaming: Renaming, value: tuple[Any, ...]) -> tuple[Any, ...]:
    if not value:
        return value
    renamed = tuple([renaming.of(item) for item in value])
    return value if all(map(_is, renamed, value)) else renamed


def _is(a: object, b: object) -> bool:
    return a is b


def _match_set(renaming: Renaming, one: frozenset[Any], other: frozenset[Any]) -> None:
    if one != other:
        raise Mismatch
    for item in one:
        renaming.match(item, item)


def _rename_set(renaming: Renaming, value: frozenset[Any]) -> frozenset[Any]:
    return frozenset([renaming.of(item) for item in value])


def _match_map(renaming: Renaming, one: Map[Any, Any], other: Map[Any, Any]) -> None:
    if len(one) != len(other):
        raise Mismatch
    for key, value in one.items():
        if key not in other:
            raise Mismatch
        if type(key) is not str:
            renaming.match(key, key)
        renaming.match(value, other[key])


def _rename_map(renaming: Renaming, value: Map[Any, Any]) -> Map[Any, Any]:
    changed = value
    for key, item in value.items():
        if type(key) is not str:
            renamed_key = renaming.of(key)
            if renamed_key != key:
                return Map({renaming.of(k): renaming.of(v) for k, v in value.items()})
        renamed = renaming.of(item)
        if renamed is not item:
            changed = changed.set(key, renamed)
    return changed


def _match_const(renaming: Renaming, one: Const, other: Const) -> None:
    if one != other:
        raise Mismatch
    renaming.match_trail(one.lineage, other.lineage)


def _rename_const(renaming: Renaming, value: Const) -> Const:
    if value.lineage is None:
        return value
    lineage = renaming.trail(value.lineage)
    return value if lineage is value.lineage else Const(value.value, lineage)


def _match_func(renaming: Renaming, one: Func, other: Func) -> None:
    if one.node is not other.node:
        raise Mismatch
    for name in ("module", "chunk", "qualname", "env", "defaults", "owner", "modes", "kind", "setter"):
        renaming.match(getattr(one, name), getattr(other, name))


def _match_native(renaming: Renaming, one: Native, other: Native) -> None:
    del renaming, one, other
    raise Mismatch  # what it holds nobody sees


def _match_tensor(renaming: Renaming, one: Tensor, other: Tensor) -> None:
    renaming.bind(one.storage, other.storage)
    renaming.bind(one.counter, other.counter)
    for name in TENSOR_FIELDS:
        a, b = getattr(one, name), getattr(other, name)
        if a is not b:
            renaming.match(a, b)
        elif a is not None and a is not False and a is not True:
            renaming.match(a, a)
    renaming.match_trail(one.lineage, other.lineage)
    if one.base is None:
        _same(renaming, one.attr_version, other.attr_version)
    else:
        renaming.match_writes(one.counter, one.attr_version, other.attr_version)


TENSOR_FIELDS = tuple(
    each.name for each in fields(Tensor) if each.name not in {"storage", "counter", "attr_version", "lineage"}
)


def _rename_tensor(renaming: Renaming, value: Tensor) -> Tensor:
    base = value.base
    return Tensor(
        renaming.ident(value.storage),
        renaming.ident(value.counter),
        value.requires_grad,
        renaming.of(value.edge),
        base if base is None else renaming.ident(base),
        value.perhaps_of if value.perhaps_of is None else renaming.ident(value.perhaps_of),
        value.creation,
        value.view_op,
        value.attr_version if base is None else renaming.version(value.counter, value.attr_version) or 0,
        value.shape,
        value.dtype,
        renaming.of(value.grad),
        value.retains_grad,
        value.inference,
        value.parameter,
        value.hooks if value.hooks is None else renaming.ident(value.hooks),
        value.after_hooks if value.after_hooks is None else renaming.ident(value.after_hooks),
        value.shared_grad,
        renaming.ident(value.wrapper),
        value.overlapping,
        value.contiguous,
        value.strides,
        value.offset,
        value.sparse,
        renaming.of(value.attrs),
        value.cls if value.cls is None else renaming.ident(value.cls),
        renaming.of(value.aliases),
        value.presumed,
        value.moved,
        renaming.trail(value.lineage),
    )


def _match_counter(renaming: Renaming, one: Counter, other: Counter) -> None:
    del renaming, one, other
    raise Mismatch  # it is matched by whoever knows its id


def _match_node(renaming: Renaming, one: Node, other: Node) -> None:
    if one is not other:
        raise Mismatch
    for edge in one.edges:
        renaming.match(edge, edge)
    renaming.match(one.saved, one.saved)


def _match_saved(renaming: Renaming, one: Saved, other: Saved) -> None:
    if one is not other:
        raise Mismatch
    for ident in (one.counter, one.tensor, one.storage):
        if ident is not None:
            renaming.bind(ident, ident)


def _rename_saved(renaming: Renaming, value: Saved) -> Saved:
    counter, storage = value.counter, value.storage
    return Saved(
        value.name,
        counter if counter is None else renaming.ident(counter),
        value.version if counter is None else renaming.version(counter, value.version),
        value.tensor if value.tensor is None else renaming.ident(value.tensor),
        value.is_output,
        storage if storage is None else renaming.ident(storage),
        value.writes if storage is None else value.writes + renaming.writes.get(storage, 0),
        value.maybe,
        value.unseen,
        renaming.trail(value.lineage),
        value.attached,
        renaming.of(value.packed),
        renaming.of(value.unpack),
        tuple([(renaming.ident(ident), renaming.version(ident, version)) for ident, version in value.among]),
    )


def _rename_version(renaming: Renaming, value: Version) -> Version:
    return Version(renaming.ident(value.counter), renaming.version(value.counter, value.version))


def _rename_node(renaming: Renaming, value: Node) -> Node:
    return Node(
        value.names,
        renaming.of(value.edges),
        renaming.of(value.saved),
        value.freed,
        value.freed_at,
        value.freed_via,
        value.loc,
        value.what,
        value.kind,
        renaming.sequence(value.seq),
        renaming.epoch(value.epoch),  # type: ignore[arg-type]
        renaming.of(value.payload),
        value.via,
        value.operands,
        renaming.of(value.scalars),
        renaming.of(value.hooks),
        value.hidden,
        value.overlapping,
    )


def _rename_int(renaming: Renaming, value: int) -> int:
    return value if value < SMALLEST_ID else renaming.ident(value)


MATCH: Final[dict[type, Matcher]] = {
    int: _match_int, tuple: _match_tuple, frozenset: _match_set, Map: _match_map, Const: _match_const, Func: _match_func,
    Native: _match_native, Tensor: _match_tensor, Counter: _match_counter, Storage: _match_counter, Node: _match_node,
    Saved: _match_saved, Lineage: Renaming.match_trail,
}  # fmt: skip
RENAME: Final[dict[type, Renamer]] = {
    int: _rename_int, tuple: _rename_tuple, frozenset: _rename_set, Map: _rename_map, Const: _rename_const,
    Tensor: _rename_tensor, Node: _rename_node, Saved: _rename_saved, Lineage: Renaming.trail,
    Version: _rename_version,
}  # fmt: skip


def _is_plain(kind: type) -> bool:
    """Whether no id can be in there: numbers and names, places in the program, and its syntax."""
    return not hasattr(kind, "__dataclass_fields__") or kind.__module__.startswith("analyzers.syntax")


PLAIN_CLASSES = frozenset({"Loc", "GradMode", "Builtin", "Operand"})


def _matcher(kind: type) -> Matcher:
    if kind.__name__ in PLAIN_CLASSES or _is_plain(kind):
        return _same
    names = tuple(each.name for each in fields(kind))

    def match(renaming: Renaming, one: Any, other: Any) -> None:
        for name in names:
            renaming.match(getattr(one, name), getattr(other, name))

    return match


def _renamer(kind: type) -> Renamer:
    if kind.__name__ in PLAIN_CLASSES or _is_plain(kind):
        return _itself
    names = tuple(each.name for each in fields(kind))

    def rename(renaming: Renaming, value: Any) -> Any:
        old = [getattr(value, name) for name in names]
        new = [renaming.of(item) for item in old]
        return value if all(map(_is, old, new)) else kind(*new)

    return rename
