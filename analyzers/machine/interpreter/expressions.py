"""Expressions: from a node and the current state to a value."""

from __future__ import annotations

from analyzers.domain import truth
from analyzers.domain.join import reach_of, united
from analyzers.domain.objects import DictObj, ListObj, SetObj
from analyzers.domain.values import FALSE, NONE, TRUE, Const, SliceValue, Tup, Unknown, Value
from analyzers.machine.core.arguments import Args
from analyzers.machine.core.calling import call
from analyzers.machine.core.machine import Machine
from analyzers.machine.core.ports import PORTS
from analyzers.machine.core.registries import is_foreign
from analyzers.machine.interpreter.classes import closure
from analyzers.machine.interpreter.conditions import refine
from analyzers.machine.interpreter.dispatch import evaluate, evaluates
from analyzers.machine.objects.attributes import get_attribute
from analyzers.machine.objects.comparisons import compare
from analyzers.machine.objects.folding import TooExpensiveError, fold
from analyzers.machine.objects.iteration import stream_of
from analyzers.machine.objects.operators import binary, unary
from analyzers.machine.objects.subscripts import get_item, is_key
from analyzers.machine.objects.truth import truth_of
from analyzers.maps import Map
from analyzers.syntax import nodes as n


@evaluates(n.Constant)
def _constant(m: Machine, node: n.Constant) -> Value:
    v = node.value
    if v is None:
        return NONE
    if v is True:
        return TRUE
    if v is False:
        return FALSE
    return Const(v)


def spread(m: Machine, elts: tuple[n.Expr, ...]) -> tuple[tuple[Value, ...], Value | None]:
    """The elements of a display such as `[a, *b]`, and a value for an unknown number of further ones, if any."""
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


@evaluates(n.TupleExpr)
def _tuple(m: Machine, node: n.TupleExpr) -> Value:
    items, rest = spread(m, node.elts)
    return Tup(items) if rest is None else m.new(ListObj(items, rest))


@evaluates(n.ListExpr)
def _list(m: Machine, node: n.ListExpr) -> Value:
    items, rest = spread(m, node.elts)
    return m.new(ListObj(items, rest))


@evaluates(n.SetExpr)
def _set(m: Machine, node: n.SetExpr) -> Value:
    items, rest = spread(m, node.elts)
    return m.new(SetObj(tuple(dict.fromkeys(items)), rest))


@evaluates(n.DictExpr)
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


@evaluates(n.Slice)
def _slice(m: Machine, node: n.Slice) -> Value:
    def part(e: n.Expr | None) -> Value:
        return NONE if e is None else evaluate(m, e)

    return SliceValue(part(node.lower), part(node.upper), part(node.step))


@evaluates(n.JoinedStr)
def _joined(m: Machine, node: n.JoinedStr) -> Value:
    text: str | None = ""
    for part in node.values:
        value = evaluate(m, part)
        if text is not None and isinstance(value, Const) and isinstance(value.value, str):
            try:
                text = fold("+", text, value.value)
                continue
            except TooExpensiveError:
                pass
        text = None
    return Unknown("str") if text is None else Const(text)


_CONVERSIONS = {"r": "repr", "s": "str", "a": "ascii"}


@evaluates(n.FormattedValue)
def _formatted(m: Machine, node: n.FormattedValue) -> Value:
    value = evaluate(m, node.value)
    spec = evaluate(m, node.format_spec) if node.format_spec is not None else Const("")
    if isinstance(value, Const) and isinstance(spec, Const) and isinstance(spec.value, str):
        if not isinstance(value.value, str | int | float | bool | type(None)):
            return Unknown("str")
        try:
            shown = value.value if node.conversion is None else fold(_CONVERSIONS[node.conversion], value.value)
            return Const(fold("format", shown, spec.value))
        except (ValueError, TypeError, OverflowError, KeyError, TooExpensiveError):
            return Unknown("str")
    return Unknown("str")


@evaluates(n.UnaryOp)
def _unary(m: Machine, node: n.UnaryOp) -> Value:
    value = evaluate(m, node.operand)
    m.frame.node = node
    if node.op == "not":
        known, symbol = truth_of(m, value)
        if known is None:
            return Unknown("bool", None if symbol is None else ("not", symbol))
        return FALSE if known else TRUE
    return unary(m, node.op, value)


