"""Python's own operations on constants, each with a price that is known before it runs.

A constant may be as large as a program likes, and one operation on it can hold Python for ever or take all memory,
where nothing can interrupt it: `10 ** 10 ** 10`, `"x".ljust(2 * 10**9)`, `math.factorial(10**8)`. A price is an upper
bound on the characters, decimal digits or items that come out, or on the work where that is more. What costs more than
`LIMIT` is not done, and neither is what has no price. Nothing else in the analyzer evaluates anything of a program's.
"""

from __future__ import annotations

import math
import operator
import re
import string
from collections.abc import Callable
from typing import Any, TypeAlias

LIMIT = 20_000

Price: TypeAlias = "Callable[..., float]"


class TooExpensiveError(Exception):
    """An operation that costs more than `LIMIT`, or whose price nobody knows."""


def fold(operation: str, *operands: Any, **named: Any) -> Any:
    """The result of an operation of `OPERATIONS`, or what Python raises for it.

    Raises:
        TooExpensiveError: it costs too much, or is not one of them.
    """
    found = OPERATIONS.get(operation)
    if found is None:
        raise TooExpensiveError(operation)
    function, price = found
    if price(*operands, **named) > LIMIT:
        raise TooExpensiveError(operation)
    return function(*operands, **named)


def size(value: object) -> int:
    """An upper bound on the characters that writing a constant down in decimal takes, without an exponent."""
    if isinstance(value, int):
        return value.bit_length() // 3 + 2
    if isinstance(value, str | bytes):
        return len(value)
    return 350 if isinstance(value, float) else 700


def _number(value: object, default: int = 0) -> int:
    return max(int(value), 0) if isinstance(value, int) else default


def _nothing(*_: object) -> float:
    """The price of what only reads its operands, which are as long as somebody wrote them."""
    return 0


def _all_sizes(*operands: object, **named: object) -> float:
    return sum(map(size, (*operands, *named.values())))


def _product(a: object, b: object) -> float:
    for text, count in ((a, b), (b, a)):
        if isinstance(text, str | bytes):
            return size(text) * _number(count)
    return size(a) + size(b)


