"""Cutting a module again after an edit, for what the edit touches.

`resplit` gives what `split` gives for the new text. It cuts a *zone*: the sections that the edit touches, from where
the statement before starts if that could take them in, down to the start of a section that stays as it was. All other
sections are kept, with their trees, and only move.

    def f(): ...                kept
    def g(x):                   the zone, as the edit is in it; it is parsed alone
        return x.
    class A: ...                kept, moved by a byte

What `split` makes of a section depends on nothing around it but this: whether the file as a whole is broken, and
whether a name that it reads stands anywhere else. If the file parses, statements end where its tree says; if not, where
`repair` says. So a hole must be sure to be a fault of the whole file, not only of its own group, and sections that are
kept must be what both say. Where that is not plain, the whole file is split.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence

from analyzers.syntax.parse import Reparser, changed, kinds, parse
from analyzers.syntax.repair import STARTS_STATEMENT, Repaired, is_broken, may_go_on, repair
from analyzers.syntax.spans import ChunkSpan, Cutter, key_of, numbered, wanted_of
from analyzers.syntax.split import Module, Section, assemble, cut_sections, is_settled, split, tables
from analyzers.syntax.unbound import (
    Around,
    Words,
    end_of_targets,
    reading_statement,
    single_place,
    unbound_statements,
    words_of,
)

_BARE = kinds("expression_list", "pattern_list", "expression_statement")
_COMMA_AT_END = re.compile(rb",[ \t\f\r]*(?:#[^\n]*)?\n[^=\n]*=")
_CLAUSE = re.compile(rb"(?:[ \t\f]*(?:#[^\n]*)?\n)*[ \t\f]*(?:else|elif|except|finally|case)\b")
_PIECE_AT_END = re.compile(rb"(?:\A|[{}]|\\.{1,9})[ \t\f\r]*\Z", re.DOTALL)
_MAY_END_BELOW = re.compile(rb"\s*[\"'#\\]")
_QUOTE = re.compile(rb"#[^\n]*|\"\"\"|'''|[\"']")
_CONTENT = {
    b'"': re.compile(rb"(?:[^\"\\\n]|\\.)*", re.DOTALL),
    b"'": re.compile(rb"(?:[^'\\\n]|\\.)*", re.DOTALL),
    b'"""': re.compile(rb"[^\"\\]*(?:(?:\\.?|\"(?!\"\"))[^\"\\]*)*", re.DOTALL),
    b"'''": re.compile(rb"[^'\\]*(?:(?:\\.?|'(?!''))[^'\\]*)*", re.DOTALL),
}


def resplit(old: Module, text: bytes) -> Module:
    """What `split` makes of `text`, from what it made of the text before."""
    if text == old.text:
        return old
    # A vertical tab hides the newline after it from the grammar.
    cut = _resplit(old, text) if old.is_settled and b"\v" not in text else None
    if cut is not None:
        return cut
    # The parser takes long over a string that takes up the rest of a file, and would only find it broken.
    if _ends_in_string(text, 0, len(text)):
        return assemble(text, repair(text), None if old.words is None else words_of(text))
    return split(text, parse(text), is_closed=old.words is not None)


