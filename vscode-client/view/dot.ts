// A graph in Graphviz's language. Colours are left to the style sheet: nodes carry classes.

import type { Graph, GraphNode } from "../src/graph";

const SHAPES: Record<GraphNode["kind"], string> = {
  tensor: "box",
  operator: "box",
  leaf: "ellipse",
  cut: "octagon",
  unknown: "box",
  presumed: "ellipse",
};

const LONGEST = 60;

export function dot(graph: Graph): string {
  return [
    "digraph {",
    'bgcolor="transparent"; nodesep=0.3; ranksep=0.4;',
    'node [fontname="Courier", fontsize=12, margin="0.15,0.08", height=0.3];',
    "edge [arrowsize=0.7];",
    ...graph.nodes.map(
      (node) =>
        `${quoted(node.id)} [id=${quoted(`node-${node.id}`)}, class=${quoted(classes(node))}, ` +
        `shape=${SHAPES[node.kind]}, label=${label(node)}];`,
    ),
    ...graph.edges.map(({ from, to }) => `${quoted(from)} -> ${quoted(to)};`),
    "}",
  ].join("\n");
}

export function classes(node: GraphNode): string {
  return node.freed === true ? `${node.kind} freed` : node.kind;
}

/** The name, then what was saved, one a line. */
export function lines(node: GraphNode): string[] {
  return [node.label, ...(node.freed === true ? ["freed"] : []), ...node.saved.map((saved) => `saves ${saved}`)];
}

/** The node in one sentence, for those who do not see the picture. */
export function sentence(node: GraphNode): string {
  const kind = node.kind === "cut" ? "gradient stops here" : node.kind;
  const line = node.range === null ? [] : [`line ${node.range.start.line + 1}`];
  const [name, ...rest] = lines(node);
  return [name, kind, ...rest, ...line].join(", ");
}

function label(node: GraphNode): string {
  return `"${lines(node).map(shortened).map(escaped).join("\\n")}"`;
}

function shortened(text: string): string {
  const line = text.replace(/\s+/g, " ");
  return line.length > LONGEST ? `${line.slice(0, LONGEST - 1)}…` : line;
}

function quoted(text: string): string {
  return `"${escaped(text)}"`;
}

function escaped(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll('"', '\\"');
}
