"""What a hover claims of every bound name of the corpus, against what torch had there."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from analyzers.host import Host, Snapshot
from analyzers.report import Fact
from tests.corpus.labels import PARTS, Labelled, corpus
from tests.oracle import Observation, run_batch
from tests.support.analyzer import Claim, Line
from tests.support.judge import FactScore, judge_facts

# The share of observed bindings whose requires_grad a hover must know. Raise these, and never lower them.
FLOORS = {"a": 0.98, "b": 0.94}


@dataclass(frozen=True, slots=True)
class Binding:
    """A target in a file: the line of its statement, its text, and the byte where a reader would point."""

    line: int
    name: str
    offset: int


def bindings(text: str) -> Iterator[Binding]:
    starts = [0]
    for line in text.encode().splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    for statement in ast.walk(ast.parse(text)):
        match statement:
            case ast.Assign(targets=targets):
                pass
            case ast.AugAssign(target=target) | ast.AnnAssign(target=target) | ast.For(target=target):
                targets = [target]
            case ast.NamedExpr(target=target):
                targets = [target]
            case ast.With(items=items):
                targets = [item.optional_vars for item in items if item.optional_vars is not None]
            case _:
                continue
        for node in (node for target in targets for node in ast.walk(target)):
            if isinstance(node, ast.Name | ast.Attribute | ast.Subscript) and isinstance(node.ctx, ast.Store):
                end = starts[(node.end_lineno or 1) - 1] + (node.end_col_offset or 0)
                yield Binding(statement.lineno, ast.get_source_segment(text, node) or "", end)


@dataclass(slots=True)
class Hovered:
    """What hovers claimed of the bindings of some programs; `counted` are claims of versions, `versions` wrong ones."""

    facts: FactScore
    versions: list[str]
    counted: int


def hovered(program: Labelled, observations: tuple[Observation, ...], total: Hovered) -> None:
    host = Host()
    sources = program.sources
    for file, text in sources.texts.items():
        host.set_text(str(sources.root / file), text)
    snapshot = host.snapshot()
    seen = {(item.file, item.line, item.scope, item.name): item for item in observations}
    claims: list[Claim] = []
    for file, text in sources.texts.items():
        for line, fact in _facts(snapshot, str(sources.root / file), text):
            observation = seen.get((file, line, fact.scope, fact.name))
            at = Line(file, line)
            known = (fact.requires_grad, fact.is_leaf, fact.grad_fn, fact.shape, fact.dtype)
            claims.append(Claim(at, fact.scope, fact.name, *known))
            if observation is None or fact.version is None:
                continue
            total.counted += 1
            if any(version != fact.version for version in observation.version):
                total.versions.append(f"{program.name}:{line} {fact.name}: {fact.version} not {observation.version}")
    total.facts += judge_facts(claims, observations)


def _facts(snapshot: Snapshot, path: str, text: str) -> Iterator[tuple[int, Fact]]:
    for binding in bindings(text):
        card = snapshot.card(path, binding.offset)
        if card is not None and card.fact is not None and card.name == binding.name:
            yield binding.line, card.fact


@pytest.mark.parametrize("name", PARTS)
def test_what_is_claimed_holds(name: str) -> None:
    programs = list(corpus((name,)))
    total = Hovered(FactScore(), [], 0)
    for program, run in zip(programs, run_batch([item.program for item in programs]), strict=True):
        hovered(program, run.observations, total)
    assert not [str(wrong) for wrong in total.facts.wrong]
    assert not total.versions
    assert total.counted
    assert total.facts.known["requires_grad"] >= FLOORS[name] * total.facts.facts
