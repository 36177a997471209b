"""Cutting a module into chunks.

A *chunk* is a statement of the module, a class without its methods, or one method. Its *text* is what it is made of
and nothing else: for a class, the header and the plain statements, with one line naming each method where that method
stands. So an edit inside a method leaves the text of its class equal, and a line added above leaves every chunk equal.
What says nothing is left out too (`analyzers/syntax/gaps.py`): a comment, or a statement that is half typed, leaves the
text equal. A *segment* is a stretch of chunk text that lies in one piece in the file.

    @dataclass                  chunk `Net`: segment `@dataclass ... Net:`, line `-> Net.f`, segment `size = 3`
    class Net:
        def f(self): ...        chunk `Net.f`
        size = 3
    net = Net()                 chunk `stmt:91c2...`, named after its text

A *section* is the stretch of the file from the line where one statement of the module starts to the line where the next
one does. The sections tile the file, and each knows the tree that it was cut by: that of the file, or of the section.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import pairwise

from tree_sitter import Node, Tree

from analyzers.syntax import parse
from analyzers.syntax.comments import Suppression, suppressions
from analyzers.syntax.gaps import is_comment
from analyzers.syntax.nodes import ChunkRef
from analyzers.syntax.repair import Repaired, is_broken, is_group, repair
from analyzers.syntax.spans import ChunkSpan, Cutter, chunk_nodes, numbered
from analyzers.syntax.unbound import Words, words_of

SEARCH_PATH = b"sys.path"
ADDS_TO_PATH = re.compile(rb"\bsys\.path\.(?:append|insert)\((?:\s*\d+\s*,)?([^\n#]*)")
WRITTEN_OUT = re.compile(rb"""(?<![\w"'])(?:"([^"'{}\\\n]*)"|'([^"'{}\\\n]*)')""")


def search_folders(text: bytes) -> tuple[str, ...]:
    """The folders that are put on the path of imports: all strings of such a call are parts of one folder's name."""
    folders = []
    for call in ADDS_TO_PATH.finditer(text):
        parts = [(one[1] or one[2] or b"").decode(errors="replace") for one in WRITTEN_OUT.finditer(call[1])]
        if parts and not parts[0].startswith("/"):
            folders.append("/".join(parts))
    return tuple(dict.fromkeys(folders))


@dataclass(frozen=True, eq=False)
class Section:
    """Bytes `start` to `end` of the text of `source`, and the statements of the module in them.

    `is_mended` says that it is not the text of the file. `holes` count from `start`.
    """

    source: Repaired
    start: int
    end: int
    statements: tuple[Node, ...]
    is_mended: bool
    holes: tuple[tuple[int, int], ...]

    @cached_property
    def is_group(self) -> bool:
        """Whether `repair` would take the section for one group if there were a fault somewhere else."""
        text, start = self.source.text, self.start
        if self.source.groups is not None or not self.statements:
            return True
        return is_group(text[max(start, text.rfind(b"\n", 0, self.statements[0].start_byte) + 1) : self.end])

    @cached_property
    def text(self) -> bytes:
        """What the tree is of."""
        return self.source.text[self.start : self.end]

    @cached_property
    def directives(self) -> tuple[Suppression, ...]:
        """The comments that silence findings, as if the text began here; for a section that is as the file has it."""
        return suppressions(self.text, lambda start, end: _is_comment(self.source.tree, start, end, self.start))

    @cached_property
    def moves_search_path(self) -> bool:
        return SEARCH_PATH in self.text

    @cached_property
    def search_folders(self) -> tuple[str, ...]:
        return search_folders(self.text)


@dataclass(frozen=True, slots=True)
class Module:
    """A file cut into chunks; nothing of it is lowered yet.

    `chunks` are those of the statements of the module, `starts` where each of them starts, `order` which one has which
    key. `body` leaves out those that are nothing but broken text. `spans` has the chunks cut out of classes too.
    `places` is where each section starts. `is_settled` says that what became of a section depends on its own text
    alone, and on `words`, which are those of the file; None where names may come from anywhere.
    """

    text: bytes
    chunks: tuple[ChunkSpan, ...]
    starts: tuple[int, ...]
    body: tuple[ChunkRef, ...]
    spans: dict[str, ChunkSpan] = field(repr=False)
    order: dict[str, int] = field(repr=False)
    sections: tuple[Section, ...] = field(repr=False, compare=False)
    places: tuple[int, ...] = field(repr=False, compare=False)
    is_settled: bool = field(repr=False, compare=False)
    words: Words | None = field(repr=False)

    @property
    def mended(self) -> bytes:
        """The text that the trees are of."""
        return b"".join(section.source.text[section.start : section.end] for section in self.sections)

    @property
    def holes(self) -> dict[int, int]:
        """Where each hole starts and ends."""
        return {
            place + start: place + end
            for place, section in zip(self.places, self.sections, strict=True)
            for start, end in section.holes
        }

    def locate(self, file_offset: int) -> tuple[str, int] | None:
        """The innermost chunk around a place in the file, and the place in that chunk; None between statements, where
        comments are and broken text."""
        at = bisect_right(self.starts, file_offset) - 1
        if at < 0:
            return None
        spans, found, offset = self.chunks[at : at + 1], None, file_offset - self.starts[at]
        while True:
            at = bisect_right(spans, offset, key=lambda span: span.start) - 1
            if at < 0 or offset > spans[at].end:
                break
            found = spans[at]
            spans = found.children
        return None if found is None or found.leaves_out(offset) else (found.key, found.inside(offset))

    def is_comment(self, start: int, end: int) -> bool:
        """Whether bytes `start` to `end` of the file are a comment, or a part of one."""
        at = bisect_right(self.places, start) - 1
        place, section = self.places[at], self.sections[at]
        for low, high in section.holes:
            if place + low <= start < place + high:
                return _is_comment(parse.parse(self.text[place + low : place + high]), start, end, -place - low)
        return _is_comment(section.source.tree, start, end, section.start - place)

    @property
    def directives(self) -> tuple[Suppression, ...]:
        """The comments that silence findings."""
        found: list[Suppression] = []
        line = counted = 0
        speaking = [
            (place, section)
            for place, section in zip(self.places, self.sections, strict=True)
            if section.is_mended or section.holes or section.directives
        ]
        for place, section in speaking:
            if section.is_mended or section.holes:
                text = self.text[place : place + section.end - section.start]
                mine = suppressions(text, partial(self._is_comment_behind, place))
            else:
                mine = section.directives
            line += self.text.count(b"\n", counted, place)
            counted = place
            found += [one.moved(line, place) for one in mine]
        return tuple(found)

    def _is_comment_behind(self, place: int, start: int, end: int) -> bool:
        return self.is_comment(place + start, place + end)

    @property
    def moves_search_path(self) -> bool:
        """Whether the file may change where its imports are looked for."""
        if any(section.is_mended for section in self.sections):
            return SEARCH_PATH in self.text
        return any(section.moves_search_path for section in self.sections)

    @property
    def search_folders(self) -> tuple[str, ...]:
        """The folders that the file puts on the path of its imports, as far as it writes them out."""
        if not self.moves_search_path:
            return ()
        if any(section.is_mended for section in self.sections):
            return search_folders(self.text)
        return tuple(folder for section in self.sections for folder in section.search_folders)

    def start(self, key: str) -> int:
        """Where in the file the statement of the module starts that a chunk lies in."""
        return self.starts[self.order[key.partition(".")[0]]]

    def to_file(self, key: str, offset: int) -> int:
        """The place in the file of a place in a chunk."""
        return self.start(key) + self.spans[key].outside(offset)

    def node(self, key: str) -> tuple[Repaired, int, Node]:
        """The node of a chunk, after what it is the tree of and where there the statement of the module starts."""
        number = self.order[key.partition(".")[0]]
        at = bisect_right(self.places, self.starts[number]) - 1
        node = self.sections[at].statements[number - bisect_left(self.starts, self.places[at])]
        start, span = node.start_byte, self.chunks[number]
        while span.key != key:
            span, node = next(
                (child, one)
                for child, one in zip(span.children, chunk_nodes(node), strict=True)
                if child.key == key or key.startswith(child.key + ".")
            )
        return self.sections[at].source, start, node


def _is_comment(tree: Tree, start: int, end: int, shift: int) -> bool:
    return is_comment(tree.root_node, start + shift, end + shift)


def split(text: bytes, tree: Tree, *, is_closed: bool = True) -> Module:
    """Cut a file into chunks. `is_closed`: what binds a name in it stands in it."""
    source = repair(text) if is_broken(text, tree) else Repaired(text, tree, {})
    return assemble(text, source, words_of(text) if is_closed else None)


def assemble(text: bytes, source: Repaired, words: Words | None) -> Module:
    """The chunks of a file that is as sound as it gets."""
    sections = cut_sections(text, source)
    cutter = Cutter(text, source.holes, words)
    seen: dict[str, int] = {}
    nodes = [node for section in sections for node in section.statements]
    heads = [cutter.head(node) for node in nodes]
    chunks = tuple(cutter.cut(head, numbered(head.wanted, seen), head.node.start_byte) for head in heads)
    starts = tuple(node.start_byte for node in nodes)
    places = tuple(section.start for section in sections)
    return Module(text, chunks, starts, *tables(chunks), tuple(sections), places, is_settled(source, sections), words)


def tables(
    chunks: Sequence[ChunkSpan], old: Module | None = None
) -> tuple[tuple[ChunkRef, ...], dict[str, ChunkSpan], dict[str, int]]:
    """A module's `body`, `spans` and `order`; what can be is taken over from another module."""
    keys = [chunk.key for chunk in chunks]
    if old is not None and keys == list(old.order):
        edited = [(was, now) for was, now in zip(old.chunks, chunks, strict=True) if was is not now]
        if all([one.key for one in was.family()] == [one.key for one in now.family()] for was, now in edited):
            spans = dict(old.spans)
            spans.update((span.key, span) for _, now in edited for span in now.family())
        else:
            spans = _spans(chunks)
        body = old.body if all(was.is_hole == now.is_hole for was, now in edited) else _body(chunks)
        return body, spans, old.order
    return _body(chunks), _spans(chunks), dict(zip(keys, range(len(keys)), strict=True))


def _body(chunks: Sequence[ChunkSpan]) -> tuple[ChunkRef, ...]:
    return tuple([ChunkRef(0, 0, chunk.key) for chunk in chunks if not chunk.is_hole])


def _spans(chunks: Sequence[ChunkSpan]) -> dict[str, ChunkSpan]:
    spans: dict[str, ChunkSpan] = {}
    for chunk in chunks:
        if chunk.children:
            spans.update((span.key, span) for span in chunk.family())
        else:
            spans[chunk.key] = chunk
    return spans


def is_settled(source: Repaired, sections: Sequence[Section]) -> bool:
    """Whether what became of each section depends on its own text alone, and on whether there are holes at all."""
    return (
        not source.is_open
        and not source.tree.root_node.has_error
        and (source.groups is None or any(section.is_mended for section in sections))
        and not _are_indented(source)
        and all(not section.statements or section.statements[-1].end_byte <= section.end for section in sections)
    )


def _are_indented(source: Repaired) -> bool:
    return any(source.text[group : group + 1] in (b" ", b"\t", b"\f") for group in source.groups or ())


def cut_sections(text: bytes, source: Repaired) -> list[Section]:
    """The sections of a whole text: one alone if its tree still has an error."""
    nodes = parse.parts(source.tree.root_node)
    starts = [node.start_byte for node in nodes]
    margins: Sequence[int] = ()
    if not source.tree.root_node.has_error:
        margins = source.groups or [start for start in starts if text[max(start - 1, 0) : start] == b"\n"]
    bounds = [0, *(margin for margin in margins if starts and margin > starts[0]), len(text)]
    dug = sorted(source.holes.items())
    found: list[Section] = []
    for start, end in pairwise(bounds):
        low, high = bisect_left(starts, start), bisect_left(starts, end)
        mine = dug[bisect_left(dug, (start,)) : bisect_left(dug, (end,))]
        holes = tuple((at - start, to - start) for at, to in mine)
        is_mended = source.groups is not None and source.text[start:end] != text[start:end]
        found.append(Section(source, start, end, tuple(nodes[low:high]), is_mended, holes))
    return found
