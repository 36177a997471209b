"""Python's builtin functions."""

from __future__ import annotations

import builtins as python
from collections.abc import Callable

from analyzers.domain import truth
from analyzers.domain.copies import replace
from analyzers.domain.join import NUMBERS, common_type, join_shapes, one_of, reach_of, type_of
from analyzers.domain.objects import ClassObj, DictObj, Instance, Iterator, ListObj, Node, SetObj, Tensor
from analyzers.domain.values import NONE, Builtin, Const, RangeValue, Ref, Tup, Unknown, Value
from analyzers.machine.core.arguments import Args
from analyzers.machine.core.calling import call
from analyzers.machine.core.exceptions import PyRaise
from analyzers.machine.core.machine import Machine
from analyzers.machine.core.ranges import length_of
from analyzers.machine.core.registries import FALLBACKS
from analyzers.machine.core.signals import Named, tell
from analyzers.machine.core.streams import Stream
from analyzers.machine.core.tables import enter
from analyzers.machine.interpreter.linking import library_call
from analyzers.machine.objects.attributes import call_method
from analyzers.machine.objects.classes import find_in_class
from analyzers.machine.objects.comparisons import IDENTITY
from analyzers.machine.objects.containers import update
from analyzers.machine.objects.enums import is_complete, members
from analyzers.machine.objects.folding import TooExpensiveError, fold
from analyzers.machine.objects.iteration import stream_of
from analyzers.machine.objects.operators import binary
from analyzers.machine.objects.ordering import extreme_item, sort_value
from analyzers.machine.objects.strings import lift
from analyzers.machine.objects.truth import truth_of
from analyzers.machine.operators.arguments import DTYPE_NAMES
from analyzers.machine.operators.casts import number_from
from analyzers.machine.operators.dispatch import call_torch
from analyzers.maps import Map
from analyzers.syntax import nodes as n

Handler = Callable[[Machine, Args], Value]


BUILTINS: dict[str, Handler] = {}


def builtin(*names: str) -> Callable[[Handler], Handler]:
    def add(handler: Handler) -> Handler:
        for name in names:
            enter(BUILTINS, name, handler)
        return handler

    return add


def call_builtin(m: Machine, name: str, args: Args) -> Value:
    handler = BUILTINS.get(name)
    if handler is not None:
        return handler(m, args)
    kind = getattr(python, name, None)
    if isinstance(kind, type) and issubclass(kind, BaseException):
        return m.new(Instance("builtins." + name, Map({"args": Tup(tuple(args.pos))}), open=True))
    return Unknown(None, None, None, reach_of(*args.all()))


def _called(args: Args) -> str:
    """The builtin that a handler of several is called as, whatever name the program has for it."""
    return args.called.removeprefix("builtins.")


def stream(m: Machine, value: Value) -> Stream:
    return stream_of(m, value).drained(m)


def iterator(m: Machine, items: tuple[Value, ...], rest: Value | None) -> Value:
    return m.new(Iterator(NONE, 0, items, rest))


@builtin("print", "breakpoint", "reveal_type")
def _nothing(m: Machine, args: Args) -> Value:
    return NONE


@builtin("reveal")
def _reveal(m: Machine, args: Args) -> Value:
    frame = m.user_frame()
    value = args.get(0, "value")
    if isinstance(frame.node, n.Call) and frame.node.args:
        tell(m, Named(frame, frame.statement, m.source(frame.node.args[0]), value))
    return value


@builtin("len")
def _len(m: Machine, args: Args) -> Value:
    value = args.get(0, "obj")
    size = length_of(m, value)
    if size is not None:
        return Const(size)
    found = m.obj(value)
    if isinstance(found, ClassObj) and members(found) and is_complete(found):
        return Const(len(members(found)))
    if isinstance(found, Instance):
        if find_in_class(m, found.cls, "__len__") is not None:
            return call_method(m, value, "__len__", Args())
    symbol = ("len", value.symbol) if isinstance(value, Unknown) and value.symbol is not None else None
    return Unknown("int", symbol)


@builtin("range")
def _range(m: Machine, args: Args) -> Value:
    def whole(value: Value) -> Value:
        return value if isinstance(value, Const) else Unknown("int")

    pos = [whole(a) for a in args.pos]
    if len(pos) == 1:
        return RangeValue(Const(0), pos[0], Const(1))
    if len(pos) == 2:
        return RangeValue(pos[0], pos[1], Const(1))
    if len(pos) == 3:
        return RangeValue(pos[0], pos[1], pos[2])
    return Unknown()


def _generator(m: Machine, source: Stream) -> Ref:
    assert source.generator is not None
    return m.new(source.generator)


