"""Statements: from tree-sitter's nodes to ours.

What does not parse becomes an `ErrorStmt` as small as the grammar allows: a broken line inside a loop costs that
line, a broken loop header costs the loop.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from tree_sitter import Node

from analyzers.syntax import nodes as n
from analyzers.syntax import parse
from analyzers.syntax.expressions import IDENTIFIER, call_arguments, expr, has_comma, several, target
from analyzers.syntax.parameters import arguments, parameter_names
from analyzers.syntax.patterns import open_sequence, pattern
from analyzers.syntax.simple_statements import SIMPLE, LowerStatement, broken
from analyzers.syntax.source import MAX_DEPTH, Scope, Source, error

_NAME = parse.field("name")
_BODY = parse.field("body")
_RETURNS = parse.field("return_type")
_PARAMETERS = parse.field("parameters")
_SUPERCLASSES = parse.field("superclasses")
_GUARD = parse.field("guard")

_BLOCK = parse.kinds("block")
_ELIF = parse.kind("elif_clause")
_ELSE = parse.kind("else_clause")
_EXCEPT = parse.kind("except_clause")
_FINALLY = parse.kind("finally_clause")
_DECORATOR = parse.kind("decorator")
_FUNCTION = parse.kind("function_definition")
_DECORATED = parse.kind("decorated_definition")
_WITH_CLAUSE = parse.kind("with_clause")
_PARENTHESES = parse.kind("parenthesized_expression")
_TUPLE = parse.kinds("tuple")
_AS = parse.kinds("as_pattern")
_CASE_CLAUSE = parse.kind("case_clause")
_GENERIC = parse.kind("generic_type")


def statement(c: Source, node: Node) -> n.Stmt:
    handler = _HANDLERS.get(node.kind_id)
    if c.holes and node.start_byte in c.holes:
        return n.ErrorStmt(c.at(node.start_byte), c.at(c.holes[node.start_byte]))
    if handler is None or c.depth >= MAX_DEPTH:
        return broken(c, node)
    if node.has_error and (node.kind_id not in _COMPOUND or _header_has_error(node)):
        return broken(c, node)
    c.depth += 1
    lowered = handler(c, node)
    c.depth -= 1
    return lowered


def block(c: Source, node: Node | None) -> tuple[n.Stmt, ...]:
    """The statements of a block, less those that are half typed."""
    return () if node is None else tuple(statement(c, one) for one in parse.parts(node) if not c.leaves_out(one))


def definition(node: Node) -> Node:
    """The function or class that `node` decorates, or `node` itself."""
    return node.named_children[-1] if node.kind_id == _DECORATED else node


def class_def(c: Source, node: Node, body: Callable[[Source, Iterable[Node]], tuple[n.Stmt, ...]]) -> n.Stmt:
    """A class, decorated or not; `body` lowers its statements, so that methods can be chunks of their own."""
    inner = definition(node)
    name = inner.child_by_field_id(_NAME)
    if name is None:
        return broken(c, node)
    decorators = _decorators(c, node)
    bases, keywords = call_arguments(c, inner.child_by_field_id(_SUPERCLASSES))
    c.scope.bound.add(c.name(name))
    start, name_start = c.at(inner.start_byte), c.at(name.start_byte)
    end = c.at(inner.end_byte)
    outer = c.scope
    c.scope = Scope()
    suite = inner.child_by_field_id(_BODY)
    statements = body(c, [] if suite is None else parse.parts(suite))
    c.scope = outer
    end = statements[-1].end if statements else end
    return n.ClassDef(start, end, c.name(name), name_start, bases, keywords, statements, decorators)


def _header_has_error(node: Node) -> bool:
    """Whether anything but the blocks of a compound statement is broken."""
    return any(
        child.has_error and child.kind_id not in _BLOCK and _header_has_error_in(child) for child in node.children
    )


def _header_has_error_in(child: Node) -> bool:
    return child.kind_id not in _CLAUSES or _header_has_error(child)


def _end(c: Source, node: Node, *bodies: tuple[n.Stmt, ...]) -> int:
    """Where the last statement of a compound statement ends: comments after it are not part of it."""
    for body in reversed(bodies):
        if body:
            return body[-1].end
    return c.at(node.end_byte)


# --- compound statements ----------------------------------------------------------------------------------------


def function_head(c: Source, node: Node) -> n.FunctionHead | n.ErrorStmt:
    """A definition without its body, which ends where the body begins."""
    decorators = _decorators(c, node)
    inner = definition(node)
    name = inner.child_by_field_id(_NAME)
    if name is None:
        return broken(c, node)
    args = arguments(c, inner.child_by_field_id(_PARAMETERS), expr)
    annotation = inner.child_by_field_id(_RETURNS)
    returns = None if annotation is None else expr(c, annotation)
    c.scope.bound.add(c.name(name))
    body = inner.child_by_field_id(_BODY)
    return n.FunctionHead(
        c.at(inner.start_byte),
        c.at(inner.end_byte if body is None else body.start_byte),
        c.name(name),
        c.at(name.start_byte),
        args,
        decorators,
        returns,
        inner.children[0].type == "async",
    )


def _function(c: Source, node: Node) -> n.Stmt:
    head = function_head(c, node)
    if isinstance(head, n.ErrorStmt):
        return head
    inner = definition(node)
    outer = c.scope
    c.scope = scope = Scope(bound=parameter_names(head.args))
    body = block(c, inner.child_by_field_id(_BODY))
    c.scope = outer
    return n.FunctionDef(
        head.start,
        _end(c, inner, body),
        head.name,
        head.name_start,
        head.args,
        head.decorators,
        head.returns,
        head.is_async,
        body,
        scope.yields,
        scope.locals(),
        frozenset(scope.globals),
        frozenset(scope.nonlocals),
    )


def _class(c: Source, node: Node) -> n.Stmt:
    return class_def(c, node, lambda c, inner: tuple(statement(c, one) for one in inner if not c.leaves_out(one)))


def _decorated(c: Source, node: Node) -> n.Stmt:
    return _function(c, node) if definition(node).kind_id == _FUNCTION else _class(c, node)


def _decorators(c: Source, node: Node) -> tuple[n.Expr, ...]:
    if node.kind_id != _DECORATED:
        return ()
    return tuple(expr(c, parse.parts(one)[0]) for one in node.named_children if one.kind_id == _DECORATOR)


def _if(c: Source, node: Node) -> n.Stmt:
    """`elif` clauses lie side by side in tree-sitter's tree and inside each other in ours: built from the last."""
    test, *rest = parse.parts(node)
    heads: list[tuple[Node, n.Expr, tuple[n.Stmt, ...]]] = []
    orelse: tuple[n.Stmt, ...] = ()
    body: tuple[n.Stmt, ...] = ()
    lowered_test = expr(c, test)
    for one in rest:
        if one.kind_id in _BLOCK:
            body = block(c, one)
        elif one.kind_id == _ELIF:
            elif_test, *suite = parse.parts(one)
            heads.append((one, expr(c, elif_test), block(c, suite[0] if suite else None)))
        elif one.kind_id == _ELSE:
            orelse = _clause_body(c, one)
    if c.depth + len(heads) > MAX_DEPTH:
        return broken(c, node)
    for head, head_test, head_body in reversed(heads):
        start = c.at(head.start_byte)
        orelse = (n.If(start, _end(c, head, head_body, orelse), head_test, head_body, orelse),)
    return n.If(c.at(node.start_byte), _end(c, node, body, orelse), lowered_test, body, orelse)


