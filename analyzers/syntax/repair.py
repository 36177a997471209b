"""Blanking what does not parse, so that the rest of the file keeps its tree.

Tree-sitter recovers from an error by guessing, and one stray bracket can cost it the whole file. Here the text itself
is mended instead, by what its author meant the indentation to say. A *group* is a line together with the deeper lines
under it and the clauses that go on with it (`else:`, a closing bracket). A group that does not parse on its own is
broken: if its headers parse, the fault is sought among the groups of its blocks, and else the group is a *hole*. In
the mended text a hole is a `0` and blanks, of the same length, so every other offset stays.

    for x in xs:                for x in xs:
        y = f(x                     0
        g(y)                        g(y)

A newline that ends no statement is a fault too, though tree-sitter reads over it: `y = x.` and `b = 2` below it are
not one assignment.

What becomes of a group depends on its own text alone, so a fault in one function leaves the others' trees equal.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from tree_sitter import Node, Tree

from analyzers.syntax.parse import LANGUAGE, kinds, parse

_MAX_BLOCKS = 50
_MAX_HEADER_LINES = 60
_BLANK = re.compile(rb"[ \t\f\r]*(?:#[^\n]*)?\Z")
_CLAUSE = re.compile(rb"(?:else|elif|except|finally)\b")
_COMPOUND = re.compile(rb"(?:def|class|if|for|while|with|try|match|async|else|elif|except|finally|case|@)")
_TRIPLE = re.compile(rb"\"\"\"|'''")
_COLON_AT_END = re.compile(rb":[ \t\f\r]*(?:#[^\n]*)?\Z")
_DECORABLE = re.compile(rb"(?:@|def\b|class\b|async\b)")
_WANTS_MORE = frozenset(b".=+-*/%@&|^<>~!")
_WORDS_WANT_MORE = frozenset(
    b"and or not in is if elif else import from as lambda await with for while assert del class def global nonlocal"
    b" async case".split()
)
_LIST_WANTS_MORE = re.compile(rb"[ \t]*(?:import|from|global|nonlocal|del|with|for|assert)\b[^(]*,\Z")
_COMMENT_AT_END = re.compile(rb"#[^\n]*\Z")
_TEXTUAL = kinds("string", "comment")
_STATEMENTS = kinds(
    *(
        name
        for kind in range(LANGUAGE.node_kind_count)
        if LANGUAGE.node_kind_is_named(kind)
        for name in [LANGUAGE.node_kind_for_id(kind) or ""]
        if name.endswith(("_statement", "_definition"))
    )
)
_INK = re.compile(rb"[^\s]")


@dataclass(frozen=True, slots=True)
class Repaired:
    """The mended text, its tree, and where each hole starts and ends."""

    text: bytes
    tree: Tree
    holes: dict[int, int]


def repair(text: bytes) -> Repaired:
    mender = _Mender(text)
    mender.mend(0, len(mender.lines), 0)
    mended = bytes(mender.mended)
    return Repaired(mended, parse(mended), mender.holes)


def is_broken(text: bytes, tree: Tree) -> bool:
    """Whether Python would refuse what tree-sitter read."""
    return tree.root_node.has_error or _reads_over_newline(text, tree.root_node)


@lru_cache(maxsize=8192)
def parses(text: bytes) -> bool:
    return not is_broken(text, parse(text))


def _reads_over_newline(text: bytes, root: Node) -> bool:
    start = 0
    for line in text.split(b"\n"):
        code = line.rstrip()
        if b"#" in code:
            code = _COMMENT_AT_END.sub(b"", code).rstrip()
        if code and (
            code[-1] in _WANTS_MORE
            or (code[-1] >= 0x61 and code.rsplit(None, 1)[-1] in _WORDS_WANT_MORE)
            or (code[-1] == 0x2C and _LIST_WANTS_MORE.match(code))
        ):
            last = start + len(code) - 1
            if _goes_on(root.descendant_for_byte_range(last, last + 1), last, start + len(line)):
                return True
        start += len(line) + 1
    return False


def _goes_on(node: Node | None, last: int, line_end: int) -> bool:
    """Whether the statement around the byte `last` goes on after its line without a bracket that says so."""
    while node is not None and node.kind_id not in _TEXTUAL:
        opened = any(child.type in ("(", "[", "{") and child.start_byte <= last for child in node.children)
        if opened and any(child.type in (")", "]", "}") and child.start_byte > last for child in node.children):
            return False
        if node.kind_id in _STATEMENTS:
            return node.end_byte > line_end
        node = node.parent
    return False


class _Mender:
    def __init__(self, text: bytes) -> None:
        self.mended = bytearray(text)
        self.holes: dict[int, int] = {}
        self.lines = text.split(b"\n")
        self.starts = [0]
        for line in self.lines:
            self.starts.append(self.starts[-1] + len(line) + 1)
        self.indents = [_indent(line) for line in self.lines]

    def mend(self, low: int, high: int, depth: int) -> None:
        """Make lines `low` to `high`, the whole of a block, parse."""
        at = low
        while at < high:
            if self.indents[at] is None:
                at += 1
                continue
            end = self.group_end(at, high)
            if not parses(self.slice(at, end)):
                end = self.past_string(at, end, high)
                if not parses(self.slice(at, end)):
                    self.mend_group(at, end, depth)
            at = end

    def group_end(self, at: int, high: int) -> int:
        base = self.indents[at] or 0
        decorated = self.lines[at].lstrip().startswith(b"@")
        compound = _COMPOUND.match(self.lines[at].lstrip()) is not None
        end = at + 1
        while end < high:
            indent = self.indents[end]
            if indent is not None and indent <= base and not self.lines[end - 1].rstrip(b"\r").endswith(b"\\"):
                first = self.lines[end].lstrip()
                goes_on = first[:1] in (b")", b"]", b"}") or (compound and indent == base and _CLAUSE.match(first))
                if not goes_on and not (decorated and _DECORABLE.match(first)):
                    break
                decorated = decorated and first.startswith(b"@")
            end += 1
        while end > at + 1 and self.indents[end - 1] is None:
            end -= 1
        return end

    def past_string(self, at: int, end: int, high: int) -> int:
        """Where the group ends if the triple quotes that it opens are closed further down; `end` if not so."""
        further = end
        while len(_TRIPLE.findall(self.slice(at, further))) % 2 == 1:
            line = next((line for line in range(further, high) if _TRIPLE.search(self.lines[line])), None)
            if line is None:
                return end
            further = self.group_end(line, high) if self.indents[line] == self.indents[at] else line + 1
        return further if further == end or parses(self.slice(at, further)) else end

    def mend_group(self, low: int, high: int, depth: int) -> None:
        before = bytes(self.mended[self.starts[low] : self.starts[high] - 1]), dict(self.holes)
        if depth < _MAX_BLOCKS and _COMPOUND.match(self.lines[low].lstrip()) and self.mend_clauses(low, high, depth):
            if parses(self.slice(low, high)):
                return
            self.mended[self.starts[low] : self.starts[low] + len(before[0])] = before[0]
            self.holes = before[1]
        self.dig(low, high)

    def mend_clauses(self, low: int, high: int, depth: int) -> bool:
        """Mend the blocks of a compound statement; False when its first header is broken."""
        base = self.indents[low]
        starts = [low]
        for line in range(low + 1, high):
            if self.indents[line] == base and _CLAUSE.match(self.lines[line].lstrip()):
                starts.append(line)
        for start, end in zip(starts, [*starts[1:], high], strict=True):
            body = self.header_end(start, end)
            if body is None:
                if start == low:
                    return False
                self.blank(start, end)
            else:
                self.mend(body, end, depth + 1)
        return True

    def header_end(self, low: int, high: int) -> int | None:
        """The line after the header that starts at `low`, None when no header parses."""
        for end in range(low + 1, min(high, low + _MAX_HEADER_LINES) + 1):
            if _COLON_AT_END.search(self.lines[end - 1]) and parses(_completed(self.slice(low, end))):
                return end
        return None

    def slice(self, low: int, high: int) -> bytes:
        """The text of some lines, from the first line's ink on."""
        start = self.starts[low] + len(self.lines[low]) - len(self.lines[low].lstrip())
        return bytes(self.mended[start : self.starts[high] - 1])

    def dig(self, low: int, high: int) -> None:
        start, end = self.blank(low, high)
        self.mended[start] = ord("0")
        self.holes[start] = end

    def blank(self, low: int, high: int) -> tuple[int, int]:
        text = self.slice(low, high)
        end = self.starts[high] - 1
        start = end - len(text)
        self.mended[start:end] = _INK.sub(b" ", text)
        return start, start + len(text.rstrip())


def _indent(line: bytes) -> int | None:
    """The column where the line's ink begins; None for a line without code."""
    if _BLANK.match(line):
        return None
    column = 0
    for byte in line:
        if byte == 0x20:
            column += 1
        elif byte == 0x09:
            column = column // 8 * 8 + 8
        elif byte == 0x0C:
            column = 0
        else:
            break
    return column


def _completed(header: bytes) -> bytes:
    """A program in which `header` stands right, if it is right."""
    first = header[:8]
    suite = b"\n                                                                pass\n"
    if first.startswith((b"elif", b"else")):
        return b"if 1: pass\n" + header + suite
    if first.startswith((b"except", b"finally")):
        return b"try: pass\n" + header + suite
    if first.startswith(b"try"):
        return header + suite + b"finally: pass\n"
    if first.startswith(b"case"):
        return b"match 1:\n " + header + suite
    return header + suite
