// Python's grammar for the analyzer, which asks for trees as rows of numbers: see python/tree_sitter.py.

import { Language, Parser } from "web-tree-sitter";

const NAMED = 1, EXTRA = 2, BROKEN = 4;
const CHILDREN = 5;

export async function loadParser(runtime, grammar) {
  await Parser.init({ locateFile: () => runtime });
  const language = await Language.load(grammar);
  const parser = new Parser();
  parser.setLanguage(language);
  const ids = Array.from({ length: language.nodeTypeCount }, (_, id) => id);
  return {
    parse: (text) => rows(parser, text),
    kinds: ids.map((id) => [language.nodeTypeForId(id) ?? null, language.nodeTypeIsNamed(id)]),
    fields: Array.from({ length: language.fieldCount + 1 }, (_, id) => language.fieldNameForId(id) ?? null),
  };
}

// In preorder: kind, start, end, field, flags, number of children. A node is broken where anything in it is.
function rows(parser, text) {
  const tree = parser.parse(text);
  const cursor = tree.walk();
  const numbers = [];
  const open = [];
  for (;;) {
    const node = cursor.currentNode;
    const flags = (node.isNamed ? NAMED : 0) | (node.isExtra ? EXTRA : 0) | (node.hasError ? BROKEN : 0);
    const at = numbers.length;
    if (open.length) numbers[open[open.length - 1] + CHILDREN]++;
    numbers.push(cursor.nodeTypeId, cursor.startIndex, cursor.endIndex, cursor.currentFieldId, flags, 0);
    if (cursor.gotoFirstChild()) {
      open.push(at);
      continue;
    }
    while (!cursor.gotoNextSibling()) {
      if (!cursor.gotoParent()) {
        cursor.delete();
        tree.delete();
        return Int32Array.from(numbers);
      }
      open.pop();
    }
  }
}
