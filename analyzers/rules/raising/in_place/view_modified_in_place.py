"""A view that torch does not allow to be modified is written in place.

`chunk`, `split` and `unbind` (which is what iterating over a tensor calls) return several views of one tensor, and
autograd cannot record a write to one of them. A view created under `no_grad` or `inference_mode` has no place in the
graph that a write could change.

## Reported
```python
import torch
h = torch.ones(2, 3, requires_grad=True) * 1
for row in h:
    row.mul_(2)  # error: [view-modified-in-place]  # raises: RuntimeError "is a view and is being modified inplace"
```
```python fixed
import torch
h = torch.ones(2, 3, requires_grad=True) * 1
for i in range(len(h)):
    h[i].mul_(2)
```
## Not reported
Indexing a row returns a single view.
```python
import torch
h = torch.ones(2, 3, requires_grad=True) * 1
for i in range(2):
    h[i].mul_(2)
h.sum().backward()
```
"""

from __future__ import annotations

from collections.abc import Iterator

from analyzers.domain.lineage import Loc
from analyzers.drafting.base import Draft, Facts, FixDraft, Rule
from analyzers.drafting.edits.out_of_place import out_of_place
from analyzers.drafting.places.blocks import names_in
from analyzers.drafting.places.tree import at, path_to, statement_at, walk
from analyzers.drafting.words import Note, callers, said, told
from analyzers.machine.core.causes import Raised, ViewWritten
from analyzers.syntax import nodes as n

HOW = {
    "no-grad": "was created under `no_grad`",
    "inference": "was created in inference mode",
    "multi": "is one of several views returned by `{}`",
    "custom": "is a custom function's view of its input",
}


def check(facts: Facts) -> Iterator[Draft]:
    for event, cause in facts.raised(ViewWritten):
        yield _draft(facts, event, cause)


def _draft(facts: Facts, event: Raised, cause: ViewWritten) -> Draft:
    loc = event.site.loc
    related: list[Note] = []
    if cause.lineage is not None and cause.lineage.loc is not None:
        related.append((cause.lineage.loc, "the view is created here"))
        related += callers(cause.lineage.via)
    how = HOW.get(cause.creation, "is a view").format(cause.made_by)
    used = "its base or another view of its base has been modified" in event.message
    verb = f"uses `{cause.name}` after its base was modified; it" if used else f"writes to `{cause.name}`, which"
    fix = None if used else _by_index(facts, loc) or out_of_place(facts, loc)
    return Draft(
        loc, f"{said(facts, loc)} {verb} {how}", event,
        related=told(related, callers(event.site.via), besides=loc), fixes=(fix,) if fix is not None else (),
    )  # fmt: skip


def _by_index(facts: Facts, loc: Loc) -> FixDraft | None:
    """`for row in x: row += 1` becomes `for i in range(len(x)): x[i] += 1`; also in a `zip`."""
    statement = statement_at(facts, loc)
    match statement:
        case n.AugAssign(target=n.Name(id=row) as name):
            pass
        case n.ExprStmt(value=n.Call(func=n.Attribute(value=n.Name(id=row) as name))):
            pass
        case _:
            return None
    path = path_to(facts, loc)
    loops = [node for node in path if isinstance(node, n.For) and row in names_in(node.target)]
    if not loops:
        return None
    loop = loops[-1]
    inside = [node for part in loop.body for node in walk(part) if isinstance(node, n.Name) and node.id == row]
    index = next((i for i in ("i", "index", "position") if i not in names_in(path[0])), None)
    rows = ""
    match loop.target, loop.iter:
        case n.Name(), n.Name(id=rows):
            header = ((at(loc, loop.target), index), (at(loc, loop.iter), f"range(len({rows}))"))
        case n.TupleExpr(elts=targets), n.Call(func=n.Name(id="zip"), args=given, keywords=()):
            both = zip(targets, given, strict=False)
            rows = next((g.id for t, g in both if isinstance(t, n.Name) and t.id == row and isinstance(g, n.Name)), "")
            target, several = facts.text(at(loc, loop.target)), facts.text(at(loc, loop.iter))
            target = target if target.startswith("(") else f"({target})"
            header = ((at(loc, loop.target), f"{index}, {target}"), (at(loc, loop.iter), f"enumerate({several})"))
        case _:
            return None
    if not rows or index is None or inside != [name]:
        return None
    changes = ((place, text) for place, text in header if text is not None)
    return FixDraft(f"Write to `{rows}[{index}]`", True, (*changes, (at(loc, name), f"{rows}[{index}]")))


RULE = Rule(
    "AG106", "view-modified-in-place", "A view that cannot be modified in place is modified", check, __doc__ or ""
)
