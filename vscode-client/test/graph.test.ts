import assert from "node:assert/strict";
import { test } from "node:test";
import type { Graph, GraphNode } from "../src/graph";
import { classes, dot, lines, sentence } from "../view/dot";
import { plainColour } from "../view/colour";
import { move } from "../view/moves";

function node(id: string, more: Partial<GraphNode> = {}): GraphNode {
  const base = { kind: "operator", label: id, requires_grad: true, is_leaf: false, saved: [], freed: null } as const;
  return { id, ...base, saved: [], range: null, ...more };
}

test("a node says what it is, what it saved and that it was freed", () => {
  const product = node("n1", { label: "MulBackward0", saved: ["self", "other"], freed: true });
  assert.deepEqual(lines(product), ["MulBackward0", "freed", "saves self", "saves other"]);
  assert.equal(classes(product), "operator freed");
  assert.equal(classes(node("n2", { freed: false })), "operator");
  const range = { start: { line: 6, character: 0 }, end: { line: 6, character: 3 } };
  assert.equal(sentence({ ...product, range }), "MulBackward0, operator, freed, saves self, saves other, line 7");
  assert.equal(sentence(node("c", { kind: "cut", label: "detach" })), "detach, gradient stops here");
});

test("names of the program cannot break out of the text", () => {
  const label = 'd["k"]\\\n' + "x".repeat(100);
  const graph: Graph = { name: "d", nodes: [node("n1", { label })], edges: [{ from: "n1", to: "n1" }], notes: [] };
  const text = dot(graph);
  assert.ok(text.includes('label="d[\\"k\\"]\\\\ xxx'), text);
  assert.ok(text.includes('…"];'), text);
  assert.ok(text.includes('"n1" -> "n1";'));
});

const places = [
  { id: "loss", x: 50, y: 0 },
  { id: "mul", x: 50, y: 40 },
  { id: "a", x: 20, y: 80 },
  { id: "b", x: 75, y: 82 },
  { id: "c", x: 120, y: 80 },
];
const edges = [
  { from: "loss", to: "mul" },
  { from: "mul", to: "a" },
  { from: "mul", to: "b" },
];

test("arrow keys follow the edges and the rows", () => {
  assert.equal(move(places, edges, "loss", "ArrowDown"), "mul");
  assert.equal(move(places, edges, "mul", "ArrowDown"), "b");
  assert.equal(move(places, edges, "b", "ArrowUp"), "mul");
  assert.equal(move(places, edges, "b", "ArrowLeft"), "a");
  assert.equal(move(places, edges, "a", "ArrowRight"), "b");
  assert.equal(move(places, edges, "c", "Home"), "loss");
});

test("where there is nowhere to go, one stays", () => {
  assert.equal(move(places, edges, "loss", "ArrowUp"), "loss");
  assert.equal(move(places, edges, "c", "ArrowDown"), "c");
  assert.equal(move(places, edges, "c", "x"), "c");
  assert.equal(move(places, edges, "gone", "ArrowUp"), "gone");
});

test("a mixed colour is told in a way that every program reads", () => {
  assert.equal(plainColour("color(srgb 1 0.5 0)"), "rgb(255, 128, 0)");
  assert.equal(plainColour("color(srgb 0.2 0.4 0.6 / 0.5)"), "rgba(51, 102, 153, 0.5)");
  assert.equal(plainColour("rgb(1, 2, 3)"), "rgb(1, 2, 3)");
});
