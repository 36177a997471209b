"""What `make quick` runs is there."""

from __future__ import annotations

from tests.mdtest import test_mdtest
from tests.project.test_imports import REPOSITORY
from tests.quick import NOT_WITHOUT_TORCH, PATHS


def test_the_quick_tests_are_there() -> None:
    assert all((REPOSITORY / path).exists() for path in PATHS)
    assert all(hasattr(test_mdtest, name.split("::")[1]) for name in NOT_WITHOUT_TORCH)
