// The page: an editor, what the analyzer finds in its program, and the graph at the cursor.

import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { python } from "@codemirror/lang-python";
import { HighlightStyle, bracketMatching, indentOnInput, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { setDiagnostics } from "@codemirror/lint";
import { EditorState } from "@codemirror/state";
import { EditorView, drawSelection, highlightActiveLine, hoverTooltip, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { fromFragment, toFragment } from "./link.js";

const PAUSE = 250; // milliseconds without a key before a program is checked

const element = (id) => document.getElementById(id);
const worker = new Worker("worker.js", { type: "module" });
const waiting = new Map();
let asked = 0;
let checked = null; // the text that the worker's answers are about

function ask(question, argument) {
  const id = ++asked;
  worker.postMessage({ id, question, argument });
  return new Promise((resolve, reject) => waiting.set(id, { resolve, reject }));
}

let isReady;
const ready = new Promise((resolve) => (isReady = resolve));

worker.onmessage = ({ data }) => {
  if (data.ready) return isReady();
  if (data.id === undefined) return say(`The analyzer cannot be started: ${data.failed}`, true);
  const { resolve, reject } = waiting.get(data.id);
  waiting.delete(data.id);
  "failed" in data ? reject(new Error(data.failed)) : resolve(data.answer);
};
worker.onerror = () => say("The analyzer cannot be loaded.", true);

function say(words, failed = false) {
  element("state").textContent = words;
  element("state").classList.toggle("failed", failed);
}

const colours = HighlightStyle.define([
  { tag: [tags.keyword, tags.operatorKeyword, tags.modifier], color: "var(--keyword)" },
  { tag: [tags.string, tags.special(tags.string)], color: "var(--string)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--number)" },
  { tag: tags.comment, color: "var(--faint)", fontStyle: "italic" },
  { tag: [tags.function(tags.definition(tags.variableName)), tags.className], fontWeight: "600" },
]);

const look = EditorView.theme({
  "&": { backgroundColor: "var(--ground)", color: "var(--ink)", fontSize: "14px" },
  "&.cm-focused": { outline: "none" },
  ".cm-content": { caretColor: "var(--ink)" },
  ".cm-cursor": { borderLeftColor: "var(--ink)" },
  ".cm-gutters": { backgroundColor: "var(--ground)", border: "none", color: "var(--faint)" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "var(--raised)" },
  ".cm-selectionBackground, &.cm-focused .cm-selectionBackground": {
    backgroundColor: "color-mix(in srgb, var(--link) 30%, transparent) !important",
  },
  ".cm-scroller": { fontFamily: 'ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace' },
  ".cm-tooltip": { backgroundColor: "var(--raised)", border: "1px solid var(--line)", color: "var(--ink)" },
  ".cm-diagnostic": { borderLeftWidth: "3px", padding: "0.4rem 0.7rem" },
  ".cm-diagnosticAction": { backgroundColor: "var(--link)", color: "var(--ground)" },
});

const facts = hoverTooltip(async (view, at) => {
  if (checked !== view.state.doc.toString()) return null;
  const card = await ask("hover", at).catch(() => null);
  return card && { pos: card.from, end: card.to, above: true, create: () => ({ dom: made("pre", card.text, "card") }) };
});

let examples = {}; // programs by name
let pause = 0;
const view = new EditorView({
  parent: element("editor"),
  state: EditorState.create({
    extensions: [
      lineNumbers(),
      history(),
      drawSelection(),
      highlightActiveLine(),
      indentOnInput(),
      indentUnit.of("    "),
      bracketMatching(),
      python(),
      syntaxHighlighting(colours),
      look,
      facts,
      keymap.of([...defaultKeymap, ...historyKeymap, indentWithTab]),
      EditorView.contentAttributes.of({ "aria-label": "Program" }),
      EditorView.updateListener.of((update) => {
        if (update.docChanged) {
          clearTimeout(pause);
          pause = setTimeout(check, PAUSE);
        } else if (update.selectionSet) {
          draw();
        }
      }),
    ],
  }),
});

async function check() {
  await ready;
  const text = view.state.doc.toString();
  if (examples[element("examples").value] !== text) element("examples").value = "";
  const started = performance.now();
  say("Checking…");
  try {
    const told = await ask("check", text);
    if (text !== view.state.doc.toString()) return;
    checked = text;
    show(told);
    say(`${summary(told)} in ${Math.round(performance.now() - started)} ms`);
    draw();
  } catch (error) {
    say(`The analyzer has failed: ${error.message.trim().split("\n").pop()}`, true);
  }
}

function summary({ findings, backwards, count }) {
  const found = findings.length === 1 ? "1 finding" : `${findings.length || "No"} findings`;
  return backwards.length ? `${found}, ${count - backwards.length} of ${count} backward calls followed` : found;
}

function show({ findings, backwards }) {
  const marks = findings.map((finding) => ({
    from: finding.from,
    to: finding.to,
    severity: finding.severity,
    message: `${finding.code} ${finding.message}`,
    actions: finding.fixes.map((fix) => ({ name: fix.title.replaceAll("`", ""), apply: () => apply(fix) })),
  }));
  view.dispatch(setDiagnostics(view.state, marks));
  element("findings").replaceChildren(...findings.map(item), ...backwards.map(doubt));
}

function item(finding) {
  const one = made("li", "", finding.severity);
  const head = made("p", "", "head");
  const page = made("a", `${finding.code} ${finding.name}`);
  page.href = finding.url;
  head.append(made("span", finding.severity, "severity"), " ", page, ", ", place(finding, `line ${finding.line}`));
  one.append(head, prose(finding.message));
  if (finding.raises) one.append(prose(finding.raises));
  if (finding.assumes) one.append(prose(finding.assumes));
  for (const step of finding.related) {
    const line = prose(`: ${step.message}`);
    line.prepend(place(step, `line ${step.line}`));
    one.append(line);
  }
  for (const fix of finding.fixes) {
    const button = prose(fix.title, "button");
    button.type = "button";
    button.onclick = () => apply(fix);
    one.append(button);
  }
  return one;
}

function doubt(backward) {
  const one = made("li", "", "info");
  const line = prose(`: this backward is ${backward.grasp === "lost" ? "not followed" : "followed in part"}`);
  line.prepend(place(backward, `line ${backward.line}`));
  one.append(line, prose(backward.about));
  return one;
}

function place({ from, to }, words) {
  const button = made("button", words, "place");
  button.type = "button";
  button.onclick = () => {
    view.dispatch({ selection: { anchor: from, head: to }, effects: EditorView.scrollIntoView(from, { y: "center" }) });
    view.focus();
  };
  return button;
}

// The marks are of the text that was checked: a fix is for that one.
function apply(fix) {
  if (checked !== view.state.doc.toString()) return;
  view.dispatch({ changes: fix.edits.map(({ from, to, text }) => ({ from, to, insert: text })) });
}

let wanted = 0;
async function draw() {
  if (checked !== view.state.doc.toString()) return;
  const line = view.state.doc.lineAt(view.state.selection.main.head).number;
  const mine = ++wanted;
  const graph = await ask("graph", line).catch(() => null);
  if (mine !== wanted) return;
  if (graph === null) {
    element("graph").replaceChildren("Put the cursor on a line with a tensor that has a graph.");
    return;
  }
  const picture = document.createElement("img");
  picture.alt = `The autograd graph of ${graph.name} at line ${line}`;
  picture.src = `data:image/svg+xml,${encodeURIComponent(graph.svg)}`; // a picture: nothing in it is run
  element("graph").replaceChildren(made("p", `${graph.name}, line ${line}`), picture);
}

// What stands between backticks is code.
function prose(words, name = "p") {
  const line = made(name);
  words.split("`").forEach((part, number) => line.append(number % 2 ? made("code", part) : part));
  return line;
}

function made(name, words = "", kind = "") {
  const one = document.createElement(name);
  one.textContent = words;
  one.className = kind;
  return one;
}

function put(text) {
  view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text }, selection: { anchor: 0 } });
}

async function open() {
  const linked = await fromFragment(location.hash);
  examples = await (await fetch("examples.json")).json();
  const choice = element("examples");
  const names = Object.keys(examples);
  choice.append(...["", ...names].map((name) => new Option(name || "…", name)));
  choice.onchange = () => choice.value && put(examples[choice.value]);
  if (linked === null) choice.value = names[0];
  put(linked ?? examples[names[0]]);
}

element("share").onclick = async () => {
  window.history.replaceState(null, "", await toFragment(view.state.doc.toString()));
  const button = element("share");
  const copied = await navigator.clipboard.writeText(location.href).then(() => true, () => false);
  button.textContent = copied ? "Copied" : "The link is in the address";
  setTimeout(() => (button.textContent = "Copy link"), 2000);
};

window.addEventListener("hashchange", async () => {
  const linked = await fromFragment(location.hash);
  if (linked !== null) put(linked);
});

open().catch(() => say("The examples cannot be loaded.", true));
