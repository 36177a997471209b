"""Which rules speak about a file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from analyzers.report import Choice
from autograd_lsp.config.layer import Layer
from autograd_lsp.config.selectors import ALL, SEVERITIES, length, matching


def choose(layers: Sequence[Layer], path: str) -> Choice:
    """What the layers, the lowest first, choose for the file at `path`."""

    selected = set(matching(ALL))
    severities: dict[str, str] = {}
    for layer in layers:
        wanted = _by_code((*(layer.select or ()), *layer.extend_select), layer.ignore)
        selected = {code for code, is_on in wanted.items() if is_on} | (selected if layer.select is None else set())
        selected -= {code for code, is_on in wanted.items() if not is_on}
        for selector, level in sorted(layer.severity, key=lambda item: length(item[0])):
            severities.update(dict.fromkeys(matching(selector), level))
    for layer in layers:
        selected -= _all_of(layer.ignored_in(path))
    silent = {code for code, level in severities.items() if level == "off"}
    loud = tuple(sorted((code, SEVERITIES[level]) for code, level in severities.items() if level in SEVERITIES))
    return Choice(matching(ALL) - selected | silent, loud)


def _by_code(select: Iterable[str], ignore: Iterable[str]) -> dict[str, bool]:
    """On or off, for each code that a selector names; of equally long selectors `ignore` counts."""
    ordered = sorted([*((word, True) for word in select), *((word, False) for word in ignore)], key=_weight)
    return {code: is_on for word, is_on in ordered for code in matching(word)}


def _weight(item: tuple[str, bool]) -> tuple[int, bool]:
    word, is_on = item
    return length(word), not is_on


def _all_of(selectors: Iterable[str]) -> frozenset[str]:
    return frozenset(code for selector in selectors for code in matching(selector))
