"""Expressions: from tree-sitter's nodes to ours.

An expression nested deeper than `MAX_DEPTH` becomes an `ErrorExpr`, so whoever walks the tree may recurse.
"""

from __future__ import annotations

from collections.abc import Callable

from tree_sitter import Node

from analyzers.syntax import literals, operators, parse, strings
from analyzers.syntax import nodes as n
from analyzers.syntax.parameters import SPLATS, arguments
from analyzers.syntax.source import MAX_DEPTH, Lower, Scope, Source, error

IDENTIFIER = parse.kind("identifier")
PARENTHESES = parse.kind("parenthesized_expression")
_PAIR = parse.kind("pair")
_IF_CLAUSE = parse.kind("if_clause")
_KEYWORD = parse.kind("keyword_argument")
_DICT_SPLAT = parse.kind("dictionary_splat")
_PARAMETERS = parse.field("parameters")
_BODY = parse.field("body")


def expr(c: Source, node: Node) -> n.Expr:
    handler = _HANDLERS.get(node.kind_id)
    if handler is None or c.depth >= MAX_DEPTH:
        return error(c, node)
    c.depth += 1
    lowered = handler(c, node)
    c.depth -= 1
    return lowered


def target(c: Source, node: Node) -> n.Expr:
    """Lower what is assigned to, deleted or looped over, and bind its names."""
    kind = node.kind_id
    if kind == IDENTIFIER:
        name = c.name(node)
        c.scope.bound.add(name)
        return n.Name(c.at(node.start_byte), c.at(node.end_byte), name)
    if kind not in _TARGET_GROUPS or c.depth >= MAX_DEPTH:
        return expr(c, node)
    c.depth += 1
    start, end = c.at(node.start_byte), c.at(node.end_byte)
    inner = parse.parts(node)
    lowered: n.Expr
    if kind in SPLATS:
        lowered = n.Starred(start, end, target(c, inner[0])) if inner else error(c, node)
    elif kind in _LISTS:
        lowered = n.ListExpr(start, end, tuple(target(c, one) for one in inner))
    elif len(inner) == 1 and (kind == PARENTHESES or (kind in _TUPLES and not has_comma(node))):
        lowered = target(c, inner[0])
    else:
        lowered = n.TupleExpr(start, end, tuple(target(c, one) for one in inner))
    c.depth -= 1
    return lowered


def several(c: Source, nodes: list[Node], end: int, *, comma: bool) -> n.Expr:
    """One expression, or the tuple without parentheses that several make; `end` is where its last token ends."""
    if len(nodes) == 1 and not comma:
        return expr(c, nodes[0])
    return n.TupleExpr(c.at(nodes[0].start_byte), c.at(end), tuple(expr(c, one) for one in nodes))


def listed(c: Source, node: Node, skip: int) -> n.Expr:
    """The expressions among the children of `node` from number `skip`: one, or a tuple where there is a comma."""
    tokens = [one for one in node.children[skip:] if not one.is_extra]
    inner = [one for one in tokens if one.is_named]
    if not inner:
        return error(c, node)
    return several(c, inner, tokens[-1].end_byte, comma=len(tokens) > 1)


def call_arguments(c: Source, node: Node | None) -> tuple[tuple[n.Expr, ...], tuple[n.Keyword, ...]]:
    """Positional and keyword arguments of an `argument_list`, or of the one generator that stands for it."""
    if node is None:
        return (), ()
    if node.kind_id != _ARGUMENT_LIST:
        return (expr(c, node),), ()
    args: list[n.Expr] = []
    keywords: list[n.Keyword] = []
    for one in node.named_children:
        kind = one.kind_id
        if kind == _KEYWORD:
            name, value = parse.parts(one)
            keywords.append(n.Keyword(c.at(one.start_byte), c.at(one.end_byte), c.name(name), expr(c, value)))
        elif kind == _DICT_SPLAT:
            (value,) = parse.parts(one)
            keywords.append(n.Keyword(c.at(one.start_byte), c.at(one.end_byte), None, expr(c, value)))
        elif not one.is_extra:
            args.append(expr(c, one))
    return tuple(args), tuple(keywords)


