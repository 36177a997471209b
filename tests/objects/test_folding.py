"""An operation on constants is done at its price, or not at all; and no price is too low."""

from __future__ import annotations

import math
import tracemalloc
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analyzers.machine.objects.folding import LIMIT, OPERATIONS, TooExpensiveError, fold, size

KINDS: tuple[type, ...] = (str, bytes, int, float, complex)

NOT_FOLDED = {
    "str.format_map", "str.maketrans", "bytes.maketrans", "bytes.fromhex", "int.from_bytes", "float.fromhex",
}  # fmt: skip
"""What takes a mapping or returns one, and what is called on the class."""

numbers = st.integers(-3, 300) | st.floats() | st.booleans() | st.complex_numbers(max_magnitude=1e6)
formats = st.sampled_from(["{}", "{:>30}", "{:{}}", "{0}{1}", "%s", "%30d", "%.40f", "x%%", ">30", ".50f", ",b", "090"])
texts = st.text(max_size=20) | formats
constants = numbers | texts | st.binary(max_size=20) | st.none()

HUGE: list[Any] = [
    10**9, -(10**9), 10**18, 10**5000, 2.5e300, "x" * 9_999, b"\t" * 9_999, "{:>2000000000}", "%2000000000d",
    "%.2000000000f", "{:{}}", ">2000000000", ".2000000000f", "{0.__class__}", "{:" + "9" * 5000 + "}", "a" * 19_999,
    "\N{ARABIC-INDIC DIGIT THREE}" * 9,
]  # fmt: skip
hostile = st.sampled_from(HUGE) | constants

operations = st.sampled_from(sorted(OPERATIONS))


def _weight(result: object) -> int:
    """The characters, digits or items that came out."""
    if isinstance(result, list | tuple):
        return sum(_weight(item) for item in result)
    if isinstance(result, int):
        return abs(result).bit_length() * 3 // 10
    return len(result) if isinstance(result, str | bytes) else 0


@settings(max_examples=2_000, deadline=None)
@given(operations, st.lists(constants, min_size=1, max_size=3))
def test_no_price_is_too_low(operation: str, operands: list[Any]) -> None:
    function, price = OPERATIONS[operation]
    try:
        result = function(*operands)
    except Exception:
        return
    assert _weight(result) <= price(*operands)


@settings(max_examples=2_000, deadline=None)
@given(operations, st.lists(hostile, min_size=1, max_size=3))
def test_whatever_comes_little_memory_is_taken(operation: str, operands: list[Any]) -> None:
    tracemalloc.start()
    try:
        result = fold(operation, *operands)
    except Exception:
        result = None
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert _weight(result) <= LIMIT
    assert peak < 5_000_000


@pytest.mark.parametrize(
    ("operation", "operands"),
    [
        ("math.factorial", (10**8,)), ("pow", (3, 10**9)), ("pow", (3, 10**5000, 10**5000)), ("**", (10, 10**10)),
        ("<<", (1, 10**10)), ("*", ("x", 10**10)), ("*", (10**10, b"x")), ("str.ljust", ("x", 2 * 10**9)),
        ("str.zfill", ("x", 10**10)), ("str.expandtabs", ("\t" * 9, 10**9)), ("format", (1, ">2000000000")),
        ("str.format", ("{:{}}", 1, 10**9)), ("str.format", ("{:>{}}", 1, "2000000000")), ("%", ("%2000000000d", 1)),
        ("str.format", ("{0.__class__}", 1)), ("str.encode", ("x", "idna")), ("int.to_bytes", (1, 10**10)),
        ("round", (1, -(10**9))), ("math.comb", (10**9, 10**8)), ("math.perm", (10**9,)),
        ("str.join", ("x" * 999, "y" * 999)), ("str.replace", ("x" * 999, "", "y" * 999)), ("eval", ("1",)),
    ],
)  # fmt: skip
def test_what_is_too_expensive_is_not_done(operation: str, operands: tuple[Any, ...]) -> None:
    with pytest.raises(TooExpensiveError):
        fold(operation, *operands)


def test_what_programs_do_is_done() -> None:
    assert fold("**", 2, 100) == 2**100
    assert fold("str.format", "epoch {:>3}: {loss:.3f}", 7, loss=0.25) == "epoch   7: 0.250"
    assert fold("math.factorial", 20) == math.factorial(20)
    assert fold("str.split", "a,b,c", ",") == ["a", "b", "c"]
    assert fold("pow", 7, -1, 11) == 8


def test_every_method_of_a_constant_has_a_price_or_none_on_purpose() -> None:
    methods = {
        f"{kind.__name__}.{name}"
        for kind in KINDS for name in dir(kind)
        if not name.startswith("_") and callable(getattr(kind, name))
    }  # fmt: skip
    assert methods - OPERATIONS.keys() == NOT_FOLDED & methods


@given(st.integers() | st.integers(0, 10**400))
def test_a_size_is_at_least_the_digits(number: int) -> None:
    assert size(number) >= len(str(number))