@evaluates(n.BinOp)
def _binary(m: Machine, node: n.BinOp) -> Value:
    left = evaluate(m, node.left)
    right = evaluate(m, node.right)
    m.frame.node = node
    return binary(m, node.op, left, right)


@evaluates(n.BoolOp)
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
            # Only the outcome matters: no need to fork.
            rest = [evaluate(m, p) for p in node.values[index + 1 :]]
            verdicts = [known, *(None if is_foreign(m.obj(r)) else truth_of(m, r)[0] for r in rest)]
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
    """Whether evaluating this has no side effects, so that it may be evaluated early."""
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


@evaluates(n.Compare)
def _compare(m: Machine, node: n.Compare) -> Value:
    m.extent.compared_with_none = (
        isinstance(node.left, n.Attribute) and node.left.attr == "grad" and "is" in node.ops[0]
    )
    left = evaluate(m, node.left)
    m.extent.compared_with_none = False
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


@evaluates(n.IfExp)
def _if_exp(m: Machine, node: n.IfExp) -> Value:
    known, symbol = truth_of(m, evaluate(m, node.test))
    if known is None and symbol is not None and m.st.assumed.get(symbol) is None:
        match node.body, node.orelse:
            # `True if available() else False` is just the condition: nothing to decide yet.
            case n.Constant(value=True), n.Constant(value=False):
                return Unknown("bool", symbol)
            case n.Constant(value=False), n.Constant(value=True):
                return Unknown("bool", ("not", symbol))
    outcome = m.decide(known, symbol)
    if known is None:
        m.guard(node.test, outcome)
    refine(m, node.test, outcome)
    return evaluate(m, node.body if outcome else node.orelse)


@evaluates(n.Attribute)
def _attribute(m: Machine, node: n.Attribute) -> Value:
    owner = evaluate(m, node.value)
    m.frame.node = node
    value = get_attribute(m, owner, node.attr)
    if isinstance(value, Unknown) and isinstance(node.value, n.Name) and node.value.id == "self":
        value = PORTS.likely.own(m, node, owner, value)
    if m.config.probe is not None:
        m.config.probe.read(m, node, value)
    return value


@evaluates(n.Subscript)
def _subscript(m: Machine, node: n.Subscript) -> Value:
    owner = evaluate(m, node.value)
    index = evaluate(m, node.index)
    m.frame.node = node
    return get_item(m, owner, index)


@evaluates(n.Call)
def _call(m: Machine, node: n.Call) -> Value:
    func = evaluate(m, node.func)
    pos: list[Value] = []
    kw: dict[str, Value] = {}
    more: frozenset[Value] | None = frozenset()
    rest: Value | None = None
    starred = False
    for arg in node.args:
        if isinstance(arg, n.Starred):
            stream = stream_of(m, evaluate(m, arg.value)).drained(m)
            pos += stream.items
            starred = starred or stream.rest is not None
            rest = rest or stream.rest
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
    all_named = more is not None and not more
    more = None if starred else more
    args = Args(pos, kw, more is None or bool(more), more, rest=rest, starred=starred and all_named)
    if m.config.probe is None:
        return call(m, func, args)
    m.config.probe.calls(m, node, func)
    result = call(m, func, args)
    m.config.probe.called(m, node, result)
    return result


@evaluates(n.Starred)
def _starred(m: Machine, node: n.Starred) -> Value:
    return evaluate(m, node.value)


@evaluates(n.Lambda)
def _lambda(m: Machine, node: n.Lambda) -> Value:
    return closure(m, node, "<lambda>")


@evaluates(n.Await)
def _await(m: Machine, node: n.Await) -> Value:
    return evaluate(m, node.value)


@evaluates(n.Yield)
def _yield(m: Machine, node: n.Yield) -> Value:
    value = NONE if node.value is None else evaluate(m, node.value)
    m.frame.node = node
    handler = m.frame.yields
    return handler(value) if handler is not None else Unknown()


@evaluates(n.YieldFrom)
def _yield_from(m: Machine, node: n.YieldFrom) -> Value:
    handler = m.frame.yields
    source = evaluate(m, node.value)
    stream = stream_of(m, source).drained(m)
    if handler is not None:
        for item in stream.items:
            handler(item)
        if stream.rest is not None:
            handler(stream.rest)
    return Unknown(None, None, None, reach_of(source, *stream.items))


@evaluates(n.ErrorExpr)
def _error(m: Machine, node: n.Node) -> Value:
    del m, node
    return Unknown()
