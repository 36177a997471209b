"""A card as the text of a hover: first what it is, then what its line does, then the details.

```text
loss: tensor
requires_grad=True, is_leaf=False, grad_fn=SumBackward0, shape=[], grad mode on
- fills .grad of w
loss  requires_grad=True
└─ SumBackward0  line 4
   └─ w  leaf, line 2
```
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from analyzers.report import Card, Change, Finding, Graph, Held, Place
from autograd_lsp.render.tensor import fact_words, shape_words
from autograd_lsp.render.tree import render_tree
from autograd_lsp.text.sinks import fenced, printable, prose

Where = Callable[[Place], str]

_TREE_LINES = 16
_NAMES = 6
_HELD = 10

_KINDS = {"mode": "the code inside runs with"}
_MODES = {"on": "grad mode on", "off": "grad mode off", "inference": "inference mode"}

_DID = {
    "gradient": "fills `.grad` of {}",
    "accumulated": "adds to `.grad` of {}",
    "cleared": "sets `.grad` of {} to None",
    "gradient-written": "writes `.grad` of {} in place",
    "written": "writes {} in place",
    "hidden-write": "writes {} without changing the version counter",
    "requires-grad": "makes {} require grad",
    "requires-no-grad": "makes {} not require grad",
    "attached": "gives {} a place in the graph",
    "freed": "frees what {} saved",
    "unreached": "does not reach {}",
    "grad-on": "enables gradients",
    "grad-off": "disables gradients",
}


@dataclass(frozen=True, slots=True)
class _Text:
    """Paragraphs in Markdown, where code is between backticks, and a tree, which is no Markdown."""

    paragraphs: tuple[str, ...]
    tree: str


def card_markdown(card: Card | None, findings: Sequence[Finding], where: Where) -> str:
    text = _text(card, findings, where, prose)
    return "\n\n".join([*text.paragraphs, *([fenced(text.tree)] if text.tree else [])])


def card_plaintext(card: Card | None, findings: Sequence[Finding], where: Where) -> str:
    text = _text(card, findings, where, printable)
    plain = [block.replace("**", "").replace("`", "").replace(" · ", ", ") for block in text.paragraphs]
    return "\n".join([*plain, *([text.tree.replace("`", "")] if text.tree else [])])


def _text(card: Card | None, findings: Sequence[Finding], where: Where, said: Callable[[str], str]) -> _Text:
    """`said` writes sentences, with code between backticks, for the one who shows them."""
    paragraphs: list[str] = []
    if card is not None:
        paragraphs += _head(card)
        changes = [_change(change, where) for change in card.changes]
        paragraphs += _bullets([*changes, *([] if card.returned else ["does not return"])], said)
    for finding in findings:
        paragraphs.append(f"**{finding.severity} {finding.code}** {finding.name}: {said(finding.message)}")
        paragraphs += _bullets(_steps(finding, where, "" if card is None else where(card.place)), said)
    if card is not None:
        paragraphs += _bullets([*_held(card.held, where), *_remarks(card, where)], said)
    return _Text(tuple(paragraphs), _tree(card.graph, where) if card is not None and card.graph is not None else "")


def _head(card: Card) -> Iterator[str]:
    yield f"**{_code(card.name)}**: {_KINDS.get(card.kind, card.kind)}"
    words = [_code(word) for word in fact_words(card.fact)] if card.fact is not None else []
    if card.kind not in {"module", "optimizer", "unknown"}:
        words += [_MODES[card.mode]] if card.mode is not None else ["grad mode unknown"] * (card.kind == "mode")
    if words:
        yield " · ".join(words)
    if card.differs:
        yield f"differs from visit to visit: {_list(card.differs)}"


def _change(change: Change, where: Where) -> str:
    words = _DID[change.kind].format(_list(change.subjects))
    if change.kind == "unreached" and change.place is not None:
        words += f", which the optimizer of {where(change.place)} holds"
    if change.how:
        words += f" ({change.how})"
    return words if change.sure else f"perhaps {words}"


def _steps(finding: Finding, where: Where, here: str) -> list[str]:
    steps = [f"{where(step.place)}: {step.message}" for step in finding.related]
    raises = finding.raises
    if raises is not None:
        verb = "raises" if raises.certain else "may raise"
        steps.append(f"{where(raises.place)}: torch {verb} {_code(raises.exception)}{raises.said}")
    if where(finding.place) != here:
        steps.insert(0, f"{where(finding.place)}: the cause")
    return steps


def _held(held: Sequence[Held], where: Where) -> Iterator[str]:
    if not held:
        return
    trained = [one for one in held if one.requires_grad]
    settled = all(one.settled for one in held)
    homeless = [one.name for one in trained if one.optimizer is None]
    frozen = [one.name for one in held if one.requires_grad is False]
    unknown = sum(one.requires_grad is None for one in held)
    yield f"parameters: {len(held)}, of which {len(trained)} require grad" + f" and {unknown} may" * bool(unknown)
    if frozen:
        yield f"frozen: {_list(frozen)}"
    if settled and homeless:
        yield f"in no optimizer: {_list(homeless)}"
    for place in sorted({one.optimizer for one in held if one.optimizer is not None}):
        names = [one.name for one in held if one.optimizer == place]
        yield f"in the optimizer of {where(place)}: {'all' if len(names) == len(held) else _list(names)}"
    for one in held[:_HELD]:
        yield f"{_code(one.name)} {_code(shape_words(one.shape)) if one.shape is not None else 'of unknown shape'}"
    if len(held) > _HELD:
        yield f"and {len(held) - _HELD} more"


def _remarks(card: Card, where: Where) -> Iterator[str]:
    for remark in card.remarks:
        yield f"{remark.message} ({where(remark.place)})" if remark.place is not None else remark.message


def _bullets(lines: Sequence[str], said: Callable[[str], str]) -> list[str]:
    return ["\n".join(f"- {said(line)}" for line in lines)] if lines else []


def _tree(graph: Graph, where: Where) -> str:
    return render_tree(graph, max_lines=_TREE_LINES, where=lambda place: printable(where(place)))


def _list(names: Sequence[str]) -> str:
    shown = ", ".join(_code(name) for name in names[:_NAMES])
    return f"{shown} and {len(names) - _NAMES} more" if len(names) > _NAMES else shown


def _code(text: str) -> str:
    return "`" + printable(text).replace("`", "'") + "`"
