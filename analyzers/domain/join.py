"""Joins two states into one that covers both.

Objects that both states know by the same id stay themselves; what differs inside them is joined. An object that only
one state knows stays as it is. Where a name holds one object here and another there, the join makes a third one that
stands for either; a pair of objects is always joined to the same third one, so sharing survives.

A version counter that differs gets a fresh *base*: versions of different bases cannot be compared, so a tensor saved
before the join is neither surely changed nor surely unchanged, while what is saved after it is exact again.

    if flag:
        y.add_(1)     # counter at version 1 here, at 0 there
    y.sum().backward()  # `y` was saved at version 0: perhaps changed
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from operator import itemgetter
from typing import TypeVar

from analyzers.domain import truth
from analyzers.domain.copies import replace
from analyzers.domain.graph_join import GraphJoin
from analyzers.domain.objects import (
    VERSION_BASE,
    Array,
    ClassObj,
    Counter,
    DictObj,
    Env,
    HeapObject,
    Instance,
    Iterator,
    ListObj,
    Node,
    SetObj,
    Shape,
    Storage,
    Tensor,
)
from analyzers.domain.stand_ins import of_both, of_one
from analyzers.domain.state import BLOCK_BITS, Became, State, in_both, touched, written_apart
from analyzers.domain.values import (
    NONE,
    BoundBuiltin,
    Builtin,
    Const,
    Func,
    Method,
    Partial,
    RangeValue,
    Ref,
    SliceValue,
    SuperValue,
    Tup,
    Unknown,
    Value,
)
from analyzers.maps import Map


def join_shapes(a: Shape, b: Shape) -> Shape:
    if a == b:
        return a
    if a is None or b is None or len(a) != len(b):
        return None
    return tuple(x if x == y else None for x, y in zip(a, b, strict=True))


def type_of(value: Value) -> str | None:
    """The Python type's name of a plain value, where it is certain."""
    match value:
        case Const(value=v):
            return type(v).__name__
        case Unknown(type=t):
            return t
        case Tup(kind=kind):
            return kind
    return None


NUMBERS = frozenset({"bool", "complex", "float", "int", "number"})
"""The types of numbers; a `number` is one of the real types, nobody knows which."""

PLAIN = NUMBERS | {"bytes", "str"}
"""Types of which nothing but the value is to be known."""


def common_type(kinds: AbstractSet[str | None]) -> str | None:
    """The type of a value that has one of these types."""
    if len(kinds) == 1:
        return next(iter(kinds))
    return "number" if kinds and kinds <= NUMBERS - {"complex"} else None


def one_of(*values: Value) -> Value:
    """A value that is one of some, nobody knows which."""
    if values and all(value == values[0] for value in values):
        return values[0]
    kind = common_type({type_of(value) for value in values})
    return Unknown(kind if kind in PLAIN else None, None, None, reach_of(*values), all(map(is_object, values)))


def is_object(value: Value) -> bool:
    """Whether a value is an object, or one of some."""
    return isinstance(value, Ref) or (isinstance(value, Unknown) and value.among)


def reach_of(*values: Value) -> tuple[int, ...]:
    """The heap objects that plain values hold."""
    found: list[int] = []
    stack = list(values)
    while stack:
        match stack.pop():
            case Ref(id=ident):
                found.append(ident)
            case Unknown(reach=reach):
                found.extend(reach)
            case Tup(items=items):
                stack.extend(items)
            case BoundBuiltin(receiver=receiver) | Method(receiver=receiver) | SuperValue(receiver=receiver):
                stack.append(receiver)
            case Partial(func=func, args=args, kwargs=kwargs):
                stack.extend((func, *args, *(value for _, value in kwargs)))
    return tuple(dict.fromkeys(found))


K = TypeVar("K")
V = TypeVar("V")


def versions_equal(saved: int | None, current: int | None) -> truth.Truth:
    """Whether no counted write lies between two versions of one counter."""
    if saved is None or current is None:
        return None
    if saved == current:
        return True
    return False if saved // VERSION_BASE == current // VERSION_BASE else None


