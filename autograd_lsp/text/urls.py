"""Where a reader finds the documentation."""

from __future__ import annotations

DOCUMENTATION = "https://autograd-lsp.readthedocs.io/"
RULES = f"{DOCUMENTATION}rules"


def rule_page(name: str) -> str:
    return f"{RULES}/{name}/"
