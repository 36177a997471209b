"""What is known about one tensor, in words; unknown properties are not mentioned."""

from __future__ import annotations

from analyzers.report import Fact


def fact_words(fact: Fact) -> tuple[str, ...]:
    """`requires_grad=True`, `grad_fn=ExpBackward0` and so on, as far as known."""
    words: list[str] = []
    if fact.requires_grad is not None:
        words.append(f"requires_grad={fact.requires_grad}")
    if fact.is_leaf is not None:
        words.append(f"is_leaf={fact.is_leaf}")
    if fact.grad_fn is not None:
        words.append(f"grad_fn={' | '.join(fact.grad_fn) or None}")
    if fact.shape is not None:
        words.append(f"shape={shape_words(fact.shape)}")
    if fact.dtype is not None:
        words.append(f"dtype={fact.dtype}")
    if fact.version is not None:
        words.append(f"version={fact.version}")
    return tuple(words)


def shape_words(shape: tuple[int | None, ...]) -> str:
    return "[" + ", ".join("?" if size is None else str(size) for size in shape) + "]"
