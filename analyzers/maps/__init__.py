"""Persistent maps: a changed copy shares with the first one all that is the same.

They are those of `immutables`, written in C, where it is installed. It has no wheels for the newest Pythons; there the
same is done by `trie.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from immutables import Map
else:
    try:
        from immutables import Map
    except ImportError:
        from analyzers.maps.trie import Map

__all__ = ["Map"]
"""`Map(pairs)`, with `set`, `delete`, `update` and `mutate`; `finish` ends a mutation."""
