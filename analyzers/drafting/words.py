"""The trace of a finding: where a graph was cut, who called, what a step is called in the user's own words."""

from __future__ import annotations

from collections.abc import Iterable

from analyzers.domain.lineage import Lineage, Loc
from analyzers.drafting.base import Facts
from analyzers.drafting.edits.pieces import at, node_at, path_to
from analyzers.syntax import nodes as n

Note = tuple[Loc, str]

LEAVES_TORCH = frozenset({"torch.tensor", "torch.as_tensor", "tensor", "item", "tolist", "numpy", "from_numpy"})
FACTORIES = {
    "randn", "rand", "zeros", "ones", "empty", "full", "tensor", "arange", "linspace", "eye", "randint", "normal",
    "Parameter",
}  # fmt: skip


def short(text: str, limit: int = 60) -> str:
    """Source text on one line, cut where it is long."""
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


def said(facts: Facts, loc: Loc) -> str:
    """The source at a place, as code."""
    return f"`{short(facts.text(loc))}`"


def cuts(lineage: Lineage | None, limit: int = 4000) -> list[Lineage]:
    """Where the graph was cut, nearest first; what lies behind a cut is not looked at."""
    if lineage is None:
        return []
    found: dict[tuple[Loc | None, str | None], Lineage] = {}
    maybe: dict[Loc, Lineage] = {}
    seen: set[int] = set()
    queue = [lineage]
    for step in queue:
        if id(step) in seen or len(seen) > limit:
            continue
        seen.add(id(step))
        if step.cut is not None and step.loc is not None:
            found.setdefault((step.loc, step.cut), step)
            continue
        if step.what in LEAVES_TORCH and step.loc is not None and _of_tensors(step):
            maybe.setdefault(step.loc, step)
        queue.extend(step.parents)
    return list(found.values()) or list(maybe.values())


def _of_tensors(step: Lineage) -> bool:
    return any(p.what not in LEAVES_TORCH and p.what not in FACTORIES and p.loc is not None for p in step.parents)


def leaves(lineage: Lineage | None) -> list[Lineage]:
    """The tensors that a value was made of in the end, nearest first."""
    found: dict[Loc, Lineage] = {}
    for step in lineage.walk() if lineage is not None else ():
        if not step.parents and step.loc is not None and step.what.removeprefix("torch.") in FACTORIES:
            found.setdefault(step.loc, step)
    return list(found.values())


def attached(lineage: Lineage, source: Lineage, limit: int = 4000) -> bool:
    """Whether a value was computed of `source` by a way along which its graph goes on."""
    seen: set[int] = set()
    queue = [lineage]
    for step in queue:
        if step is source:
            return True
        if id(step) in seen or len(seen) > limit or step.cut is not None:
            continue
        seen.add(id(step))
        queue.extend(step.parents)
    return False


def explain_cut(facts: Facts, step: Lineage) -> str:
    """Why the graph ends at a cut."""
    assert step.loc is not None
    source = said(facts, step.loc)
    match step.cut:
        case "detach":
            return f"{source} cuts the graph"
        case "data":
            return f"{source} takes the data without its graph"
        case "no-grad" if differentiation(facts, step.loc) is not None:
            return f"{source} makes no graph of the gradient, as `create_graph` is not set"
        case "no-grad":
            return f"{source} runs with gradients switched off"
        case "inference":
            return f"{source} runs in inference mode"
        case "no-derivative":
            return f"{source} has no derivative"
        case "integer":
            return f"{source} is a tensor of integers, through which no gradient flows"
        case "frozen":
            return f"{source} switches the gradient off"
        case "leaf-copy":
            return f"{source} makes a copy without the graph"
        case "rewrapped":
            return f"{source} makes a new leaf"
    return f"{source} takes plain numbers out of torch, which carry no graph"


def differentiation(facts: Facts, loc: Loc) -> n.Call | None:
    """The call at a place, where it is one of `torch.autograd.grad` or of a tensor's `backward`."""
    match node_at(facts, loc):
        case n.Call(func=n.Attribute(attr="grad" | "backward") | n.Name(id="grad")) as call:
            return call
    return None


def switched_off(facts: Facts, step: Lineage) -> tuple[Loc, bool] | None:
    """The `with`, or (then True) the decorator, under which a step ran without gradient."""
    for loc in (step.loc, *reversed(step.via)):
        if loc is None:
            continue
        for node in reversed(path_to(facts, loc)):
            candidates: Iterable[n.Node] = ()
            if isinstance(node, n.With):
                candidates = (item.context for item in node.items)
            elif isinstance(node, n.FunctionDef):
                candidates = node.decorators
            for candidate in candidates:
                text = facts.text(at(loc, candidate))
                if any(word in text for word in ("no_grad", "inference_mode", "set_grad_enabled")):
                    return at(loc, candidate), isinstance(node, n.FunctionDef)
    return None


def callers(via: Iterable[Loc]) -> list[Note]:
    """The calls that led to a place, innermost first."""
    return [(loc, "called from here") for loc in list(via)[:-4:-1]]


def origin(lineage: Lineage | None, text: str) -> list[Note]:
    """Where a value was made, and who called that."""
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
