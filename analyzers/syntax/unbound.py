"""Unbound names: a word that occurs once in a file, and is only read, is half typed or misspelt.

The statement that reads it can do nothing but raise a NameError. What is asked of the whole file is only how often a
word stands in it, comments and strings included: that is known again after an edit from the lines that changed. Where
names may come from elsewhere (`import *`, `globals()`), every name counts as bound.
"""

from __future__ import annotations

import builtins
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
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


def unbound_statements(words: Words, text: bytes, start: int, find: Callable[[int], Node | None]) -> Iterator[Node]:
    """The statements in `text`, which begins at `start` of a tree, that read a name which nothing binds.

    `find` gives the node of a word.
    """
    if words.is_open:
        return
    for word in _READ.finditer(text):
        if words.counts.get(word[0]) == 1 and word[0] not in _GIVEN:
            node = find(start + word.start())
            statement = None if node is None else reading_statement(node)
            if statement is not None:
                yield statement


def reading_statement(name: Node) -> Node | None:
    """The statement of a block that cannot but read a name; none in a `try`, where it may be there to be missed."""
    if name.kind_id != _IDENTIFIER:
        return None
    node, parent = name, name.parent
    while parent is not None and parent.kind_id in _EVALUATED:
        field = _NAMING.get(parent.kind_id)
        if field is not None and node.kind_id == _IDENTIFIER and parent.child_by_field_id(field) == node:
            return None
        node, parent = parent, parent.parent
    if parent is None or parent.kind_id != _STATEMENT or parent.parent is None or parent.parent.kind_id not in _BLOCK:
        return None
    above = parent.parent
    while above.parent is not None:
        above = above.parent
        if above.kind_id == _TRY:
            return None
    return parent


def single_place(word: bytes, text: bytes) -> int:
    """Where in a text a word stands that stands in it once."""
    ends = re.finditer(word + rb"(?!\w)", text)
    return next(at for end in ends if (at := end.start()) == 0 or not _WORD_GOES_ON.match(text, at - 1))