def has_comma(node: Node) -> bool:
    return any(child.type == "," for child in node.children)


# --- one handler a kind -----------------------------------------------------------------------------------------


def _name(c: Source, node: Node) -> n.Expr:
    return n.Name(c.at(node.start_byte), c.at(node.end_byte), c.name(node))


def _integer(c: Source, node: Node) -> n.Expr:
    return _number(c, node, literals.integer)


def _float(c: Source, node: Node) -> n.Expr:
    return _number(c, node, literals.floating)


def _number(c: Source, node: Node, read: Callable[[str], complex]) -> n.Expr:
    try:
        value = read(c.text[node.start_byte : node.end_byte].decode("ascii", "replace"))
    except ValueError:
        return error(c, node)
    return n.Constant(c.at(node.start_byte), c.at(node.end_byte), value)


def _constant(value: object) -> Lower:
    def lower(c: Source, node: Node) -> n.Expr:
        return n.Constant(c.at(node.start_byte), c.at(node.end_byte), value)

    return lower


def _attribute(c: Source, node: Node) -> n.Expr:
    value, name = parse.parts(node)
    start, end, attr_start = c.at(node.start_byte), c.at(node.end_byte), c.at(name.start_byte)
    lowered = n.Attribute(start, end, expr(c, value), c.name(name), attr_start)
    return _hoist(lowered, value, lowered.value, "value")


def _call(c: Source, node: Node) -> n.Expr:
    inner = parse.parts(node)
    args, keywords = call_arguments(c, inner[1])
    lowered = n.Call(c.at(node.start_byte), c.at(node.end_byte), expr(c, inner[0]), args, keywords)
    return _hoist(lowered, inner[0], lowered.func, "func")


def _subscript(c: Source, node: Node) -> n.Expr:
    tokens = [one for one in node.children if not one.is_extra]
    inner = [one for one in tokens[2:-1] if one.is_named]
    start, end = c.at(node.start_byte), c.at(node.end_byte)
    if not inner:
        return error(c, node)
    index = _index(c, inner, tokens[-2].end_byte, comma=len(tokens) > 4)
    lowered = n.Subscript(start, end, expr(c, tokens[0]), index)
    return _hoist(lowered, tokens[0], lowered.value, "value")


def _index(c: Source, inner: list[Node], end: int, *, comma: bool) -> n.Expr:
    """What stands in the brackets; `x[*a]` is a tuple without a comma."""
    index = several(c, inner, end, comma=comma)
    return n.TupleExpr(index.start, index.end, (index,)) if isinstance(index, n.Starred) else index


def _hoist(lowered: n.Attribute | n.Call | n.Subscript, node: Node, value: n.Expr, name: str) -> n.Expr:
    """In `[*a.b()]` tree-sitter at times gives the star to `a` alone: give it to the whole."""
    if not isinstance(value, n.Starred) or node.kind_id == PARENTHESES:
        return lowered
    setattr(lowered, name, value.value)
    star = lowered.start
    lowered.start = value.value.start
    return n.Starred(star, lowered.end, lowered)


def _slice(c: Source, node: Node) -> n.Expr:
    bounds: list[n.Expr | None] = [None, None, None]
    at = 0
    for one in node.children:
        if one.is_named:
            if not one.is_extra:
                bounds[min(at, 2)] = expr(c, one)
        else:
            at += 1
    return n.Slice(c.at(node.start_byte), c.at(node.end_byte), bounds[0], bounds[1], bounds[2])


def _starred(c: Source, node: Node) -> n.Expr:
    return n.Starred(c.at(node.start_byte), c.at(node.end_byte), expr(c, parse.parts(node)[0]))


def _parentheses(c: Source, node: Node) -> n.Expr:
    inner = parse.parts(node)
    return expr(c, inner[0]) if len(inner) == 1 else error(c, node)


