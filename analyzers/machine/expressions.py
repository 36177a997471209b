"""Expressions: from a node and the present state to a value."""

from __future__ import annotations

from collections.abc import Callable

from immutables import Map

from analyzers.domain import truth
from analyzers.domain.join import united
from analyzers.domain.objects import Array, ClassObj, DictObj, Instance, ListObj, SetObj, Tensor
from analyzers.domain.values import (
    FALSE,
    NONE,
    TRUE,
    BoundBuiltin,
    Builtin,
    Const,
    Func,
    RangeValue,
    Ref,
    SliceValue,
    Tup,
    Unknown,
    Value,
)
from analyzers.machine.comprehensions import dict_comp, generator_exp, list_comp, set_comp
from analyzers.machine.core import Machine, PyRaise
from analyzers.machine.linking import settled
from analyzers.ops.infer import Shape, numel
from analyzers.syntax import nodes as n


def evaluate(m: Machine, node: n.Expr) -> Value:
    return EVALUATE[type(node)](m, node)


def truth_of(m: Machine, value: Value) -> tuple[truth.Truth, object]:
    """Whether a value counts as true, and what to remember the answer by where it is not known."""
    match value:
        case Const(value=v):
            return bool(v), None
        case Unknown(symbol=symbol):
            return None, symbol
        case Tup(items=items):
            return bool(items), None
        case RangeValue():
            from analyzers.machine.iteration import range_items

            items_ = range_items(value)
            return (None if items_ is None else bool(items_)), None
        case Ref():
            found = m.obj(value)
            match found:
                case ListObj(items=items, rest=rest) | SetObj(items=items, rest=rest):
                    return (True if items else False if rest is None else None), None
                case DictObj(order=order, rest=rest):
                    return (True if order else False if rest is None else None), None
                case Instance():
                    from analyzers.machine.attributes import find_in_class

                    for name in ("__bool__", "__len__"):
                        if find_in_class(m, found.cls, name) is not None:
                            return None, None
                    return (None if found.open else True), None
                case ClassObj():
                    return True, None
            if isinstance(found, Tensor):
                _need_one_number(m, found.shape)
            if isinstance(found, Tensor | Array):
                return None, None
            return True, None
        case BoundBuiltin() | Builtin():
            return True, None
    return True, None


def _need_one_number(m: Machine, shape: Shape) -> None:
    """Only a tensor of one element counts as true or false."""
    size = numel(shape)
    if size is not None and size != 1:
        many = "more than one value" if size else "no values"
        raise m.throw("RuntimeError", f"Boolean value of Tensor with {many} is ambiguous")


# --- names ------------------------------------------------------------------------------------------------------


def lookup_env(m: Machine, name: str) -> int | None:
    """The environment in which `name` is bound, as seen from the present frame."""
    frame = m.frame
    env: int | None = frame.env
    if name in frame.globals:
        env = module_env(m)
    while env is not None:
        found = m.env(env)
        if name in found.vars:
            return env
        env = found.parent
    return None


def module_env(m: Machine) -> int:
    env = m.frame.env
    while True:
        parent = m.env(env).parent
        if parent is None:
            return env
        env = parent


def load_name(m: Machine, name: str) -> Value:
    frame = m.frame
    env: int | None = frame.env
    if name in frame.globals:
        env = module_env(m)
    is_open = False
    outside = frame.func.env if frame.func is not None and frame.locals is not None and name in frame.locals else None
    while env is not None:
        found = m.env(env)
        value = found.vars.get(name)
        if value is not None:
            return settled(m, value) if isinstance(value, Unknown) else value
        is_open = is_open or found.open
        env = found.parent
        if env is not None and env == outside and not is_open:
            raise PyRaise("UnboundLocalError")
    if not is_open and name in BUILTIN_NAMES:
        return Builtin("builtins." + name)
    if frame.library:
        shared = m.program.library(frame.module + ":" + name)
        if shared is not None:
            from analyzers.machine.imports import library_value

            return library_value(m, shared)
    m.doubts += 1
    return Unknown(symbol=("name", frame.module, name))


def _name(m: Machine, node: n.Name) -> Value:
    value = load_name(m, node.id)
    if m.probe is not None:
        m.probe.read(m, node, value)
    return value


def _constant(m: Machine, node: n.Constant) -> Value:
    v = node.value
    if v is None:
        return NONE
    if v is True:
        return TRUE
    if v is False:
        return FALSE
    return Const(v)


# --- building ---------------------------------------------------------------------------------------------------


