"""The one entry point: apply a change, take a snapshot, ask for findings, facts and graphs. Says what is memoised.

Whoever asks, an editor or the command line, asks here; no other module knows that results are kept. From an edit to a
finding:

    source -> module -> chunk -> module_run -> function_run -> judged -> findings

`module` cuts a file into chunks, `chunk` lowers one, `module_run` runs a module from its first line, `function_run` a
function that nobody called. Each reads only what it needs: a run reads the chunks that it executes, of a function that
it does not call the `head` alone, and the runs of the modules that it imports. Up to what is `judged` of each run,
places count from the start of a chunk, so text that moves is no change; `found` puts them into the file. `findings`
leaves out what comments silence and what is switched off, by the comments and the choices of the file that a finding
points into.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import cache
from threading import RLock
from typing import TypeVar

from analyzers.graph.cards import card_at
from analyzers.graph.provenance import provenance_at
from analyzers.host.answers import (
    backwards,
    calls,
    facts,
    findings,
    graph,
    importers,
    lost,
    occurrences,
    recalled,
    sightings,
)
from analyzers.host.files import module
from analyzers.host.places import Positions
from analyzers.host.presuming import begin
from analyzers.host.runs import recorded_at
from analyzers.host.world import (
    BUFFER,
    CHOICES,
    OUTSIDE,
    STAMP,
    TOGETHER,
    Partner,
    Recall,
    World,
    choice,
    outside_kind,
    source,
)
from analyzers.machine.core.program import Release
from analyzers.program import prelude
from analyzers.program.disk import read_from_disk
from analyzers.queries.cancellation import Cancelled, CancelToken
from analyzers.queries.origins import Origins
from analyzers.report import (
    Backward,
    Call,
    Card,
    Choice,
    Edit,
    Fact,
    Finding,
    Graph,
    Listed,
    Lost,
    Occurrence,
    Place,
    Provenance,
    Sighting,
)
from analyzers.rules.text import suppression
from analyzers.syntax import comments

T = TypeVar("T")


MOST_BLOCKS = 6_500_000
"""Pieces of memory, as CPython counts them, above which hosts had better forget: some 700 MB."""


def everything(path: str) -> Choice:
    """Every rule speaks, as loud as it likes."""
    del path
    return Choice()


def nothing_known(dotted: str) -> str:
    """No environment."""
    del dotted
    return "unknown"


def no_release() -> Release | None:
    """No environment."""
    return None


def nothing_recalled(path: str, *now: object) -> None:
    """Nobody keeps what was found."""
    del path, now


def _begin(db: World, paths: list[str]) -> None:
    """Nothing runs for what an earlier run has found."""
    if db.partner is not None:
        begin(db, db.partner, [path for path in paths if recalled(db, path) is None])


@dataclass(frozen=True, slots=True)
class Grounds:
    """What came in from outside on the way to an answer: whoever finds it unchanged need not ask again.

    `files` are the paths that were looked for, whether or not there is a file; `chosen` those whose choices counted.
    `asks_outside` says whether libraries were looked up, `looks_together` whether it counted which files were looked
    at together.
    """

    files: frozenset[str]
    chosen: frozenset[str]
    asks_outside: bool
    looks_together: bool


class Snapshot:
    """The answers at one revision. Asking raises `Cancelled` once a newer change waits."""

    def __init__(self, host: Host, token: CancelToken | None = None, *, aside: bool = False) -> None:
        self._host = host
        self._token = token
        self._aside = aside

    @contextmanager
    def _held(self) -> Iterator[World]:
        world = self._host.world
        with self._host.lock, world.aside() if self._aside else nullcontext(), world.snapshot(self._token):
            yield world

    def ask(self, question: Callable[[World], T]) -> T:
        """What `analyzers.views` makes of the queries here."""
        with self._held() as db:
            return question(db)

    def source(self, path: str) -> bytes | None:
        """A file as the analysis saw it; None if there is none."""
        with self._held() as db:
            return source(db, path)

    def text(self, path: str) -> str:
        """The text that the analysis saw; a byte order mark counts as a character."""
        with self._held() as db:
            return (source(db, path) or b"").decode("utf-8", "surrogateescape")

    def findings(self, path: str) -> tuple[Finding, ...]:
        """What runs that begin in this file find, here or in the files that they call into."""
        with self._held() as db:
            _begin(db, [path])
            return findings(db, path)

    def backwards(self, path: str) -> tuple[Backward, ...]:
        """How far each backward is understood, in this file and in those that its runs call into."""
        with self._held() as db:
            return backwards(db, path)

    def sightings(self, path: str) -> tuple[Sighting, ...]:
        """What a file shows: the findings that point into it, and those that come from elsewhere and show there."""
        with self._held() as db:
            _begin(db, [path, *importers(db, path)])
            return sightings(db, path)

    def grounds(self, path: str) -> Grounds | None:
        """What `findings` of a file rest on; None where a part of the analysis has failed, or nothing ran for them."""
        with self._held() as db:
            findings(db, path)
            if recalled(db, path) is not None:
                return None
            try:
                cells = self._host.origins.of((findings, (path,)))
            except KeyError:
                return None
            kinds = {kind for kind, _ in cells}
            files = (str(key[0]) for kind, key in cells if kind is source)
            return Grounds(
                frozenset(file for file in files if not prelude.is_prelude(file)),
                frozenset(str(key[0]) for kind, key in cells if kind is choice),
                outside_kind in kinds,
                TOGETHER in kinds,
            )

    def ignoring(self, finding: Finding) -> Edit | None:
        """The edit that silences a finding by a comment."""
        with self._held() as db:
            path = finding.place.path
            cut = module(db, path)
            return suppression.ignoring(suppression.Comments(path, cut.text, cut.directives), finding)

    def listed(self, path: str, offset: int) -> Listed | None:
        """The word at `offset`, where that is in the list of a comment that silences findings."""
        with self._held() as db:
            cut = module(db, path)
            found = comments.listed_at(cut.text, offset, cut.is_comment) if offset <= len(cut.text) else None
            if found is None:
                return None
            place = Place(path, found.start, found.end)
            return Listed(place, found.typed, found.others, found.shared, found.wants_space)

    def facts(self, path: str) -> tuple[Fact, ...]:
        with self._held() as db:
            return tuple(f for f in facts(db, path) if f.place.path == path)

    def occurrences(self, path: str) -> tuple[Occurrence, ...]:
        """The names that give tensors, in the order of the text."""
        with self._held() as db:
            return occurrences(db, path)

    def calls(self, path: str) -> tuple[Call, ...]:
        """The calls from a file's functions and of them, as they ran, in the order of their places."""
        with self._held() as db:
            return calls(db, path)

    def lost(self, path: str) -> tuple[Lost, ...]:
        """The names of which nothing is known."""
        with self._held() as db:
            return tuple(one for one in lost(db, path) if one.place.path == path)

    def card(self, path: str, offset: int) -> Card | None:
        """What there is to say to a reader who points at `offset`."""
        with self._held() as db:
            places = Positions(db)
            cards = (card_at(recording, key, at, places) for recording, key, at in recorded_at(db, path, offset))
            found = next((card for card in cards if card is not None), None)
            # Most that is unknown has nothing to do with gradients.
            if found is not None and found.kind == "unknown":
                lost = {backward.since for backward in backwards(db, path)}
                return found if found.remarks[0].place in lost else None
            return found

    def provenance(self, path: str, offset: int) -> Provenance | None:
        """Where the tensor came from that is named at `offset`."""
        with self._held() as db:
            places = Positions(db)
            found = (provenance_at(recording, key, at, places) for recording, key, at in recorded_at(db, path, offset))
            return next((one for one in found if one is not None), None)

    def graph(self, path: str, offset: int, name: str | None = None) -> Graph | None:
        """The graph of the tensor named at `offset`, or of `name` as it is on that line."""
        with self._held() as db:
            return graph(db, path, offset, name)


