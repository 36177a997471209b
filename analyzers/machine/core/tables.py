"""Entering something into a table: once, as two that answer to one name would hide each other."""

from __future__ import annotations

from typing import TypeVar

K = TypeVar("K")
V = TypeVar("V")


def enter(table: dict[K, V], key: K, answer: V) -> None:
    if key in table:
        raise ValueError(f"two answer for {key}")
    table[key] = answer
