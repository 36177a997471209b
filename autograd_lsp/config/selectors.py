"""Selectors: words that name rules, and how much each counts."""

from __future__ import annotations

from functools import cache
from typing import get_args

from analyzers.report import Severity

SEVERITIES: dict[str, Severity] = {severity: severity for severity in get_args(Severity)}
LEVELS = (*SEVERITIES, "off")

ALL = "ALL"


@cache
def matching(selector: str) -> frozenset[str]:
    """The codes that a selector names; none where it is no selector."""
    from analyzers.rules import RULES

    word = selector.upper()
    if word == ALL:
        return frozenset(rule.code for rule in RULES)
    exact = frozenset(rule.code for rule in RULES if word in (rule.code, rule.name.upper()))
    is_prefix = word.startswith("AG") and len(word) < len(RULES[0].code)
    return exact or frozenset(rule.code for rule in RULES if is_prefix and rule.code.startswith(word))


def length(selector: str) -> int:
    """A name counts as much as its code."""
    from analyzers.rules import RULES

    return 0 if selector.upper() == ALL else min(len(selector), len(RULES[0].code))
