"""What a file consists of, without the text: equal as long as no definition is added, renamed or taken away.

It is told by the keys of the chunks alone, as those name definitions, and statements by their text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from analyzers.syntax.spans import ChunkSpan
from analyzers.syntax.split import Module

_NONE: frozenset[str] = frozenset()

_IMPORTING = re.compile(rb"\bimport\b")


class Definition(NamedTuple):
    """A function or class that is a chunk; `inner` are the names of those that are chunks of its own."""

    key: str
    name: str
    inner: frozenset[str]


@dataclass(frozen=True, slots=True)
class Outline:
    """`keys` are those of all chunks, `names` the names defined at the top, `statements` what else is there, and
    `importing` those of them that may import something."""

    keys: tuple[str, ...]
    definitions: tuple[Definition, ...]
    names: frozenset[str]
    statements: tuple[str, ...]
    importing: tuple[str, ...]


def outline_of(module: Module) -> Outline:
    definitions = tuple(
        Definition(key, span.name, _names(span.children) if span.children else _NONE)
        for key, span in module.spans.items()
        if span.name is not None
    )
    names = _names(module.chunks)
    statements = tuple(span.key for span in module.chunks if span.name is None)
    importing = tuple(key for key in statements if _may_import(module.spans[key].text))
    return Outline(tuple(module.spans), definitions, names, statements, importing)


def _names(spans: Iterable[ChunkSpan]) -> frozenset[str]:
    return frozenset([span.name for span in spans if span.name is not None])


def _may_import(text: bytes) -> bool:
    return b"import" in text and _IMPORTING.search(text) is not None