def spread(m: Machine, elts: tuple[n.Expr, ...]) -> tuple[tuple[Value, ...], Value | None]:
    """The elements of a display such as `[a, *b]`, and what stands for an unknown number more."""
    from analyzers.machine.iteration import stream_of

    items: list[Value] = []
    rest: Value | None = None
    for elt in elts:
        if isinstance(elt, n.Starred):
            stream = stream_of(m, evaluate(m, elt.value)).drained(m)
            items += stream.items
            rest = stream.rest if stream.rest is not None else rest
        else:
            items.append(evaluate(m, elt))
    return tuple(items), rest


def _tuple(m: Machine, node: n.TupleExpr) -> Value:
    items, rest = spread(m, node.elts)
    return Tup(items) if rest is None else m.new(ListObj(items, rest))


def _list(m: Machine, node: n.ListExpr) -> Value:
    items, rest = spread(m, node.elts)
    return m.new(ListObj(items, rest))


def _set(m: Machine, node: n.SetExpr) -> Value:
    items, rest = spread(m, node.elts)
    return m.new(SetObj(tuple(dict.fromkeys(items)), rest))


def _dict(m: Machine, node: n.DictExpr) -> Value:
    items: dict[Value, Value] = {}
    rest: Value | None = None
    more: frozenset[Value] | None = frozenset()
    for key, value_node in zip(node.keys, node.values, strict=True):
        value = evaluate(m, value_node)
        if key is None:
            other = m.obj(value)
            if isinstance(other, DictObj):
                for k in other.order:
                    items[k] = other.items[k]
                rest = other.rest if other.rest is not None else rest
                more = united(more, other.perhaps)
            else:
                rest, more = Unknown(), None
            continue
        k = evaluate(m, key)
        if is_key(m, k):
            items[k] = value
        else:
            rest, more = value if rest is None else Unknown(), None
    return m.new(DictObj(Map(items), tuple(items), rest, keys=more or None))


def is_key(m: Machine, key: Value) -> bool:
    """Whether a dict's key is known well enough to be told from others."""
    match key:
        case Const() | Builtin() | Func():
            return True
        case Unknown(symbol=symbol):
            return symbol is not None
        case Tup(items=items):
            return all(is_key(m, item) for item in items)
        case Ref():
            from analyzers.domain.objects import Tensor

            return isinstance(m.obj(key), Instance | ClassObj | Tensor)
    return False


def is_exact_key(key: Value) -> bool:
    """Whether a key that is not found is surely not there: one that is only named may equal any other."""
    match key:
        case Unknown():
            return False
        case Tup(items=items):
            return all(is_exact_key(item) for item in items)
    return True


def _slice(m: Machine, node: n.Slice) -> Value:
    def part(e: n.Expr | None) -> Value:
        return NONE if e is None else evaluate(m, e)

    return SliceValue(part(node.lower), part(node.upper), part(node.step))


def _joined(m: Machine, node: n.JoinedStr) -> Value:
    text: list[str] | None = []
    for part in node.values:
        value = evaluate(m, part)
        if text is not None and isinstance(value, Const) and isinstance(value.value, str):
            text.append(value.value)
        else:
            text = None
    return Unknown("str") if text is None else Const("".join(text))


def _formatted(m: Machine, node: n.FormattedValue) -> Value:
    value = evaluate(m, node.value)
    spec = evaluate(m, node.format_spec) if node.format_spec is not None else Const("")
    if isinstance(value, Const) and isinstance(spec, Const) and isinstance(spec.value, str):
        if not isinstance(value.value, str | int | float | bool | type(None)):
            return Unknown("str")
        try:
            return Const(format(repr(value.value) if node.conversion == "r" else value.value, spec.value))
        except (ValueError, TypeError):
            return Unknown("str")
    return Unknown("str")


# --- operators --------------------------------------------------------------------------------------------------


def _unary(m: Machine, node: n.UnaryOp) -> Value:
    from analyzers.machine.operators import unary

    value = evaluate(m, node.operand)
    m.frame.node = node
    if node.op == "not":
        known, symbol = truth_of(m, value)
        if known is None:
            return Unknown("bool", None if symbol is None else ("not", symbol))
        return FALSE if known else TRUE
    return unary(m, node.op, value)


def _binary(m: Machine, node: n.BinOp) -> Value:
    from analyzers.machine.operators import binary

    left = evaluate(m, node.left)
    right = evaluate(m, node.right)
    m.frame.node = node
    return binary(m, node.op, left, right)


