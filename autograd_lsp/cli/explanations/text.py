"""Explanations for a person at a terminal; plain text when the output goes elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TextIO

from rich.console import Console
from rich.text import Text

from analyzers.report import Finding
from autograd_lsp.cli.explanations.words import explanation, first_sentence, in_numbers
from autograd_lsp.cli.formats.text import Writer
from autograd_lsp.cli.formats.wording import Wording
from autograd_lsp.reports.report import Texts
from autograd_lsp.text.positions import LineIndex
from autograd_lsp.text.sinks import first_printable, printable
from autograd_lsp.why.answer import Answer, Cause
from autograd_lsp.why.page import page_of

_MOST_OTHERS = 3
PAST = "As the program is now, nothing was found to raise there: it may have been mended since. What else leads there:"


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
    if answer.is_past:
        result.append(f"{PAST}\n", "bold")
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
    return result.append_text(Text().join(writer.help(finding, fix) for fix in cause.fixes))


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
