"""The sentences of an explanation, which text and JSON share."""

from __future__ import annotations

from collections.abc import Iterator

from autograd_lsp.why.answer import Answer


def name_of(code: str) -> str | None:
    from autograd_lsp.why.page import page_of

    page = page_of(code)
    return page.name if page is not None else None


def explanation(answer: Answer) -> Iterator[str]:
    """One paragraph each: the cause, what the message says in numbers, and what torch's advice is worth here."""
    reading = answer.reading
    if answer.causes:
        yield answer.causes[0].message + "."
    else:
        from autograd_lsp.why.page import page_of

        page = page_of(answer.code)
        if page is not None:
            yield page.opening
    if reading is not None:
        yield from reading.tells
        if reading.advice:
            yield reading.advice
