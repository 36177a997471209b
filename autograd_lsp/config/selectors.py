"""Selectors: words that name rules, and how much each counts."""

from __future__ import annotations

from difflib import get_close_matches
from functools import cache
from typing import get_args

from analyzers.report import Severity
from autograd_lsp.process.loading import rules

SEVERITIES: dict[str, Severity] = {severity: severity for severity in get_args(Severity)}
LEVELS = (*SEVERITIES, "off")

ALL = "ALL"

_NEAR = 0.75
"""How much a word must be like another to be taken for a slip."""


@cache
def matching(selector: str) -> frozenset[str]:
    """The codes that a selector names; none where it is no selector."""
    known = rules()
    word = selector.upper()
    if word == ALL:
        return frozenset(rule.code for rule in known)
    exact = frozenset(rule.code for rule in known if word in (rule.code, rule.name.upper()))
    is_prefix = word.startswith("AG") and len(word) < len(known[0].code)
    return exact or frozenset(rule.code for rule in known if is_prefix and rule.code.startswith(word))


def no_rule(word: str) -> str:
    """What there is to say of a selector that names none."""
    names = {name for rule in rules() for name in (rule.code, rule.name)}
    spelt = word.upper() if word.upper().startswith("AG") else word.lower()
    near = get_close_matches(spelt, sorted(names), 1, _NEAR)
    more = f"did you mean `{near[0]}`?" if near else "`autograd-lsp rule` lists them"
    return f"there is no rule `{word}`; {more}"


def length(selector: str) -> int:
    """A name counts as much as its code."""
    return 0 if selector.upper() == ALL else min(len(selector), len(rules()[0].code))
