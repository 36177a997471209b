"""String literals: one or several side by side, plain or with replacement fields."""

from __future__ import annotations

from dataclasses import dataclass

from tree_sitter import Node

from analyzers.syntax import literals, parse
from analyzers.syntax import nodes as n
from analyzers.syntax.source import Lower, Source, error

_INTERPOLATION = parse.kinds("interpolation", "format_expression")
_NAMED = parse.kind("named_expression")
_EXPRESSION = parse.field("expression")


def joined(c: Source, whole: Node, pieces: list[Node], expr: Lower) -> n.Expr:
    """The constant or f-string that `pieces`, written side by side, make; `expr` lowers what stands in braces."""
    start, end = c.at(whole.start_byte), c.at(whole.end_byte)
    values: list[n.Expr] = []
    formatted = False
    try:
        for piece in pieces:
            text = c.text[piece.start_byte : piece.end_byte]
            prefix = literals.prefix_of(text)
            if "f" in prefix or "t" in prefix:
                formatted = True
                _Fields(c, expr, "r" in prefix).add(piece, len(prefix), values)
            else:
                _append(values, c.at(piece.start_byte), c.at(piece.end_byte), literals.string(text))
    except (ValueError, TypeError):
        return error(c, whole)
    if formatted:
        return n.JoinedStr(start, end, tuple(one for one in values if not _is_empty(one)))
    only = values[0]
    return n.Constant(start, end, only.value) if isinstance(only, n.Constant) else error(c, whole)


def _is_empty(value: n.Expr) -> bool:
    return isinstance(value, n.Constant) and value.value in ("", b"")


def _append(values: list[n.Expr], start: int, end: int, value: str | bytes) -> None:
    """Add a constant part, joined to the one before it; text beside bytes is a TypeError, as in Python."""
    last = values[-1] if values else None
    if isinstance(last, n.Constant):
        values[-1] = n.Constant(last.start, end, last.value + value)  # type: ignore[operator]
    else:
        values.append(n.Constant(start, end, value))


@dataclass(slots=True)
class _Fields:
    """Reads the text and the replacement fields of one f-string, which is `raw` or not."""

    c: Source
    expr: Lower
    raw: bool

    def add(self, node: Node, prefix: int, values: list[n.Expr]) -> None:
        start = node.start_byte + prefix
        body = self.c.text[start : node.end_byte]
        width = 3 if len(body) >= 6 and body[:3] in (b'"""', b"'''") else 1
        self.interleave(node, start + width, node.end_byte - width, values, braces=True)

    def interleave(self, node: Node, at: int, end: int, values: list[n.Expr], *, braces: bool) -> None:
        """Text and replacement fields by turns, from file offset `at` to `end`; `braces` says that `{{` is a `{`."""
        for one in node.children:
            if one.kind_id in _INTERPOLATION:
                self.text(at, one.start_byte, values, braces)
                self.field(one, values)
                at = one.end_byte
        self.text(at, end, values, braces)

    def text(self, at: int, end: int, values: list[n.Expr], braces: bool) -> None:
        if end > at:
            value = literals.fragment(self.c.text[at:end], raw=self.raw, braces=braces)
            _append(values, self.c.at(at), self.c.at(end), value)

    def field(self, node: Node, values: list[n.Expr]) -> None:
        c = self.c
        start, end = c.at(node.start_byte), c.at(node.end_byte)
        tokens = [one for one in node.children if not one.is_extra]
        expression = node.child_by_field_id(_EXPRESSION)
        if expression is None:
            raise ValueError("an empty replacement field")
        conversion: str | None = None
        spec: n.Expr | None = None
        for at, token in enumerate(tokens):
            kind = token.type
            if kind == "=":
                # `{x = }` shows its own text; what follows it is shown as by `!r` unless a format is given.
                upto = tokens[at + 1].start_byte
                shown = c.text[node.start_byte + 1 : upto].decode("utf-8", "replace")
                _append(values, start, c.at(upto), shown)
                conversion = "r"
            elif kind == "type_conversion":
                conversion = c.text[token.start_byte + 1 : token.end_byte].decode("ascii", "replace").strip()
            elif kind == "format_specifier":
                if conversion == "r" and tokens[at - 1].type == "=":
                    conversion = None
                inner: list[n.Expr] = []
                self.interleave(token, token.start_byte + 1, token.end_byte, inner, braces=False)
                spec = n.JoinedStr(c.at(token.start_byte), c.at(token.end_byte), tuple(inner))
        if expression.kind_id == _NAMED:
            # `{x:=10}` is x in the format `=10`.
            expression, _ = parse.parts(expression)
            text = c.text[expression.end_byte : tokens[-1].start_byte].lstrip()[1:].decode("utf-8", "replace")
            spec = n.JoinedStr(start, end, (n.Constant(start, end, text),))
        values.append(n.FormattedValue(start, end, self.expr(c, expression), conversion, spec))
