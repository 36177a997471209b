"""What stands for what in two ways of entering a call."""

from __future__ import annotations

import pytest

from analyzers.domain.looking import Looking
from analyzers.domain.matchers import MATCHERS
from analyzers.domain.objects import Tensor
from analyzers.domain.renamers import RENAMERS
from analyzers.domain.renaming import Mismatch, Renaming
from analyzers.domain.state import BLOCK_BITS

OTHER, OWN = 1 << BLOCK_BITS, 2 << BLOCK_BITS


def matches(one: Tensor, other: Tensor) -> bool:
    matcher = Looking(OWN, MATCHERS, RENAMERS).matcher(one)
    assert matcher is not None
    try:
        matcher.match(Renaming(OWN, 0, 0, 0, 0, 0), other)
    except Mismatch:
        return False
    return True


@pytest.mark.parametrize("block", [OTHER, OWN], ids=["of an imported module", "of this run"])
def test_a_tensor_is_matched_in_all_but_names(block: int) -> None:
    one = Tensor(block + 1, block + 2, shape=(2,))
    assert matches(one, one)
    assert not matches(one, Tensor(block + 1, block + 2, shape=(3,)))


def test_names_differ_within_a_run_alone() -> None:
    assert matches(Tensor(OWN + 1, OWN + 2), Tensor(OWN + 3, OWN + 4))
    assert not matches(Tensor(OTHER + 1, OTHER + 2), Tensor(OTHER + 3, OTHER + 4))
