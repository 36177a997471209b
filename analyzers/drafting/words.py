"""The words of a finding: why a graph ends, which calls led there, and steps quoted from the user's source."""

from __future__ import annotations

from collections.abc import Iterable

from analyzers.domain.lineage import Lineage, Loc
from analyzers.drafting.base import Facts
from analyzers.drafting.places.cuts import differentiation
from analyzers.drafting.places.tree import at, statement_at
from analyzers.report import CALLED
from analyzers.syntax import nodes as n

Note = tuple[Loc, str]

_COMPARISONS = frozenset({"eq", "ne", "lt", "le", "gt", "ge"})


def short(text: str, limit: int = 48) -> str:
    """Source text on one line. Of a long one the middle is left out: what is done last stands at the end."""
    line = " ".join(text.split())
    if len(line) <= limit:
        return line
    tail = limit * 2 // 5
    return f"{line[: limit - tail - 1]}…{line[-tail:]}"


def said(facts: Facts, loc: Loc) -> str:
    """The source at a place, as code."""
    return f"`{short(facts.text(loc))}`"


def named(facts: Facts, loc: Loc) -> str:
    """The variable that holds what is made at a place, as code; the source there where none does."""
    statement = statement_at(facts, loc)
    match statement:
        case n.Assign(targets=(n.Name() | n.Attribute() as target,), value=value):
            if (value.start, value.end) == (loc.start, loc.end):
                return said(facts, at(loc, target))
    return said(facts, loc)


def explain_cut(facts: Facts, step: Lineage) -> str:
    """Why the graph ends at a cut."""
    assert step.loc is not None
    source = said(facts, step.loc)
    match step.cut or step.perhaps_cut:
        case "detach":
            return f"{source} cuts the graph"
        case "data":
            return f"{source} takes the data without its graph"
        case "no-grad" if differentiation(facts, step.loc) is not None:
            return f"{source} records no graph for the gradient because `create_graph` is not set"
        case "no-grad":
            return f"{source} runs with gradients disabled"
        case "inference":
            return f"{source} runs in inference mode"
        case "no-derivative":
            return f"{source} has no derivative"
        case "integer":
            return f"{source} is an integer tensor, and no gradient flows through it"
        case "frozen":
            return f"{source} disables its gradient"
        case "leaf-copy":
            return f"{source} makes a copy without the graph"
        case "rewrapped":
            return f"{source} creates a new leaf"
    return f"{source} turns a tensor into plain numbers"


_SMOOTH = {
    _COMPARISONS: "from `torch.sigmoid(x)` instead of `x > 0`",
    frozenset({"argmax", "argmin", "max", "min", "topk", "argsort"}): "from `softmax` instead of `argmax`",
}
"""What is done instead of operators without a derivative."""


def advice_on(step: Lineage) -> str:
    """What to do about a cut, where no edit is known."""
    match step.cut or step.perhaps_cut:
        case "integer":
            return "Keep it a floating-point number. To round and let the gradient pass: `x + (x.round() - x).detach()`"
        case "no-derivative":
            instead = next((words for names, words in _SMOOTH.items() if step.what in names), "")
            return "Compute the loss from what has a derivative" + (f": {instead}, for example" if instead else "")
        case "left-torch":
            return "Stay in torch between the parameters and the loss"
    return ""


def callers(via: Iterable[Loc]) -> list[Note]:
    """The calls that led to a place, innermost first."""
    return [(loc, CALLED) for loc in list(via)[:-4:-1]]


def origin(lineage: Lineage | None, text: str) -> list[Note]:
    """Where a value was made, and the calls that led there."""
    if lineage is None or lineage.loc is None:
        return []
    return [(lineage.loc, text), *callers(lineage.via)]


def told(*groups: Iterable[Note], besides: Loc | None = None) -> tuple[Note, ...]:
    """Notes in order, each place once."""
    seen = set() if besides is None else {besides}
    out: list[Note] = []
    for group in groups:
        for loc, text in group:
            if loc not in seen:
                seen.add(loc)
                out.append((loc, text))
    return tuple(out)
