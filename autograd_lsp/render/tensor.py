"""What is known of one tensor, in a line for a terminal and as a card for a hover.

A card says only what the analyzer claims: an attribute that is not known is not mentioned.
"""

from __future__ import annotations

from analyzers.report import Fact, Graph
from autograd_lsp.render.tree import render_tree

_HOVER_LINES = 16


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
    return tuple(words)


def shape_words(shape: tuple[int | None, ...]) -> str:
    return "[" + ", ".join("?" if size is None else str(size) for size in shape) + "]"


def hover_markdown(graph: Graph | None, fact: Fact | None) -> str:
    name, words, tree = _card(graph, fact)
    blocks = [f"**`{name}`** tensor", *([" · ".join(f"`{word}`" for word in words)] if words else [])]
    if tree:
        blocks.append(f"```text\n{tree}\n```")
    return "\n\n".join(blocks)


def hover_plaintext(graph: Graph | None, fact: Fact | None) -> str:
    name, words, tree = _card(graph, fact)
    blocks = [f"{name}: tensor", *([", ".join(words)] if words else []), *([tree] if tree else [])]
    return "\n".join(blocks)


def _card(graph: Graph | None, fact: Fact | None) -> tuple[str, tuple[str, ...], str]:
    name = graph.name if graph else fact.name if fact else ""
    if fact is not None:
        words = fact_words(fact)
    elif graph is not None and graph.nodes:
        root = graph.nodes[0]
        known = (("requires_grad", root.requires_grad), ("is_leaf", root.is_leaf))
        words = tuple(f"{word}={value}" for word, value in known if value is not None)
    else:
        words = ()
    tree = render_tree(graph, max_lines=_HOVER_LINES) if graph and graph.edges else ""
    return name, words, tree
