"""The pictures of a graph, from plain data."""

from __future__ import annotations

from dataclasses import replace

from analyzers.report import Card, Fact, Graph, GraphEdge, GraphNode, Place
from autograd_lsp.cli.excerpt import Mark, excerpt
from autograd_lsp.positions import LineIndex
from autograd_lsp.render.card import card_markdown, card_plaintext
from autograd_lsp.render.dot import render_dot
from autograd_lsp.render.mermaid import render_mermaid
from autograd_lsp.render.tree import render_tree


def node(name: str, kind="operator", **known) -> GraphNode:
    facts = {"requires_grad": None, "is_leaf": None, "saved": (), "freed": None, "place": None, **known}
    return GraphNode(id=name, kind=kind, label=name, **facts)


def edges(*pairs: str) -> tuple[GraphEdge, ...]:
    return tuple(GraphEdge(*pair.split(">")) for pair in pairs)


DIAMOND = Graph(
    "loss",
    (
        node("loss", "tensor", requires_grad=True),
        node("Mul", saved=("self", "other")),
        node("Exp", saved=("result",), freed=True),
        node("x", "leaf"),
    ),
    edges("loss>Mul", "Mul>Exp", "Mul>x", "Exp>x"),
    ("cut at a loop",),
)


def where(place: Place) -> str:
    return f"line {place.start}"


def test_a_tree_prints_a_shared_node_once() -> None:
    assert render_tree(DIAMOND).splitlines() == [
        "loss  requires_grad=True",
        "└─ Mul  saves self, other",
        "   ├─ Exp  saves result, freed",
        "   │  └─ x  leaf",
        "   └─ x",
        "note: cut at a loop",
    ]


def test_a_tree_can_be_cut_short() -> None:
    assert render_tree(DIAMOND, max_lines=2).splitlines()[2] == "… and 3 more"


def test_a_deep_graph_is_no_deeper_than_python_can_print() -> None:
    names = [str(number) for number in range(5000)]
    chain = Graph("deep", tuple(map(node, names)), tuple(map(GraphEdge, names, names[1:])))
    assert len(render_tree(chain).splitlines()) == 5000


def test_a_cycle_ends() -> None:
    assert "a  (see above)" in render_tree(Graph("a", (node("a"), node("b")), edges("a>b", "b>a")))


def test_quotes_and_keywords_are_safe_in_a_picture() -> None:
    graph = Graph('d["k"]', (node('d["k"]', "tensor"), node("end")), (GraphEdge('d["k"]', "end"),))
    assert '"d[\\"k\\"]" -> "end";' in render_dot(graph)
    assert 'n0(["d[#quot;k#quot;]"])' in render_mermaid(graph)
    assert "  n0 --> n1" in render_mermaid(graph)


def test_a_hover_says_only_what_is_known() -> None:
    fact = Fact(Place("a.py", 0, 1), "<module>", "y", True, None, ("A", "B"), (3, None), None)
    card = Card("tensor", "y", fact.place, None, fact)
    assert card_plaintext(card, (), where) == "y: tensor\nrequires_grad=True, grad_fn=A | B, shape=[3, ?]"
    assert "```text\nloss" in card_markdown(replace(card, graph=DIAMOND), (), where)


def test_an_excerpt_puts_carets_under_what_is_seen() -> None:
    text = "\tz = '日本'; y.add_(1)\nrest\n\n\nlast\n"
    start = text.index("y.")
    marks = [
        Mark(len(text[:start].encode()), len(text[: start + 9].encode()), "here", is_primary=True),
        Mark(len(text[: text.index("last")].encode()), len(text.encode()), "over", is_primary=False),
    ]
    assert excerpt(LineIndex(text), marks, 1).plain.splitlines() == [
        "1 |     z = '日本'; y.add_(1)",
        "  |                 ^^^^^^^^^ here",
        "...",
        "5 | last",
        "  | ---- over",
    ]
