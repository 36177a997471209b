"""A persistent map as a trie of hashes, with the interface of `immutables.Map`.

Of the 32 bits of a key's hash, each level of the trie takes five. A node has a bit for each of its 32 places that is
taken, and what is in these, in their order: a key and its value, or `_BELOW` and a node. Keys whose hashes are the same
to the last bit share a node without places. Structure and terms are those of Bagwell, "Ideal Hash Trees" (2001).
"""

from __future__ import annotations

from collections.abc import ItemsView, Iterable, Iterator, KeysView, Mapping, ValuesView
from typing import Any, Final, Generic, TypeVar, overload

K = TypeVar("K")
V = TypeVar("V")
D = TypeVar("D")

_WIDTH: Final = 5
_MASK: Final = (1 << _WIDTH) - 1
_BITS: Final = 32


class _Marker:
    __slots__ = ()


_BELOW: Final = _Marker()
"""Stands for a key where there is a node in the place of a value."""
_NOTHING: Final = _Marker()


class _Node:
    """`taken` has a bit for each place; -1 where all keys have the hash `hashed`."""

    __slots__ = ("hashed", "slots", "taken")

    def __init__(self, taken: int, slots: tuple[Any, ...], hashed: int = 0) -> None:
        self.taken = taken
        self.slots = slots
        self.hashed = hashed


_EMPTY: Final = _Node(0, ())


def _hash_of(key: object) -> int:
    whole = hash(key)
    return (whole ^ (whole >> _BITS)) & 0xFFFFFFFF


def _find(node: _Node, hashed: int, key: object) -> Any:
    """The value of a key, or `_NOTHING`."""
    shift = 0
    while node.taken >= 0:
        bit = 1 << ((hashed >> shift) & _MASK)
        if not node.taken & bit:
            return _NOTHING
        at = 2 * (node.taken & (bit - 1)).bit_count()
        found = node.slots[at]
        if found is not _BELOW:
            return node.slots[at + 1] if found is key or found == key else _NOTHING
        node = node.slots[at + 1]
        shift += _WIDTH
    place = _place_of(node, key)
    return _NOTHING if place is None else node.slots[place + 1]


def _place_of(node: _Node, key: object) -> int | None:
    """Where a key is among those of its hash."""
    keys = range(0, len(node.slots), 2)
    return next((at for at in keys if node.slots[at] is key or node.slots[at] == key), None)


def _with(node: _Node, shift: int, hashed: int, key: object, value: object) -> _Node:
    """The node with a key; the same one where the key has that very value."""
    if node.taken < 0:
        if node.hashed != hashed:
            above = _Node(1 << ((node.hashed >> shift) & _MASK), (_BELOW, node))
            return _with(above, shift, hashed, key, value)
        place = _place_of(node, key)
        if place is None:
            return _Node(-1, (*node.slots, key, value), hashed)
        return _replaced(node, place + 1, value)
    bit = 1 << ((hashed >> shift) & _MASK)
    at = 2 * (node.taken & (bit - 1)).bit_count()
    slots = node.slots
    if not node.taken & bit:
        return _Node(node.taken | bit, (*slots[:at], key, value, *slots[at:]))
    found, kept = slots[at], slots[at + 1]
    if found is _BELOW:
        return _replaced(node, at + 1, _with(kept, shift + _WIDTH, hashed, key, value))
    if found is key or found == key:
        return _replaced(node, at + 1, value)
    below = _of_two(shift + _WIDTH, (_hash_of(found), found, kept), (hashed, key, value))
    return _Node(node.taken, (*slots[:at], _BELOW, below, *slots[at + 2 :]))


def _replaced(node: _Node, at: int, value: object) -> _Node:
    slots = node.slots
    if slots[at] is value:
        return node
    return _Node(node.taken, (*slots[:at], value, *slots[at + 1 :]), node.hashed)


def _of_two(shift: int, one: tuple[int, Any, Any], other: tuple[int, Any, Any]) -> _Node:
    """A node of two different keys: each is given as its hash, itself and its value."""
    if one[0] == other[0]:
        return _Node(-1, (*one[1:], *other[1:]), one[0])
    first, second = (one[0] >> shift) & _MASK, (other[0] >> shift) & _MASK
    if first == second:
        return _Node(1 << first, (_BELOW, _of_two(shift + _WIDTH, one, other)))
    low, high = (one, other) if first < second else (other, one)
    return _Node(1 << first | 1 << second, (*low[1:], *high[1:]))


def _without(node: _Node, shift: int, hashed: int, key: object) -> _Node | None:
    """The node without a key; None where nothing is left, and the same one where the key is not there.

    A node that has one key left is no node: whoever is above takes the key itself.
    """
    if node.taken < 0:
        place = _place_of(node, key) if node.hashed == hashed else None
        if place is None:
            return node
        left = (*node.slots[:place], *node.slots[place + 2 :])
        return _Node(-1, left, hashed) if len(left) > 2 else _single(left, shift)
    bit = 1 << ((hashed >> shift) & _MASK)
    if not node.taken & bit:
        return node
    at = 2 * (node.taken & (bit - 1)).bit_count()
    slots = node.slots
    found = slots[at]
    if found is _BELOW:
        child = slots[at + 1]
        below = _without(child, shift + _WIDTH, hashed, key)
        if below is child:
            return node
        assert below is not None
        is_single = below.taken >= 0 and len(below.slots) == 2 and below.slots[0] is not _BELOW
        put = below.slots if is_single else (_BELOW, below)
        return _Node(node.taken, (*slots[:at], *put, *slots[at + 2 :]))
    if found is not key and found != key:
        return node
    left = (*slots[:at], *slots[at + 2 :])
    return _Node(node.taken & ~bit, left) if left else None


