"""Explanations for a person at a terminal; plain text when the output goes elsewhere."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from typing import TextIO

from rich.console import Console
from rich.text import Text

from analyzers.report import Finding, Fix
from autograd_lsp.cli.explanations.words import explanation, first_sentence, in_numbers
from autograd_lsp.cli.formats.text import Writer
from autograd_lsp.cli.formats.wording import Wording
from autograd_lsp.reports.report import Texts
from autograd_lsp.text.positions import LineIndex
from autograd_lsp.text.sinks import first_printable, printable
from autograd_lsp.why.answer import Answer, Cause
from autograd_lsp.why.page import page_of

_MOST_OTHERS = 3
_MOST_LINES = 8
"""Lines of a fix that are shown."""


def write(stream: TextIO, found: Sequence[Answer]) -> None:
    console = Console(file=stream, highlight=False, markup=False, emoji=False, soft_wrap=True)
    for number, answer in enumerate(found):
        if number:
            console.print()
        console.print(_answer(answer), end="")


def _answer(answer: Answer) -> Text:
    result = _raised(answer)
    if not answer.causes:
        return result.append_text(_page(answer))
    first, others = answer.causes[0], answer.causes[1:]
    result.append_text(_cause(first))
    for line in in_numbers(answer):
        result.append(f"\n{printable(line)}\n")
    if others:
        result.append("\nAlso possible:\n", "bold")
    for other in others[:_MOST_OTHERS]:
        where = Wording(other.report, Texts(other.report)).where(other.place)
        result.append(f"  {printable(where)}: ", "bold").append(f"[{other.code}] {printable(other.message)}\n")
    return result


def _raised(answer: Answer) -> Text:
    message = first_sentence(answer)
    result = Text().append(f"{printable(answer.raised.exception)}: " if answer.raised.exception else "", "bold red")
    result.append((printable if answer.raised.exception else first_printable)(message) + "\n")
    if answer.at is not None:
        moved = ", which has changed since" if answer.at.moved else ""
        spot = f"{answer.at.source.shown}:{answer.at.line}" if answer.at.cell is None else (
            f"{answer.at.source.shown}:cell {answer.at.cell}:{answer.at.frame.line}"
        )  # fmt: skip
        result.append(f"raised at {printable(spot)}{moved}\n", "dim")
    elif answer.missing:
        last = answer.missing[-1]
        why = (
            "lies outside of this folder: use --read-anywhere"
            if last in answer.outside
            else "was not found here: use --path-map or --program"
        )
        result.append(f"raised in {printable(last)}, which {why}\n", "dim")
    return result.append("\n")


def _cause(cause: Cause) -> Text:
    writer = Writer(cause.report, has_links=False)
    finding = Finding(
        cause.code, cause.name, "error", cause.message, cause.place, related=cause.trace, fixes=cause.fixes
    )
    result = Text()
    is_certain = "certain" if cause.certain else "likely"
    result.append(f"{is_certain}[{cause.code}]", "bold red" if cause.certain else "bold yellow")
    result.append(f": {printable(cause.message)}\n", "bold")
    result.append_text(writer.shown(finding))
    for fix in cause.fixes:
        result.append_text(writer.help(fix))
        for line, style in _changes(writer, fix):
            result.append(f"{'':>{writer.gutter(finding)}}   {printable(line)}\n", style)
    return result


def _changes(writer: Writer, fix: Fix) -> Iterator[tuple[str, str]]:
    """The lines that a fix takes away, and those that it puts there."""
    shown = 0
    for path in dict.fromkeys(edit.place.path for edit in fix.edits):
        before = writer.texts[path].text
        after = _applied(before, fix, path)
        for line, style in _differences(before, after):
            shown += 1
            if shown > _MOST_LINES:
                yield "...", "blue"
                return
            yield line, style


def _differences(before: str, after: str) -> Iterator[tuple[str, str]]:
    for line in difflib.unified_diff(before.splitlines(), after.splitlines(), n=0, lineterm=""):
        if line.startswith(("---", "+++", "@@")):
            continue
        yield f"{line[0]} {line[1:]}", "red" if line[0] == "-" else "green"


def _applied(text: str, fix: Fix, path: str) -> str:
    data = text.encode("utf-8", "surrogateescape")
    edits = sorted((edit for edit in fix.edits if edit.place.path == path), key=lambda edit: edit.place, reverse=True)
    for edit in edits:
        data = data[: edit.place.start] + edit.text.encode() + data[edit.place.end :]
    return data.decode("utf-8", "surrogateescape")


def _page(answer: Answer) -> Text:
    """What is known without the program."""
    page = page_of(answer.code)
    result = Text()
    if page is None:
        return result
    result.append(f"{page.code} {page.name}", "bold").append(f": {page.summary}\n")
    for paragraph in explanation(answer):
        result.append(f"\n{paragraph}\n")
    result.append("\nExample:\n", "bold").append_text(_program(page.program))
    if page.fixed:
        result.append("\nThe fixed program:\n", "bold").append_text(_program(page.fixed))
    for title in page.ways:
        result.append(f"\nAnother cause: {title}" if title == page.ways[0] else f"; {title}")
    return result.append(f"\n`autograd-lsp rule {page.code}` shows the full page.\n", "dim")


def _program(text: str) -> Text:
    index = LineIndex(text)
    return Text("".join(f"    {index.line_text(line)}\n" for line in range(index.line_count)))
