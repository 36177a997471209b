"""Python's builtin functions."""

from __future__ import annotations

import builtins as python
from collections.abc import Callable
from dataclasses import replace

from immutables import Map

from analyzers.domain import truth
from analyzers.domain.join import NUMBERS, common_type, one_of, reach_of, type_of
from analyzers.domain.objects import (
    Array,
    ClassObj,
    DictObj,
    Env,
    Generator,
    Instance,
    Iterator,
    ListObj,
    ModuleObj,
    SetObj,
    Tensor,
)
from analyzers.domain.values import (
    FALSE,
    NONE,
    TRUE,
    BoundBuiltin,
    Builtin,
    Const,
    Func,
    Method,
    Native,
    Partial,
    RangeValue,
    Ref,
    SliceValue,
    SuperValue,
    Tup,
    Unknown,
    Value,
)
from analyzers.machine.calls import Args, call
from analyzers.machine.core import Machine, PyRaise
from analyzers.machine.expressions import is_key, truth_of
from analyzers.machine.imports import library_call
from analyzers.machine.iteration import Stream, length_of, stream_of
from analyzers.machine.natives import called
from analyzers.machine.torch_calls import DTYPE_NAMES

Handler = Callable[[Machine, Args], Value]
BUILTINS: dict[str, Handler] = {}


def builtin(*names: str) -> Callable[[Handler], Handler]:
    def add(handler: Handler) -> Handler:
        for name in names:
            BUILTINS[name] = handler
        return handler

    return add


def call_builtin(m: Machine, name: str, args: Args) -> Value:
    handler = BUILTINS.get(name)
    if handler is not None:
        return handler(m, args)
    kind = getattr(python, name, None)
    if isinstance(kind, type) and issubclass(kind, BaseException):
        return m.new(Instance("builtins." + name, Map({"args": Tup(tuple(args.pos))}), open=True))
    return Unknown()


def stream(m: Machine, value: Value) -> Stream:
    return stream_of(m, value).drained(m)


def iterator(m: Machine, items: tuple[Value, ...], rest: Value | None) -> Value:
    return m.new(Iterator(NONE, 0, items, rest))


@builtin("delattr")
def _delattr(m: Machine, args: Args) -> Value:
    from analyzers.machine.attributes import delete_attribute

    name = args.get(1, "name")
    if isinstance(name, Const) and isinstance(name.value, str):
        delete_attribute(m, args.get(0, "obj"), name.value)
    return NONE


@builtin("print", "breakpoint", "reveal_type")
def _nothing(m: Machine, args: Args) -> Value:
    return NONE


@builtin("reveal")
def _reveal(m: Machine, args: Args) -> Value:
    from analyzers.syntax import nodes as n

    frame = m.user_frame()
    value = args.get(0, "value")
    if isinstance(frame.node, n.Call) and frame.node.args:
        m.bind_fact(frame, frame.statement, m.source(frame.node.args[0]), value)
    return value


@builtin("len")
def _len(m: Machine, args: Args) -> Value:
    value = args.get(0, "obj")
    size = length_of(m, value)
    if size is not None:
        return Const(size)
    found = m.obj(value)
    if isinstance(found, Instance):
        from analyzers.machine.attributes import find_in_class
        from analyzers.machine.calls import call_method

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
    from analyzers.machine.operators import binary

    source = stream(m, args.get(0, "iterable"))
    total = args.get(1, "start", Const(0))
    for item in source.items:
        total = binary(m, "+", total, item)
    if source.rest is not None:
        for _ in range(2):
            total = binary(m, "+", total, source.make(m)())
    return total


@builtin("min")
def _min(m: Machine, args: Args) -> Value:
    return _extreme(m, args, largest=False)


@builtin("max")
def _max(m: Machine, args: Args) -> Value:
    return _extreme(m, args, largest=True)


