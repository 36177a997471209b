"""Hints after bound names: the operator that made a tensor, whether it requires grad, and its shape.

    x = torch.ones(3, requires_grad=True)       no hint: the line says it
    y: ExpBackward0 = x.exp()
    y: ExpBackward0 = y.exp()                   no hint: as before
    y: no grad = y.detach()

Of a tensor that requires no grad nothing is said, unless its name held one that did.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from lsprotocol import types

from analyzers.report import Bound, Fact
from autograd_lsp.config.display import Display
from autograd_lsp.process.loading import bound
from autograd_lsp.render.tensor import fact_words, shape_words
from autograd_lsp.server.app import AutogradServer
from autograd_lsp.server.convert import Converter

if TYPE_CHECKING:
    from analyzers.host import Snapshot


def register(server: AutogradServer) -> None:
    @server.feature(types.TEXT_DOCUMENT_INLAY_HINT)
    async def hints(params: types.InlayHintParams) -> list[types.InlayHint]:
        uri = params.text_document.uri

        def answer(snapshot: Snapshot, converter: Converter) -> list[types.InlayHint]:
            path = converter.path(uri)
            if not server.display.has_hints or server.configuration.excludes(path):
                return []
            start, end = (converter.offset(uri, position) for position in (params.range.start, params.range.end))
            return [
                _hint(converter, one, parts)
                for one, parts in worth_saying(bound(snapshot, path), server.display)
                if start <= one.place.end <= end and converter.is_in(uri, one.place)
            ]

        return await server.ask_about(uri, answer, [])


def worth_saying(known: Iterable[Bound], display: Display) -> Iterator[tuple[Bound, list[str]]]:
    """What is new about each name, in the order of the text."""
    before: dict[tuple[str, str], tuple[list[str], bool | None]] = {}
    for one in sorted(known, key=lambda one: one.place):
        fact, key = one.fact, (one.fact.scope, one.fact.name)
        words, had_grad = before.get(key, ([], None))
        parts = _parts(fact, display, had_grad=had_grad)
        before[key] = parts, fact.requires_grad
        told = [part for part in parts if not (one.says_grad and part == "requires_grad")]
        if told and parts != words:
            yield one, told


def _parts(fact: Fact, display: Display, *, had_grad: bool | None) -> list[str]:
    parts: list[str] = []
    if display.grad_fn and fact.grad_fn:
        parts.append(" | ".join(fact.grad_fn))
    elif display.requires_grad and fact.requires_grad:
        parts.append("requires_grad")
    elif display.requires_grad and had_grad and fact.requires_grad is False:
        parts.append("no grad")
    if display.shape and fact.shape is not None:
        parts.append(shape_words(fact.shape))
    return parts


def _hint(converter: Converter, one: Bound, parts: list[str]) -> types.InlayHint:
    """The name is told in the tooltip, as a hint may stand in the middle of a line that binds several."""
    tooltip = f"{one.fact.name}: {', '.join(fact_words(one.fact))}"
    labels = [types.InlayHintLabelPart(f"{' ' if index else ': '}{part}", tooltip) for index, part in enumerate(parts)]
    return types.InlayHint(converter.range(one.place).end, labels, types.InlayHintKind.Type, tooltip=tooltip)
