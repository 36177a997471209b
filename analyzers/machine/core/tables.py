"""Registering an entry in a table; a key may be registered only once, since a second entry would hide the first."""

from __future__ import annotations

from typing import TypeVar

K = TypeVar("K")
V = TypeVar("V")


def enter(table: dict[K, V], key: K, answer: V) -> None:
    if key in table:
        raise ValueError(f"registered twice: {key}")
    table[key] = answer