@builtin("enumerate")
def _enumerate(m: Machine, args: Args) -> Value:
    source = stream_of(m, args.get(0, "iterable"))
    start = args.get(1, "start", Const(0))
    if source.generator is not None:
        return library_call(m, "builtins.enumerate", Args([_generator(m, source), start]))
    base = start.value if isinstance(start, Const) and isinstance(start.value, int) else None
    pairs = tuple(
        Tup((Const(base + i) if base is not None else Unknown("int"), item)) for i, item in enumerate(source.items)
    )
    rest = None if source.rest is None else Tup((Unknown("int"), source.make(m)()))
    return m.new(Iterator(NONE, 0, pairs, rest, base))


@builtin("zip")
def _zip(m: Machine, args: Args) -> Value:
    sources = [stream_of(m, a) for a in args.pos]
    if not sources or args.open:
        return Unknown()
    pushing = next((i for i, source in enumerate(sources) if source.generator is not None), None)
    streams = [source if i == pushing else source.drained(m) for i, source in enumerate(sources)]
    if pushing is not None:
        others = [iterator(m, s.items, s.rest) for i, s in enumerate(streams) if i != pushing]
        before, after = m.new(ListObj(tuple(others[:pushing]))), m.new(ListObj(tuple(others[pushing:])))
        return library_call(m, "builtins.zip", Args([before, _generator(m, streams[pushing]), after]))
    exact = [len(s.items) for s in streams if s.rest is None]
    count = min(exact) if exact else max(len(s.items) for s in streams)

    def at(s: Stream, i: int) -> Value:
        return s.items[i] if i < len(s.items) else s.make(m)()

    rows = tuple(Tup(tuple(at(s, i) for s in streams)) for i in range(count))
    rest = None if exact else Tup(tuple(s.make(m)() for s in streams))
    return iterator(m, rows, rest)


@builtin("map")
def _map(m: Machine, args: Args) -> Value:
    func = args.get(0, "func")
    streams = [stream(m, a) for a in args.pos[1:]]
    if not streams:
        return Unknown()
    exact = [len(s.items) for s in streams if s.rest is None]
    count = min(exact) if exact else max(len(s.items) for s in streams)
    out = tuple(
        call(m, func, Args([s.items[i] if i < len(s.items) else s.make(m)() for s in streams])) for i in range(count)
    )
    rest = None if exact else call(m, func, Args([s.make(m)() for s in streams]))
    return iterator(m, out, rest)


@builtin("filter")
def _filter(m: Machine, args: Args) -> Value:
    func = args.get(0, "func")
    source = stream(m, args.get(1, "iterable"))
    kept: list[Value] = []
    loose = source.rest
    for item in source.items:
        verdict = truth_of(m, item if func == NONE else call(m, func, Args([item])))[0]
        if verdict:
            kept.append(item)
        elif verdict is None:
            loose = item if loose is None else one_of(loose, item)
    return iterator(m, tuple(kept), loose)


@builtin("sum")
def _sum(m: Machine, args: Args) -> Value:
    source = stream_of(m, args.get(0, "iterable"))
    total = args.get(1, "start", Const(0))
    if source.generator is not None:
        return library_call(m, "builtins.sum", Args([_generator(m, source), total]))
    for item in source.items:
        total = binary(m, "+", total, item)
    if source.rest is not None:
        before = m.tensor(total)
        for _ in range(2):
            total = binary(m, "+", total, source.make(m)())
        if before is not None and isinstance(total, Ref):  # there may be no more items
            m.st.update(total.id, Tensor, lambda t: replace(t, shape=join_shapes(before.shape, t.shape)))
            made = m.tensor(total)
            if made is not None and made.edge is not None and made.edge.node is not None:
                m.st.update(made.edge.node, Node, lambda node: replace(node, names=()))
    return total


@builtin("min")
def _min(m: Machine, args: Args) -> Value:
    return _extreme(m, args, largest=False)


@builtin("max")
def _max(m: Machine, args: Args) -> Value:
    return _extreme(m, args, largest=True)


def _extreme(m: Machine, args: Args, *, largest: bool) -> Value:
    values = list(args.pos)
    rest: Value | None = None
    if len(values) == 1:
        source = stream(m, values[0])
        values, rest = list(source.items), source.rest
    if rest is None:
        found = extreme_item(m, values, args, largest=largest)
        if found is not None:
            return found
    everything = [*values, *((rest,) if rest is not None else ())]
    kind = common_type({type_of(value) for value in everything})
    if kind in NUMBERS:
        trail = m.parents(everything)
        return Unknown(kind, None, m.trail("max", trail) if trail else None)
    if rest is None and 1 <= len(values) <= 3:
        return values[m.choose(len(values))]
    return Unknown(None, None, None, reach_of(*everything))


@builtin("abs")
def _abs(m: Machine, args: Args) -> Value:
    value = args.get(0, "x")
    if isinstance(value, Const) and isinstance(value.value, int | float | complex):
        return Const(fold("abs", value.value), value.lineage)
    if m.tensor(value) is not None:
        return call_torch(m, "Tensor.abs", [value], {})
    return Unknown(value.type if isinstance(value, Unknown) else None, None, m.lineage(value))