def _extreme(m: Machine, args: Args, *, largest: bool) -> Value:
    from analyzers.machine.ordering import extreme_item

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
        return Const(abs(value.value), value.lineage)
    if m.tensor(value) is not None:
        from analyzers.machine.torch_calls import call_torch

        return call_torch(m, "Tensor.abs", [value], {})
    return Unknown(value.type if isinstance(value, Unknown) else None, None, m.lineage(value))


@builtin("round", "pow", "divmod")
def _arithmetic(m: Machine, args: Args) -> Value:
    name, number = called(m).removeprefix("builtins."), args.get(0, "x")
    if args.pos and all(isinstance(a, Const) for a in args.pos):
        from analyzers.machine.methods import lift

        try:
            return lift(m, getattr(python, name)(*(a.value for a in args.pos)))  # type: ignore[union-attr]
        except Exception:
            return Unknown()
    if name == "pow" and len(args.pos) == 2:
        from analyzers.machine.operators import binary

        return binary(m, "**", args.pos[0], args.pos[1])
    kind = None
    if name == "round" and isinstance(number, Unknown) and number.type in NUMBERS - {"complex"}:
        kind = number.type if args.get(1, "ndigits") != NONE and number.type != "bool" else "int"
    return Unknown(kind, None, m.lineage(number))


@builtin("float", "int", "bool", "complex")
def _numbers(m: Machine, args: Args) -> Value:
    from analyzers.syntax import nodes as n

    node = m.frame.node
    name = node.func.id if isinstance(node, n.Call) and isinstance(node.func, n.Name) else "float"
    value = args.get(0, "x", Const(0))
    if name not in {"float", "int", "bool", "complex"}:
        return Unknown(None, None, m.lineage(value))
    if name == "bool":
        known, symbol = truth_of(m, value)
        return Unknown("bool", symbol) if known is None else Const(known)
    if isinstance(value, Const):
        try:
            return Const(getattr(python, name)(*(a.value for a in args.pos)), value.lineage)  # type: ignore[union-attr]
        except Exception:
            return Unknown(name)
    if m.tensor(value) is not None:
        from analyzers.machine.composites import number_from

        number = number_from(m, value, name)
        symbol = number.symbol if isinstance(number, Unknown) else None
        return Unknown(name, symbol, m.lineage(number))
    m.doubts += 1
    return Unknown(name, None, m.lineage(value))


@builtin("str", "repr", "format", "ascii", "chr", "hex", "bin", "oct", "input")
def _text(m: Machine, args: Args) -> Value:
    value = args.get(0, "x", Const(""))
    if isinstance(value, Const) and isinstance(value.value, str | int | float) and len(args.pos) == 1:
        from analyzers.syntax import nodes as n

        node = m.frame.node
        if isinstance(node, n.Call) and isinstance(node.func, n.Name) and node.func.id == "str":
            return Const(str(value.value))
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
    from analyzers.machine.methods import _update

    made = m.new(DictObj(Map(), (), Unknown() if args.open else None))
    _update(m, made, args)
    return made


@builtin("sorted")
def _sorted(m: Machine, args: Args) -> Value:
    from analyzers.machine.ordering import sort_value

    return sort_value(m, args)


@builtin("reversed")
def _reversed(m: Machine, args: Args) -> Value:
    source = stream(m, args.get(0, "iterable"))
    if source.rest is None:
        return m.new(ListObj(source.items[::-1]))
    return m.new(ListObj((), one_of(*source.items, source.rest)))


@builtin("any", "all")
def _quantifier(m: Machine, args: Args) -> Value:
    from analyzers.syntax import nodes as n

    source = stream(m, args.get(0, "iterable"))
    verdicts: list[truth.Truth] = [truth_of(m, i)[0] for i in source.items]
    if source.rest is not None:
        verdicts.append(None)
    node = m.frame.node
    wants_all = isinstance(node, n.Call) and isinstance(node.func, n.Name) and node.func.id == "all"
    verdict = truth.negate(truth.any_of(truth.negate(v) for v in verdicts)) if wants_all else truth.any_of(verdicts)
    return Unknown("bool") if verdict is None else Const(verdict)


