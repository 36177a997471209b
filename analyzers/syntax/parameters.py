"""The parameters of functions and lambdas."""

from __future__ import annotations

from tree_sitter import Node

from analyzers.syntax import nodes as n
from analyzers.syntax import parse
from analyzers.syntax.source import Lower, Source

SPLATS = parse.kinds("list_splat_pattern", "list_splat", "dictionary_splat_pattern", "splat_type")
_IDENTIFIER = parse.kind("identifier")
_TYPE = parse.kind("type")
_POSITIONAL_SEPARATOR = parse.kind("positional_separator")
_KEYWORD_SEPARATOR = parse.kind("keyword_separator")


def arguments(c: Source, node: Node | None, expr: Lower) -> n.Arguments:
    """Parameters of a function or lambda; names are not bound here, as defaults belong to the scope outside.

    `expr` lowers annotations and defaults.
    """
    posonly: list[n.Arg] = []
    args: list[n.Arg] = []
    kwonly: list[n.Arg] = []
    vararg: n.Arg | None = None
    kwarg: n.Arg | None = None
    after_star = False
    for one in [] if node is None else parse.parts(node):
        kind = one.kind_id
        if kind == _POSITIONAL_SEPARATOR:
            posonly, args = args, []
        elif kind == _KEYWORD_SEPARATOR:
            after_star = True
        else:
            arg, stars = _parameter(c, one, expr)
            if stars == 2:
                kwarg = arg
            elif stars == 1:
                vararg, after_star = arg, True
            else:
                (kwonly if after_star else args).append(arg)
    return n.Arguments(tuple(posonly), tuple(args), vararg, tuple(kwonly), kwarg)


def parameter_names(args: n.Arguments) -> set[str]:
    every = (*args.posonly, *args.args, *args.kwonly, args.vararg, args.kwarg)
    return {arg.name for arg in every if arg is not None}


def _parameter(c: Source, node: Node, expr: Lower) -> tuple[n.Arg, int]:
    """One parameter and how many stars stand before it."""
    first, *rest = parse.parts(node) or [node]
    annotation: n.Expr | None = None
    default: n.Expr | None = None
    end = first.end_byte
    for one in rest:
        if one.kind_id == _TYPE:
            annotation, end = expr(c, one), one.end_byte
        else:
            default = expr(c, one)
    stars = 0
    if first.kind_id in SPLATS or node.kind_id in SPLATS:
        splat = first if first.kind_id in SPLATS else node
        stars = len(splat.children[0].type)
        first = parse.parts(splat)[0]
    name = c.name(first) if first.kind_id == _IDENTIFIER else ""
    return n.Arg(c.at(first.start_byte), c.at(end), name, annotation, default), stars