def _conditional(c: Source, node: Node) -> n.Expr:
    body, test, orelse = parse.parts(node)
    start, end = c.at(node.start_byte), c.at(node.end_byte)
    return n.IfExp(start, end, expr(c, test), expr(c, body), expr(c, orelse))


def _walrus(c: Source, node: Node) -> n.Expr:
    name, value = parse.parts(node)
    c.scope.walrus.add(c.name(name))
    named = n.Name(c.at(name.start_byte), c.at(name.end_byte), c.name(name))
    return n.NamedExpr(c.at(node.start_byte), c.at(node.end_byte), named, expr(c, value))


def _tuple(c: Source, node: Node) -> n.Expr:
    elts = tuple(expr(c, one) for one in parse.parts(node))
    return n.TupleExpr(c.at(node.start_byte), c.at(node.end_byte), elts)


def _list(c: Source, node: Node) -> n.Expr:
    elts = tuple(expr(c, one) for one in parse.parts(node))
    return n.ListExpr(c.at(node.start_byte), c.at(node.end_byte), elts)


def _set(c: Source, node: Node) -> n.Expr:
    elts = tuple(expr(c, one) for one in parse.parts(node))
    return n.SetExpr(c.at(node.start_byte), c.at(node.end_byte), elts)


def _dictionary(c: Source, node: Node) -> n.Expr:
    keys: list[n.Expr | None] = []
    values: list[n.Expr] = []
    for one in parse.parts(node):
        inner = parse.parts(one)
        keys.append(expr(c, inner[0]) if one.kind_id == _PAIR else None)
        values.append(expr(c, inner[-1]))
    return n.DictExpr(c.at(node.start_byte), c.at(node.end_byte), tuple(keys), tuple(values))


def _comprehension(make: Callable[[int, int, n.Expr, tuple[n.Comprehension, ...]], n.Expr]) -> Lower:
    def lower(c: Source, node: Node) -> n.Expr:
        elt, *clauses = parse.parts(node)
        outer = c.scope
        c.scope = Scope(walrus=outer.walrus)
        generators = _generators(c, clauses)
        element = expr(c, elt)
        # Only the first iterable may yield, and it is evaluated outside.
        outer.yields |= c.scope.yields
        c.scope = outer
        return make(c.at(node.start_byte), c.at(node.end_byte), element, generators)

    return lower


def _dict_comprehension(c: Source, node: Node) -> n.Expr:
    pair, *clauses = parse.parts(node)
    key, value = parse.parts(pair)
    outer = c.scope
    c.scope = Scope(walrus=outer.walrus)
    generators = _generators(c, clauses)
    lowered = n.DictComp(c.at(node.start_byte), c.at(node.end_byte), expr(c, key), expr(c, value), generators)
    outer.yields |= c.scope.yields
    c.scope = outer
    return lowered


def _generators(c: Source, clauses: list[Node]) -> tuple[n.Comprehension, ...]:
    generators: list[n.Comprehension] = []
    for clause in clauses:
        start, end = c.at(clause.start_byte), c.at(clause.end_byte)
        if clause.kind_id == _IF_CLAUSE:
            last = generators[-1]
            last.ifs += (expr(c, parse.parts(clause)[0]),)
            last.end = end
            continue
        left, *rights = parse.parts(clause)
        is_async = clause.children[0].type == "async"
        iterated = several(c, rights, rights[-1].end_byte, comma=len(rights) > 1)
        generators.append(n.Comprehension(start, end, target(c, left), iterated, (), is_async))
    return tuple(generators)


def _lambda(c: Source, node: Node) -> n.Expr:
    parameters = node.child_by_field_id(_PARAMETERS)
    body = node.child_by_field_id(_BODY)
    outer = c.scope
    args = arguments(c, parameters, expr)
    c.scope = Scope()
    lowered = n.ErrorExpr(0, 0) if body is None else expr(c, body)
    c.scope = outer
    return n.Lambda(c.at(node.start_byte), c.at(node.end_byte), args, lowered)