def _for(c: Source, node: Node) -> n.Stmt:
    left, right, *rest = parse.parts(node)
    assigned, iterated = target(c, left), expr(c, right)
    body, orelse = _body_and_else(c, rest)
    start, end = c.at(node.start_byte), _end(c, node, body, orelse)
    return n.For(start, end, assigned, iterated, body, orelse, node.children[0].type == "async")


def _while(c: Source, node: Node) -> n.Stmt:
    test, *rest = parse.parts(node)
    lowered = expr(c, test)
    body, orelse = _body_and_else(c, rest)
    return n.While(c.at(node.start_byte), _end(c, node, body, orelse), lowered, body, orelse)


def _body_and_else(c: Source, rest: list[Node]) -> tuple[tuple[n.Stmt, ...], tuple[n.Stmt, ...]]:
    body: tuple[n.Stmt, ...] = ()
    orelse: tuple[n.Stmt, ...] = ()
    for one in rest:
        if one.kind_id in _BLOCK:
            body = block(c, one)
        elif one.kind_id == _ELSE:
            orelse = _clause_body(c, one)
    return body, orelse


def _clause_body(c: Source, node: Node) -> tuple[n.Stmt, ...]:
    suites = [one for one in node.named_children if one.kind_id in _BLOCK]
    return block(c, suites[0] if suites else None)