def _in_both(x: Map[K, V], y: Map[K, V]) -> Map[K, V]:
    """The entries of a map that another has, too."""
    kept = x.mutate()
    for key, value in x.items():
        if y.get(key) is not value:
            del kept[key]
    return kept.finish()


def _of_either(x: Map[K, tuple[int, ...]], y: Map[K, tuple[int, ...]]) -> Map[K, tuple[int, ...]]:
    """The ids that either of two maps has under each key."""
    unlike = ((key, ids) for key, ids in y.items() if x.get(key) is not ids)
    return x.update({key: tuple(dict.fromkeys((*x.get(key, ()), *ids))) for key, ids in unlike})


def _are_one_definition(x: Func, y: Func) -> bool:
    """Whether two functions differ in nothing but the defaults of their parameters."""
    names = [[name for name, _ in func.defaults] for func in (x, y)]
    return names[0] == names[1] and replace(x, defaults=y.defaults) == y


class Join(GraphJoin):
    """One join of `a` and `b`; `allocate` gives fresh ids.

    With `picks`, of two functions it takes the first, and the gradient of a backward that one way has run;
    `met_functions`, `met_gradients`: there were such. `preferred` is the state to go on with if a name holds objects of
    different classes: what has a method of both is unknown, what is done with either is not.
    """

    def __init__(self, a: State, b: State, allocate: Callable[[], int], *, picks: bool = False) -> None:
        super().__init__(a, b, allocate)
        self.picks = picks
        self.met_functions = self.met_gradients = False
        self.written: tuple[set[int], set[int]] | None = None
        self.preferred: State | None = None
        # What only one of them has is copied into a fork of the other, the one that has written more.
        self.base = a if a.log[0] >= b.log[0] else b
        self.out = self.base.fork()

    def run(self) -> State:
        a, b, out = self.a, self.b, self.out
        out.grad = truth.join(a.grad, b.grad)
        out.inference = truth.join(a.inference, b.inference)
        out.saved_hooks = truth.join(a.saved_hooks, b.saved_hooks)
        out.packing = a.packing if a.packing == b.packing else None
        out.casting = a.casting if a.casting == b.casting else "?"
        if a.casts is not b.casts:
            out.casts = Map({k: v for k, v in a.casts.items() if b.casts.get(k) == v})
        out.doubtful = a.doubtful or b.doubtful
        out.give_away(a)
        out.give_away(b)
        out.taken = in_both(a.taken, b.taken)
        if a.assumed is not b.assumed:
            out.assumed = _in_both(a.assumed, b.assumed)
        if a.given is not b.given:
            out.given = _of_either(a.given, b.given)
        if a.became is not b.became:
            ways = [each for each in (a.became, b.became) if each is not None]
            out.became = Became(None, tuple(ways)) if len(ways) > 1 else ways[0]
        if a.among is not b.among:
            out.among = Map({k: v | b.among[k] for k, v in a.among.items() if k in b.among})
        if a.frozen is not b.frozen:
            out.frozen = {**b.frozen, **a.frozen}
        if a.modules is not b.modules:
            out.modules = b.modules.update(a.modules)
        if a.heap is b.heap:
            return out
        of_a, of_b = a.heap.get, b.heap.get
        other = b if self.base is a else a
        met, imported = other.heap, other.frozen
        # Most have been made on one way, the one that has written more: these stay.
        for ident in [ident for ident in touched(a, b) if ident in met or ident >> BLOCK_BITS in imported]:
            ours, theirs = of_a(ident), of_b(ident)
            if ours is None and ident >> BLOCK_BITS in a.frozen:
                ours = a.peek(ident)
            if theirs is None and ident >> BLOCK_BITS in b.frozen:
                theirs = b.peek(ident)
            if ours is theirs:
                continue
            if ours is not None and theirs is not None:
                self.pairs[ident, ident] = ident
                self.work.append((ident, ident, ident))
            elif ours is not None and self.base is b:
                out.put(ident, ours)
            elif theirs is not None and self.base is a:
                out.put(ident, theirs)
        if a.stand_ins is not b.stand_ins:
            self.stand_ins()
        self.make()
        return out

    def make(self) -> None:
        """Make what stands for each pair."""
        while self.work:
            here, there, target = self.work.pop()
            self.out.put(target, self.objects(self.a.get(here), self.b.get(there), here, there, target))

    def stand_ins(self) -> None:
        kept = {symbol: self.pair(i, j) for symbol, i, j in of_both(self.a, self.b)}
        for symbol, ident, tensor in (*of_one(self.a, self.b), *of_one(self.b, self.a)):
            kept[symbol] = ident
            self.out.put(ident, tensor)
        self.out.stand_ins = Map(kept)

    # --- values ---------------------------------------------------------------------------------------------

    def value(self, x: Value, y: Value) -> Value:
        if x is y or x == y:
            return x
        match x, y:
            case Ref(id=i), Ref(id=j):
                return self.refs(i, j)
            case Tup(), Tup() if len(x.items) == len(y.items) and x.kind == y.kind:
                items = tuple(self.value(p, q) for p, q in zip(x.items, y.items, strict=True))
                return Tup(items, x.kind, x.names, x.cls)
            case SliceValue(), SliceValue():
                return SliceValue(
                    self.value(x.lower, y.lower), self.value(x.upper, y.upper), self.value(x.step, y.step)
                )
            case RangeValue(), RangeValue():
                return RangeValue(self.value(x.start, y.start), self.value(x.stop, y.stop), self.value(x.step, y.step))
            case Builtin(name=name), Builtin(name=other) if _without_device(name) == _without_device(other):
                return Builtin(_without_device(name))
            case Func(), Func() if _are_one_definition(x, y):
                pairs = zip(x.defaults, y.defaults, strict=True)
                return replace(x, defaults=tuple((name, self.value(p, q)) for (name, p), (_, q) in pairs))
            case Func(), Func():
                self.met_functions = True
            case Method(receiver=receiver), Method(receiver=other) if receiver == other:
                self.met_functions = True
            case _:
                self.prefer(x, y)
                return self.unknown(x, y)
        if self.picks:
            return x
        return self.unknown(x, y)

    def gradient(self, x: Value, y: Value, i: int, j: int) -> Value:
        """What is in the place of a gradient. With `picks`, that of a backward which one way has run and the other has
        not; where the other has cleared it, nobody knows."""
        if not self.picks or (x == NONE) == (y == NONE):
            return self.value(x, y)
        self.written = self.written or written_apart(self.a, self.b)
        value, without, ident = (x, 1, j) if y == NONE else (y, 0, i)
        if not isinstance(value, Ref) or ident in self.written[without]:
            return self.value(x, y)
        self.met_gradients = True
        return value

    def prefer(self, x: Value, y: Value) -> None:
        """Where one way has an object and the other has none, the way with the object tells more."""
        for side, value, other in ((self.a, x, y), (self.b, y, x)):
            if other == NONE and isinstance(value, Ref) and isinstance(side.find(value.id), Instance):
                self.preferred = self.preferred or side

    def unknown(self, x: Value, y: Value) -> Unknown:
        lineage = None
        for side in (x, y):
            if isinstance(side, Const | Unknown) and side.lineage is not None:
                lineage = side.lineage
        kind = common_type({type_of(x), type_of(y)})
        return Unknown(kind, None, lineage, reach_of(x, y), is_object(x) and is_object(y))

    def refs(self, i: int, j: int) -> Value:
        if i == j:
            return Ref(i)
        known = self.pairs.get((i, j))
        if known is not None:
            return Ref(known)
        here, there = self.a.find(i), self.b.find(j)
        if here is None or there is None or type(here) is not type(there):
            return Unknown(None, None, None, (i, j))
        shared = self.a.find(j) is not None and self.b.find(i) is not None
        unlike = isinstance(here, Instance) and isinstance(there, Instance) and here.cls != there.cls
        if unlike or (shared and not isinstance(here, Tensor)) or isinstance(here, ClassObj):
            if isinstance(here, Instance | ClassObj) and self.preferred is None:
                # An object that both ways know has been wrapped on the other.
                self.preferred = self.b if self.a.find(j) is not None and not shared else self.a
            return Unknown(None, None, None, (i, j))
        return Ref(self.pair(i, j))

    # --- objects --------------------------------------------------------------------------------------------

    def objects(self, x: HeapObject, y: HeapObject, i: int, j: int, target: int) -> HeapObject:
        if x is y and i == j:
            return x
        match x, y:
            case Tensor(), Tensor():
                if i != j and x.is_leaf is not False and y.is_leaf is not False:
                    self.out.note_one(target, i, j)
                return self.tensors(x, y, i, j)
            case Counter(), Counter():
                return self.counters(x, y, target)
            case Node(), Node():
                return self.nodes(x, y, i, j)
            case Storage(), Storage():
                return x if x.count >= y.count else y
            case Env(), Env():
                return Env(self.maps(x.vars, y.vars)[0], x.parent, x.module, x.open or y.open)
            case ListObj(), ListObj():
                return self.lists(x, y)
            case DictObj(), DictObj():
                return self.dicts(x, y)
            case SetObj(), SetObj():
                rest = self.all((*x.items, *y.items, *some(x.rest), *some(y.rest)))
                return x if x == y else SetObj((), rest)
            case Instance(), Instance():
                attrs, missing = self.maps(x.attrs, y.attrs)
                return Instance(x.cls, attrs, x.open or y.open or missing)
            case Iterator(), Iterator():
                same = x.position == y.position
                items = x.items if x.items == y.items else None
                source = self.value(x.source, y.source)
                if not same:
                    return Iterator(source, None, items, x.rest)
                return Iterator(source, x.position, items, x.rest, x.counted)
            case Array(), Array():
                storage = self.maybe_pair(x.storage, y.storage)
                dtype = x.dtype if x.dtype == y.dtype else None
                return Array(
                    storage or x.storage, join_shapes(x.shape, y.shape), dtype,
                    truth.join(x.contiguous, y.contiguous), x.strides if x.strides == y.strides else None,
                    truth.join(x.overlapping, y.overlapping), x.lineage or y.lineage, x.solid and y.solid,
                )  # fmt: skip
            case ClassObj(), ClassObj():
                return replace(x, attrs=self.maps(x.attrs, y.attrs)[0])
        return x

    def tensors(self, x: Tensor, y: Tensor, i: int, j: int) -> Tensor:
        aliases = set(x.aliases) | set(y.aliases)
        if i != j and self.a.find(j) is not None and self.b.find(i) is not None:
            aliases |= {i, j}
        return Tensor(
            storage=self.pair(x.storage, y.storage),
            counter=self.pair(x.counter, y.counter),
            requires_grad=truth.join(x.requires_grad, y.requires_grad),
            edge=self.places(x, y),
            base=self.maybe_pair(x.base, y.base),
            perhaps_of=self.maybe_pair(x.perhaps_of, y.perhaps_of),
            creation=x.creation if x.creation == y.creation else "unknown",
            view_op=x.view_op,
            attr_version=x.attr_version if x.attr_version == y.attr_version and i == j else self.edge_version(x, y),
            shape=join_shapes(x.shape, y.shape),
            dtype=x.dtype if x.dtype == y.dtype else None,
            grad=self.gradient(x.grad, y.grad, i, j),
            retains_grad=truth.join(x.retains_grad, y.retains_grad),
            inference=truth.join(x.inference, y.inference),
            parameter=x.parameter and y.parameter,
            hooks=self.tables(x.hooks, y.hooks),
            after_hooks=self.tables(x.after_hooks, y.after_hooks),
            shared_grad=x.shared_grad or y.shared_grad,
            wrapper=x.wrapper if x.wrapper == y.wrapper else -1,
            overlapping=truth.join(x.overlapping, y.overlapping),
            contiguous=truth.join(x.contiguous, y.contiguous),
            strides=x.strides if x.strides == y.strides else None,
            offset=x.offset if x.offset == y.offset else None,
            sparse=truth.join(x.sparse, y.sparse),
            attrs=self.maps(x.attrs, y.attrs)[0],
            cls=x.cls if x.cls == y.cls else None,
            aliases=tuple(sorted(aliases)),
            moved=x.moved or y.moved,
            lineage=y.lineage or x.lineage,
        )

    def edge_version(self, x: Tensor, y: Tensor) -> int:
        """The version at which the edge of either of two views was made, if nothing has been written since; else -1."""
        here, there = self.a.find(x.counter), self.b.find(y.counter)
        if not isinstance(here, Counter) or not isinstance(there, Counter):
            return -1
        if here.version is None or (x.attr_version, y.attr_version) != (here.version, there.version):
            return -1
        joined = self.counters(here, there, self.pair(x.counter, y.counter)).version
        return -1 if joined is None else joined

    def lists(self, x: ListObj, y: ListObj) -> ListObj:
        shorter = min(len(x.items), len(y.items))
        items = tuple(self.value(p, q) for p, q in zip(x.items[:shorter], y.items[:shorter], strict=True))
        tail = (*x.items[shorter:], *y.items[shorter:], *some(x.rest), *some(y.rest))
        distinct = x.distinct and y.distinct and x.rest == y.rest and len(x.items) == len(y.items)
        return ListObj(items, self.all(tail) if tail else None, x.kind, x.limit, distinct)

    def dicts(self, x: DictObj, y: DictObj) -> DictObj:
        rest = [*some(x.rest), *some(y.rest)]
        items: dict[Value, Value] = {}
        for key, value in x.entries:
            other = y.items.get(key)
            if other is None:
                rest.append(value)
            else:
                items[key] = self.value(value, other)
        rest.extend(value for key, value in y.entries if key not in x.items)
        order = tuple(k for k in x.order if k in items)
        one_sided = frozenset({*x.items, *y.items}.difference(items))
        exact = one_sided if all(isinstance(key, Const) for key in one_sided) else None
        keys = united(united(x.perhaps, y.perhaps), exact) or None
        return DictObj(Map(items), order, self.all(rest) if rest else None, x.kind, x.factory, keys)

    def maps(self, x: Map[str, Value], y: Map[str, Value]) -> tuple[Map[str, Value], bool]:
        """Names bound on one side only keep that side's value: who reads them must have come by there."""
        if x is y:
            return x, False
        out = x.mutate()
        missing = False
        differing = [(name, value) for name, value in y.items() if x.get(name) is not value]
        for name, theirs in sorted(differing, key=itemgetter(0)):
            ours = x.get(name)
            if ours is None:
                out[name] = theirs
                missing = True
            else:
                out[name] = self.value(ours, theirs)
        missing = missing or any(name not in y for name in x)
        return out.finish(), missing

    def all(self, values: Iterable[Value]) -> Value:
        """One value for any of several; objects stay reachable through it."""
        merged: Value | None = None
        for value in values:
            merged = value if merged is None or merged == value else self.unknown(merged, value)
        return NONE if merged is None else merged


def tensor_among(state: State, idents: Sequence[int], allocate: Callable[[], int]) -> int:
    """A tensor that is one of some of one state, made there; nobody knows which."""
    one, *others = idents
    for other in others:
        join = Join(state, state, allocate)
        join.out = state
        one = join.pair(one, other)
        join.make()
    return one


def some(value: Value | None) -> tuple[Value, ...]:
    """What a rest holds: one value for any of several, or nothing."""
    return () if value is None else (value,)


def united(x: frozenset[Value] | None, y: frozenset[Value] | None) -> frozenset[Value] | None:
    """The keys that are of either; None for any."""
    return None if x is None or y is None else x | y


def _without_device(name: str) -> str:
    """`torch.cuda.FloatTensor` and `torch.FloatTensor` make the same, but for the device."""
    return name.replace("torch.cuda.", "torch.", 1)
