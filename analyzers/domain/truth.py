"""Three-valued truth: True, False, or None for "not known"."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

Truth: TypeAlias = "bool | None"


def any_of(truths: Iterable[Truth]) -> Truth:
    """Kleene's or."""
    known: Truth = False
    for truth in truths:
        if truth:
            return True
        if truth is None:
            known = None
    return known


def both(a: Truth, b: Truth) -> Truth:
    """Kleene's and."""
    if a is False or b is False:
        return False
    return True if a and b else None


def negate(a: Truth) -> Truth:
    return None if a is None else not a


def join(a: Truth, b: Truth) -> Truth:
    """The least that both agree with."""
    return a if a is b else None