@builtin("iter")
def _iter(m: Machine, args: Args) -> Value:
    value = args.get(0, "obj")
    found = m.obj(value)
    if isinstance(found, Iterator | Generator):
        return value
    source = stream(m, value)
    return m.new(Iterator(value if source.fresh else NONE, 0, source.items if not source.fresh else None, source.rest))


@builtin("next", "anext")
def _next(m: Machine, args: Args) -> Value:
    from analyzers.machine.generators import advance

    value = args.get(0, "iterator")
    default = args.pos[1] if len(args.pos) > 1 else None
    if isinstance(value, Ref):
        found = m.obj(value)
        if isinstance(found, Instance):
            from analyzers.machine.calls import call_method

            return call_method(m, value, "__next__", Args())
        return advance(m, value, default)
    return Unknown(None, None, None, reach_of(value))


@builtin("type")
def _type(m: Machine, args: Args) -> Value:
    value = args.get(0, "obj")
    found = m.obj(value)
    if isinstance(found, Instance):
        return Ref(found.cls) if isinstance(found.cls, int) else Builtin(found.cls)
    if isinstance(found, Tensor):
        return Builtin("torch.nn.Parameter" if found.parameter else "torch.Tensor")
    if isinstance(value, Const):
        return Builtin("builtins." + type(value.value).__name__)
    if isinstance(found, ListObj):
        return Builtin("builtins.list")
    if isinstance(found, DictObj):
        return Builtin("builtins.dict")
    if isinstance(value, Tup):
        return Builtin("builtins.tuple")
    return Unknown()


@builtin("super")
def _super(m: Machine, args: Args) -> Value:
    if len(args.pos) >= 2 and isinstance(args.pos[0], Ref):
        return SuperValue(args.pos[0].id, args.pos[1])
    for frame in reversed(m.frames):
        func = frame.func
        if func is not None and func.owner is not None:
            parameters = (*func.node.args.posonly, *func.node.args.args)
            if parameters:
                receiver = m.env(frame.env).vars.get(parameters[0].name)
                if receiver is not None:
                    return SuperValue(func.owner, receiver)
    return Unknown()


@builtin("isinstance")
def _isinstance(m: Machine, args: Args) -> Value:
    value, cls = args.get(0, "obj"), args.get(1, "cls")
    verdict = is_instance(m, value, cls)
    if verdict is None:
        symbol = None
        if isinstance(value, Unknown) and value.symbol is not None and isinstance(cls, Builtin | Ref):
            symbol = ("isinstance", value.symbol, cls)
        return Unknown("bool", symbol)
    return Const(verdict)


TENSOR_TYPES = frozenset({"torch.Tensor", "torch.autograd.Variable", "torch.FloatTensor"})
TYPES: dict[type, frozenset[str]] = {
    ListObj: frozenset({"builtins.list"}),
    DictObj: frozenset({"builtins.dict"}),
    SetObj: frozenset({"builtins.set", "builtins.frozenset"}),
    Array: frozenset({"numpy.ndarray"}),
}


def is_instance(m: Machine, value: Value, cls: Value) -> truth.Truth:
    if isinstance(cls, Tup):
        return truth.any_of(is_instance(m, value, c) for c in cls.items)
    if isinstance(value, Unknown):
        return _unknown_is(value, cls)
    if isinstance(cls, Unknown):
        return None
    if isinstance(cls, Builtin):
        return _is_outside(m, value, cls.name)
    found = m.obj(value)
    if isinstance(found, Instance) and isinstance(cls, Ref):
        own = m.st.get(found.cls) if isinstance(found.cls, int) else None
        if isinstance(own, ClassObj):
            return True if cls.id in own.ancestry else False if own.known else None
        return None
    if isinstance(cls, Ref) and isinstance(value, Tup):
        return value.cls == cls.id
    if isinstance(found, Tensor) and isinstance(cls, Ref):
        from analyzers.machine.attributes import class_name

        if class_name(m, cls.id) == "torch.nn.Parameter":
            return found.parameter
        return None if found.cls is None and not isinstance(m.st.get(cls.id), ClassObj) else False
    return False