def _await(c: Source, node: Node) -> n.Expr:
    return n.Await(c.at(node.start_byte), c.at(node.end_byte), expr(c, parse.parts(node)[0]))


def _yield(c: Source, node: Node) -> n.Expr:
    c.scope.yields = True
    start, end = c.at(node.start_byte), c.at(node.end_byte)
    tokens = [one for one in node.children if not one.is_extra]
    if len(tokens) == 1:
        return n.Yield(start, end, None)
    if tokens[1].type == "from":
        return n.YieldFrom(start, end, expr(c, tokens[2]))
    return n.Yield(start, end, expr(c, tokens[1]))


def _wrapped(c: Source, node: Node) -> n.Expr:
    """A kind that adds nothing to the one expression in it."""
    inner = parse.parts(node)
    return expr(c, inner[0]) if len(inner) == 1 else error(c, node)


def _generic_type(c: Source, node: Node) -> n.Expr:
    value, parameters = parse.parts(node)
    tokens = [one for one in parameters.children[1:-1] if not one.is_extra]
    inner = [one for one in tokens if one.is_named]
    if not inner:
        return error(c, node)
    index = _index(c, inner, tokens[-1].end_byte, comma=len(tokens) > 1)
    return n.Subscript(c.at(node.start_byte), c.at(node.end_byte), expr(c, value), index)


def _union_type(c: Source, node: Node) -> n.Expr:
    left, right = parse.parts(node)
    return n.BinOp(c.at(node.start_byte), c.at(node.end_byte), expr(c, left), "|", expr(c, right))


def _unary(c: Source, node: Node) -> n.Expr:
    return operators.unary(c, node, expr)


def _binary(c: Source, node: Node) -> n.Expr:
    return operators.binary(c, node, expr)


def _boolean(c: Source, node: Node) -> n.Expr:
    return operators.boolean(c, node, expr)


def _compare(c: Source, node: Node) -> n.Expr:
    return operators.compare(c, node, expr)


def _string(c: Source, node: Node) -> n.Expr:
    return strings.joined(c, node, [node], expr)


def _concatenated(c: Source, node: Node) -> n.Expr:
    return strings.joined(c, node, parse.parts(node), expr)


_ARGUMENT_LIST = parse.kind("argument_list")
_LISTS = parse.kinds("list_pattern", "list")
_TUPLES = parse.kinds("tuple_pattern", "tuple")
_TARGET_GROUPS = SPLATS | _LISTS | _TUPLES | {PARENTHESES} | parse.kinds("pattern_list", "expression_list")

_BY_NAME: dict[str, Lower] = {
    "identifier": _name,
    "integer": _integer,
    "float": _float,
    "true": _constant(True),
    "false": _constant(False),
    "none": _constant(None),
    "ellipsis": _constant(...),
    "attribute": _attribute,
    "call": _call,
    "subscript": _subscript,
    "slice": _slice,
    "list_splat": _starred,
    "list_splat_pattern": _starred,
    "splat_type": _starred,
    "parenthesized_list_splat": _parentheses,
    "parenthesized_expression": _parentheses,
    "unary_operator": _unary,
    "not_operator": _unary,
    "binary_operator": _binary,
    "boolean_operator": _boolean,
    "comparison_operator": _compare,
    "conditional_expression": _conditional,
    "named_expression": _walrus,
    "tuple": _tuple,
    "expression_list": _tuple,
    "list": _list,
    "set": _set,
    "dictionary": _dictionary,
    "list_comprehension": _comprehension(n.ListComp),
    "set_comprehension": _comprehension(n.SetComp),
    "generator_expression": _comprehension(n.GeneratorExp),
    "dictionary_comprehension": _dict_comprehension,
    "lambda": _lambda,
    "await": _await,
    "yield": _yield,
    "type": _wrapped,
    "generic_type": _generic_type,
    "union_type": _union_type,
    "member_type": _attribute,
    "string": _string,
    "concatenated_string": _concatenated,
}
_HANDLERS: dict[int, Lower] = {kind: handler for name, handler in _BY_NAME.items() for kind in parse.kinds(name)}
