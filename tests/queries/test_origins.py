"""What an answer came of is found through everything that lies between."""

from __future__ import annotations

import pytest

from analyzers.queries.engine import Database, query
from analyzers.queries.families import Input
from analyzers.queries.origins import Origins

TEXT = Input[str, str]("text")


@query
def lines(db: Database, path: str) -> tuple[str, ...]:
    return tuple(db.read(TEXT, path).split("\n"))


@query(eager=1)
def table(db: Database, path: str) -> dict[int, str]:
    return dict(enumerate(lines(db, path)))


@query
def first(db: Database, path: str) -> str:
    return db.entry(table, 0, path)


@query(on_cycle=lambda path: frozenset())
def reached(db: Database, path: str) -> frozenset[str]:
    """The files that a file names, and those that these name."""
    named = [line for line in lines(db, path) if line]
    return frozenset(named).union(*(reached(db, name) for name in named))


@query
def refused(db: Database, path: str) -> str:
    raise ValueError(path)


@query
def tolerant(db: Database, path: str) -> str:
    try:
        return refused(db, path)
    except ValueError:
        return db.read(TEXT, path)


def database(**texts: str) -> Database:
    db = Database()
    for path, text in texts.items():
        db.set(TEXT, path, text)
    return db


def keys(origins: Origins, *cell: object) -> set[str]:
    return {str(key[0]) for _, key in origins.of((cell[0], tuple(cell[1:])))}


def test_an_entry_comes_of_the_table() -> None:
    db = database(a="x\ny", b="z")
    first(db, "a")
    origins = Origins(db, [TEXT])
    assert origins.of((first, ("a",))) == [(TEXT, ("a",))]


def test_queries_that_need_each_other_have_the_same_origins() -> None:
    """`b` and `c` name each other; `a` names the two, and `d` is nobody's."""
    db = database(a="b", b="c", c="b\ne", d="", e="")
    for path in "abcde":
        reached(db, path)
    origins = Origins(db, [TEXT])
    assert keys(origins, reached, "e") == {"e"}
    assert keys(origins, reached, "c") == {"b", "c", "e"}
    assert keys(origins, reached, "b") == {"b", "c", "e"}
    assert keys(origins, reached, "a") == {"a", "b", "c", "e"}
    assert keys(Origins(db, [TEXT]), reached, "a") == {"a", "b", "c", "e"}


def test_what_a_kind_came_of_is_left_out() -> None:
    db = database(a="b", b="")
    reached(db, "a")
    assert {kind for kind, _ in Origins(db, [lines]).of((reached, ("a",)))} == {lines}


def test_an_edit_is_another_revision() -> None:
    db = database(a="b", b="", c="")
    reached(db, "a")
    origins = Origins(db, [TEXT])
    assert keys(origins, reached, "a") == {"a", "b"}
    db.set(TEXT, "a", "c")
    reached(db, "a")
    assert keys(origins, reached, "a") == {"a", "c"}


def test_what_failed_on_the_way_has_no_origins() -> None:
    db = database(a="x")
    assert tolerant(db, "a") == "x"
    with pytest.raises(KeyError):
        Origins(db, [TEXT]).of((tolerant, ("a",)))


@query
def picky(db: Database, path: str) -> str:
    if (text := db.read(TEXT, path)) == "bad":
        raise ValueError(path)
    return text


@query
def patient(db: Database, path: str) -> str:
    try:
        return picky(db, path)
    except ValueError:
        return "none"


def test_what_fails_later_has_none_any_more() -> None:
    db = database(a="good")
    origins = Origins(db, [TEXT])
    assert patient(db, "a") == "good"
    assert keys(origins, patient, "a") == {"a"}
    db.set(TEXT, "a", "bad")
    assert patient(db, "a") == "none"
    with pytest.raises(KeyError):
        origins.of((patient, ("a",)))


def test_what_was_read_through_another_query_is_found_anew() -> None:
    """The one that is asked about reads what it read."""
    db = database(a="b", b="c", c="", d="")
    assert reached(db, "a") == {"b", "c"}
    origins = Origins(db, [TEXT])
    assert keys(origins, reached, "a") == {"a", "b", "c"}
    db.set(TEXT, "b", "c\nd")
    assert reached(db, "a") == {"b", "c", "d"}
    assert keys(origins, reached, "a") == {"a", "b", "c", "d"}
