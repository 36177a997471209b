"""One run of the machine: its state, its current path, and its parts.

The machine runs a statement on one state and gets the states it may lead to. Where a statement can go several ways (an
unknown condition inside an expression, a call that returns in several states), the machine *chooses*: it runs the
statement once for each combination of choices, always from the same start, so every piece of it can be written as if
there were only one way.

    y = f(x) if flag else g(x)     # `flag` unknown: run twice, choices (0,) and (1,)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeAlias, TypeVar

from analyzers.domain import truth
from analyzers.domain.join import Join
from analyzers.domain.likeness import interchangeable
from analyzers.domain.lineage import Lineage, Loc
from analyzers.domain.looking import Looking
from analyzers.domain.matchers import MATCHERS
from analyzers.domain.objects import Counter, Edge, Env, HeapObject, ListObj, Node, Storage, Tensor
from analyzers.domain.renamers import RENAMERS
from analyzers.domain.state import State
from analyzers.domain.truth import Truth
from analyzers.domain.values import Const, Func, GradMode, Ref, Tup, Unknown, Value, identity, lineage_of
from analyzers.machine.core.budget import OBJECTS, Limits, OutOfFuel
from analyzers.machine.core.causes import Cause, Plain, Raised, Site
from analyzers.machine.core.choices import Infeasible, Outcome, Path, Truth3
from analyzers.machine.core.equations import equation_of, note_outcome, outcome_of
from analyzers.machine.core.events import CutShort, Event, Presumption
from analyzers.machine.core.exceptions import PyRaise
from analyzers.machine.core.parts import Budget, Config, Extent, Ids, Indexes, Record
from analyzers.machine.core.places import Frame, whole
from analyzers.machine.core.program import Program
from analyzers.machine.core.replay.recorded import Recorded, is_assumed
from analyzers.maps import Map
from analyzers.syntax import nodes as n
from analyzers.syntax.paths import paths_at_fault, paths_handed_over

T = TypeVar("T")


class Machine(Recorded):
    """One run: of a module, or of one function on unknown arguments."""

    def __init__(self, program: Program, block: int, next_id: int = 1, limits: Limits | None = None) -> None:
        self.config = Config(program)
        self.st = State()
        self.ids = Ids(block, next_id)
        self.extent = Extent(limits or Limits())
        self.budget = Budget(patience=self.extent.limits.steps)
        self.record = Record()
        self.indexes = Indexes(Looking(self.ids.block, MATCHERS, RENAMERS))
        self.notebooks: dict[type, object] = {}
        """The observers' notes, each an instance of a class of its own."""

    # --- heap -----------------------------------------------------------------------------------------------

    def fresh(self) -> int:
        path = self.extent.path
        at = len(path.allocated)
        if at < len(path.replay):
            ident = path.replay[at]
        else:
            self.ids.next += 1
            ident = self.ids.last
        path.allocated.append(ident)
        return ident

    def same_on_all_ways(self, place: Loc) -> int:
        """An id for what this place creates on this visit, the same in all states that pass through."""
        self.opaque()
        key = (place, self.extent.visit)
        ident, known = self.fresh(), self.ids.made.get(key)
        if known is not None and self.st.find(known) is None:
            return known
        self.ids.made[key] = ident
        return ident

    def new(self, value: HeapObject) -> Ref:
        ident = self.fresh()
        self.st.put(ident, value)
        return Ref(ident)

    def obj(self, value: Value) -> HeapObject | None:
        """What a reference points to; None for plain values."""
        return self.st.get(value.id) if isinstance(value, Ref) else None

    def join(self, a: State, b: State, *, either: bool = False) -> State:
        """One state for two. `either`: of two ways on which a name holds different objects, one is presumed."""
        self.opaque()
        joined = Join(a, b, self.fresh, picks=self.config.presumes)
        state, kept = joined.run(), self.indexes.counters_kept
        if either and joined.preferred is not None:
            self.presume("of two objects one is taken")
            return joined.preferred
        if joined.met_functions and self.config.presumes:
            self.presume("of two functions the first is taken")
        if joined.met_gradients:
            self.presume("a backward has come by", of_data=True)
        self.record.unresolved.data = self.record.unresolved.data or joined.met_functions
        kept.update(target for pair, target in joined.pairs.items() if not kept.isdisjoint(pair))
        return state

    def interchangeable(self, a: State, b: State) -> bool:
        return interchangeable(a, b, lambda ident: ident in self.indexes.counters_kept or not self.ids.is_own(ident))

    # --- the place in the program ---------------------------------------------------------------------------

    @property
    def frame(self) -> Frame:
        return self.extent.frames[-1]

    def loc_of(self, frame: Frame, node: n.Node) -> Loc:
        return Loc(frame.module, frame.chunk, node.start, node.end)

    def spend(self) -> None:
        """Count one statement, or work that costs as much."""
        touched = max(self.ids.next - self.ids.first, self.budget.doubted)
        self.budget.steps = max(self.budget.steps + 1, touched // OBJECTS)
        if self.budget.steps > self.budget.patience and not self._may_go_on():
            raise OutOfFuel

    def _may_go_on(self) -> bool:
        """Whether a call that has taken long may use the rest of the run's steps: only if it creates tensors, or is in
        a function of the script being run."""
        if self.budget.steps > self.extent.limits.steps:
            return False
        script = self.extent.frames[0].module if self.config.main else None
        if not any(frame.func is not None and frame.module == script for frame in self.extent.frames):
            made = (self.st.find(ident) for ident in range(self.budget.last_before + 1, self.ids.last + 1))
            if not any(isinstance(found, Tensor) for found in made):
                return False
        self.budget.patience = self.extent.limits.steps
        return True

    @contextmanager
    def briefly(self, steps: int) -> Iterator[None]:
        """Raise OutOfFuel after this many steps, unless the current work may take longer."""
        before = self.budget.patience, self.budget.last_before
        self.budget.patience, self.budget.last_before = (
            min(self.budget.patience, self.budget.steps + steps),
            self.ids.last,
        )
        try:
            yield
        finally:
            self.budget.patience, self.budget.last_before = before

    def apart(self, most: int) -> int:
        """How many of `most` states to keep apart: fewer as the run uses up its steps, so that it ends."""
        spent = self.budget.steps / self.extent.limits.steps
        return most if spent < 1 / 16 else min(most, 2) if spent < 1 / 8 else 1

    def rounds(self, most: int) -> int:
        """How many of `most` rounds of a loop to run for real: fewer, too, as the run uses up its steps."""
        spent = self.budget.steps / self.extent.limits.steps
        return most if spent < 1 / 4 else min(most, 1)

    def user_frame(self) -> Frame:
        for frame in reversed(self.extent.frames):
            if not frame.library:
                return frame
        return self.extent.frames[0]

    def here(self) -> Loc:
        """The current expression, in the innermost user function."""
        frame = self.user_frame()
        return self.loc_of(frame, frame.node)

    def via(self) -> tuple[Loc, ...]:
        """The calls that led here, outermost first, excluding the innermost place itself."""
        return self.calls(-1)

    def calls(self, but: int | None = None) -> tuple[Loc, ...]:
        """The calls that lead into what is called here, or all `but` the last ones."""
        own = [f for f in self.extent.frames if not f.library and not isinstance(f.node, n.Pass)]
        return tuple(self.loc_of(f, f.node) for f in own[:but] if not f.stands_in)

    def site(self) -> Site:
        frame = self.user_frame()
        return Site(
            self.loc_of(frame, frame.node),
            self.loc_of(frame, frame.statement),
            self.via(),
            frame.visit,
            tuple(self.extent.iterations),
            any(f.handlers for f in self.extent.frames),
        )

    def whole(self, func: Func) -> n.FunctionDef | n.Lambda:
        return whole(self.config.program, func)

    def place_of(self, func: Func) -> Loc:
        """Where a function is defined."""
        node = self.whole(func)
        return Loc(func.module, func.chunk, node.start, node.end)

    # --- choices --------------------------------------------------------------------------------------------

    def choose(self, ways: int) -> int:
        """Which of `ways` ways this pass takes; the others get passes of their own."""
        if ways > 1:
            self.opaque()
        path = self.extent.path
        at = len(path.taken)
        if at < len(path.prefix):
            pick = path.prefix[at]
        else:
            pick = 0
            done = tuple(path.taken)
            if ways > 1:
                ids = tuple(path.allocated)
                path.open.extend(((*done, other), ids) for other in range(1, ways))
        path.taken.append(pick)
        if ways > 1:
            self.take(self.here(), pick)
        return pick

    def decide(self, value: Truth3, symbol: object = None) -> bool:
        """The outcome of a condition; an unknown one goes both ways, but the same symbol always goes the same way."""
        if value is not None:
            return value
        if isinstance(symbol, tuple) and symbol and symbol[0] == "not":
            return not self.decide(None, symbol[1])
        if symbol is not None:
            known = self.st.assumed.get(symbol)
            if known is not None:
                self.test(is_assumed, (symbol, known))
                return known
        self.opaque()
        equation = equation_of(symbol)
        known = outcome_of(self.st, equation) if equation is not None else None
        if known is not None:
            return known
        outcome = self.choose(2) == 0
        if symbol is not None:
            self.assume(symbol, outcome)
        if equation is not None:
            note_outcome(self.st, equation, outcome)
        return outcome

    def guard(self, test: n.Expr, outcome: bool) -> None:
        """On this way an undecided condition has come out so; what it gave to a call may not be what it seems to be."""
        if self.frame.library:
            return
        self.take(self.loc_of(self.frame, test), outcome)
        handed = self._attributes(paths_handed_over(test))
        if handed:
            self.assume(("guard", self.fresh(), frozenset(handed)), outcome)

    def _is_guarded(self, *, of_kind: bool) -> bool:
        """Whether a condition that nobody could decide has asked about what the current expression names.

        The way on which it came out so need not exist: `if ready(p.grad): p.grad.zero_()`."""
        guards = [key for key in self.st.assumed if isinstance(key, tuple) and key[0] == "guard"]
        if not guards:
            return False
        named = frozenset(self._attributes(paths_at_fault(self.user_frame().node, of_kind=of_kind)))
        return any(not named.isdisjoint(key[2]) for key in guards)

    def _attributes(self, paths: Iterable[str]) -> list[tuple[object, str]]:
        """Of each dotted path, the object that its first name holds, and the rest."""
        frame = self.user_frame()
        found: list[tuple[object, str]] = []
        for path in paths:
            name, _, rest = path.partition(".")
            value = self.named_here(name)
            found.append((identity(value) or (frame.chunk, name, value), rest))
        return found

    def named_here(self, name: str) -> Value | None:
        """What a name of the user's holds where the run is."""
        at: int | None = self.user_frame().env
        while at is not None and name not in (scope := self.variables(at, name)).vars:
            at = scope.parent
        return scope.vars[name] if at is not None else None

    def outcomes_of(self, run: Callable[[], list[Outcome]]) -> Value:
        """Continue in one of the states in which a call may end."""
        key = (len(self.extent.path.taken), *self.extent.path.taken)
        found = self.extent.path.memo.get(key)
        if found is None:
            before = self.extent.path
            self.extent.path = Path(())
            try:
                found = run()
            finally:
                self.extent.path = before
            self.extent.path.memo[key] = found
        if not found:
            raise Infeasible
        outcome = found[self.choose(len(found))]
        self.st = outcome.state.fork()
        if outcome.raised is not None:
            raise outcome.raised
        return outcome.value

    # --- events ---------------------------------------------------------------------------------------------

    def note(self, event: Event) -> None:
        self.opaque()
        self.record.events.append(event)

    def presume(self, message: str, loc: Loc | None = None, *, of_data: bool = False) -> None:
        """What follows holds if `message` does, which nothing says; `loc` is where, if not here."""
        self.record.presumptions[Presumption(loc or self.here(), message, of_data)] = None

    def throw(self, exception: str, message: str, cause: Cause | None = None) -> PyRaise:
        """The exception that torch (or Python) raises here; the caller raises it. Behind a guard it goes unnoted."""
        if self._is_guarded(of_kind=exception == "AttributeError"):
            self.note(CutShort(self.site()))
            return PyRaise(exception, message)
        event = Raised(
            self.site(),
            exception,
            message,
            cause or Plain(),
            not self.st.doubtful,
            expected=self.extent.expecting > 0,
            taken=self.st.taken,
            contested=self.extent.contested,
        )
        self.note(event)
        return PyRaise(exception, message, None, event)

    def in_mode(self, grad: Truth, run: Callable[[], T]) -> T:
        """The result of `run` under the given grad mode."""
        before = self.st.grad
        self.st.grad = grad
        try:
            return run()
        finally:
            self.st.grad = before

    def may_raise(self) -> None:
        """Torch may raise here, but nobody knows enough to say so; nothing later is certain."""
        self.st.doubtful = True
        self.record.imprecisions += 1

    def warn(self, exception: str, message: str, cause: Cause) -> None:
        """Torch may raise here; the run continues as if it did not."""
        self.note(Raised(self.site(), exception, message, cause, sure=False, expected=self.extent.expecting > 0))

    def source(self, node: n.Node | None = None) -> str:
        """The source text of an expression, as the user wrote it."""
        frame = self.user_frame()
        target = node or frame.node
        text = self.config.program.chunk(frame.module, frame.chunk).text[target.start : target.end]
        return text.decode("utf-8", "replace")

    def text_at(self, loc: Loc) -> str:
        """The source text at a place, as the user wrote it."""
        return self.config.program.chunk(loc.module, loc.chunk).text[loc.start : loc.end].decode("utf-8", "replace")

    # --- tensors --------------------------------------------------------------------------------------------

    def new_tensor(
        self,
        shape: tuple[int | None, ...] | None,
        dtype: str | None,
        *,
        requires_grad: truth.Truth = False,
        what: str = "",
        parents: tuple[Lineage, ...] = (),
        lineage: Lineage | None = None,
        parameter: bool = False,
    ) -> Ref:
        """A tensor of its own: a leaf, with its own memory."""
        storage = self.fresh()
        self.st.put(storage, Storage())
        counter = self.fresh()
        self.st.put(counter, Counter())
        return self.new(
            Tensor(
                storage=storage,
                counter=counter,
                requires_grad=requires_grad,
                shape=shape,
                dtype=dtype,
                inference=self.st.inference,
                parameter=parameter,
                lineage=lineage or self.trail(what, parents),
            )
        )

    def unknown_tensor(self, lineage: Lineage | None = None, requires_grad: truth.Truth = None) -> Ref:
        """A tensor about which nothing else is known."""
        ref = self.new_tensor(None, None, requires_grad=requires_grad, lineage=lineage or self.trail("?", ()))
        tensor = self.st.get(ref.id)
        assert isinstance(tensor, Tensor)
        tensor.edge = Edge()
        tensor.inference = None
        tensor.grad = Unknown()
        self.st.update(tensor.counter, Counter, lambda c: Counter(self.fresh() << 32))
        return ref

    def trail(self, what: str, parents: tuple[Lineage, ...]) -> Lineage:
        return Lineage(what, self.here(), parents, None, self.via())

    def tensor(self, value: Value) -> Tensor | None:
        found = self.obj(value)
        return found if isinstance(found, Tensor) else None

    def lineage(self, value: Value) -> Lineage | None:
        found = self.obj(value)
        if found is None:
            return lineage_of(value)
        return getattr(found, "lineage", None)

    def parents(self, values: Sequence[Value]) -> tuple[Lineage, ...]:
        """The trails of several values, including those inside tuples and lists."""
        out: list[Lineage] = []
        for value in values:
            if isinstance(value, Tup):
                out.extend(self.parents(value.items))
                continue
            found = self.obj(value)
            if isinstance(found, ListObj):
                out.extend(self.parents((*found.items, *((found.rest,) if found.rest is not None else ()))))
                continue
            step = self.lineage(value)
            if step is not None:
                out.append(step)
        return tuple(out)

    # --- environments ---------------------------------------------------------------------------------------

    def env(self, ident: int) -> Env:
        found = self.st.get(ident)
        return found if isinstance(found, Env) else Env(Map(), None, None, True)

    def node(self, ident: int) -> Node:
        found = self.st.get(ident)
        assert isinstance(found, Node)
        return found

    def bind(self, env: int, name: str, value: Value) -> None:
        old = self.env(env)
        self.st.put(env, Env(old.vars.set(name, value), old.parent, old.module, old.open))

    def int_of(self, value: Value) -> int | None:
        if isinstance(value, Const) and isinstance(value.value, int):
            return int(value.value)
        return None


Modes: TypeAlias = "tuple[bool | None, bool | None, str | None]"
"""Grad mode, inference mode, and the dtype autocast converts to."""


ANY_MODE = GradMode(grad=None, inference=None, casting="?")


def apply_mode(m: Machine, mode: GradMode) -> Modes:
    """Switch the modes; returns the previous ones."""
    before = (m.st.grad, m.st.inference, m.st.casting)
    if mode.inference != "keep":
        m.st.inference = mode.inference
    if mode.grad != "keep":
        m.st.grad = mode.grad
    if mode.casting != "keep":
        m.st.casting = mode.casting
    return before


def lose_modes(m: Machine) -> Modes:
    """Unknown code may have switched the modes, though it is presumed not to; returns the previous ones."""
    return (m.st.grad, m.st.inference, m.st.casting) if m.config.presumes else apply_mode(m, ANY_MODE)


def restore_modes(state: State, before: Modes) -> None:
    """Restore the previous modes; leaving the outermost autocast drops its cache."""
    state.grad, state.inference, state.casting = before
    if state.casting is None:
        state.casts = Map()
