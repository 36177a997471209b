"""Unbound names: a word that occurs once in a file, and is only read, is half typed or misspelt.

The statement that reads it can do nothing but raise a NameError. What is asked of the whole file is only how often a
word stands in it, comments and strings included: that is known again after an edit from the lines that changed. Where
names may come from elsewhere (`import *`, `globals()`), every name counts as bound.
"""

from __future__ import annotations

import builtins
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from tree_sitter import Node

from analyzers.syntax import parse

_WORD = re.compile(rb"\b[A-Za-z_]\w*")
_WORD_GOES_ON = re.compile(rb"\w")
_READ = re.compile(rb"(?<![\w.\x80-\xff])[A-Za-z]\w*(?![\w\x80-\xff])")
_STAR = re.compile(rb"import[ \t(]*[*\\]")
_LENDERS = frozenset({b"globals", b"locals", b"exec", b"builtins", b"__builtins__", b"get_ipython"})
"""Who uses these may bind names that the file does not spell as names."""
_GIVEN = frozenset(name.encode() for name in dir(builtins)) | frozenset(
    b"copyright credits display exit help license quit reveal reveal_locals reveal_type WindowsError".split()
)

_IDENTIFIER = parse.kind("identifier")
_STATEMENT = parse.kind("expression_statement")
_BLOCK = parse.kinds("block")
_TRY = parse.kind("try_statement")
_EVALUATED = parse.kinds(
    "argument_list", "assignment", "attribute", "augmented_assignment", "binary_operator", "call", "dictionary",
    "expression_list", "keyword_argument", "list", "not_operator", "pair", "parenthesized_expression", "subscript",
    "tuple", "unary_operator",
)  # fmt: skip
"""Expressions that evaluate all that is in them, whatever it comes to."""
_NAMING = {
    parse.kind("assignment"): parse.field("left"),
    parse.kind("attribute"): parse.field("attribute"),
    parse.kind("augmented_assignment"): parse.field("left"),
    parse.kind("keyword_argument"): parse.field("name"),
}
"""Where in an expression a name stands that is not read."""
_ASSIGNMENTS = parse.kinds("assignment", "augmented_assignment")
_RIGHT = parse.field("right")


@dataclass(frozen=True, slots=True)
class Words:
    """How often each word stands in a file, and a star behind `import`."""

    counts: Mapping[bytes, int]
    stars: int

    @property
    def is_open(self) -> bool:
        """Whether names may come from elsewhere."""
        return self.stars > 0 or any(word in self.counts for word in _LENDERS)

    def edited(self, before: bytes, after: bytes) -> tuple[Words, list[bytes]]:
        """The words once the lines `before` have become `after`; and which of those that stand once, in other lines, do
        so only now, or only did so before."""
        gone, come = _WORD.findall(before), _WORD.findall(after)
        change = Counter(come)
        change.subtract(gone)
        counts = dict(self.counts)
        flipped: list[bytes] = []
        for word, by in change.items():
            count = counts.get(word, 0)
            if by and ((count == 1 and word not in gone) or (count + by == 1 and word not in come)):
                flipped.append(word)
            counts[word] = count + by
            if not counts[word]:
                del counts[word]
        return Words(counts, self.stars + _stars(after) - _stars(before)), flipped


def words_of(text: bytes) -> Words:
    return Words(dict(Counter(_WORD.findall(text))), _stars(text))


def _stars(text: bytes) -> int:
    return sum(1 for _ in _STAR.finditer(text))


def unbound_statements(words: Words, text: bytes, start: int, root: Node) -> Iterator[tuple[Node, int]]:
    """The statements in `text`, which begins at `start` of the tree of `root`, that read a name which nothing binds;
    and where in the tree that name stands."""
    if words.is_open:
        return
    around = Around(root)
    for word in _READ.finditer(text):
        if words.counts.get(word[0]) == 1 and word[0] not in _GIVEN:
            around.byte(start + word.start())
            statement = reading_statement(around)
            if statement is not None:
                yield statement, start + word.start()


def end_of_targets(statement: Node) -> int | None:
    """Where in the tree the last `=` of an assignment ends; None for what is none."""
    node, end = statement.named_child(0), None
    while node is not None and node.kind_id in _ASSIGNMENTS:
        value = node.child_by_field_id(_RIGHT)
        if value is None or value.prev_sibling is None:
            break
        node, end = value, value.prev_sibling.end_byte
    return end


def may_be_read(words: Words, targets: bytes) -> bool:
    """Whether what an assignment binds, by the text of its targets, may be read somewhere."""
    return any(words.counts.get(word, 0) > 1 for word in _WORD.findall(targets))


class Around:
    """The nodes around one byte after another, each from the outermost inwards.

    To ask a node for its parent costs as much as it is deep, as tree-sitter looks for it from the root on. So does to
    climb from each word of a deep expression: `statements` has for each of the nodes the statement of a block that
    cannot but evaluate it.
    """

    def __init__(self, root: Node) -> None:
        self.nodes = [root]
        self.statements: list[Node | None] = [None]
        self.tries = 0
        self.cursor = root.walk()

    def byte(self, at: int) -> Sequence[Node]:
        nodes = self.nodes
        while len(nodes) > 1 and not nodes[-1].start_byte <= at < nodes[-1].end_byte:
            self.tries -= nodes.pop().kind_id == _TRY
            self.statements.pop()
            self.cursor.goto_parent()
        while self.cursor.goto_first_child_for_byte(at) is not None:
            inner = self.cursor.node
            if inner is None or inner.start_byte > at:
                self.cursor.goto_parent()
                break
            self.statements.append(self._statement_of(inner))
            self.tries += inner.kind_id == _TRY
            nodes.append(inner)
        return nodes

    def _statement_of(self, inner: Node) -> Node | None:
        """None in a `try`, where what raises may be there to raise."""
        outer = self.nodes[-1]
        if inner.kind_id == _STATEMENT:
            return inner if outer.kind_id in _BLOCK and not self.tries else None
        return self.statements[-1] if outer.kind_id in _EVALUATED or outer.kind_id == _STATEMENT else None


def reading_statement(around: Around) -> Node | None:
    """The statement of a block that cannot but read a name, the innermost of the nodes."""
    name = around.nodes[-1]
    if name.kind_id != _IDENTIFIER:
        return None
    parent = around.nodes[-2]
    field = _NAMING.get(parent.kind_id)
    if field is not None and parent.child_by_field_id(field) == name:
        return None
    return around.statements[-1]


def single_place(word: bytes, text: bytes) -> int:
    """Where in a text a word stands that stands in it once."""
    ends = re.finditer(word + rb"(?!\w)", text)
    return next(at for end in ends if (at := end.start()) == 0 or not _WORD_GOES_ON.match(text, at - 1))