def _single(left: tuple[Any, ...], shift: int) -> _Node:
    """A node of one key, which whoever is above takes out of it."""
    return _Node(1 << ((_hash_of(left[0]) >> shift) & _MASK), left)


def _pairs(node: _Node) -> Iterator[tuple[Any, Any]]:
    for at in range(0, len(node.slots), 2):
        if node.slots[at] is _BELOW:
            yield from _pairs(node.slots[at + 1])
        else:
            yield node.slots[at], node.slots[at + 1]


class Map(Generic[K, V]):
    """A persistent map. Its order is that of the keys' hashes."""

    __slots__ = ("_count", "_root")

    def __init__(self, given: Mapping[K, V] | Iterable[tuple[K, V]] = (), /, **named: V) -> None:
        self._root = _EMPTY
        self._count = 0
        if given or named:
            changed = self.update(given, **named)
            self._root, self._count = changed._root, changed._count

    def _made(self, root: _Node, count: int) -> Map[K, V]:
        made: Map[K, V] = Map()
        made._root, made._count = root, count
        return made

    def set(self, key: K, value: V) -> Map[K, V]:
        hashed = _hash_of(key)
        root = _with(self._root, 0, hashed, key, value)
        if root is self._root:
            return self
        return self._made(root, self._count + (_find(self._root, hashed, key) is _NOTHING))

    def delete(self, key: K) -> Map[K, V]:
        """Raises `KeyError` where there is no such key."""
        root = _without(self._root, 0, _hash_of(key), key)
        if root is self._root:
            raise KeyError(key)
        return self._made(_EMPTY if root is None else root, self._count - 1)

    def update(self, given: Mapping[K, V] | Iterable[tuple[K, V]] = (), /, **named: V) -> Map[K, V]:
        pairs: Iterable[Any] = given.items() if isinstance(given, Mapping | Map) else given
        changed = self
        for key, value in (*pairs, *named.items()):
            changed = changed.set(key, value)
        return changed

    def mutate(self) -> MapMutation[K, V]:
        return MapMutation(self)

    @overload
    def get(self, key: K) -> V | None: ...
    @overload
    def get(self, key: K, default: D) -> V | D: ...
    def get(self, key: K, default: Any = None) -> Any:
        found = _find(self._root, _hash_of(key), key)
        return default if found is _NOTHING else found

    def keys(self) -> KeysView[K]:
        return KeysView(self)

    def values(self) -> ValuesView[V]:
        return _Values(self)

    def items(self) -> ItemsView[K, V]:
        return _Items(self)

    def __getitem__(self, key: K) -> V:
        found = _find(self._root, _hash_of(key), key)
        if found is _NOTHING:
            raise KeyError(key)
        value: V = found
        return value

    def __contains__(self, key: object) -> bool:
        return _find(self._root, _hash_of(key), key) is not _NOTHING

    def __iter__(self) -> Iterator[K]:
        return (key for key, _ in _pairs(self._root))

    def __len__(self) -> int:
        return self._count

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Map):
            return NotImplemented
        if self._root is other._root:
            return True
        return len(self) == len(other) and all(other.get(key, _NOTHING) == value for key, value in _pairs(self._root))

    def __hash__(self) -> int:
        return hash(frozenset(_pairs(self._root)))

    def __repr__(self) -> str:
        return f"Map({dict(_pairs(self._root))!r})"

    def __reduce__(self) -> tuple[type[Map[Any, Any]], tuple[dict[K, V]]]:
        return Map, (dict(_pairs(self._root)),)


class _Items(ItemsView[K, V]):
    def __init__(self, of: Map[K, V]) -> None:
        super().__init__(of)
        self._of = of

    def __iter__(self) -> Iterator[tuple[K, V]]:
        return _pairs(self._of._root)


class _Values(ValuesView[V]):
    def __init__(self, of: Map[Any, V]) -> None:
        super().__init__(of)
        self._of = of

    def __iter__(self) -> Iterator[V]:
        return (value for _, value in _pairs(self._of._root))


class MapMutation(Generic[K, V]):
    """Changes that are made one after the other; the map that they began with stays as it was."""

    __slots__ = ("_map",)

    def __init__(self, begun: Map[K, V]) -> None:
        self._map = begun

    def finish(self) -> Map[K, V]:
        return self._map

    def set(self, key: K, value: V) -> None:
        self._map = self._map.set(key, value)

    def update(self, given: Mapping[K, V] | Iterable[tuple[K, V]] = (), /, **named: V) -> None:
        self._map = self._map.update(given, **named)

    def pop(self, key: K, *default: Any) -> Any:
        if default and key not in self._map:
            return default[0]
        value = self._map[key]
        del self[key]
        return value

    def get(self, key: K, default: Any = None) -> Any:
        return self._map.get(key, default)

    def __setitem__(self, key: K, value: V) -> None:
        self.set(key, value)

    def __delitem__(self, key: K) -> None:
        self._map = self._map.delete(key)

    def __getitem__(self, key: K) -> V:
        return self._map[key]

    def __contains__(self, key: object) -> bool:
        return key in self._map

    def __len__(self) -> int:
        return len(self._map)

    def __enter__(self) -> MapMutation[K, V]:
        return self

    def __exit__(self, *raised: object) -> None:
        self.finish()
