"""Which queries run after which edit, and that what they give is what a fresh database gives."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from weakref import ref

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analyzers.queries.cancellation import Busy, Cancelled, CancelToken
from analyzers.queries.cycles import CycleError
from analyzers.queries.engine import STALE_FOR, Database, query
from analyzers.queries.families import Input, Query

TEXT = Input[str, str]("text")


@query
def line_count(db: Database, path: str) -> int:
    return db.read(TEXT, path).count("\n")


@query
def is_long(db: Database, path: str) -> bool:
    return line_count(db, path) > 2


@query
def long_files(db: Database, *paths: str) -> tuple[str, ...]:
    return tuple(path for path in paths if is_long(db, path))


def ran(db: Database) -> list[str]:
    names = [name for name, _ in db.log]
    db.log.clear()
    return names


@pytest.fixture
def db() -> Database:
    made = Database()
    made.set(TEXT, "a", "1\n2\n3\n")
    made.set(TEXT, "b", "1\n")
    return made


def test_a_second_call_runs_nothing(db: Database) -> None:
    assert long_files(db, "a", "b") == ("a",)
    assert ran(db) == ["long_files", "is_long", "line_count", "is_long", "line_count"]
    assert db.get(long_files, "a", "b") == ("a",)
    assert ran(db) == []


def test_an_edit_runs_what_read_it(db: Database) -> None:
    long_files(db, "a", "b")
    ran(db)
    db.set(TEXT, "b", "1\n2\n3\n4\n")
    assert long_files(db, "a", "b") == ("a", "b")
    assert ran(db) == ["line_count", "is_long", "long_files"]


def test_an_equal_result_stops_the_wave(db: Database) -> None:
    long_files(db, "a", "b")
    ran(db)
    db.set(TEXT, "b", "2\n")
    assert long_files(db, "a", "b") == ("a",)
    assert ran(db) == ["line_count"]
    db.set(TEXT, "b", "1\n2\n")
    assert long_files(db, "a", "b") == ("a",)
    assert ran(db) == ["line_count", "is_long"]


def test_an_equal_input_is_no_revision(db: Database) -> None:
    before = db.revision
    db.set(TEXT, "b", "1\n")
    assert db.revision == before


def test_a_missing_input_is_read_again_when_it_comes(db: Database) -> None:
    with pytest.raises(KeyError):
        line_count(db, "c")
    db.set(TEXT, "c", "\n")
    assert line_count(db, "c") == 1
    db.remove(TEXT, "c")
    with pytest.raises(KeyError):
        line_count(db, "c")


def test_a_query_may_survive_the_failure_of_another(db: Database) -> None:
    @query
    def size(db: Database, path: str) -> int:
        try:
            return line_count(db, path)
        except KeyError:
            return -1

    assert size(db, "c") == -1
    db.set(TEXT, "c", "\n")
    assert size(db, "c") == 1


def test_a_query_may_not_write(db: Database) -> None:
    @query
    def writes(db: Database) -> None:
        db.set(TEXT, "a", "")

    with pytest.raises(RuntimeError):
        writes(db)


# --- cycles -------------------------------------------------------------------------------------------------------

CALLS = Input[str, tuple[str, ...]]("calls")


@query(on_cycle=lambda name: frozenset({"?"}))
def reaches(db: Database, name: str) -> frozenset[str]:
    return frozenset({name}).union(*(reaches(db, callee) for callee in db.read(CALLS, name)))


def test_a_cycle_gives_its_fallback_and_its_readers_go_on() -> None:
    db = Database()
    for name, callees in {"main": ("f",), "f": ("g",), "g": ("f", "h"), "h": ()}.items():
        db.set(CALLS, name, callees)
    assert reaches(db, "main") == {"main", "?"}
    assert reaches(db, "g") == {"?"}
    assert reaches(db, "h") == {"h"}
    db.set(CALLS, "g", ("h",))
    assert reaches(db, "main") == {"main", "f", "g", "h"}
    db.set(CALLS, "h", ("main",))
    assert reaches(db, "g") == {"?"}


def test_a_cycle_without_fallback_is_an_error() -> None:
    @query
    def ping(db: Database) -> int:
        return pong(db)

    @query
    def pong(db: Database) -> int:
        return ping(db)

    with pytest.raises(CycleError, match="ping -> pong -> ping"):
        ping(Database())


def test_a_cycle_that_nothing_touched_does_not_run_again() -> None:
    db = Database()
    for name, callees in {"main": ("f", "h"), "f": ("g",), "g": ("f",), "h": ()}.items():
        db.set(CALLS, name, callees)
    reaches(db, "main")
    ran(db)
    db.set(CALLS, "h", ("f",))
    assert reaches(db, "main") == {"main", "h", "?"}
    assert [key for _, key in db.log] == [("h",), ("main",)]


def test_a_query_on_a_cycle_runs_once_for_each_way_into_it_at_most() -> None:
    db = Database()
    names = [f"n{number}" for number in range(12)]
    for name in names:
        db.set(CALLS, name, tuple(other for other in names if other != name))
    reaches(db, names[0])
    assert len(ran(db)) <= len(names)
    db.set(CALLS, names[5], ())
    reaches(db, names[0])
    assert len(ran(db)) <= len(names) ** 2


# --- bounded memos ------------------------------------------------------------------------------------------------


@query(capacity=2)
def upper(db: Database, path: str) -> str:
    return db.read(TEXT, path).upper()


@query
def first(db: Database, path: str) -> str:
    return upper(db, path)[:1]


def test_the_least_recently_used_value_goes() -> None:
    db = Database()
    for path in "abc":
        db.set(TEXT, path, path)
    assert [upper(db, path) for path in "abac"] == ["A", "B", "A", "C"]
    ran(db)
    assert upper(db, "a") == "A" and ran(db) == []
    assert upper(db, "b") == "B" and ran(db) == ["upper"]


def test_an_evicted_value_is_no_news_to_its_readers() -> None:
    db = Database()
    for path in "abc":
        db.set(TEXT, path, path)
    assert [first(db, path) for path in "abc"] == ["A", "B", "C"]
    ran(db)
    db.set(TEXT, "c", "see")
    assert [first(db, path) for path in "ab"] == ["A", "B"]
    assert ran(db) == []


def test_what_was_used_longest_ago_can_be_dropped() -> None:
    db = Database()
    for path in "ab":
        db.set(TEXT, path, path)
    assert [first(db, path) for path in "ab"] == ["A", "B"]
    ran(db)
    db.drop_oldest()
    assert upper(db, "b") == "B" and ran(db) == []
    assert [first(db, path) for path in "ab"] == ["A", "B"] and ran(db) == []
    assert upper(db, "a") == "A" and ran(db) == ["upper"]


def test_what_is_forgotten_runs_again(db: Database) -> None:
    assert long_files(db, "a", "b") == ("a",)
    db.set(TEXT, "b", "1\n2\n3\n")
    db.forget()
    ran(db)
    assert long_files(db, "a", "b") == ("a", "b")
    assert ran(db) == ["long_files", "is_long", "line_count", "is_long", "line_count"]


# --- former values --------------------------------------------------------------------------------------------------


@query(remembers=3)
def shouted(db: Database, path: str) -> str:
    return db.read(TEXT, path).strip().upper()


@query(remembers=3)
def all_shouted(db: Database, *paths: str) -> str:
    return " ".join(shouted(db, path) for path in paths)


def typed(db: Database, *texts: str) -> list[str]:
    """What has run by the end of each of some texts."""
    seen = []
    for text in texts:
        db.set(TEXT, "a", text)
        assert all_shouted(db, "a", "b") == f"{text.strip().upper()} B"
        seen.append(" ".join(ran(db)))
    return seen


@pytest.fixture
def typing() -> Database:
    db = Database()
    db.set(TEXT, "a", "")
    db.set(TEXT, "b", "b")
    assert all_shouted(db, "a", "b") == " B"
    ran(db)
    return db


def test_what_an_edit_takes_back_does_not_run_again(typing: Database) -> None:
    assert typed(typing, "x", "") == ["shouted all_shouted", ""]
    assert typed(typing, "x", "y") == ["", "shouted all_shouted"]


def test_a_former_value_is_none_where_something_else_has_changed(typing: Database) -> None:
    typed(typing, "x")
    typing.set(TEXT, "b", "c")
    typing.set(TEXT, "a", "")
    assert all_shouted(typing, "a", "b") == " C"
    assert ran(typing) == ["shouted", "all_shouted"]


def test_what_has_rested_is_kept_and_what_a_key_replaced_goes(typing: Database) -> None:
    typed(typing, "n", "na", "nam", "name")
    assert typed(typing, "") == [""]
    typed(typing, "name")
    typing.set(TEXT, "c", "elsewhere")
    typed(typing, "name +", "name + o", "name + on", "name + one")
    assert typed(typing, "name", "nam") == ["", "shouted all_shouted"]


class Large:
    """A value that somebody may hold for too long."""


@query(remembers=1)
def large(db: Database, path: str) -> Large:
    db.read(TEXT, path)
    return Large()


@query(remembers=9)
def made_of_large(db: Database, path: str) -> bool:
    return bool(large(db, path))


def test_a_former_value_holds_no_former_values_that_it_was_made_of() -> None:
    db, seen = Database(), []
    for text in "abc":
        db.set(TEXT, "a", text)
        assert made_of_large(db, "a")
        seen.append(ref(large(db, "a")))
    assert [one() is None for one in seen] == [True, True, False]


@pytest.mark.parametrize("drop", [Database.forget, Database.drop_oldest])
def test_former_values_are_dropped_with_the_others(drop: Callable[[Database], None], typing: Database) -> None:
    typed(typing, "x")
    drop(typing)
    assert "all_shouted" in typed(typing, "")[0].split()


def test_what_is_stale_for_long_is_dropped_and_what_is_asked_for_stays() -> None:
    db = Database(stale_for=3)
    for path in "ab":
        db.set(TEXT, path, path)
    assert long_files(db, "a", "b") == ()
    ran(db)
    for number in range(4):
        db.set(TEXT, "b", "b" * number)
        assert line_count(db, "b") == 0
    assert db.reads_of((line_count, ("b",)))
    assert ran(db) == ["line_count"] * 4
    for gone in [(is_long, ("b",)), (long_files, ("a", "b"))]:
        with pytest.raises(KeyError):
            db.reads_of(gone)
    assert long_files(db, "a", "b") == ()
    assert ran(db) == ["long_files", "is_long"]


# --- eager queries ------------------------------------------------------------------------------------------------


@query(eager=1)
def lines(db: Database, path: str) -> Mapping[int, str]:
    return dict(enumerate(db.read(TEXT, path).splitlines()))


@query
def doubled(db: Database, path: str, number: int) -> str:
    return db.entry(lines, number, path) * 2


@query
def all_doubled(db: Database, path: str, count: int) -> tuple[str, ...]:
    return tuple(doubled(db, path, number) for number in range(count))


def test_a_reader_of_an_entry_runs_when_that_entry_changes(db: Database) -> None:
    assert all_doubled(db, "a", 3) == ("11", "22", "33")
    ran(db)
    db.set(TEXT, "a", "1\ntwo\n3\n4\n")
    assert all_doubled(db, "a", 3) == ("11", "twotwo", "33")
    assert ran(db) == ["lines", "doubled", "all_doubled"]
    assert all_doubled(db, "a", 4)[3] == "44"
    db.set(TEXT, "a", "1\n")
    with pytest.raises(KeyError):
        doubled(db, "a", 2)
    db.set(TEXT, "a", "1\n2\n5\n")
    assert doubled(db, "a", 2) == "55"


def test_who_reads_an_entry_that_is_gone_for_long_is_dropped() -> None:
    db = Database(stale_for=3)
    db.set(TEXT, "a", "one\ntwo")
    assert doubled(db, "a", 1) == "twotwo"
    for number in range(5):
        db.set(TEXT, "a", f"one{number}")
        assert doubled(db, "a", 0) == f"one{number}" * 2
    with pytest.raises(KeyError):
        db.reads_of((doubled, ("a", 1)))
    db.set(TEXT, "a", "one\nthree")
    assert doubled(db, "a", 1) == "threethree"
    db.set(TEXT, "a", "one\nfour")
    assert doubled(db, "a", 1) == "fourfour"


def test_an_eager_query_runs_unasked_and_marks_no_reader_that_it_does_not_concern(db: Database) -> None:
    @query(eager=1)
    def has_letters(db: Database, path: str) -> bool:
        return any(letter.isalpha() for letter in db.read(TEXT, path))

    @query
    def kind(db: Database, path: str) -> str:
        return "text" if has_letters(db, path) else "numbers"

    assert kind(db, "a") == "numbers"
    ran(db)
    db.set(TEXT, "a", "2")
    assert line_count(db, "b") == 1
    assert ran(db) == ["has_letters", "line_count"]
    assert kind(db, "a") == "numbers" and ran(db) == []
    db.set(TEXT, "a", "two")
    assert kind(db, "a") == "text"
    assert ran(db) == ["has_letters", "kind"]


def test_an_eager_query_that_fails_is_met_by_its_readers(db: Database) -> None:
    @query(eager=1)
    def number(db: Database, path: str) -> int:
        return int(db.read(TEXT, path))

    @query
    def told(db: Database, path: str) -> str:
        try:
            return str(number(db, path))
        except ValueError:
            return "no number"

    db.set(TEXT, "a", "1")
    assert told(db, "a") == "1"
    for text, wanted in (("x", "no number"), ("y", "no number"), ("2", "2"), ("z", "no number"), ("2", "2")):
        db.set(TEXT, "a", text)
        assert told(db, "a") == wanted


def test_an_eager_query_reads_none_of_its_level(db: Database) -> None:
    @query(eager=1)
    def first_line(db: Database, path: str) -> str:
        return db.entry(lines, 0, path)

    with pytest.raises(TypeError, match="not of a lower level"):
        first_line(db, "a")


# --- cancellation and threads -------------------------------------------------------------------------------------


def test_a_cancelled_token_stops_queries_and_keeps_what_had_ended(db: Database) -> None:
    token = CancelToken()

    @query
    def interrupted(db: Database) -> int:
        count = line_count(db, "a")
        token.cancel()
        return count + line_count(db, "b")

    with db.snapshot(token), pytest.raises(Cancelled):
        interrupted(db)
    assert ran(db) == ["interrupted", "line_count"]
    assert interrupted(db) == 4
    assert ran(db) == ["interrupted", "line_count"]


def test_a_writer_cancels_a_reader_and_writes_after_it(db: Database) -> None:
    started = threading.Event()
    seen: list[object] = []

    @query
    def endless(db: Database) -> str:
        text = db.read(TEXT, "a")
        started.set()
        while text == "1\n2\n3\n":
            db.check_cancelled()
        return text

    def work() -> None:
        try:
            with db.snapshot() as revision:
                seen.append(revision)
                endless(db)
        except Cancelled:
            seen.append("cancelled")

    before = db.revision
    worker = threading.Thread(target=work)
    worker.start()
    assert started.wait(10)
    db.set(TEXT, "a", "new")
    worker.join(10)
    assert seen == [before, "cancelled"]
    assert endless(db) == "new"


def test_in_the_middle_of_a_query_another_is_asked_that_it_has_nothing_to_do_with(db: Database) -> None:
    """What is asked there is no read of the query in whose middle it is, and nothing it needs is run there."""
    seen: list[object] = []

    def ask() -> None:
        with db.aside(), db.snapshot(CancelToken(ask)):
            seen.append(is_long(db, "b"))
            for busy in (slow, needs_it):
                with pytest.raises(Busy):
                    busy(db)

    @query
    def slow(db: Database) -> int:
        db.make_way()
        return line_count(db, "a")

    @query
    def needs_it(db: Database) -> int:
        db.make_way()
        return slow(db)

    with db.snapshot(CancelToken(ask)):
        assert slow(db) == 3
    assert seen == [False]
    assert db.reads_of((slow, ())) == ((line_count, ("a",)),)
    ran(db)
    db.set(TEXT, "b", "1\n2\n3\n")
    assert (slow(db), ran(db)) == (3, [])
    assert needs_it(db) == 3


def test_a_snapshot_does_not_write(db: Database) -> None:
    with db.snapshot(), pytest.raises(RuntimeError):
        db.set(TEXT, "a", "")
    db.set(TEXT, "a", "")


# --- incremental equals from scratch ------------------------------------------------------------------------------

INPUTS = Input[int, int]("inputs")
EDGES = Input[int, tuple[int, ...]]("edges")
SIZE = 6


def _network(capacity: int | None, remembers: int) -> Query[[int], int]:
    """Node n adds an input to the nodes that an input says it reads; a sum that ends in 4 or 9 reads no further."""

    @query(on_cycle=lambda node: -node, capacity=capacity, remembers=remembers)
    def total(db: Database, node: int) -> int:
        value = db.read(INPUTS, node)
        for other in db.read(EDGES, node):
            if value % 5 == 4:
                break
            value += total(db, other)
        return value // 2

    return total


def _eager_network(capacity: int | None, remembers: int) -> Query[[int], int]:
    """Another without cycles, where inputs are seen through eager queries on two levels."""

    @query(capacity=capacity, eager=1)
    def parts(db: Database, node: int) -> Mapping[str, int]:
        value = db.read(INPUTS, node)
        return {"low": value % 3, "high": value - value % 3}

    @query(capacity=capacity)
    def sorted_edges(db: Database, node: int) -> tuple[int, ...]:
        return tuple(sorted(db.read(EDGES, node)))

    @query(capacity=capacity, eager=2)
    def others(db: Database, node: int) -> tuple[int, ...]:
        return tuple(n for n in sorted_edges(db, node) if db.entry(parts, "high", n) < 6 or parts(db, n)["low"])

    @query(capacity=capacity, remembers=remembers)
    def total(db: Database, node: int) -> int:
        value = db.entry(parts, "high", node)
        for other in others(db, node):
            value += total(db, other)
        return value if value % 5 == 4 else value // 2 + db.entry(parts, "low", node)

    return total


EDIT = st.one_of(
    st.tuples(st.just("value"), st.integers(0, SIZE - 1), st.integers(0, 9)),
    st.tuples(st.just("edges"), st.integers(0, SIZE - 1), st.lists(st.integers(0, SIZE - 1), max_size=3).map(tuple)),
    st.tuples(st.just("ask"), st.integers(0, SIZE - 1), st.none()),
)


@pytest.mark.parametrize("stale_for", [1, STALE_FOR])
@pytest.mark.parametrize("remembers", [0, 1, 9])
@pytest.mark.parametrize("capacity", [None, 2])
@pytest.mark.parametrize("kind", ["acyclic", "cyclic", "eager"])
@settings(max_examples=150, deadline=None)
@given(edits=st.lists(EDIT, max_size=30))
def test_incremental_equals_from_scratch(
    capacity: int | None, kind: str, remembers: int, stale_for: int, edits: list[tuple[str, int, object]]
) -> None:
    total = (_eager_network if kind == "eager" else _network)(capacity, remembers)
    values = dict.fromkeys(range(SIZE), 1)
    edges: dict[int, tuple[int, ...]] = {node: (node + 1,) if node + 1 < SIZE else () for node in range(SIZE)}

    def fresh() -> Database:
        made = Database(stale_for)
        for node in range(SIZE):
            made.set(INPUTS, node, values[node])
            made.set(EDGES, node, edges[node])
        return made

    db = fresh()
    for what, node, argument in [*edits, *(("ask", node, None) for node in range(SIZE))]:
        if what == "value":
            assert isinstance(argument, int)
            values[node] = argument
            db.set(INPUTS, node, argument)
        elif what == "edges":
            assert isinstance(argument, tuple)
            edges[node] = tuple(other for other in argument if kind == "cyclic" or other > node)
            db.set(EDGES, node, edges[node])
        else:
            assert total(db, node) == total(fresh(), node), (values, edges, node)
