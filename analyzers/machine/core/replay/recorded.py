"""What a machine says to the recordings of the calls in progress (see `summaries`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from analyzers.domain.lineage import Loc, Round, is_blurred
from analyzers.domain.objects import Env, Tensor
from analyzers.domain.state import State, Taken, in_both
from analyzers.domain.values import Func, Value
from analyzers.machine.core.budget import OBJECTS
from analyzers.machine.core.parts import Budget, Extent, Ids, Indexes, Record
from analyzers.maps import Map

T = TypeVar("T")


MOST_TAKEN = 24
"""Ways that a state remembers to have taken."""


def also_taken(taken: Taken, loc: Loc, way: object) -> Taken:
    return taken.set(loc, way) if loc in taken or len(taken) < MOST_TAKEN else taken


@dataclass(frozen=True, slots=True)
class Standing:
    """In how many loops, if not more than two, a round after the first is running, and whether one stands for many."""

    later: int
    in_blurred: bool


def standing_in(rounds: Sequence[Round]) -> Standing:
    later = sum(index > 0 for _, index in rounds)
    return Standing(min(later, 2), any(is_blurred(index) for _, index in rounds))


class Recorded:
    """What happens in a call is either found in the objects that it reads and writes, or told here."""

    st: State
    extent: Extent
    ids: Ids
    budget: Budget
    indexes: Indexes
    record: Record
    notebooks: dict[type, object]

    def notebook(self, kind: type[T], *, told: bool = False) -> T:
        """An observer's notes for this run. `told`: what is done with them is an effect, or follows from what is."""
        if not told:
            self.opaque()
        found = self.notebooks.get(kind)
        if not isinstance(found, kind):
            found = self.notebooks[kind] = kind()
        return found

    def opaque(self) -> None:
        """What happens now cannot be told of the calls in progress: none of them is replayed."""
        for recording in self.extent.recordings:
            recording.opaque = True

    def effect(self, repeat: Callable[[Any, T], None], payload: T) -> None:
        """Do something to the record that a replay has to do again."""
        if self.extent.recordings:
            self.extent.recordings[-1].effects.append((repeat, payload))
        repeat(self, payload)

    def test(self, ask: Callable[[Any, T], bool], of: T) -> bool:
        """Ask the record something that a replay has to ask again: the answer has to be the same."""
        answer = ask(self, of)
        if self.extent.recordings:
            self.extent.recordings[-1].tests.setdefault((ask, of), answer)
        return answer

    def enter(self, tag: object) -> int:
        """Begin a new visit nested in the current one; returns the current one, to restore later."""
        before = self.extent.visit
        self.extent.visit = self.visit(before, tag)
        return before

    def called_here(self) -> object:
        """Identifies the visit of what is called at the current place."""
        caller = self.extent.frames[-1]
        return caller.chunk, caller.node.start, caller.node.end

    def visit(self, before: int, tag: object) -> int:
        """The number of the visit `tag` within another; the states that are apart share their visits."""
        visits = self.ids.visits
        number = visits.setdefault((before, tag), len(visits) + 1)
        if self.extent.recordings:
            self.extent.recordings[-1].entered.append((before, tag, number))
        return number

    def take(self, loc: Loc, way: object) -> None:
        """Remember a way that was taken; of very many the first, as each join compares them all."""
        self.st.taken = also_taken(self.st.taken, loc, way)
        if self.extent.recordings:
            self.extent.recordings[-1].passed.append((loc, None, way))

    def assume(self, symbol: object, outcome: bool) -> None:
        """Remember how a condition has come out that nobody could decide."""
        self.st.assumed = self.st.assumed.set(symbol, outcome)
        if self.extent.recordings:
            self.extent.recordings[-1].assumed[symbol] = outcome

    def pass_by(self, loc: Loc, visit: int) -> None:
        """A statement of the user's has been passed on the current way."""
        passed, key = self.record.passed, (loc, visit)
        before = passed.get(key)
        passed[key] = self.st.taken if before is None else in_both(before, self.st.taken)
        if self.extent.recordings:
            self.extent.recordings[-1].passed.append((loc, visit, None))

    def standing(self) -> Standing:
        """Where the loops stand that are running, for a loop inside them."""
        for recording in self.extent.recordings:
            recording.loops = True
        return standing_in(self.extent.iterations)

    def given_to(self, symbol: object) -> tuple[int, ...]:
        """What an unknown object was given, by its symbol, or a model that stands for one, by its id."""
        found = self.st.given.get(symbol, ())
        self.test(_was_given, (symbol, found))
        return found

    def standing_for(self, symbol: object) -> int | None:
        """What an unknown value was taken for before."""
        found = self.st.stand_ins.get(symbol)
        self.test(_stands_for, (symbol, found))
        return found

    def passed_to(self, symbol: object) -> tuple[Value, ...]:
        """What the unknown call was passed that returned this."""
        return self._told(self.indexes.passed.get(symbol, ()), _was_passed_nothing, symbol)

    def held_by(self, symbol: object) -> tuple[Func, ...]:
        """The functions of the program that unknown code made an unknown value of."""
        return self._told(self.indexes.held.get(symbol, ()), _holds_no_function, symbol)

    def _told(
        self, found: tuple[T, ...], is_nothing: Callable[[Recorded, object], bool], symbol: object
    ) -> tuple[T, ...]:
        """What was found of a symbol; a replay asks only whether there is nothing still."""
        if found:
            self.opaque()
        else:
            self.test(is_nothing, symbol)
        return found

    def module(self, path: str) -> int | None:
        """The id of a module that was imported."""
        found = self.st.modules.get(path)
        self.test(_is_imported, (path, found))
        return found

    def variables(self, ident: int, name: str) -> Env:
        """An environment of which one variable is looked at."""
        found = self.st.part(ident, name)
        return found if isinstance(found, Env) else Env(Map(), None, None, True)

    def node_part(self, ident: int, name: str) -> Any:
        """One field of a node, the only one that is looked at."""
        return getattr(self.st.part(ident, name), name)

    def next_sequence(self) -> int:
        self.ids.sequence += 1
        return self.ids.sequence

    def retain(self, ident: int) -> None:
        """Record a non-leaf tensor that retains its gradient."""
        self.effect(_retain, ident)

    def retaining(self) -> list[tuple[int, Tensor]]:
        """The recorded tensors that retain, or may retain, their gradient."""
        self.opaque()
        found = [(ident, self.st.find(ident)) for ident in self.indexes.retaining]
        return [(ident, t) for ident, t in found if isinstance(t, Tensor) and t.retains_grad is not False]

    def spend_more(self, steps: int) -> None:
        """Count the statements of a call that was replayed."""
        touched = max(self.ids.next - self.ids.first, self.budget.doubted)
        self.budget.steps = max(self.budget.steps + steps, touched // OBJECTS)


def _is_imported(m: Recorded, asked: tuple[str, int | None]) -> bool:
    return m.st.modules.get(asked[0]) == asked[1]


def _retain(m: Recorded, ident: int) -> None:
    m.indexes.retaining.add(ident)


def _was_given(m: Recorded, asked: tuple[object, tuple[int, ...]]) -> bool:
    return m.st.given.get(asked[0], ()) == asked[1]


def _stands_for(m: Recorded, asked: tuple[object, int | None]) -> bool:
    return m.st.stand_ins.get(asked[0]) == asked[1]


def _was_passed_nothing(m: Recorded, symbol: object) -> bool:
    return not m.indexes.passed.get(symbol)


def _holds_no_function(m: Recorded, symbol: object) -> bool:
    return not m.indexes.held.get(symbol)


def is_assumed(m: Recorded, asked: tuple[object, bool]) -> bool:
    """Whether a condition that nobody could decide is taken to have come out so."""
    return m.st.assumed.get(asked[0]) is asked[1]
