"""The rooms of autograd and operators, alone in a process of their own, against real torch: one scenario, two logs."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.autograd.api import UNKNOWN, Entry
from tests.autograd.by_torch import Torch
from tests.autograd.scenarios import SCENARIOS

REPOSITORY = Path(__file__).resolve().parents[2]

MEANING = {
    "Freed": "second time",
    "Modified": "modified by an inplace operation",
    "NoGraph": "does not require grad and does not have a grad_fn",
    "NonScalar": "grad can be implicitly created only for",
    "LeafWritten": "leaf Variable that requires grad",
    "ViewWritten": "view",
    "IntegerFlag": "can require gradients",
    "FlagOnNonLeaf": "requires_grad flags of leaf variables",
    "NumberWanted": "must be Number",
}
"""What torch says where the machine names a cause."""


@pytest.fixture(scope="session")
def alone() -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-m", "tests.autograd.by_machine"], capture_output=True, text=True, check=True, cwd=REPOSITORY
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_only_these_rooms_were_there(alone: dict[str, Any]) -> None:
    assert alone["rooms"] == ["autograd", "core", "operators"]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", SCENARIOS)
def test_torch_sees_the_same(name: str, alone: dict[str, Any]) -> None:
    by_torch = json.loads(json.dumps(Torch().run(SCENARIOS[name])))
    by_machine = alone["logs"][name]
    assert len(by_torch) == len(by_machine), "one side stopped before the other"
    wrong = [pair for pair in zip(by_torch, by_machine, strict=True) if not _same(*pair)]
    assert not wrong, "\n".join(f"torch:   {theirs}\nmachine: {ours}" for theirs, ours in wrong)


def _same(theirs: Entry, ours: Entry) -> bool:
    if theirs[0] == "attempt" and "passes" not in {theirs[2], ours[2]}:
        (*head, message, _), (*own_head, own_message, cause) = theirs, ours
        return head == own_head and own_message in message and MEANING.get(cause, "") in message
    return _agrees(theirs, ours)


def _agrees(theirs: Any, ours: Any) -> bool:
    """Whether what the machine knows is so."""
    if isinstance(ours, dict):
        return all(_agrees(theirs[key], ours[key]) for key in theirs)
    if isinstance(ours, list) and isinstance(theirs, list):
        return len(ours) == len(theirs) and all(map(_agrees, theirs, ours))
    return bool(ours in (theirs, UNKNOWN))


def test_little_is_unknown(alone: dict[str, Any]) -> None:
    values = [value for log in alone["logs"].values() for entry in log for value in _leaves(entry)]
    assert values.count(UNKNOWN) <= len(values) // 500


def _leaves(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [leaf for held in value.values() for leaf in _leaves(held)]
    return [leaf for held in value for leaf in _leaves(held)] if isinstance(value, list) else [value]