def _bool(m: Machine, node: n.BoolOp) -> Value:
    wants = node.op == "or"
    value: Value = NONE
    for index, part in enumerate(node.values):
        value = evaluate(m, part)
        if index == len(node.values) - 1:
            break
        known: truth.Truth
        symbol: object
        known, symbol = truth_of(m, value)
        if known is None and all(_is_test(p) for p in node.values[index:]):
            # Only the outcome counts: no need to part ways here.
            rest = [evaluate(m, p) for p in node.values[index + 1 :]]
            verdicts = [known, *(None if isinstance(m.obj(r), Tensor) else truth_of(m, r)[0] for r in rest)]
            if wants and any(v is True for v in verdicts):
                return TRUE
            if not wants and any(v is False for v in verdicts):
                return FALSE
            return Unknown("bool")
        if m.decide(known, symbol) == wants:
            if isinstance(value, Unknown) and value.type is None and not wants:
                return Unknown(None, value.symbol, value.lineage, value.reach)
            return value
    return value


def _is_test(node: n.Expr) -> bool:
    """Whether evaluating this changes nothing, so that it may be looked at out of turn."""
    match node:
        case n.Compare(left=left, comparators=comparators):
            return _is_plain(left) and all(_is_plain(c) for c in comparators)
        case n.UnaryOp(op="not", operand=operand):
            return _is_test(operand)
    return False


def _is_plain(node: n.Expr) -> bool:
    match node:
        case n.Name() | n.Constant():
            return True
        case n.Attribute(value=value):
            return _is_plain(value)
        case n.BinOp(left=left, right=right):
            return _is_plain(left) and _is_plain(right)
    return False


def _compare(m: Machine, node: n.Compare) -> Value:
    from analyzers.machine.operators import compare

    m.asks_for_none = isinstance(node.left, n.Attribute) and node.left.attr == "grad" and "is" in node.ops[0]
    left = evaluate(m, node.left)
    m.asks_for_none = False
    result: Value = TRUE
    for op, comparator in zip(node.ops, node.comparators, strict=True):
        right = evaluate(m, comparator)
        m.frame.node = node
        result = compare(m, op, left, right)
        if len(node.ops) > 1:
            known, _ = truth_of(m, result)
            if known is False:
                return result
            if known is None:
                return Unknown("bool")
        left = right
    return result


def _if_exp(m: Machine, node: n.IfExp) -> Value:
    from analyzers.machine.statements import refine

    known, symbol = truth_of(m, evaluate(m, node.test))
    if known is None and symbol is not None and m.st.assumed.get(symbol) is None:
        match node.body, node.orelse:
            # `True if available() else False` is the condition itself: there is nothing to decide yet.
            case n.Constant(value=True), n.Constant(value=False):
                return Unknown("bool", symbol)
            case n.Constant(value=False), n.Constant(value=True):
                return Unknown("bool", ("not", symbol))
    outcome = m.decide(known, symbol)
    refine(m, node.test, outcome)
    return evaluate(m, node.body if outcome else node.orelse)


def _named(m: Machine, node: n.NamedExpr) -> Value:
    from analyzers.machine.targets import assign

    value = evaluate(m, node.value)
    assign(m, node.target, value, node)
    return value


# --- access and calls -------------------------------------------------------------------------------------------


def _attribute(m: Machine, node: n.Attribute) -> Value:
    from analyzers.machine.attributes import get_attribute

    owner = evaluate(m, node.value)
    m.frame.node = node
    value = get_attribute(m, owner, node.attr)
    if m.probe is not None:
        m.probe.read(m, node, value)
    return value


def _subscript(m: Machine, node: n.Subscript) -> Value:
    from analyzers.machine.subscripts import get_item

    owner = evaluate(m, node.value)
    index = evaluate(m, node.index)
    m.frame.node = node
    return get_item(m, owner, index)


def _call(m: Machine, node: n.Call) -> Value:
    from analyzers.machine.calls import Args, call
    from analyzers.machine.iteration import stream_of

    func = evaluate(m, node.func)
    pos: list[Value] = []
    kw: dict[str, Value] = {}
    more: frozenset[Value] | None = frozenset()
    for arg in node.args:
        if isinstance(arg, n.Starred):
            stream = stream_of(m, evaluate(m, arg.value)).drained(m)
            pos += stream.items
            more = more if stream.rest is None else None
        else:
            pos.append(evaluate(m, arg))
    for keyword in node.keywords:
        value = evaluate(m, keyword.value)
        if keyword.arg is not None:
            kw[keyword.arg] = value
            continue
        found = m.obj(value)
        if isinstance(found, DictObj):
            for key in found.order:
                if isinstance(key, Const) and isinstance(key.value, str):
                    kw[key.value] = found.items[key]
                else:
                    more = None
            more = united(more, found.perhaps)
        else:
            more = None
    m.frame.node = node
    args = Args(pos, kw, more is None or bool(more), more)
    if m.probe is None:
        return call(m, func, args)
    m.probe.calls(m, node, func)
    result = call(m, func, args)
    m.probe.called(m, node, result)
    return result


