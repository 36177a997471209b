// The graph view: Graphviz lays the graph out, the style sheet colours it, a click or Enter leads to the program.

import { Graphviz } from "@hpcc-js/wasm-graphviz";
import type { FromView, Graph, Kept, Shown, ToView } from "../src/graph";
import { dot, lines, sentence } from "./dot";
import { standalone } from "./export";
import { move, type Place } from "./moves";

declare function acquireVsCodeApi(): {
  postMessage(message: FromView): void;
  getState(): Kept | undefined;
  setState(kept: Kept): void;
};

const LEGEND: [classes: string, text: string][] = [
  ["tensor", "the tensor asked about"],
  ["operator", "operator"],
  ["leaf", "leaf: receives a gradient"],
  ["saved", "saved for backward"],
  ["operator freed", "freed by an earlier backward"],
  ["cut", "cut: the gradient stops here"],
  ["unknown", "not known"],
  ["presumed", "presumed to be data without a graph"],
];

const SMALLEST = 0.1;
const LARGEST = 4;

const vscode = acquireVsCodeApi();
const loading = Graphviz.load();
let kept: Kept = { shown: { graph: null, text: "", follow: true }, zoom: 1, focus: null };
/** The graph that is drawn, as text: what is the same is not drawn again. */
let drawn = "";

function element(id: string): HTMLElement {
  return document.getElementById(id) as HTMLElement;
}

function keep(change: Partial<Kept>): void {
  kept = { ...kept, ...change };
  vscode.setState(kept);
}

async function show(shown: Shown): Promise<void> {
  keep({ shown });
  element("text").textContent = shown.text;
  element("follow").setAttribute("aria-pressed", String(shown.follow));
  for (const id of ["out", "fit", "in", "export"]) {
    element(id).toggleAttribute("disabled", shown.graph === null);
  }
  element("notes").replaceChildren(...(shown.graph?.notes ?? []).map(item));
  const text = JSON.stringify(shown.graph);
  if (text !== drawn) {
    drawn = text;
    await draw(shown.graph, () => drawn === text);
  }
}

async function draw(graph: Graph | null, wanted: () => boolean): Promise<void> {
  const host = element("graph");
  if (graph === null) {
    host.replaceChildren();
    return;
  }
  let svg: SVGSVGElement;
  try {
    svg = parsed((await loading).layout(dot(graph), "svg", "dot"));
  } catch (error) {
    host.replaceChildren();
    element("text").textContent =
      `The graph cannot be drawn: ${error instanceof Error ? error.message : String(error)}`;
    return;
  }
  if (!wanted()) {
    return;
  }
  const focused = document.hasFocus() && host.contains(document.activeElement);
  host.replaceChildren(svg);
  prepare(svg, graph);
  if (focused && kept.focus !== null) {
    shapeOf(kept.focus)?.focus();
  }
  zoom(kept.zoom);
}

function parsed(text: string): SVGSVGElement {
  const svg = new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
  return document.importNode(svg, true) as unknown as SVGSVGElement;
}

function prepare(svg: SVGSVGElement, graph: Graph): void {
  svg.setAttribute("role", "group");
  svg.setAttribute("aria-label", `Autograd graph of ${graph.name}`);
  for (const title of svg.querySelectorAll("title")) {
    title.remove();
  }
  const places: Place[] = [];
  for (const node of graph.nodes) {
    const shape = shapeOf(node.id);
    if (shape === null) {
      continue;
    }
    shape.setAttribute("role", node.range === null ? "img" : "button");
    shape.setAttribute("aria-label", sentence(node));
    shape.classList.toggle("leads", node.range !== null);
    markSaved(shape, lines(node).length - node.saved.length);
    const box = shape.getBBox();
    places.push({ id: node.id, x: box.x + box.width / 2, y: box.y + box.height / 2 });
    shape.addEventListener("click", () => {
      focus(node.id, graph);
      vscode.postMessage({ type: "reveal", node: node.id });
    });
    shape.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === " ") {
        vscode.postMessage({ type: "reveal", node: node.id });
      } else {
        const next = move(places, graph.edges, node.id, event.key);
        if (next === node.id) {
          return;
        }
        focus(next, graph);
        shapeOf(next)?.focus();
      }
      event.preventDefault();
    });
  }
  focus(kept.focus !== null && shapeOf(kept.focus) !== null ? kept.focus : graph.nodes[0].id, graph);
}

/** One node is in the order of Tab; the arrow keys reach the others. */
function focus(id: string, graph: Graph): void {
  keep({ focus: id });
  for (const node of graph.nodes) {
    shapeOf(node.id)?.setAttribute("tabindex", node.id === id ? "0" : "-1");
  }
}

/** A bar behind each line that names a saved tensor. */
function markSaved(shape: SVGGraphicsElement, first: number): void {
  for (const text of [...shape.querySelectorAll("text")].slice(first)) {
    const box = text.getBBox();
    const bar = document.createElementNS("http://www.w3.org/2000/svg", "rect");
    bar.classList.add("saved");
    for (const name of ["x", "y", "width", "height"] as const) {
      bar.setAttribute(name, String(box[name]));
    }
    text.before(bar);
  }
}

function shapeOf(id: string): SVGGraphicsElement | null {
  return document.getElementById(`node-${id}`) as SVGGraphicsElement | null;
}

function picture(): SVGSVGElement | null {
  return document.querySelector("#graph > svg");
}

function zoom(factor: number): void {
  const svg = picture();
  if (svg !== null) {
    const { width, height } = svg.viewBox.baseVal;
    keep({ zoom: Math.min(LARGEST, Math.max(SMALLEST, factor)) });
    svg.setAttribute("width", String(width * kept.zoom));
    svg.setAttribute("height", String(height * kept.zoom));
  }
}

function fit(): void {
  const { width, height } = picture()?.viewBox.baseVal ?? { width: 1, height: 1 };
  const host = element("graph");
  zoom(Math.min(1, (host.clientWidth - 4) / width, (host.clientHeight - 4) / height));
}

function exportPicture(): void {
  const svg = picture();
  const { graph } = kept.shown;
  if (svg !== null && graph !== null) {
    vscode.postMessage({ type: "svg", name: graph.name, text: standalone(svg) });
  }
}

function item(text: string): HTMLLIElement {
  const entry = document.createElement("li");
  entry.textContent = text;
  return entry;
}

function legend(): void {
  element("legend").replaceChildren(
    ...LEGEND.map(([classes, text]) => {
      const entry = item(text);
      const sample = document.createElement("span");
      sample.className = `sample ${classes}`;
      entry.prepend(sample);
      return entry;
    }),
  );
}

window.addEventListener("message", ({ data }: MessageEvent<ToView>) => {
  if (data.type === "show") {
    void show(data.shown);
  } else {
    exportPicture();
  }
});
element("follow").addEventListener("click", () => {
  vscode.postMessage({ type: "follow", follow: !kept.shown.follow });
  void show({ ...kept.shown, follow: !kept.shown.follow });
});
element("in").addEventListener("click", () => {
  zoom(kept.zoom * 1.25);
});
element("out").addEventListener("click", () => {
  zoom(kept.zoom / 1.25);
});
element("fit").addEventListener("click", fit);
element("export").addEventListener("click", exportPicture);

legend();
kept = vscode.getState() ?? kept;
void show(kept.shown);
vscode.postMessage({ type: "ready" });