def _power(base: object, exponent: object, modulus: object = None) -> float:
    if not isinstance(base, int) or not isinstance(exponent, int):
        return 32
    if isinstance(modulus, int):
        return size(base) + size(exponent) * (1 + size(modulus) // 8) ** 2
    return size(base) * max(exponent, 1) if abs(base) > 1 else size(exponent)


def _shifted(value: object, by: object) -> float:
    return size(value) + (_number(by) // 3 if value else 0)


def _remainder(a: object, b: object) -> float:
    if not isinstance(a, str | bytes):
        return _all_sizes(a, b)
    fields = a.count("%") if isinstance(a, str) else a.count(b"%")
    return fields * _formatted(b) + _written(a)


def _written(spec: object) -> float:
    """What the widths and precisions in a format come to, at most."""
    text = spec.decode("latin-1") if isinstance(spec, bytes) else str(spec)
    return len(text) + 2 * sum(int(run) if len(run) < 8 else LIMIT for run in re.findall(r"\d+", text))


def _shown(*values: object) -> float:
    """What the texts of values come to: digits in base two or parted by commas, bytes escaped and in quotes."""
    return sum(size(value) if isinstance(value, str) else 4 * size(value) + 3 for value in values)


def _formatted(value: object, spec: str = "") -> float:
    return _shown(value) + _written(spec)


def _template(template: str, *operands: object, **named: object) -> float:
    """The price of `str.format`. Attributes and items of what is formatted have none."""
    given = (*operands, *named.values())
    dearest = max((_formatted(value) for value in given), default=0)
    widest = max((_written(value) for value in given), default=0)
    total = float(len(template))
    for _, field, spec, _ in string.Formatter().parse(template):
        if field is None:
            continue
        if not field.isdecimal() and field and not field.isidentifier():
            return math.inf
        total += dearest + _written(spec) + (spec or "").count("{") * widest
    return total


def _padded(text: Any, width: object = 0, *_: object) -> float:
    return max(len(text), _number(width))


def _tabs(text: Any, tabsize: object = 8) -> float:
    return len(text) + len(text) * _number(tabsize)


def _replaced(text: Any, old: Any = "", new: Any = "", count: object = -1) -> float:
    return len(text) + (len(text) // max(size(old), 1) + 1) * size(new)


def _joined(separator: Any, parts: Any) -> float:
    return size(parts) * (len(separator) + 1)


def _coded(text: Any, encoding: object = "utf-8", errors: object = "strict") -> float:
    """Codecs with a price: others are looked up by name, and some take quadratic time."""
    known = str(encoding).lower().replace("_", "-") in {"utf-8", "utf8", "ascii", "latin-1", "utf-16", "utf-32"}
    return len(text) * (4 if errors == "strict" else 100) if known else math.inf


def _bytes_of(value: object, length: object = 1, *_: object, **named: object) -> float:
    return size(value) + _number(named.get("length", length))


def _factorial(n: object) -> float:
    return _number(n) * size(n)


def _chosen(n: object, k: object = None) -> float:
    return min(_number(n), _number(k, _number(n))) * size(n)


def _rounded(number: object, digits: object = None) -> float:
    return size(number) + abs(digits) if isinstance(number, int) and isinstance(digits, int) else size(number)


def _searched(text: Any, *parts: object) -> float:
    """Where each character may be compared with each of another text, as when the search goes from the end."""
    return _all_sizes(text, *parts) + sum(len(text) * size(part) for part in parts) // 2000


_TEXT: dict[str, Price] = {
    **dict.fromkeys(
        ("capitalize", "casefold", "lower", "swapcase", "title", "upper"), lambda text: 3 * len(text)
    ),
    **dict.fromkeys(
        ("isalnum", "isalpha", "isascii", "isdecimal", "isdigit", "isidentifier", "islower", "isnumeric", "isprintable",
         "isspace", "istitle", "isupper"),
        _all_sizes,
    ),
    **dict.fromkeys(("endswith", "startswith", "removeprefix", "removesuffix", "splitlines", "translate"), _all_sizes),
    **dict.fromkeys(
        ("count", "find", "index", "lstrip", "partition", "rfind", "rindex", "rpartition", "rsplit", "rstrip", "split",
         "strip"),
        _searched,
    ),
    **dict.fromkeys(("center", "ljust", "rjust", "zfill"), _padded),
    "expandtabs": _tabs, "replace": _replaced, "join": _joined,
}  # fmt: skip

_METHODS: dict[type, dict[str, Price]] = {
    str: {**_TEXT, "encode": _coded, "format": _template},
    bytes: {**_TEXT, "decode": _coded, "hex": lambda data, *_: 3 * len(data)},
    int: {"to_bytes": _bytes_of, **dict.fromkeys(("as_integer_ratio", "bit_count", "bit_length", "conjugate"), size)},
    float: dict.fromkeys(("as_integer_ratio", "conjugate", "hex", "is_integer"), size),
    complex: {"conjugate": size},
}

_OPERATORS: dict[str, tuple[Callable[..., Any], Price]] = {
    "+": (operator.add, _all_sizes),
    "-": (operator.sub, _all_sizes),
    "*": (operator.mul, _product),
    "/": (operator.truediv, _all_sizes),
    "//": (operator.floordiv, _all_sizes),
    "%": (operator.mod, _remainder),
    "**": (operator.pow, _power),
    "&": (operator.and_, _all_sizes),
    "|": (operator.or_, _all_sizes),
    "^": (operator.xor, _all_sizes),
    "<<": (operator.lshift, _shifted),
    ">>": (operator.rshift, _all_sizes),
    **{
        sign: (function, _nothing)
        for sign, function in {
            "==": operator.eq,
            "!=": operator.ne,
            "<": operator.lt,
            "<=": operator.le,
            ">": operator.gt,
            ">=": operator.ge,
        }.items()
    },
}

_BUILTINS: dict[str, tuple[Callable[..., Any], Price]] = {
    **{kind.__name__: (kind, _all_sizes) for kind in (int, float, complex)},
    "str": (str, _shown),
    "repr": (repr, lambda value: 10 * size(value) + 3),
    "ascii": (ascii, lambda value: 10 * size(value) + 3),
    "abs": (abs, size),
    "divmod": (divmod, _all_sizes),
    "format": (format, _formatted),
    "pow": (pow, _power),
    "round": (round, _rounded),
}

_OF_ITEMS = frozenset({"dist", "fsum", "prod", "sumprod"})
"""What takes sequences, which are no constants."""

_OF_MATH: dict[str, Price] = {"comb": _chosen, "perm": _chosen, "factorial": _factorial}

OPERATIONS: dict[str, tuple[Callable[..., Any], Price]] = {
    **_OPERATORS,
    **_BUILTINS,
    **{f"{kind.__name__}.{name}": (getattr(kind, name), price)
       for kind, prices in _METHODS.items() for name, price in prices.items() if hasattr(kind, name)},
    **{f"math.{name}": (function, _OF_MATH.get(name, _all_sizes))
       for name, function in vars(math).items()
       if callable(function) and name not in _OF_ITEMS and not name.startswith("_")},
}  # fmt: skip
"""What is done and its price, by the operator's sign, or the name of the function or method."""
