"""Texts of which only the start is known: `"encoder." + name`, the names of a model's parameters."""

from __future__ import annotations

from analyzers.domain.objects import ListObj
from analyzers.domain.values import FALSE, TRUE, Const, Tup, Unknown, Value
from analyzers.machine.core.arguments import Args
from analyzers.machine.core.machine import Machine


def beginning(m: Machine, start: str) -> Unknown:
    """Some text that begins so."""
    return Unknown("str", ("begins", start, m.fresh()) if start else None)


def known_start(value: Value) -> str:
    """How a text begins, as far as that is known."""
    match value:
        case Unknown(type="str", symbol=("begins", str(start), _)):
            return start
    return ""


def method_of_beginning(m: Machine, receiver: Unknown, name: str, args: Args) -> Value | None:
    """What `startswith` and `split` return, if the start decides it."""
    start = known_start(receiver)
    if not start or len(args.pos) != 1 or args.kw or args.open:
        return None
    match name, args.pos[0]:
        case "startswith", Const() | Tup() as asked:
            return _starts_with(start, asked.items if isinstance(asked, Tup) else (asked,))
        case "split", Const(value=str(by)) if by:
            return m.new(ListObj(tuple(map(Const, start.split(by)[:-1])), Unknown("str")))
    return None


def _starts_with(start: str, options: tuple[Value, ...]) -> Value | None:
    texts = [option.value for option in options if isinstance(option, Const) and isinstance(option.value, str)]
    if any(start.startswith(text) for text in texts):
        return TRUE
    if len(texts) < len(options) or any(text.startswith(start) for text in texts):
        return None
    return FALSE
