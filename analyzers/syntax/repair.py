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

What becomes of a group depends on its own text alone, so a fault in one function leaves the others' trees equal. Only
a group that leaves a triple quote open looks at what stands below it.
"""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate

from tree_sitter import Node, Tree

from analyzers.syntax.parse import LONG, Reparser, kind_names, kinds, parse

_MAX_BLOCKS = 50
_MAX_INDENTS = 100
"""Python takes no more blocks inside one another."""
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
_LAST_BYTES = frozenset(b",").union(_WANTS_MORE, (word[-1] for word in _WORDS_WANT_MORE))
_LIST_WANTS_MORE = re.compile(rb"[ \t]*(?:import|from|global|nonlocal|del|with|for|assert)\b[^(]*,\Z")
_COMMENT_AT_END = re.compile(rb"#[^\n]*\Z")
_TEXTUAL = kinds("string", "comment")
_STATEMENTS = kinds(*(name for name in kind_names() if name.endswith(("_statement", "_definition"))))
_INK = re.compile(rb"[^\s]")
_LINE_AT_MARGIN = re.compile(rb"\n(?=[^ \t\r\n#]|\r[^\n])")
_DECORATED_AT_MARGIN = re.compile(rb"(?<!\\)(?<!\\\r)\n(?:def|class|async)\b")
STARTS_STATEMENT = re.compile(rb"(?:def|class|import|from)\b")
_HALF = re.compile(rb"(?:[:,]|\belse)[ \t\f\r]*(?:#[^\n]*)?\Z")
_LONGEST_WORD = 8


@dataclass(frozen=True, slots=True)
class Repaired:
    """The mended text, its tree, and where each hole starts and ends.

    `groups` are where the outermost groups start, None where nothing was to be mended. `is_open` says that one of them
    lacks a triple quote, so that text below it could make it whole.
    """

    text: bytes
    tree: Tree
    holes: dict[int, int]
    groups: tuple[int, ...] | None = None
    is_open: bool = False


def repair(text: bytes, parser: Reparser | None = None) -> Repaired:
    """Mend a text that is broken; `parser` may know the tree of one like it."""
    parser = parser or Reparser()
    mender = _Mender(text, parser, broken=text)
    mender.dig_too_deep()
    mender.mend(0, len(mender.lines), 0)
    mended = bytes(mender.mended)
    return Repaired(mended, parser.parse(mended), mender.holes, tuple(mender.groups), mender.is_open)


def is_group(text: bytes) -> bool:
    """Whether whole statements are one group; not if what stands in their brackets stands at the margin, say."""
    if text[:1] in (b" ", b"\t") or b"\f" in text or _ends_continued(text):
        return False
    extent = Extent(text[:_LONGEST_WORD])
    for line in _LINE_AT_MARGIN.finditer(text):
        if not _is_continued(text[max(line.start() - 8, 0) : line.start()]):
            if not extent.takes(text[line.end() : line.end() + _LONGEST_WORD], 0):
                return _TRIPLE.search(text) is not None and _Mender(text, Reparser()).is_group()
    return True


def may_go_on(above: bytes, first: bytes) -> bool:
    """Whether what stands above a line at the margin might go on in it; `first` is how it begins.

    It is empty at the end of a file, where only a line that is continued might go on.
    """
    if not first or _ends_continued(above):
        return _ends_continued(above)
    decorator = above.rfind(b"\n@") + 1
    decorated = above.startswith(b"@", decorator) and _DECORATED_AT_MARGIN.search(above, decorator) is None
    return (
        not above.endswith(b"\n")
        or first[:1].isspace()
        or first.startswith((b")", b"]", b"}", b"\\", BOM_UTF8))
        or _CLAUSE.match(first) is not None
        or (decorated and _DECORABLE.match(first) is not None)
        or (STARTS_STATEMENT.match(first) is None and _HALF.search(_last_line(above)) is not None)
    )


def _ends_continued(text: bytes) -> bool:
    """Whether there is a backslash at the end of the last line, or of the last with code."""
    return text.rstrip().endswith(b"\\") or _last_line(text).rstrip().endswith(b"\\")


def _last_line(text: bytes) -> bytes:
    """The last line with code."""
    end = len(text)
    while end > 0:
        start = text.rfind(b"\n", 0, end - 1) + 1
        line = text[start:end].rstrip(b"\n")
        if not _BLANK.match(line):
            return line
        end = start
    return b""


def _is_continued(line: bytes) -> bool:
    return line.rstrip(b"\r").endswith(b"\\")


def is_broken(text: bytes, tree: Tree) -> bool:
    """Whether Python would refuse what tree-sitter read."""
    return tree.root_node.has_error or _reads_over_newline(text, tree.root_node)


@lru_cache(maxsize=8192)
def parses(text: bytes) -> bool:
    return not is_broken(text, parse(text))


@lru_cache(maxsize=64)
def _parses_long(text: bytes) -> bool:
    return not is_broken(text, parse(text))


def _reads_over_newline(text: bytes, root: Node) -> bool:
    start = 0
    for line in text.split(b"\n"):
        code = line.rstrip()
        if b"#" in code:
            code = _COMMENT_AT_END.sub(b"", code).rstrip()
        if (
            code
            and code[-1] in _LAST_BYTES
            and (
                code[-1] in _WANTS_MORE
                or (code[-1] == 0x2C and _LIST_WANTS_MORE.match(code))
                or code.rsplit(None, 1)[-1] in _WORDS_WANT_MORE
            )
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


class Extent:
    """Which lines at its own margin or left of it a group takes in, told one after another."""

    def __init__(self, first: bytes, base: int = 0) -> None:
        self.base = base
        self.decorated = first.startswith(b"@")
        self.compound = _COMPOUND.match(first) is not None

    def takes(self, first: bytes, indent: int) -> bool:
        goes_on = first[:1] in (b")", b"]", b"}") or (self.compound and indent == self.base and _CLAUSE.match(first))
        if not goes_on and not (self.decorated and _DECORABLE.match(first)):
            return False
        self.decorated = self.decorated and (bool(goes_on) or first.startswith(b"@"))
        return True


class _Mender:
    def __init__(self, text: bytes, parser: Reparser, broken: bytes | None = None) -> None:
        self.mended = bytearray(text)
        self.parser = parser
        self.broken = broken
        self.holes: dict[int, int] = {}
        self.groups: list[int] = []
        self.is_open = False
        self.lines = text.split(b"\n")
        self.starts = [0, *accumulate(len(line) + 1 for line in self.lines)]
        self.indents = [_indent(line) for line in self.lines]

    def mend(self, low: int, high: int, depth: int) -> None:
        """Make lines `low` to `high`, the whole of a block, parse."""
        at = low
        while at < high:
            if self.indents[at] is None:
                at += 1
                continue
            end, whole = self.group(at, high)
            if depth == 0:
                self.groups.append(self.starts[at])
                self.is_open = self.is_open or (not whole and self.lacks_quote(at, end))
            if not whole:
                self.mend_group(at, end, depth)
            at = end

    def dig_too_deep(self) -> None:
        """What is nested deeper than Python allows is broken, whatever is in it; it may be most of the text."""
        above: list[int] = []
        first: int | None = None
        for line, indent in enumerate(self.indents):
            if indent is None:
                continue
            while above and above[-1] >= indent:
                above.pop()
            above.append(indent)
            if len(above) > _MAX_INDENTS + 1:
                first = line if first is None else first
            elif first is not None:
                self.dig(first, line)
                first = None
        if first is not None:
            self.dig(first, len(self.lines))

    def is_group(self) -> bool:
        end, whole = self.group(0, len(self.lines))
        return whole and all(indent is None for indent in self.indents[end:])

    def group(self, at: int, high: int) -> tuple[int, bool]:
        """Where the group at a line ends, and whether it parses."""
        end = self.group_end(at, high)
        if self.parses(at, end):
            return end, True
        further = self.past_string(at, end, high)
        return further, further != end

    def group_end(self, at: int, high: int) -> int:
        base = self.indents[at] or 0
        extent = Extent(self.lines[at].lstrip(), base)
        end = at + 1
        while end < high:
            indent = self.indents[end]
            if indent is not None and indent <= base and not _is_continued(self.lines[end - 1]):
                if not extent.takes(self.lines[end].lstrip(), indent):
                    break
            end += 1
        while end > at + 1 and self.indents[end - 1] is None:
            end -= 1
        return end

    def past_string(self, at: int, end: int, high: int) -> int:
        """Where the group ends if the triple quotes that it opens are closed further down; `end` if not so."""
        further = end
        while self.lacks_quote(at, further):
            line = next((line for line in range(further, high) if _TRIPLE.search(self.lines[line])), None)
            if line is None:
                return end
            further = self.group_end(line, high) if self.indents[line] == self.indents[at] else line + 1
        return further if further == end or self.parses(at, further) else end

    def lacks_quote(self, low: int, high: int) -> bool:
        return len(_TRIPLE.findall(self.slice(low, high))) % 2 == 1

    def mend_group(self, low: int, high: int, depth: int) -> None:
        text, holes = bytes(self.mended[self.starts[low] : self.starts[high] - 1]), len(self.holes)
        if depth < _MAX_BLOCKS and _COMPOUND.match(self.lines[low].lstrip()) and self.mend_clauses(low, high, depth):
            if self.parses(low, high):
                return
            self.mended[self.starts[low] : self.starts[low] + len(text)] = text
            while len(self.holes) > holes:
                self.holes.popitem()
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

    def parses(self, low: int, high: int) -> bool:
        text = self.slice(low, high)
        if len(text) < LONG:
            return parses(text)
        if len(text) < len(self.mended) // 2:
            return _parses_long(text)
        # Taken to the end of the text, it is more like the texts that the parser knows.
        while high < len(self.lines) and self.indents[high] is None and not _is_continued(self.lines[high - 1]):
            high += 1
        text = self.slice(low, high)
        return text != self.broken and not is_broken(text, self.parser.parse(text))

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
    ink = line.lstrip(b" ")
    if ink and ink[0] not in b"#\t\f\r":
        return len(line) - len(ink)
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