class Host:
    """Open buffers and files, and what is known of them."""

    def __init__(
        self,
        read: Callable[[str], bytes | None] = read_from_disk,
        choose: Callable[[str], Choice] = everything,
        look_up: Callable[[str], str] = nothing_known,
        torch_release: Callable[[], Release | None] = no_release,
        recall: Recall = nothing_recalled,
    ) -> None:
        """`choose` says what is reported of a file; `choices_changed` that it may say something else now.

        `look_up` says at once what is known of a name outside the workspace, by its kind; `outside_known` more of it.
        `torch_release` is the major and minor version of the torch that the programs run on, and is asked for once.
        `recall` says what was found earlier, by another host.
        """
        self.world = World(read, choose, look_up, cache(torch_release), recall)
        self.lock = RLock()
        self.stamps = 0
        self.origins = Origins(self.world, (source, choice, outside_kind, TOGETHER))

    def set_text(self, path: str, text: str) -> None:
        """An open buffer: it counts instead of the file until `close`."""
        self.world.set(BUFFER, path, text.encode("utf-8", "surrogateescape"))

    def close(self, path: str) -> None:
        self.world.remove(BUFFER, path)

    def file_changed(self, path: str) -> None:
        """The file on disk is new, changed or gone; or the folder, with all that lies in it."""
        self.stamps += 1
        below = path.rstrip("/") + "/"
        for changed in [path, *(asked for asked in tuple(self.world.asked) if asked.startswith(below))]:
            self.world.set(STAMP, changed, self.stamps)

    def choices_changed(self) -> None:
        self.stamps += 1
        self.world.set(CHOICES, None, self.stamps)

    def outside_known(self, kinds: Mapping[str, str]) -> None:
        """Kinds of names outside the workspace, where they are other than what was known."""
        for dotted, kind in kinds.items():
            self.world.set(OUTSIDE, dotted, kind)

    def look_at_together(self, paths: Iterable[str]) -> None:
        """The files that somebody looks at: a comment that one of them needs is not unused in another."""
        self.world.set(TOGETHER, None, frozenset(paths))

    def share(self, partner: Partner) -> None:
        """Let another process make some of the runs."""
        self.world.share(partner)

    def forget_if_large(self, processes: int = 1) -> bool:
        """Drop all that is known once it takes more than its share of memory; what is asked for again runs again."""
        if sys.getallocatedblocks() * processes < MOST_BLOCKS:
            return False
        with self.lock:
            self.world.forget()
        return True

    def shrink_if_large(self) -> bool:
        """Drop what was used longest ago once all takes too much memory, and everything if that is not enough."""
        if sys.getallocatedblocks() < MOST_BLOCKS:
            return False
        with self.lock:
            self.world.drop_oldest()
        self.forget_if_large()
        return True

    def snapshot(self, token: CancelToken | None = None, *, aside: bool = False) -> Snapshot:
        """`aside` is for who asks in the middle of another question, from the `make_way` of its token: `Busy` is raised
        where one answer needs the other."""
        return Snapshot(self, token, aside=aside)


__all__ = ["CancelToken", "Cancelled", "Choice", "Grounds", "Host", "Partner", "Recall", "Snapshot"]