def _try(c: Source, node: Node) -> n.Stmt:
    body: tuple[n.Stmt, ...] = ()
    orelse: tuple[n.Stmt, ...] = ()
    final: tuple[n.Stmt, ...] = ()
    handlers: list[n.ExceptHandler] = []
    end = c.at(node.end_byte)
    for one in parse.parts(node):
        kind = one.kind_id
        if kind in _BLOCK:
            body = block(c, one)
        elif kind == _EXCEPT:
            handlers.append(_handler(c, one))
            end = handlers[-1].end
        elif kind == _ELSE:
            orelse = _clause_body(c, one)
            end = _end(c, one, orelse)
        elif kind == _FINALLY:
            final = _clause_body(c, one)
            end = _end(c, one, final)
    return n.Try(c.at(node.start_byte), end, body, tuple(handlers), orelse, final)


def _handler(c: Source, node: Node) -> n.ExceptHandler:
    caught: n.Expr | None = None
    name: str | None = None
    inner = [one for one in parse.parts(node) if one.kind_id not in _BLOCK]
    if inner and inner[0].kind_id in _AS:
        value, alias = parse.parts(inner[0])
        caught = expr(c, value)
        name = c.name(alias)
        c.scope.bound.add(name)
    elif inner:
        caught = several(c, inner, inner[-1].end_byte, comma=len(inner) > 1)
    body = _clause_body(c, node)
    return n.ExceptHandler(c.at(node.start_byte), _end(c, node, body), caught, name, body)


def _with(c: Source, node: Node) -> n.Stmt:
    items: list[n.WithItem] = []
    body: tuple[n.Stmt, ...] = ()
    for one in parse.parts(node):
        if one.kind_id == _WITH_CLAUSE:
            items = [_with_item(c, item) for item in _with_items(one)]
        elif one.kind_id in _BLOCK:
            body = block(c, one)
    start, end = c.at(node.start_byte), _end(c, node, body)
    return n.With(start, end, tuple(items), body, node.children[0].type == "async")


def _with_items(clause: Node) -> list[Node]:
    """`with (a as b, c):` and `with (a,):` are items in parentheses, whichever way tree-sitter reads them."""
    items = [parse.parts(item)[0] for item in parse.parts(clause)]
    if len(items) == 1 and items[0].kind_id in _TUPLE:
        return parse.parts(items[0])
    if len(items) == 1 and items[0].kind_id == _PARENTHESES:
        inner = parse.parts(items[0])
        return inner if inner[0].kind_id in _AS else items
    return items


