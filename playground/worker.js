// Runs the analyzer, away from the thread that draws the page. Files lie beside this one.

import { loadPyodide } from "pyodide";
import { loadParser } from "./parser.js";

const here = (name) => new URL(name, import.meta.url).href;

const START = `
import sys
sys.path.insert(0, "/analyzer")
import tree_sitter
from parser_of_the_page import fields, kinds, parse
tree_sitter.Parser.rows = lambda text: parse(text).to_py()
tree_sitter.Language.kinds = [tuple(kind) for kind in kinds]
tree_sitter.Language.fields = list(fields)
import playground
`;

async function start() {
  const [python, parser, packed] = await Promise.all([
    loadPyodide({ indexURL: here("pyodide/") }),
    loadParser(here("web-tree-sitter.wasm"), here("tree-sitter-python.wasm")),
    fetch(here("analyzer.zip")).then((answer) => answer.arrayBuffer()),
  ]);
  python.unpackArchive(packed, "zip", { extractDir: "/analyzer" });
  python.registerJsModule("parser_of_the_page", {
    parse: parser.parse,
    kinds: python.toPy(parser.kinds),
    fields: python.toPy(parser.fields),
  });
  python.runPython(START);
  return python.pyimport("playground");
}

const ready = start();
ready.then(() => postMessage({ ready: true }), (error) => postMessage({ failed: String(error) }));

onmessage = async ({ data: { id, question, argument } }) => {
  try {
    const playground = await ready;
    postMessage({ id, answer: JSON.parse(playground[question](argument)) });
  } catch (error) {
    postMessage({ id, failed: String(error) });
  }
};
