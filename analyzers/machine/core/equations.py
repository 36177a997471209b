"""Which constants an unknown value may be, as conditions have said: `x == 1`, `x in (1, 2)`."""

from __future__ import annotations

from typing import TypeAlias

from analyzers.domain.state import State

Equation: TypeAlias = tuple[object, frozenset[object]]
"""An unknown value, by its symbol, and constants: it is asked whether it is one of these."""


def equation_of(symbol: object) -> Equation | None:
    match symbol:
        case ("==", unknown, constant):
            return unknown, frozenset({constant})
        case ("in", unknown, frozenset() as constants):
            return unknown, constants
    return None


def outcome_of(st: State, equation: Equation) -> bool | None:
    """How it comes out by what earlier conditions have said of the value."""
    unknown, asked = equation
    left = st.among.get(unknown)
    if left is not None and left <= asked:
        return True
    possible = {one for one in asked if st.assumed.get(("==", unknown, one)) is not False}
    return False if not possible or (left is not None and left.isdisjoint(possible)) else None


def note_outcome(st: State, equation: Equation, outcome: bool) -> None:
    unknown, asked = equation
    left = st.among.get(unknown)
    if outcome:
        st.among = st.among.set(unknown, asked if left is None else left & asked)
    elif left is not None:
        st.among = st.among.set(unknown, left - asked)
    if not outcome and len(asked) > 1:
        st.assumed = st.assumed.update({("==", unknown, one): False for one in asked})