def _with_item(c: Source, node: Node) -> n.WithItem:
    start, end = c.at(node.start_byte), c.at(node.end_byte)
    if node.kind_id not in _AS:
        return n.WithItem(start, end, expr(c, node), None)
    value, alias = parse.parts(node)
    context = expr(c, value)
    assigned = parse.parts(alias)
    return n.WithItem(start, end, context, target(c, assigned[0]) if assigned else error(c, alias))


def _match(c: Source, node: Node) -> n.Stmt:
    tokens = [one for one in node.children[1:] if not one.is_extra]
    colon = next(at for at, one in enumerate(tokens) if one.type == ":")
    subject_tokens = [one for one in tokens[:colon] if one.is_named]
    comma = has_comma(node) or len(subject_tokens) > 1
    subject = several(c, subject_tokens, tokens[colon - 1].end_byte, comma=comma)
    clauses = [
        clause
        for suite in tokens[colon + 1 :]
        if suite.kind_id in _BLOCK
        for clause in parse.parts(suite)
        if clause.kind_id == _CASE_CLAUSE
    ]
    cases = tuple(_case(c, one) for one in clauses)
    end = cases[-1].end if cases else c.at(node.end_byte)
    return n.Match(c.at(node.start_byte), end, subject, cases)


def _case(c: Source, node: Node) -> n.MatchCase:
    tokens = [one for one in node.children[1:] if not one.is_extra]
    guard = node.child_by_field_id(_GUARD)
    stop = next(at for at, one in enumerate(tokens) if one.type == ":" or one == guard)
    alternatives = [one for one in tokens[:stop] if one.is_named]
    if len(tokens[:stop]) > len(alternatives) or _is_starred(alternatives[0]):
        lowered = open_sequence(c, alternatives, tokens[stop - 1].end_byte)
    else:
        lowered = pattern(c, alternatives)
    test = None if guard is None else expr(c, parse.parts(guard)[0])
    body = _clause_body(c, node)
    return n.MatchCase(c.at(node.start_byte), _end(c, node, body), lowered, test, body)


def _is_starred(node: Node) -> bool:
    return any(one.type == "splat_pattern" for one in node.named_children)


def _type_alias(c: Source, node: Node) -> n.Stmt:
    """`type X = ...` binds X to what no analysis needs to know."""
    left, right = parse.parts(node)
    named = parse.parts(left)[0]
    if named.kind_id == _GENERIC:
        named = parse.parts(named)[0]
    if named.kind_id != IDENTIFIER:
        return _call_of_type(c, node)
    return n.Assign(c.at(node.start_byte), c.at(node.end_byte), (target(c, named),), error(c, right))


def _call_of_type(c: Source, node: Node) -> n.Stmt:
    """`type(x).y = 1` looks like an alias to tree-sitter: read it again with another name for `type`."""
    text = b"____" + c.text[node.start_byte + 4 : node.end_byte]
    inner = parse.parts(parse.parse(text).root_node)
    if len(inner) != 1 or inner[0].has_error:
        return broken(c, node)
    again = Source(text, -c.at(node.start_byte), c.scope, c.depth, {b"____": "type"})
    return statement(again, inner[0])


_CLAUSES = parse.kinds("elif_clause", "else_clause", "except_clause", "finally_clause", "case_clause")
_BY_NAME: dict[str, LowerStatement] = {
    **SIMPLE,
    "type_alias_statement": _type_alias,
    "function_definition": _function,
    "class_definition": _class,
    "decorated_definition": _decorated,
    "if_statement": _if,
    "for_statement": _for,
    "while_statement": _while,
    "try_statement": _try,
    "with_statement": _with,
    "match_statement": _match,
}
_HANDLERS: dict[int, LowerStatement] = {
    kind: handler for name, handler in _BY_NAME.items() for kind in parse.kinds(name)
}
_COMPOUND = parse.kinds(
    "function_definition",
    "class_definition",
    "decorated_definition",
    "if_statement",
    "for_statement",
    "while_statement",
    "try_statement",
    "with_statement",
    "match_statement",
)
