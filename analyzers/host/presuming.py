"""Runs of training code on presumed values: which there are, and what the rules make of each, here or elsewhere.

They take as long as the runs on what is known, and need nothing of them. Where a world has a partner, another process
that holds the same inputs, that one makes them in the meantime.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from hashlib import blake2b
from typing import TypeAlias, cast

from analyzers.drafting import grasp
from analyzers.drafting.base import Judgement
from analyzers.drafting.judging import judge
from analyzers.host import files, names, world
from analyzers.host.concern import concerns
from analyzers.host.names import is_of_another_framework
from analyzers.host.places import Positions
from analyzers.host.runs import (
    FORMER_FUNCTIONS,
    FORMER_SCRIPTS,
    FURTHER,
    WHOLE,
    Program,
    module_run,
    run_of,
    training,
)
from analyzers.host.world import Partner, is_too_large, outside_kind, source, world_of
from analyzers.machine.core.program import ModuleRun
from analyzers.machine.entries.roles import hangs_on_data, loses_a_backward, may_be_filled
from analyzers.queries.engine import Database, query
from analyzers.queries.families import Query
from analyzers.rules import RULES


@dataclass(frozen=True, slots=True)
class Presumed:
    """What is left of a run on presumed values: not the run itself, which is large."""

    judged: tuple[Judgement, ...]
    seen: grasp.Seen
    presumes: bool
    """Whether anything had to be presumed."""
    out_of_fuel: bool


Read: TypeAlias = tuple[str, tuple[object, ...], tuple[object, ...]]
"""The name of a query in `READ`, its key, and one entry of its value or none."""

READ: dict[str, Query[..., object]] = {
    one.name: one
    for room in (files, names, world)
    for one in vars(room).values()
    if isinstance(one, Query) and (one.eager or one is source)
}
"""What runs look up of texts: after most edits of these it is what it was. Where it is not enough, the text itself."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A partner's, with all that it rests on: it counts where the same is found here."""

    presumed: Presumed
    texts: tuple[tuple[str, bytes | None], ...]
    """The digests of files."""
    kinds: tuple[tuple[str, str], ...]
    """What names of installed libraries are."""
    reads: tuple[Read, ...]
    """What it was made of: as long as that is the same, it need not be asked for again."""


@query(remembers=FORMER_FUNCTIONS)
def judged_run(db: Database, path: str, index: int, presume: bool) -> tuple[Judgement, ...]:
    return judge(RULES, run_of(db, path, index, presume), Positions(db))


@query
def digest(db: Database, path: str) -> bytes | None:
    """Of the text of a file; None if there is none."""
    text = source(db, path)
    return None if text is None else blake2b(text, digest_size=16).digest()


@query
def presumed(db: Database, path: str, index: int) -> Presumed:
    """The run of a module, or of one of its functions, on presumed values."""
    elsewhere = _elsewhere(db, path, index)
    if elsewhere is not None:
        return elsewhere
    run = run_of(db, path, index, True)
    judged = judged_run(db, path, index, True) if run.presumptions else ()
    return Presumed(judged, grasp.seen(run, Positions(db)), bool(run.presumptions), run.out_of_fuel)


def _elsewhere(db: Database, path: str, index: int) -> Presumed | None:
    partner = world_of(db).partner
    if partner is None or not _is_shared(db, path, index):
        return None
    answer = partner.answer(path, index, db.make_way)
    if not isinstance(answer, Answer):
        return None
    is_same = all(db.peek(digest, file) == was for file, was in answer.texts) and all(
        outside_kind(db, dotted) == was for dotted, was in answer.kinds
    )
    if not is_same:
        return None
    for name, key, entry in answer.reads:
        _read(db, READ[name], key, entry)
    return answer.presumed


def _read(db: Database, wanted: Query[..., object], key: tuple[object, ...], entry: tuple[object, ...]) -> None:
    if not entry:
        wanted(db, *key)
        return
    with suppress(KeyError):
        db.entry(cast("Query[..., Mapping[object, object]]", wanted), entry[0], *key)


def _is_shared(db: Database, path: str, index: int) -> bool:
    """A function is run on what the run of its module left, which would take long once more for a script."""
    return index in {WHOLE, FURTHER} or not _may_presume(db, module_run(db, path))


def begin(db: Database, partner: Partner, paths: Iterable[str]) -> None:
    """Let a partner begin with what these files will most likely need: what they needed last."""
    shared = world_of(db).shared
    jobs = [
        (path, index)
        for path in paths
        if not is_too_large(db, path)
        for index in (shared[path] if path in shared else _at_first(db, path))
        if not db.is_current(presumed, path, index)
    ]
    if jobs:
        partner.begin(jobs)


def _at_first(db: Database, path: str) -> tuple[int, ...]:
    return (WHOLE,) if b"torch" in (source(db, path) or b"") else ()


def _at_any_time(db: Database, path: str) -> tuple[int, ...]:
    """What the next edit may make a script need of which all is known: half of it may be gone then."""
    return (WHOLE,) if module_run(db, path).trains else ()


@query(remembers=FORMER_SCRIPTS)
def presuming(db: Database, path: str) -> tuple[int, ...]:
    """Runs of training code in which values are made up from the roles of names, where nothing tells them: of
    functions by their order, and of the module as `WHOLE`."""
    if not concerns(db, path) or is_of_another_framework(db, path):
        world_of(db).shared[path] = ()
        return ()
    runs = *_of_module(db, path), *training(db, path)
    shared = tuple(index for index in runs if _is_shared(db, path, index))
    world_of(db).shared[path] = shared or _at_any_time(db, path)
    return tuple(index for index in runs if presumed(db, path, index).presumes)


def _of_module(db: Database, path: str) -> tuple[int, ...]:
    if module_run(db, path).out_of_fuel:
        return (FURTHER,)  # a run that goes as far as that one would not come to its end either
    if not _may_presume(db, module_run(db, path)):
        return ()
    return (WHOLE, FURTHER) if presumed(db, path, WHOLE).out_of_fuel else (WHOLE,)


def _may_presume(db: Database, run: ModuleRun) -> bool:
    """Whether a run trained something, and left gaps to be filled."""
    if not run.trains:
        return False
    if hangs_on_data(run.events) or (run.unresolved.counts and loses_a_backward(run.events)):
        return True
    return may_be_filled(Program(db), run.unresolved, run.state.find, partial(outside_kind, db))
