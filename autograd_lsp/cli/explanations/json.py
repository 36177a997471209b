"""Explanations as JSON: version 1 of the shape that scripts read. Lines and columns are 1-based, ends are exclusive."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TextIO

from autograd_lsp.cli.explanations.words import explanation, name_of
from autograd_lsp.cli.formats.json import Encoder, cell_json, range_json
from autograd_lsp.text.sinks import json_of
from autograd_lsp.why.answer import Answer, Cause


def write(stream: TextIO, found: Sequence[Answer]) -> None:
    """The last one's keys are the document's; `earlier` has those before it, in the order of the log."""
    last = answer_json(found[-1]) if found else nothing_json()
    earlier = [answer_json(answer) for answer in found[:-1]]
    stream.write(json_of({"version": 1, **last, "earlier": earlier}) + "\n")


def nothing_json() -> dict[str, Any]:
    return {
        "exception": None, "message": None, "code": None, "name": None, "raised": None, "certainty": None,
        "cause": None, "trace": [], "fixes": [], "explanation": "", "missing": [], "past": False, "others": [],
    }  # fmt: skip


def answer_json(answer: Answer) -> dict[str, Any]:
    first = answer.causes[0] if answer.causes else None
    return {
        "exception": answer.raised.exception or None,
        "message": answer.reading.message if answer.reading is not None else answer.raised.message,
        "code": answer.code,
        "name": name_of(answer.code),
        "raised": None if answer.at is None else {"path": answer.at.source.shown, "line": answer.at.line},
        **(cause_json(first) if first is not None else {"certainty": None, "cause": None, "trace": [], "fixes": []}),
        "explanation": "\n".join(explanation(answer)),
        "missing": list(answer.missing),
        "past": answer.is_past,
        "others": [{"code": other.code, "message": other.message, **cause_json(other)} for other in answer.causes[1:]],
    }


def cause_json(cause: Cause) -> dict[str, Any]:
    encoder = Encoder(cause.report)
    spot = encoder.texts.spot(cause.place)
    return {
        "certainty": "certain" if cause.certain else "likely",
        "cause": {
            "path": encoder.path(cause.place),
            **cell_json(spot),
            "line": spot.begins.line,
            "range": range_json(encoder.texts, cause.place),
        },
        "trace": [{**encoder.where(step.place), "message": step.message} for step in cause.trace],
        "fixes": [encoder.fix(fix) for fix in cause.fixes],
    }
