"""Facts: what is known of the tensor that a statement binds to a name, over all its visits."""

from __future__ import annotations


def mixed(a: tuple[str, ...], b: tuple[str, ...]) -> tuple[str, ...] | None:
    """Names seen on different visits; with a graph on one and none on the other nothing can be claimed."""
    return a if a == b else None
