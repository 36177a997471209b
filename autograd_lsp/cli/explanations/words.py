"""The sentences of an explanation, which text and JSON share."""

from __future__ import annotations

from collections.abc import Iterator

from autograd_lsp.why.answer import Answer
from autograd_lsp.why.page import page_of


def name_of(code: str) -> str | None:
    page = page_of(code)
    return page.name if page is not None else None


def explanation(answer: Answer) -> Iterator[str]:
    """A paragraph each: the cause, or what the rule's page says first; the message in numbers; torch's advice."""
    if answer.causes:
        yield answer.causes[0].message + "."
    else:
        page = page_of(answer.code)
        if page is not None:
            yield page.opening
    yield from in_numbers(answer)


def in_numbers(answer: Answer) -> Iterator[str]:
    """What is special about this message, and what torch's advice in it is worth."""
    if answer.reading is not None:
        if answer.reading.tells:
            yield " ".join(answer.reading.tells)
        advice = advice_on(answer)
        if advice:
            yield advice


def advice_on(answer: Answer) -> str:
    """What torch's own advice is worth: for this program, if the cause is known."""
    assert answer.reading is not None
    if answer.code == "AG117" and any("weight_norm(" in text for text in _texts_of(answer)):
        return _WEIGHT_NORM
    if answer.causes and (known := _ADVICE.get(answer.causes[0].code)) is not None:
        return known
    return answer.reading.advice


def _texts_of(answer: Answer) -> Iterator[str]:
    """The source of what the first cause speaks of."""
    for cause in answer.causes[:1]:
        for place in (cause.place, *(step.place for step in cause.trace)):
            text = cause.report.texts.get(place.path, "").encode("utf-8", "surrogateescape")
            yield text[place.start : place.end].decode("utf-8", "replace")


def first_sentence(answer: Answer) -> str:
    """The message without torch's advice, which is dealt with below."""
    message = answer.reading.message if answer.reading is not None else answer.raised.message
    for mark in (
        " Specify retain_graph",
        " Hint: ",
        " Please do not use",
        " Use tensor.detach",
        " Set allow_unused",
        "  If you",
    ):
        message = message.partition(mark)[0]
    return message


_WEIGHT_NORM = (
    "The tensor is a weight computed by `torch.nn.utils.weight_norm`. A module that uses "
    "`torch.nn.utils.parametrizations.weight_norm` instead can be copied."
)
_ADVICE = {
    "AG102": (
        "Torch advises `retain_graph=True`, which is right if both backward passes are meant to go through the same "
        "graph. If only one of them should, detach the input of the other; if the losses form one objective, add them "
        "and run backward once."
    ),
    "AG103": (
        "Torch advises `retain_graph=True`, which is wrong here: each iteration would run backward through all earlier "
        "ones, taking ever more time and memory, and an optimizer step in between changes what they saved. "
        "Recompute the shared part in each iteration, detach what is carried over, or empty the list that keeps it."
    ),
}
"""By the rule of the cause, where more is known than the message says."""