def _resplit(old: Module, text: bytes) -> Module | None:
    """None if the whole file has to be split."""
    edit = changed(old.text, text)
    low, high = _zone(old, text, *edit)
    above, below = old.sections[:low], old.sections[high:]
    shift = len(text) - len(old.text)
    start, end = old.places[low], (old.places[high] + shift if below else len(text))
    words, flipped = _words(old, text, *edit)
    if words is not None and old.words is not None and words.is_open != old.words.is_open:
        return None
    if words is not None and any(_counts_elsewhere(old, words, text, word, start, end) for word in flipped):
        return None
    zone = text[start:end]
    source, inner = _cut(old.sections[low:high], zone, any(section.is_mended for section in (*above, *below)))
    if not zone and below:
        inner = []
    sections = (*above, *inner, *below)
    places = (
        *old.places[:low],
        *(start + section.start for section in inner),
        *(place + shift for place in old.places[high:]),
    )
    if (
        not is_settled(source, inner)
        or _is_ambiguous(source)
        or not _is_surely_what_split_finds(text, sections, places)
    ):
        return None
    first = bisect_left(old.starts, start)
    last = bisect_left(old.starts, old.places[high]) if below else len(old.starts)
    nodes = [node for section in inner for node in section.statements]
    starts = (
        *old.starts[:first],
        *(start + node.start_byte for node in nodes),
        *(place + shift for place in old.starts[last:]),
    )
    known = {span.text: span.text for chunk in old.chunks[first:last] for span in chunk.family()}
    cutter = Cutter(zone, source.holes, words, known)
    heads = [cutter.head(node) for node in nodes]
    keys, kept = _keys(old, first, last, [head.wanted for head in heads])
    fresh = [cutter.cut(head, key, head.node.start_byte) for head, key in zip(heads, keys, strict=True)]
    cut = [old.spans[span.key] if old.spans.get(span.key) == span else span for span in fresh]
    chunks = (*old.chunks[:first], *cut, *kept)
    return Module(text, chunks, starts, *tables(chunks, old), sections, places, is_settled=True, words=words)


def _words(old: Module, text: bytes, start: int, old_end: int) -> tuple[Words | None, list[bytes]]:
    """The words of the file after an edit, and those that stand once in lines that were not edited, only now or only
    before."""
    if old.words is None:
        return None, []
    begin = old.text.rfind(b"\n", 0, start) + 1
    behind = old.text.find(b"\n", old_end)
    left = 0 if behind < 0 else len(old.text) - behind
    return old.words.edited(old.text[begin : len(old.text) - left], text[begin : len(text) - left])


def _counts_elsewhere(old: Module, words: Words, text: bytes, word: bytes, start: int, end: int) -> bool:
    """Whether a statement outside of the zone, bytes `start` to `end`, becomes another as a word begins or ceases to
    stand once: one that reads it, or one that binds it to a value that is half typed."""
    assert old.words is not None
    was_single = old.words.counts.get(word) == 1
    at = single_place(word, old.text if was_single else text)
    zone_end = end + len(old.text) - len(text) if was_single else end
    if start <= at < zone_end:
        return False
    if at >= end and not was_single:
        at -= len(text) - len(old.text)
    number = bisect_right(old.places, at) - 1
    section = old.sections[number]
    root, place = section.source.tree.root_node, section.start + at - old.places[number]
    around = Around(root)
    around.byte(place)
    return reading_statement(around) is not None or _is_bound_by_half(around, words, section.source.text, place)


def _is_bound_by_half(around: Around, words: Words, text: bytes, place: int) -> bool:
    statement = around.statements[-1]
    end = None if statement is None else end_of_targets(statement)
    if statement is None or end is None or place >= end:
        return False
    inner = text[statement.start_byte : statement.end_byte]
    return any(True for _ in unbound_statements(words, inner, statement.start_byte, around.nodes[0]))


def _keys(old: Module, first: int, last: int, wanted: list[str]) -> tuple[list[str], Sequence[ChunkSpan]]:
    """The keys of the chunks in place of `first` to `last`, and the chunks after them, which may count anew."""
    before = [wanted_of(span.key) for span in old.chunks[first:last]]
    below = old.chunks[last:]
    if wanted == before:
        return [span.key for span in old.chunks[first:last]], below
    more = Counter(wanted)
    more.subtract(before)
    counted = {
        number: key_of(name, count + by)
        for name, by in more.items()
        if by
        for count, number in enumerate(_numbers(old, name), 1)
        if number >= last
    }
    if counted:
        below = tuple(
            span.renamed(counted[number]) if number in counted else span for number, span in enumerate(below, last)
        )
    seen = {name: sum(number < first for number in _numbers(old, name)) for name in more}
    return [numbered(name, seen) for name in wanted], below


def _numbers(old: Module, wanted: str) -> Iterator[int]:
    """Which statements of the module are called so, in order."""
    key, count = wanted, 1
    while key in old.order:
        yield old.order[key]
        count += 1
        key = key_of(wanted, count)


