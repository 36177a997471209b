"""Where a reader finds the page of a rule."""

from __future__ import annotations

RULES = "https://autograd-lsp.readthedocs.io/rules"


def rule_page(name: str) -> str:
    return f"{RULES}/{name}/"
