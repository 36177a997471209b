"""Whether the head of a loop has settled: another round would tell nothing new.

    for x, y in loader:
        loss = criterion(net(x), y)    # another tensor in each round, with a graph like that of the one before
        loss.backward()

Two states are walked side by side from the variables of the functions that are running. What a name holds in one
stands for what it holds in the other (see `renaming`). How often things were written may differ, but not what was
written since it was saved; of what nobody knows, what it may hold grows with each round.

A loop within a loop that is met again in a state like the one it left need not run at all (`gone_on_from`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, fields
from operator import attrgetter
from typing import Any

from analyzers.domain.copies import replace
from analyzers.domain.join import versions_equal
from analyzers.domain.lineage import Lineage
from analyzers.domain.looking import Looking, Matcher, Matchers
from analyzers.domain.matchers import MATCHERS
from analyzers.domain.objects import Counter, Env, HeapObject, Instance, Node, Saved, Storage, Tensor
from analyzers.domain.renamers import RENAMERS
from analyzers.domain.renaming import Mismatch, Renaming
from analyzers.domain.state import State, touched
from analyzers.domain.truth import Truth
from analyzers.domain.values import Const, Ref, Unknown, Value
from analyzers.maps import Map

NODE_PARTS = ("names", "edges", "saved", "freed", "kind", "payload", "scalars", "hooks", "hidden", "overlapping")


def settled(a: State, b: State, frames: Iterable[int], block: int) -> bool:
    """Whether `b`, which follows from a round on `a`, is like it in all that the environments `frames` lead to, and in
    the variables, objects and tensors of others that were written."""
    walk = _Walk(a, b, block)
    try:
        for ident in frames:
            walk.bind(ident, ident)
        walk.go_on_everywhere()
    except Mismatch:
        return False
    return True


@dataclass(slots=True, frozen=True)
class Left:
    """The state in which a loop began, the one that it left, and the environments of the calls in which it ran, the
    innermost first."""

    start: State
    end: State
    frames: tuple[int, ...]


def gone_on_from(left: Left, start: State, frames: tuple[int, ...], block: int) -> State | None:
    """What a loop leaves that is met again in the state `start`, if that is like the one it left: it would change
    nothing. What is local may begin anew: what the loop has bound there, and what it began with the last time as well,
    constants and new objects that hold the same. What callers have bound since then was not there for the loop before.

        def train():
            losses = []
            for x, y in loader:
                loss = criterion(net(x), y)
                losses.append(loss.item())
            print(loss, losses)

        for epoch in range(100):
            train()             # the third time as the second
    """
    if len(left.frames) != len(frames):
        return None
    walk = _Walk(left.end, start, block)
    anew: dict[str, Value] = {}
    for index, (one, other) in enumerate(zip(left.frames, frames, strict=True)):
        x, y = left.end.find(one), start.find(other)
        if not isinstance(x, Env) or not isinstance(y, Env):
            return None
        since = {name for name in y.vars if name not in x.vars}
        if index == 0:
            anew = _anew(left, x, start, y)
        walk.instead[one] = replace(x, vars=_but(x.vars, anew if index == 0 else ()))
        walk.instead_there[other] = replace(y, vars=_but(y.vars, since | anew.keys() if index == 0 else since))
    try:
        for one, other in zip(left.frames, frames, strict=True):
            walk.bind(one, other)
        walk.keep(anew.values())
        walk.go_on_everywhere()
    except Mismatch:
        return None
    gone_on = start.fork()
    here = start.find(frames[0])
    if isinstance(here, Env):
        gone_on.put(frames[0], replace(here, vars=here.vars.update(anew)))
    return gone_on


def _but(values: Map[str, Value], names: Collection[str]) -> Map[str, Value]:
    return Map({name: value for name, value in values.items() if name not in names})


def _anew(left: Left, inner: Env, start: State, here: Env) -> dict[str, Value]:
    """The variables, as they were left, that begin as they did the last time."""
    began = left.start.find(left.frames[0])
    before, now = began.vars if isinstance(began, Env) else Map(), here.vars
    return {
        name: value
        for name, value in inner.vars.items()
        if name not in now or (name in before and _begins_alike(left, before[name], start, now[name]))
    }


def _begins_alike(left: Left, before: Value, start: State, now: Value) -> bool:
    if not isinstance(now, Ref) or not isinstance(before, Ref):
        return isinstance(now, Const) and now == before
    held = start.find(now.id)
    return held is not None and left.end.find(now.id) is None and held == left.start.find(before.id)


class _UnknownMatcher(Matcher):
    __slots__ = ("_kind",)

    def __init__(self, one: Unknown) -> None:
        self._kind = one.type

    def match(self, renaming: Renaming, other: Any) -> None:
        del renaming
        if not isinstance(other, Unknown) or other.type != self._kind:
            raise Mismatch


def _match_unknown(look: Looking, one: Unknown) -> Matcher:
    del look
    return _UnknownMatcher(one)


class _TrailMatcher(Matcher):
    """What a value came from is told of any round alike; how it was cut is a fact."""

    __slots__ = ("_told",)

    def __init__(self, one: Lineage) -> None:
        self._told: Any = _TOLD(one)

    def match(self, renaming: Renaming, other: Any) -> None:
        del renaming
        if not isinstance(other, Lineage) or _TOLD(other) != self._told:
            raise Mismatch


def _match_lineage(look: Looking, one: Lineage) -> Matcher:
    del look
    return _TrailMatcher(one)


class _SavedMatcher(Matcher):
    """Of what it may be, where nobody knows the tensor, there is more with each round."""

    __slots__ = ("_held", "_parts", "_told")

    def __init__(self, one: Saved, parts: Matcher | None) -> None:
        self._told: Any = _KEPT(one)
        self._held: Any = _OF(one)
        self._parts = parts

    def match(self, renaming: Renaming, other: Any) -> None:
        if not isinstance(other, Saved) or _KEPT(other) != self._told:
            raise Mismatch
        if self._parts is not None:
            self._parts.match(renaming, other)
        elif _OF(other) != self._held:
            raise Mismatch


def _match_saved(look: Looking, one: Saved) -> Matcher:
    return _SavedMatcher(one, look.fields(one, _HELD))


def _match_tensor(look: Looking, one: Tensor) -> Matcher | None:
    return look.fields(one, TENSOR_PARTS)


_TOLD: Any = attrgetter("what", "loc", "cut", "attached", "doubted", "perhaps_cut")

_KEPT: Any = attrgetter("name", "is_output", "maybe", "unseen", "attached")

_HELD = ("counter", "tensor", "storage", "lineage", "packed", "unpack")

_OF: Any = attrgetter(*_HELD)

TENSOR_PARTS = tuple(each.name for each in fields(Tensor) if each.name not in {"aliases", "attr_version", "grad"})
"""What it may be the same object as grows with each round."""

LOOSELY: Matchers = MATCHERS | {
    Unknown: _match_unknown, Lineage: _match_lineage, Tensor: _match_tensor, Saved: _match_saved,
}  # fmt: skip


class _Walk:
    def __init__(self, a: State, b: State, block: int) -> None:
        self._a, self._b = a, b
        self._looking = Looking(block, LOOSELY, RENAMERS)
        self._renaming = Renaming(block, 0, 0, 0, 0, 0)
        self._done = 0
        self.instead: dict[int, Env] = {}
        self.instead_there: dict[int, Env] = {}
        """Environments of which only a part is compared."""

    def bind(self, one: int, other: int) -> None:
        self._renaming.bind(one, other)

    def meets(self, ident: int) -> bool:
        return ident in self._renaming.ids or ident in self._renaming.back

    def go_on(self) -> None:
        """Compare what stands for each other, and what that leads to."""
        pairs = self._renaming.ids
        while self._done < len(pairs):
            for one, other in list(pairs.items())[self._done :]:
                self._done += 1
                x = self.instead.get(one) or self._a.find(one)
                y = self.instead_there.get(other) or self._b.find(other)
                if x is not y or (one != other and x is not None):
                    self._compare(x, y)

    def keep(self, values: Iterable[object]) -> None:
        """What stands for itself."""
        for value in values:
            self._match(self._looking.matcher(value), value, value)

    def go_on_everywhere(self) -> None:
        """The same, and the variables, objects and tensors that were written, too."""
        self.go_on()
        for ident in touched(self._a, self._b):
            found = self._a.find(ident)
            if isinstance(found, Tensor | Env | Instance) and not self.meets(ident):
                self.bind(ident, ident)
        self.go_on()

    def _compare(self, x: HeapObject | None, y: HeapObject | None) -> None:
        if x is None or type(x) is not type(y):
            raise Mismatch
        if isinstance(x, Counter | Storage):
            return
        if isinstance(x, Node) and isinstance(y, Node):
            self._match(self._looking.fields(x, NODE_PARTS), x, y)
            if self._staleness(self._a, x) != self._staleness(self._b, y):
                raise Mismatch
            return
        self._match(self._looking.matcher(x), x, y)
        if isinstance(x, Tensor) and isinstance(y, Tensor):
            self._match(self._looking.matcher(x.grad), x.grad, y.grad)

    def _match(self, matcher: Matcher | None, x: object, y: object) -> None:
        if matcher is not None:
            matcher.match(self._renaming, y)
        elif x != y:
            raise Mismatch

    def _staleness(self, state: State, node: Node) -> list[tuple[frozenset[Truth], bool]]:
        """Of each saved tensor, whether it is as it was saved: by the counters that may be its own, and by the writes
        to its memory."""
        found: list[tuple[frozenset[Truth], bool]] = []
        for saved in node.saved:
            storage = state.find(saved.storage) if saved.storage is not None else None
            counted = [(saved.counter, saved.version), *saved.among]
            same = frozenset(_is_as_saved(state, ident, version) for ident, version in counted if ident is not None)
            found.append((same, isinstance(storage, Storage) and storage.count == saved.writes))
        return found


def _is_as_saved(state: State, ident: int, version: int | None) -> Truth:
    counter = state.find(ident)
    return versions_equal(version, counter.version) if isinstance(counter, Counter) else None
