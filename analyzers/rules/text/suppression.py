"""Which findings a file's comments suppress, which comments suppress nothing, and the edits for both.

A directive applies to a finding if it is on a line of the finding itself, on the first or last line of the enclosing
statement (of its header, if the statement has a block), or on the line where a multi-line string ends:

    y = f(                             the first line,
        x.add_(1),                     the line of the finding,
    )  # autograd: ignore[AG104]       or the last line
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from tree_sitter import Node, Tree

from analyzers.drafting.base import Rule
from analyzers.report import Edit, Finding, Fix, Place
from analyzers.rules.text import unknown_suppression, unused_suppression
from analyzers.syntax import parse
from analyzers.syntax.comments import Code, Suppression

UNUSED, UNKNOWN = unused_suppression.RULE, unknown_suppression.RULE

_BLOCK = parse.kinds("block")
_AROUND = _BLOCK | parse.kinds("module")
_DECORATED = parse.kind("decorated_definition")
_STRING = parse.kind("string")
_COMMENT = parse.kind("comment")
_DECORATOR = parse.kind("decorator")
_REST_OF_LINE = re.compile(rb"[^\r\n]*")
_SPACE_BEFORE = re.compile(rb"[ \t\f]*\Z")
_LINE_BREAK = re.compile(rb"\r?\n|\r")

Use = tuple[str, int, str | None]
"""What suppressed a finding: the file, the directive's start, and the code in it, or None if it has no list."""


@dataclass(frozen=True)
class Comments:
    """A file's text with its directives."""

    path: str
    text: bytes
    directives: tuple[Suppression, ...]

    @cached_property
    def tree(self) -> Tree:
        """The tree of the current text, built lazily: it is slow to build, and most files suppress nothing."""
        return parse.parse(self.text)

    def silencing(self, finding: Finding) -> list[Suppression]:
        """The directives that suppress a finding in this file."""
        naming = [one for one in self.directives if one.silences(finding.code, finding.name)]
        if not naming:
            return []
        lines = set(spoken_lines(self.text, self.tree, finding.place))
        return [one for one in naming if one.whole_file or one.line in lines]


def uses(comments: Comments, findings: Iterable[Finding]) -> frozenset[Use]:
    """The parts of a file's directives that suppress one of these findings."""
    found: set[Use] = set()
    for finding in findings:
        if finding.place.path == comments.path:
            for one in comments.silencing(finding):
                names = [c.name for c in one.codes or () if c.name in (finding.code, finding.name.upper())]
                found.update((comments.path, one.start, name) for name in names or (None,))
    return frozenset(found)


def unused(comments: Comments, used: frozenset[Use], rules: Sequence[Rule], off: frozenset[str]) -> Iterator[Finding]:
    """A finding for each directive with parts that suppress nothing; rules in `off` are disabled.

    A `noqa` without codes may be meant for another linter: it is never unused, and neither are others on its line.
    """
    known = {word.upper(): rule.code for rule in rules for word in (rule.code, rule.name)}
    speaking = [one for one in comments.directives if one.shared or one.codes]
    if any(one.whole_file and one.silences(UNUSED.code, UNUSED.name) for one in speaking):
        return
    silent_lines = {one.line for one in comments.directives if one.shared and one.codes is None}
    for one in comments.directives:
        if one.line in silent_lines:
            continue
        if one.codes is None:
            if (comments.path, one.start, None) not in used:
                yield _unused(comments, one, ())
            continue
        codes = [known.get(code.name) for code in one.codes]
        if UNUSED.code in codes:
            continue
        idle = tuple(
            named
            for named, code in zip(one.codes, codes, strict=True)
            if code is not None and code not in off and (comments.path, one.start, named.name) not in used
        )
        if idle or not one.codes:
            yield _unused(comments, one, idle)


def unknown(comments: Comments, rules: Sequence[Rule]) -> Iterator[Finding]:
    """A finding for each word in one of our lists that is not a rule."""
    known = {word.upper() for rule in rules for word in (rule.code, rule.name)}
    for one in comments.directives:
        for code in () if one.shared else one.codes or ():
            if code.name not in known:
                written = comments.text[code.start : code.end].decode("utf-8", "replace")
                message = f"`{written}` is ignored here, but no rule has that name"
                yield Finding(
                    UNKNOWN.code, UNKNOWN.name, "warning", message, Place(comments.path, code.start, code.end)
                )


def spoken_lines(text: bytes, tree: Tree, place: Place) -> Iterator[int]:
    """The lines, from 0, on which a directive applies to a finding at `place`."""
    starts = _line_starts(text)
    end = max(place.end - 1, place.start)
    node = _statement(tree, place.start, end)
    first, last = _lines_of(starts, node)
    yield from (first, last)
    body = _first_block(node)
    if body is not None and place.start < body.start_byte <= end:
        end = max(place.start, _header_end(node, body))
    lines = range(_line(starts, place.start), _line(starts, end) + 1)
    yield from lines
    for line in (*lines, first, last):
        string = _string_over_end(text, tree, starts, line)
        if string is not None:
            yield _line(starts, string.end_byte - 1)


