"""The numbers of iterations, as people count them."""

from __future__ import annotations

from analyzers.domain.lineage import BLURRED, number_of


def test_iterations_are_counted_from_one() -> None:
    assert [number_of(index) for index in range(3)] == [1, 2, 3]


def test_what_stands_for_all_later_iterations_has_the_number_of_the_first() -> None:
    assert number_of(BLURRED + 3) == 4
