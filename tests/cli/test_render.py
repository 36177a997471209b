"""The pictures of a graph, from plain data."""

from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree

from hypothesis import given, settings
from hypothesis import strategies as st

from analyzers.report import Card, Fact, Graph, GraphEdge, GraphNode, Place
from autograd_lsp.cli.formats.excerpt import Mark, excerpt
from autograd_lsp.render.card import card_markdown, card_plaintext
from autograd_lsp.render.dot import render_dot
from autograd_lsp.render.layers import Size, lay_out
from autograd_lsp.render.mermaid import render_mermaid
from autograd_lsp.render.svg import render_svg
from autograd_lsp.render.tree import render_tree
from autograd_lsp.text.positions import LineIndex

SVG = "{http://www.w3.org/2000/svg}"


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


def test_a_svg_picture_marks_what_is_freed_and_what_is_cut() -> None:
    nodes, onward = (*DIAMOND.nodes, node("<detach>", "cut")), GraphEdge("Exp", "<detach>")
    cut = replace(DIAMOND, nodes=nodes, edges=(*DIAMOND.edges, onward))
    picture = ElementTree.fromstring(render_svg(cut, where))
    groups = {group[0].text: group.get("class") for group in picture.iter(SVG + "g")}
    assert groups == {"loss": "tensor", "Mul": "operator", "Exp": "operator freed", "x": "leaf", "<detach>": "cut"}
    ways = [path.get("class") for path in picture.iter(SVG + "path")]
    assert (ways.count("edge"), ways.count("edge cut")) == (4, 1)
    assert "cut at a loop" in [text.text for text in picture.iter(SVG + "text")]
    assert "@media (prefers-color-scheme: dark)" in picture.find(SVG + "style").text


def test_a_layout_goes_down_and_leaves_room() -> None:
    sizes = {node.id: Size(40, 20) for node in DIAMOND.nodes}
    layout = lay_out(sizes, [(edge.source, edge.target) for edge in DIAMOND.edges], Size(10, 30))
    heights = [layout.centres[name][1] for name in ("loss", "Mul", "Exp", "x")]
    assert heights == [10, 60, 110, 160]
    assert [len(way.points) for way in layout.ways if (way.source, way.target) == ("Mul", "x")] == [3]


@settings(max_examples=100, deadline=None, derandomize=True)
@given(st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)), max_size=40))
def test_in_any_layout_edges_go_down_and_nodes_lie_apart(pairs: list[tuple[int, int]]) -> None:
    sizes = {str(number): Size(10 + 7 * number, 20) for number in range(13)}
    layout = lay_out(sizes, [(str(a), str(b)) for a, b in pairs], Size(5, 30))
    for way in layout.ways:
        assert [y for _, y in way.points] == sorted({y for _, y in way.points})
    for one, (x, y) in layout.centres.items():
        assert x >= sizes[one].width / 2 - 1e-6
        assert x + sizes[one].width / 2 <= layout.size.width + 1e-6
        for other, (other_x, other_y) in layout.centres.items():
            room = abs(x - other_x) - (sizes[one].width + sizes[other].width) / 2
            assert one == other or y != other_y or room >= 5 - 1e-6


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
