"""The map that stands in for that of `immutables` does what a dict does, and leaves what it was made of as it was."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzers.maps import Map as Chosen
from analyzers.maps.trie import Map

REPOSITORY = Path(__file__).resolve().parents[2]


class Alike:
    """Of few hashes, so that keys share them to the last bit, or to some."""

    def __init__(self, number: int) -> None:
        self.number = number

    def __hash__(self) -> int:
        return (self.number % 3) << (self.number % 2 * 30)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Alike) and other.number == self.number

    def __repr__(self) -> str:
        return f"Alike({self.number})"


KEYS = st.one_of(st.integers(-40, 40), st.integers(0, 30).map(Alike), st.text("ab", max_size=3), st.integers())
CHANGES = st.lists(st.tuples(st.sampled_from(["set", "delete"]), KEYS, st.integers(0, 3)), max_size=60)


def applied(changes: list[tuple[str, object, int]]) -> list[tuple[Map[object, int], dict[object, int]]]:
    """All the maps on the way, with what each is to hold."""
    held: dict[object, int] = {}
    made: Map[object, int] = Map()
    steps = [(made, dict(held))]
    for what, key, value in changes:
        if what == "set":
            made, held[key] = made.set(key, value), value
        elif key in held:
            made = made.delete(key)
            del held[key]
        else:
            with pytest.raises(KeyError):
                made.delete(key)
        steps.append((made, dict(held)))
    return steps


@given(CHANGES)
def test_it_holds_what_a_dict_holds_and_stays_as_it_was(changes: list[tuple[str, object, int]]) -> None:
    for made, held in applied(changes):
        assert dict(made.items()) == held
        assert len(made) == len(made.items()) == len([*made]) == len(held)
        assert sorted(made.values()) == sorted(held.values())
        assert all(key in made and made[key] == made.get(key) == value for key, value in held.items())


@given(CHANGES, KEYS)
def test_what_is_not_there(changes: list[tuple[str, object, int]], key: object) -> None:
    made, held = applied(changes)[-1]
    assert (key in made, made.get(key, -1)) == (key in held, held.get(key, -1))
    if key not in held:
        with pytest.raises(KeyError):
            made[key]


@given(CHANGES, CHANGES)
def test_equal_maps(one: list[tuple[str, object, int]], other: list[tuple[str, object, int]]) -> None:
    (made, held), (again, held_again) = applied(one)[-1], applied(other)[-1]
    assert (made == again) == (held == held_again)
    assert made == Map(held) == Map(held.items())
    assert hash(made) == hash(Map(reversed(held.items())))
    assert made != held


@given(CHANGES, st.dictionaries(KEYS, st.integers(0, 3)))
def test_updates_and_mutations(changes: list[tuple[str, object, int]], more: dict[object, int]) -> None:
    made, held = applied(changes)[-1]
    assert dict(made.update(more).items()) == {**held, **more} == dict(made.update(Map(more)).items())
    changed = made.mutate()
    for key in held:
        assert changed.pop(key) == held[key]
    assert (changed.pop("gone", 7), len(changed)) == (7, 0)
    changed.update(more)
    changed["last"] = 1
    assert dict(changed.finish().items()) == {**more, "last": 1}
    assert dict(made.items()) == held


@given(CHANGES, KEYS)
def test_what_changes_nothing_is_the_same_map(changes: list[tuple[str, object, int]], key: object) -> None:
    """Whoever compares states asks first whether they are one."""
    value = object()
    made = Map(applied(changes)[-1][1]).set(key, value)  # type: ignore[arg-type]
    assert made.set(key, value) is made
    assert made.update({key: value}) is made


def test_names_copies_and_words() -> None:
    assert dict(Map({"a": 1}, b=2).items()) == {"a": 1, "b": 2}
    made = Map({1: "one"})
    assert repr(made) == "Map({1: 'one'})"
    assert pickle.loads(pickle.dumps(made)) == copy.copy(made) == made


def test_that_of_immutables_is_taken_where_there_is_one() -> None:
    assert Chosen.__module__.startswith("immutables")


WITHOUT = """\
import sys
sys.modules["immutables"] = None
from analyzers.maps import Map
assert Map.__module__ == "analyzers.maps.trie"
from autograd_lsp.cli import main
sys.exit(main(sys.argv[1:]))
"""


def test_without_immutables_a_check_finds_the_same() -> None:
    arguments = ["check", "--no-cache", "--jobs", "1", "--format", "json", "examples"]
    with_it, without = (
        subprocess.run(
            [sys.executable, *start, *arguments], cwd=REPOSITORY, capture_output=True, text=True, check=False
        )
        for start in (["-m", "autograd_lsp"], ["-c", WITHOUT])
    )
    assert without.stderr == ""
    assert (without.returncode, without.stdout) == (1, with_it.stdout)