def _unknown_is(value: Unknown, cls: Value) -> truth.Truth:
    if value.type in NUMBERS | {"str"} and isinstance(cls, Builtin):
        if value.type == "number" and cls.name.removeprefix("builtins.") in NUMBERS:
            return None
        if cls.name == "builtins." + value.type:
            return True
        return bool(value.type == "bool" and cls.name == "builtins.int")
    return None


def _is_outside(m: Machine, value: Value, name: str) -> truth.Truth:
    found = m.obj(value)
    if isinstance(found, Tensor) and found.presumed:
        return None
    if isinstance(found, Tensor):
        if name in TENSOR_TYPES:
            return True
        if name in {"torch.nn.Parameter", "torch.nn.parameter.Parameter"}:
            return found.parameter
        return False if name.startswith("builtins.") else None
    if isinstance(found, Instance):
        from analyzers.machine.attributes import is_a

        if is_a(m, found.cls, name):
            return True
        own = m.st.get(found.cls) if isinstance(found.cls, int) else None
        known = isinstance(own, ClassObj) and own.known
        return False if known and (name.startswith(("builtins.", "torch."))) and name != "builtins.object" else None
    if name == "builtins.object":
        return True
    if name == "torch.dtype":
        from analyzers.machine.torch_calls import dtype_of

        return isinstance(value, Builtin) and value.name.startswith("torch.") and dtype_of(value) is not None
    if isinstance(value, Const):
        kind = getattr(python, name.removeprefix("builtins."), None) if name.startswith("builtins.") else None
        if isinstance(kind, type):
            return isinstance(value.value, kind)
        return False if name in TENSOR_TYPES or value.value is None else None
    if isinstance(value, Tup):
        return name == "builtins.tuple" if name.startswith("builtins.") or name in TENSOR_TYPES else None
    if isinstance(value, SliceValue | RangeValue) and name.startswith("builtins."):
        return name == ("builtins.slice" if isinstance(value, SliceValue) else "builtins.range")
    for kind_, names in TYPES.items():
        if isinstance(found, kind_):
            return name in names if name.startswith("builtins.") or name in TENSOR_TYPES else None
    if isinstance(found, Generator | Iterator | ClassObj) or isinstance(value, Func | Method | Partial | RangeValue):
        return (
            False
            if name in TENSOR_TYPES or name in {"builtins.list", "builtins.dict", "builtins.tuple", "builtins.str"}
            else None
        )
    return None


@builtin("issubclass")
def _issubclass(m: Machine, args: Args) -> Value:
    a, b = args.get(0, "cls"), args.get(1, "of")
    found = m.obj(a)
    if isinstance(found, ClassObj) and isinstance(b, Ref):
        return Const(b.id in found.ancestry) if found.known else Unknown("bool")
    return Unknown("bool")