def _starred(m: Machine, node: n.Starred) -> Value:
    return evaluate(m, node.value)


def _lambda(m: Machine, node: n.Lambda) -> Value:
    from analyzers.machine.classes import closure

    return closure(m, node, "<lambda>")


def _await(m: Machine, node: n.Await) -> Value:
    return evaluate(m, node.value)


def _yield(m: Machine, node: n.Yield) -> Value:
    value = NONE if node.value is None else evaluate(m, node.value)
    m.frame.node = node
    handler = m.frame.yields
    return handler(value) if handler is not None else Unknown()


def _yield_from(m: Machine, node: n.YieldFrom) -> Value:
    from analyzers.machine.iteration import stream_of

    handler = m.frame.yields
    stream = stream_of(m, evaluate(m, node.value)).drained(m)
    if handler is not None:
        for item in stream.items:
            handler(item)
        if stream.rest is not None:
            handler(stream.rest)
    return Unknown()


def _error(m: Machine, node: n.Node) -> Value:
    del m, node
    return Unknown()


EVALUATE: dict[type[n.Node], Callable[..., Value]] = {
    n.Constant: _constant,
    n.Name: _name,
    n.Attribute: _attribute,
    n.Subscript: _subscript,
    n.Slice: _slice,
    n.Starred: _starred,
    n.Call: _call,
    n.UnaryOp: _unary,
    n.BinOp: _binary,
    n.BoolOp: _bool,
    n.Compare: _compare,
    n.IfExp: _if_exp,
    n.NamedExpr: _named,
    n.TupleExpr: _tuple,
    n.ListExpr: _list,
    n.SetExpr: _set,
    n.DictExpr: _dict,
    n.ListComp: list_comp,
    n.SetComp: set_comp,
    n.GeneratorExp: generator_exp,
    n.DictComp: dict_comp,
    n.Lambda: _lambda,
    n.JoinedStr: _joined,
    n.FormattedValue: _formatted,
    n.Await: _await,
    n.Yield: _yield,
    n.YieldFrom: _yield_from,
    n.ErrorExpr: _error,
}

BUILTIN_NAMES = frozenset(
    [
        "abs",
        "all",
        "any",
        "ascii",
        "bin",
        "bool",
        "breakpoint",
        "bytearray",
        "bytes",
        "callable",
        "chr",
        "classmethod",
        "compile",
        "complex",
        "delattr",
        "dict",
        "dir",
        "divmod",
        "enumerate",
        "eval",
        "exec",
        "filter",
        "float",
        "format",
        "frozenset",
        "getattr",
        "globals",
        "hasattr",
        "hash",
        "help",
        "hex",
        "id",
        "input",
        "int",
        "isinstance",
        "issubclass",
        "iter",
        "len",
        "list",
        "locals",
        "map",
        "max",
        "memoryview",
        "min",
        "next",
        "object",
        "oct",
        "open",
        "ord",
        "pow",
        "print",
        "property",
        "range",
        "repr",
        "reversed",
        "reveal_type",
        "reveal",
        "round",
        "set",
        "setattr",
        "slice",
        "sorted",
        "staticmethod",
        "str",
        "sum",
        "super",
        "tuple",
        "type",
        "vars",
        "zip",
        "__import__",
        "ArithmeticError",
        "AssertionError",
        "AttributeError",
        "BaseException",
        "BlockingIOError",
        "BrokenPipeError",
        "BufferError",
        "ConnectionError",
        "DeprecationWarning",
        "EOFError",
        "EnvironmentError",
        "Exception",
        "FileExistsError",
        "FileNotFoundError",
        "FloatingPointError",
        "FutureWarning",
        "GeneratorExit",
        "IOError",
        "ImportError",
        "ImportWarning",
        "IndexError",
        "InterruptedError",
        "KeyError",
        "KeyboardInterrupt",
        "LookupError",
        "MemoryError",
        "ModuleNotFoundError",
        "NameError",
        "NotImplemented",
        "NotImplementedError",
        "OSError",
        "OverflowError",
        "PermissionError",
        "ProcessLookupError",
        "RecursionError",
        "ReferenceError",
        "ResourceWarning",
        "RuntimeError",
        "RuntimeWarning",
        "StopAsyncIteration",
        "StopIteration",
        "SyntaxError",
        "SystemError",
        "SystemExit",
        "TimeoutError",
        "TypeError",
        "UnboundLocalError",
        "UnicodeDecodeError",
        "UnicodeEncodeError",
        "UnicodeError",
        "UserWarning",
        "ValueError",
        "Warning",
        "ZeroDivisionError",
        "__debug__",
        "Ellipsis",
    ]
)