def ignoring(comments: Comments, finding: Finding) -> Edit | None:
    """The edit that suppresses one finding, if a comment fits anywhere; an existing list is extended."""
    text, tree, place = comments.text, comments.tree, finding.place
    starts = _line_starts(text)
    wanted = dict.fromkeys([_line(starts, place.start), *sorted(spoken_lines(text, tree, place))])
    free = [line for line in wanted if _takes_comment(text, tree, starts, line)]
    for one in comments.directives:
        if one.line in free and not one.shared and not one.whole_file and one.codes is not None:
            return _longer_list(comments, one, finding.code)
    if not free:
        return None
    line = _REST_OF_LINE.match(text, starts[free[0]])
    assert line is not None
    at = starts[free[0]] + len(line[0].rstrip())
    return Edit(Place(place.path, at, line.end()), f"  # autograd: ignore[{finding.code}]")


def _longer_list(comments: Comments, one: Suppression, code: str) -> Edit:
    if one.codes:
        at = one.codes[-1].end
        return Edit(Place(comments.path, at, at), f", {code}")
    return Edit(Place(comments.path, one.end - 1, one.end - 1), code)


def _unused(comments: Comments, one: Suppression, idle: tuple[Code, ...]) -> Finding:
    """`idle`: the codes of a list that suppress nothing."""
    left = [code for code in one.codes or () if code not in idle]
    whole = not left
    place = Place(comments.path, one.start, one.end)
    if not whole and len(idle) == 1:
        place = Place(comments.path, idle[0].start, idle[0].end)
    words = " and ".join(f"`{comments.text[c.start : c.end].decode('utf-8', 'replace')}`" for c in idle)
    verb = "is" if len(idle) == 1 else "are"
    message = f"{words} {verb} ignored here but not found" if idle else "this comment suppresses nothing"
    title = "Remove the comment" if whole else f"Remove {words} from the comment"
    edit = _without(comments, one) if whole else _shorter_list(comments, one, left)
    return Finding(UNUSED.code, UNUSED.name, "info", message, place, fixes=(Fix(title, True, (edit,)),))


def _shorter_list(comments: Comments, one: Suppression, left: Sequence[Code]) -> Edit:
    assert one.codes
    kept = ", ".join(comments.text[code.start : code.end].decode("utf-8", "replace") for code in left)
    return Edit(Place(comments.path, one.codes[0].start, one.codes[-1].end), kept)


def _without(comments: Comments, one: Suppression) -> Edit:
    """Remove a directive, the space before it, and its line if nothing is left there; other remarks stay."""
    text = comments.text
    line_start = text.rfind(b"\n", 0, one.start) + 1
    space = _SPACE_BEFORE.search(text, line_start, one.start)
    rest = _REST_OF_LINE.match(text, one.end)
    assert space is not None and rest is not None
    start, end, replacement = one.start, rest.end(), ""
    remark = rest[0].lstrip(b" \t\f:,;.-")
    if remark:
        end -= len(remark)
        replacement = "" if remark.startswith(b"#") else "# "
    else:
        start = space.start()
        line_break = _LINE_BREAK.match(text, end)
        if start == line_start and line_break is not None:
            end = line_break.end()
    return Edit(Place(comments.path, start, end), replacement)


def _statement(tree: Tree, start: int, end: int) -> Node:
    """The innermost statement, clause or decorator around a stretch of text."""
    node = tree.root_node.descendant_for_byte_range(start, end) or tree.root_node
    while node.parent is not None and node.parent.kind_id not in _AROUND:
        if node.kind_id == _DECORATOR or (node.kind_id not in _BLOCK and _first_block(node) is not None):
            break
        node = node.parent
    return node


def _first_block(node: Node) -> Node | None:
    return next((child for child in node.named_children if child.kind_id in _BLOCK), None)


def _lines_of(starts: Sequence[int], node: Node) -> tuple[int, int]:
    """The first and the last line of a statement, or of the header of one that has a block."""
    body = _first_block(node)
    if node.kind_id in _AROUND or node.kind_id == _DECORATED:
        first = _line(starts, node.start_byte)
        return first, first
    end = node.end_byte - 1 if body is None else _header_end(node, body)
    return _line(starts, node.start_byte), _line(starts, max(end, node.start_byte))


def _header_end(node: Node, body: Node) -> int:
    """The position of the colon before a block."""
    colons = [child.start_byte for child in node.children if child.type == ":" and child.end_byte <= body.start_byte]
    return colons[-1] if colons else node.start_byte


def _takes_comment(text: bytes, tree: Tree, starts: Sequence[int], line: int) -> bool:
    """Whether a line ends outside any string, and is not continued with a backslash."""
    code = _REST_OF_LINE.match(text, starts[line])
    assert code is not None
    node = tree.root_node.descendant_for_byte_range(max(code.end() - 1, 0), max(code.end() - 1, 0))
    is_comment = node is not None and node.kind_id == _COMMENT
    goes_on = code[0].endswith(b"\\") and not is_comment
    return not goes_on and _string_over_end(text, tree, starts, line) is None


def _string_over_end(text: bytes, tree: Tree, starts: Sequence[int], line: int) -> Node | None:
    """The string that continues past the end of a line."""
    end = text.find(b"\n", starts[line])
    if end < 0:
        return None
    node: Node | None = tree.root_node.descendant_for_byte_range(end, end)
    while node is not None and not (node.kind_id == _STRING and node.start_byte < end < node.end_byte):
        node = node.parent
    return node


def _line_starts(text: bytes) -> list[int]:
    return [0, *(match.end() for match in re.finditer(rb"\n", text))]


def _line(starts: Sequence[int], offset: int) -> int:
    return bisect_right(starts, offset) - 1
