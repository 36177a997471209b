"""Which dtype torch computes in when operands differ: the lattice of dtypes and the three ranks of operand.

A tensor with dimensions outranks a zero-dimensional one, which outranks a Python number: a lower operand only widens
within a category (bool, integer, floating, complex) or lifts to a higher category, as in `c10/core/ScalarType.h` and
`native/TypeProperties.cpp`. An unknown dtype or rank is tried every way; only an answer they agree on is an answer.

    int32[3] + 2.5      ->  float32     the number lifts the category, the default dtype gives the width
    float32[3] + f64[]  ->  float32     same category: a zero-dimensional tensor does not widen
"""

from __future__ import annotations

from functools import cache, lru_cache
from itertools import product

INTEGERS = frozenset({"uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64"})
FLOATS = frozenset({"float16", "bfloat16", "float32", "float64"})
COMPLEXES = frozenset({"complex32", "complex64", "complex128"})
_WIDTH = {
    "uint8": 8, "int8": 8, "int16": 16, "int32": 32, "int64": 64, "uint16": 16, "uint32": 32, "uint64": 64,
    "float16": 16, "bfloat16": 16, "float32": 32, "float64": 64, "complex32": 32, "complex64": 64, "complex128": 128,
    "bool": 8, "float8_e4m3fn": 8, "float8_e5m2": 8, "float8_e4m3fnuz": 8, "float8_e5m2fnuz": 8,
}  # fmt: skip
_REAL = {"complex32": "float16", "complex64": "float32", "complex128": "float64"}
_COMPLEX = {"float16": "complex32", "bfloat16": "complex64", "float32": "complex64", "float64": "complex128"}
_PROMOTABLE = {"bool", "uint8", "int8", "int16", "int32", "int64"} | FLOATS | COMPLEXES


def is_floating(dtype: str) -> bool:
    return dtype.startswith(("float", "bfloat"))


def is_integral(dtype: str) -> bool:
    """Integers and bool: what torch lifts to the default dtype before a division or a sine."""
    return dtype == "bool" or dtype in INTEGERS


def item_bits(dtype: str) -> int | None:
    return _WIDTH.get(dtype)


def real_of(dtype: str | None) -> str | None:
    """The dtype of the parts of a complex dtype; a real one is its own."""
    return None if dtype is None else _REAL.get(dtype, dtype)


def complex_of(dtype: str | None) -> str | None:
    return None if dtype is None else dtype if dtype in COMPLEXES else _COMPLEX.get(dtype)


def float_of(dtype: str | None, default: str) -> str | None:
    return None if dtype is None else default if is_integral(dtype) else dtype


@cache
def join_dtypes(a: str, b: str) -> str | None:
    """`torch.promote_types`; None for pairs that torch refuses or that are too rare to transcribe."""
    if a == b:
        return a
    if a not in _PROMOTABLE or b not in _PROMOTABLE:
        return None
    if a in COMPLEXES or b in COMPLEXES:
        if is_integral(a) or is_integral(b):
            return b if is_integral(a) else a
        real = join_dtypes(_REAL.get(a, a), _REAL.get(b, b))
        return None if real is None else _COMPLEX[real]
    if a == "bool" or (a in INTEGERS and b in FLOATS):
        return b
    if b == "bool" or (b in INTEGERS and a in FLOATS):
        return a
    if _WIDTH[a] == _WIDTH[b]:
        return "int16" if a in INTEGERS else "float32"
    return a if _WIDTH[a] > _WIDTH[b] else b


def _lift(higher: str | None, lower: str | None) -> str | None:
    """Combines two ranks of operand; "" stands for a rank that no operand has."""
    if higher is None or lower is None:
        return None
    if not higher or not lower:
        return higher or lower
    if higher in COMPLEXES:
        return higher
    if is_floating(higher):
        return complex_of(higher) if lower in COMPLEXES else higher
    if higher == "bool" or is_floating(lower) or lower in COMPLEXES:
        return join_dtypes(higher, lower)
    return higher


def _numbers(dtype: str | None, default: str) -> tuple[str | None, ...]:
    """What a Python number of this dtype counts as; all kinds of number when it is not known."""
    if dtype is None:
        return ("bool", "int64", default, complex_of(default))
    if dtype == "bool":
        return ("bool",)
    if dtype in COMPLEXES:
        return (complex_of(default),)
    return (default if is_floating(dtype) else "int64",)


@lru_cache(maxsize=4096)
def result_type(operands: tuple[tuple[str | None, str], ...], default: str) -> str | None:
    """`torch.result_type` of operands given as (dtype, rank): "d" with dimensions, "z" without, "n" number, "?" any."""
    choices: list[list[tuple[str | None, str]]] = []
    for dtype, rank in operands:
        if rank == "n":
            choices.append([(number, "n") for number in _numbers(dtype, default)])
        elif dtype is None:
            return None
        else:
            choices.append([(dtype, "d"), (dtype, "z")] if rank == "?" else [(dtype, rank)])
    answers = set()
    for choice in product(*choices):
        ranks: dict[str, str | None] = {"d": "", "z": "", "n": ""}
        for dtype, rank in choice:
            seen = ranks[rank]
            ranks[rank] = dtype if seen == "" else None if seen is None or dtype is None else join_dtypes(seen, dtype)
        answers.add(_lift(ranks["d"], _lift(ranks["z"], ranks["n"])))
        if len(answers) > 1:
            return None
    return answers.pop() if answers else None
