"""Splits a rule's page into its opening, its first program, and the headings of its other cases."""

from __future__ import annotations

import re
from dataclasses import dataclass

from analyzers.drafting.base import Rule
from analyzers.rules import RULES

_BLOCK = re.compile(r"^```python([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_HEADING = re.compile(r"^## (.*)$", re.MULTILINE)
_COMMENT = re.compile(r"  # (?:error|warning|raises|info|hint)\b.*$", re.MULTILINE)
_PLAIN = ("Reported", "Fixed", "Not reported")


@dataclass(frozen=True, slots=True)
class Page:
    """`fixed` is empty where the page offers no fix."""

    code: str
    name: str
    summary: str
    opening: str
    program: str
    fixed: str
    ways: tuple[str, ...]


def page_of(code: str) -> Page | None:
    rule = next((rule for rule in RULES if rule.code == code), None)
    return _page(rule) if rule is not None else None


def _page(rule: Rule) -> Page:
    opening = rule.doc.split("\n## ", 1)[0].strip()
    blocks = [(info.strip(), _COMMENT.sub("", text).strip("\n")) for info, text in _BLOCK.findall(rule.doc)]
    program = next((text for info, text in blocks if "fixed" not in info.split()), "")
    fixed = blocks[1][1] if len(blocks) > 1 and "fixed" in blocks[1][0].split() else ""
    headings = (heading.strip() for heading in _HEADING.findall(rule.doc))
    ways = tuple(heading for heading in headings if not heading.startswith(_PLAIN))
    return Page(rule.code, rule.name, rule.summary, opening, program, fixed, ways)
