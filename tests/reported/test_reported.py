"""The list of reported crashes can be read, and what is counted of other tools is what `peers` says."""

from __future__ import annotations

import pytest

from tests.corpus.peers import Found
from tests.reported.peers import Count, Crash, add, places, reported


def test_each_fault_has_a_place() -> None:
    crashes = list(reported())
    assert len({crash.repository for crash in crashes}) == len(crashes)
    assert all(crash.fault and len(crash.commit) == 40 for crash in crashes)


def test_places_name_the_file_once() -> None:
    assert places("a.py:1,2;b/c.py:3") == {("a.py", 1), ("a.py", 2), ("b/c.py", 3)}
    assert places("-") == frozenset()


CRASH = Crash("somebody/something", "0" * 40, "a.py", frozenset({("a.py", 2)}), frozenset({("a.py", 4)}), frozenset())


@pytest.mark.parametrize(("line", "on_the_line"), [(2, 1), (4, 1), (3, 0)])
def test_a_finding_counts_on_a_line_of_the_fault_or_of_the_crash(line: int, on_the_line: int) -> None:
    result = Count()
    add(result, CRASH, [Found("a.py", line, "R1"), Found("b.py", 2, "R2")], {"a.py": 10})
    assert result.on_the_line == on_the_line
    assert list(result.rules) == ["R1"] * on_the_line


def test_by_chance_is_certain_where_each_line_has_a_finding() -> None:
    some, all_of_them = Count(), Count()
    add(some, CRASH, [Found("a.py", 1, "R1")], {"a.py": 10})
    add(all_of_them, CRASH, [Found("a.py", line, "R1") for line in range(1, 11)], {"a.py": 10})
    assert some.by_chance == pytest.approx(1 - 0.9**2)
    assert all_of_them.by_chance == pytest.approx(1)