@builtin("hasattr")
def _hasattr(m: Machine, args: Args) -> Value:
    value, name = args.get(0, "obj"), args.get(1, "name")
    found = m.obj(value)
    if not isinstance(name, Const) or not isinstance(name.value, str):
        return Unknown("bool")
    if isinstance(found, Instance) and found.cls == "torch.autograd.FunctionCtx":
        from analyzers.machine.custom import has

        known = has(found, name.value)
        return Unknown("bool") if known is None else Const(known)
    if isinstance(found, Instance):
        from analyzers.machine.attributes import find_in_class

        if name.value in found.attrs or find_in_class(m, found.cls, name.value) is not None:
            return TRUE
        for table in ("_parameters", "_buffers", "_modules"):
            registered = m.obj(found.attrs[table]) if table in found.attrs else None
            if isinstance(registered, DictObj) and name in registered.items:
                return TRUE
        own = m.st.get(found.cls) if isinstance(found.cls, int) else None
        if found.open or not isinstance(own, ClassObj) or not own.known:
            return Unknown("bool")
        getter = find_in_class(m, found.cls, "__getattr__")
        return FALSE if getter is None else Unknown("bool")
    if isinstance(found, ListObj | DictObj | SetObj):
        kind = {ListObj: list, DictObj: dict, SetObj: set}[type(found)]
        return Const(hasattr(kind, name.value))
    if isinstance(found, ModuleObj) and isinstance(value, Ref):
        from analyzers.machine.linking import member

        known = member(m, value, name.value) is not None
        return TRUE if known else Unknown("bool") if m.env(found.env).open else FALSE
    if isinstance(value, Const):
        return Const(hasattr(value.value, name.value))
    if isinstance(found, Tensor):
        return TRUE if name.value in {"shape", "grad", "requires_grad", "detach", "backward"} else Unknown("bool")
    return Unknown("bool")


@builtin("getattr")
def _getattr(m: Machine, args: Args) -> Value:
    from analyzers.machine.attributes import get_attribute

    value, name = args.get(0, "obj"), args.get(1, "name")
    if not isinstance(name, Const) or not isinstance(name.value, str):
        return Unknown(None, None, None, reach_of(value, *args.pos[2:]))
    if len(args.pos) > 2:
        known = _hasattr(m, Args([value, name]))
        if known == FALSE:
            return args.pos[2]
        if known != TRUE:
            return Unknown(
                None,
                (value.symbol, name.value) if isinstance(value, Unknown) else None,
                None,
                reach_of(value, args.pos[2]),
            )
    return get_attribute(m, value, name.value)


@builtin("setattr")
def _setattr(m: Machine, args: Args) -> Value:
    from analyzers.machine.attributes import set_attribute

    value, name = args.get(0, "obj"), args.get(1, "name")
    if isinstance(name, Const) and isinstance(name.value, str):
        set_attribute(m, value, name.value, args.get(2, "value"))
    else:
        from analyzers.machine.havoc import havoc_value

        havoc_value(m, value)
    return NONE


@builtin("callable")
def _callable(m: Machine, args: Args) -> Value:
    value = args.get(0, "obj")
    if isinstance(value, Func | Method | Builtin | BoundBuiltin | Partial | Native):
        return TRUE
    if isinstance(value, Const | Tup):
        return FALSE
    return Unknown("bool")


@builtin("slice")
def _slice(m: Machine, args: Args) -> Value:
    parts = list(args.pos)
    if len(parts) == 1:
        return SliceValue(NONE, parts[0], NONE)
    return SliceValue(args.get(0, "a"), args.get(1, "b"), args.get(2, "c"))


@builtin("exec", "eval", "compile", "open", "memoryview", "bytearray", "dir", "help", "hash", "id", "ord")
def _opaque(m: Machine, args: Args) -> Value:
    return Unknown("int") if m.source().startswith(("hash", "id", "ord")) else Unknown()


@builtin("property", "staticmethod", "classmethod")
def _descriptors(m: Machine, args: Args) -> Value:
    from analyzers.machine.classes import decorate
    from analyzers.syntax import nodes as n

    value = args.get(0, "fget")
    node = m.frame.node
    name = node.func.id if isinstance(node, n.Call) and isinstance(node.func, n.Name) else ""
    if isinstance(value, Func) and name:
        return decorate(m, Builtin("builtins." + name), value)
    return value


@builtin("object")
def _object(m: Machine, args: Args) -> Value:
    return m.new(Instance("builtins.object", Map()))


@builtin("exit", "quit")
def _exit(m: Machine, args: Args) -> Value:
    raise PyRaise("SystemExit")


__all__ = ["Env", "call_builtin", "is_instance", "is_key", "replace"]
