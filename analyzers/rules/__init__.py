"""The rules, a folder for each block. The directory is the registry: every module that defines a `RULE` is one."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable, Iterator

from analyzers.drafting.base import Rule


def _rules_in(folders: Iterable[str], package: str) -> Iterator[Rule]:
    """The rules of a package and of those in it."""
    for info in pkgutil.iter_modules(folders):
        module = importlib.import_module(f"{package}.{info.name}")
        rule = getattr(module, "RULE", None)
        if isinstance(rule, Rule):
            yield rule
        if info.ispkg:
            yield from _rules_in(module.__path__, module.__name__)


RULES: tuple[Rule, ...] = tuple(sorted(_rules_in(__path__, __name__), key=lambda rule: rule.code))