@builtin("round", "pow", "divmod")
def _arithmetic(m: Machine, args: Args) -> Value:
    name, number = _called(args), args.get(0, "x")
    if args.pos and all(isinstance(a, Const) for a in args.pos):
        try:
            return lift(m, fold(name, *(a.value for a in args.pos if isinstance(a, Const))))
        except (TooExpensiveError, TypeError, ValueError, ArithmeticError):
            return Unknown()
    if name == "pow" and len(args.pos) == 2:
        return binary(m, "**", args.pos[0], args.pos[1])
    kind = None
    if name == "round" and isinstance(number, Unknown) and number.type in NUMBERS - {"complex"}:
        kind = number.type if args.get(1, "ndigits") != NONE and number.type != "bool" else "int"
    return Unknown(kind, None, m.lineage(number))


@builtin("float", "int", "bool", "complex")
def _numbers(m: Machine, args: Args) -> Value:
    name, value = _called(args), args.get(0, "x", Const(0))
    if name == "bool":
        known, symbol = truth_of(m, value)
        return Unknown("bool", symbol) if known is None else Const(known)
    if isinstance(value, Const):
        try:
            return Const(fold(name, *(a.value for a in args.pos if isinstance(a, Const))), value.lineage)
        except (TooExpensiveError, TypeError, ValueError, ArithmeticError):
            return Unknown(name)
    if m.tensor(value) is not None:
        number = number_from(m, value, name)
        symbol = number.symbol if isinstance(number, Unknown) else None
        return Unknown(name, symbol, m.lineage(number))
    m.record.imprecisions += 1
    return Unknown(name, None, m.lineage(value))


@builtin("str", "repr", "format", "ascii", "chr", "hex", "bin", "oct", "input")
def _text(m: Machine, args: Args) -> Value:
    value = args.get(0, "x", Const(""))
    if _called(args) == "str" and isinstance(value, Const) and isinstance(value.value, str | int | float):
        if len(args.pos) == 1:
            try:
                return Const(fold("str", value.value))
            except (TooExpensiveError, ValueError):
                pass
        return Unknown("str")
    if isinstance(value, Builtin) and value.name.removeprefix("torch.") in DTYPE_NAMES:
        return Const(value.name)
    return Unknown("str")


@builtin("list")
def _list(m: Machine, args: Args) -> Value:
    if not args.pos:
        return m.new(ListObj(()))
    source = stream(m, args.pos[0])
    return m.new(ListObj(source.items, source.rest))


@builtin("tuple")
def _tuple(m: Machine, args: Args) -> Value:
    if not args.pos:
        return Tup(())
    source = stream(m, args.pos[0])
    return Tup(source.items) if source.rest is None else m.new(ListObj(source.items, source.rest))


@builtin("set", "frozenset")
def _set(m: Machine, args: Args) -> Value:
    if not args.pos:
        return m.new(SetObj(()))
    source = stream(m, args.pos[0])
    return m.new(SetObj(tuple(dict.fromkeys(source.items)), source.rest))


@builtin("dict")
def _dict(m: Machine, args: Args) -> Value:
    made = m.new(DictObj(Map(), (), Unknown() if args.open else None))
    update(m, made, args)
    return made


@builtin("sorted")
def _sorted(m: Machine, args: Args) -> Value:
    return sort_value(m, args)


@builtin("reversed")
def _reversed(m: Machine, args: Args) -> Value:
    source = stream(m, args.get(0, "iterable"))
    if source.rest is None:
        return iterator(m, source.items[::-1], None)
    return iterator(m, (), one_of(*source.items, source.rest))


@builtin("any", "all")
def _quantifier(m: Machine, args: Args) -> Value:
    source = stream(m, args.get(0, "iterable"))
    verdicts: list[truth.Truth] = [truth_of(m, i)[0] for i in source.items]
    if source.rest is not None:
        verdicts.append(None)
    if _called(args) == "all":
        verdict = truth.negate(truth.any_of(truth.negate(v) for v in verdicts))
    else:
        verdict = truth.any_of(verdicts)
    return Unknown("bool") if verdict is None else Const(verdict)


@builtin("eval", "compile", "open", "memoryview", "bytearray", "dir", "help", "hash", "ord")
def _opaque(m: Machine, args: Args) -> Value:
    return Unknown("int") if _called(args) in {"hash", "ord"} else Unknown()


@builtin("id")
def _id(m: Machine, args: Args) -> Value:
    value = args.get(0, "obj")
    return Unknown("int", (IDENTITY, value.id) if isinstance(value, Ref) else None)


@builtin("exit", "quit")
def _exit(m: Machine, args: Args) -> Value:
    raise PyRaise("SystemExit")


enter(FALLBACKS, "builtins", call_builtin)
