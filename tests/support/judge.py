"""Holds what the analyzer says against what torch did.

A finding that says "this raises" is *right* where torch raised, on that line, with a message that starts so; whether a
handler swallowed it does not matter. A claim is right when it holds for every visit that was observed. A claim about a
line that was never reached, or about a name that held no tensor there, is *unobserved*: neither right nor wrong.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from tests.oracle import Observation, Raised, Run
from tests.support.analyzer import Analysis, Claim, Finding

FIELDS = ("requires_grad", "is_leaf", "grad_fn", "shape", "dtype")


@dataclass(frozen=True, slots=True)
class Wrong:
    """A claim that torch contradicts, in one field."""

    claim: Claim
    field: str
    observed: object

    def __str__(self) -> str:
        at = self.claim.at
        said = getattr(self.claim, self.field)
        place = f"{at.file}:{at.number} {self.claim.scope} `{self.claim.name}`"
        return f"{place} {self.field}: said {said}, saw {self.observed}"


@dataclass(slots=True)
class FactScore:
    """How many true facts there were, how many the analyzer knew, and what it got wrong.

    `varied` counts, by field, the bindings that were now this and now that, of which no claim can be right: a forward
    that runs with gradients and without.
    """

    facts: int = 0
    varied: Counter[str] = field(default_factory=Counter)
    known: Counter[str] = field(default_factory=Counter)
    right: Counter[str] = field(default_factory=Counter)
    wrong: list[Wrong] = field(default_factory=list)
    unobserved: int = 0

    def __iadd__(self, other: FactScore) -> FactScore:
        self.facts += other.facts
        self.varied += other.varied
        self.known += other.known
        self.right += other.right
        self.wrong += other.wrong
        self.unobserved += other.unobserved
        return self

    def table(self) -> Iterator[str]:
        """One line for each field, under a heading."""
        yield f"true facts {self.facts}, claims about what was not observed {self.unobserved}"
        yield f"{'field':<14} {'known':>13} {'of constant':>11} {'right':>15} {'wrong':>6}"
        for name in FIELDS:
            claims = self.known[name]
            wrong = claims - self.right[name]
            known = f"{claims} ({_share(claims, self.facts)})"
            steady = _share(claims, self.facts - self.varied[name])
            right = f"{self.right[name]} ({_share(self.right[name], claims)})"
            yield f"{name:<14} {known:>13} {steady:>11} {right:>15} {wrong:>6}"


def judge_facts(claims: Iterable[Claim], observations: Iterable[Observation]) -> FactScore:
    """Every claim against every observation of the same line, scope and name."""
    seen = {(item.file, item.line, item.scope, item.name): item for item in observations}
    score = FactScore(facts=len(seen), varied=Counter(name for item in seen.values() for name in _varying(item)))
    for claim in claims:
        observation = seen.get((claim.at.file, claim.at.number, claim.scope, claim.name))
        if observation is None:
            score.unobserved += 1
            continue
        for name in FIELDS:
            values = getattr(observation, name)
            if getattr(claim, name) is None or not values:
                continue
            score.known[name] += 1
            if all(_holds(claim, name, value) for value in values):
                score.right[name] += 1
            else:
                score.wrong.append(Wrong(claim, name, values))
    return score


def _varying(item: Observation) -> Iterator[str]:
    """The fields for which no one claim holds: a claim of `grad_fn` may be of several names, but not of none too."""
    for name in FIELDS:
        values = getattr(item, name)
        if name == "shape":
            continue
        if len({value is None for value in values} if name == "grad_fn" else set(values)) > 1:
            yield name


def raised_as_said(finding: Finding, run: Run) -> bool:
    """Whether torch raised what the finding says, where it says so."""
    everything: list[Raised] = [*([run.raised] if run.raised else []), *run.caught]
    return any(matches(finding, raised) for raised in everything)


def matches(finding: Finding, raised: Raised) -> bool:
    """Whether the finding speaks of this very exception."""
    said = finding.raises
    return (
        said is not None
        and (said.at.file, said.at.number) == (raised.file, raised.line)
        and raised.message.startswith(said.message)
    )


def false_errors(analysis: Analysis, run: Run) -> list[Finding]:
    """The findings of severity `error` that torch does not bear out."""
    return [item for item in analysis.findings if item.severity == "error" and not raised_as_said(item, run)]


def foretold(analysis: Analysis, raised: Raised) -> Finding | None:
    """The error that says what torch raised, if there is one."""
    errors = (item for item in analysis.findings if item.severity == "error")
    return next((item for item in errors if matches(item, raised)), None)


def _holds(claim: Claim, name: str, value: object) -> bool:
    said = getattr(claim, name)
    match name:
        case "grad_fn" if value is None:
            return not said or claim.requires_grad is None
        case "grad_fn":
            return value in said
        case "shape":
            assert isinstance(value, tuple)
            return len(said) == len(value) and all(a is None or a == b for a, b in zip(said, value, strict=True))
        case _:
            return bool(said == value)


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f}%" if whole else "-"