def _zone(old: Module, text: bytes, start: int, old_end: int) -> tuple[int, int]:
    """The sections that an edit of these bytes of the old text may change, from which one to which."""
    shift = len(text) - len(old.text)
    low = bisect_right(old.places, start) - 1
    while low and (
        not old.sections[low].statements
        or old.places[low] == start
        or may_go_on(text[old.places[low - 1] : old.places[low]], text[old.places[low] : old.places[low] + 8])
    ):
        low -= 1
    high = max(bisect_left(old.places, old_end), low + 1)
    while high < len(old.places):
        at = old.places[high] + shift
        if old.sections[high].statements and not may_go_on(text[old.places[low] : at], text[at : at + 8]):
            break
        high += 1
    return low, high


def _cut(old: Sequence[Section], zone: bytes, is_mended: bool) -> tuple[Repaired, list[Section]]:
    """The sections of a zone. What is around it is mended or not, in which case it is only if it must be."""
    before = old[0].source
    is_alone = len(old) == 1 and old[0].end - old[0].start == len(before.text)
    parser = Reparser(before.text, before.tree) if is_alone else Reparser()
    source = Repaired(zone, parser.parse(zone), {})
    if not is_broken(zone, source.tree):
        sections = cut_sections(zone, source)
        if not is_mended or all(section.is_group for section in sections):
            return source, sections
    source = repair(zone, parser)
    return source, cut_sections(zone, source)


def _is_ambiguous(source: Repaired) -> bool:
    """Whether there is `x,` above `y = 1`, which the grammar reads as `x, y = 1`, or not, as it comes to them."""
    for comma in _COMMA_AT_END.finditer(source.text):
        node = source.tree.root_node.descendant_for_byte_range(comma.start(), comma.start() + 1)
        if node is not None and node.type == "," and node.parent is not None and node.parent.kind_id in _BARE:
            return True
    return False


def _is_surely_what_split_finds(text: bytes, sections: Sequence[Section], places: Sequence[int]) -> bool:
    """Whether the file is broken as a whole if a section is, and each section is then a group.

    A section with a hole is broken in itself. So is the file, unless the section starts or ends in the middle of a
    statement of the file: with an `else`, or in a string, or in a bracket that a broken section below would close.
    """
    mended = [at for at, section in enumerate(sections) if section.is_mended]
    if not mended:
        return True
    first = next((at for at in mended if not _CLAUSE.match(text, places[at])), None)
    if first is None:
        return False
    if not all(section.is_group for section in sections):
        return False
    start, end = places[first], places[first] + sections[first].end - sections[first].start
    if may_go_on(text[start:end], text[end : end + 8]) or _ends_in_string(text, start, end) is not False:
        return False
    for place, section in zip(places[first + 1 :], sections[first + 1 :], strict=True):
        if section.is_mended:
            return False
        if text.startswith(b"@", place) or STARTS_STATEMENT.match(text, place):
            return True
    return True


def _ends_in_string(text: bytes, start: int, end: int) -> bool | None:
    """Whether code that starts at `start` lacks a triple quote at `end`.

    None where the grammar may see it differently: it lets an interpolation go on over the end of its line, and a string
    that is empty so far or ends in an escape.
    """
    at = start
    while found := _QUOTE.search(text, at, end):
        at, quote = found.end(), found[0]
        if quote.startswith(b"#"):
            continue
        content = _CONTENT[quote].match(text, at, end)
        assert content is not None
        at = content.end() + len(quote)
        is_closed = text.startswith(quote, content.end(), end)
        if content[0].count(b"{") != content[0].count(b"}") or content[0].rfind(b"{") > content[0].rfind(b"}"):
            if not is_closed or b"f" in text[max(found.start() - 2, start) : found.start()].lower():
                return None
        if not is_closed and len(quote) == 3:
            return True
        if not is_closed and _PIECE_AT_END.search(content[0]) and _MAY_END_BELOW.match(text, content.end()):
            return None
    return False
