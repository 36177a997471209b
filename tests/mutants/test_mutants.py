"""Each operator does what it says, on programs written for it; the rest of the harness on the way."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import pytest

from tests.mutants.label import label
from tests.mutants.mutate import FAULTS, HARMLESS, mutants
from tests.mutants.record import Job
from tests.mutants.score import Script, Torch, judge_script, table

PROGRAMS = sorted((Path(__file__).parent / "programs").glob("*.py"))

RAISES = """
no_grad_loss detach_loss data_loss item_loss numpy_loss detached_argument not_reduced reduction_none no_grad_forward
inference_forward detach_output data_output numpy_output rebuilt_output changed_in_place scaled_in_place frozen_model
frozen_by_loop grad_switched_off requires_grad_dropped leaf_scaled written_parameters backward_twice loss_accumulated
drop_backward drop_data drop_detach parameter_not_leaf
"""
LOSES = """
rewrapped_loss loss_made_to_require detach_hidden no_grad_hidden layer_in_list module_list_plain
partly_frozen model_replaced optimizer_over_part drop_step cleared_before_step step_before_backward
"""
ALTERS = "drop_zero_grad drop_all_zero_grad written_data stepped_before_backward one_term_detached"
GROWS = "losses_kept losses_summed"
NOTHING = "relu_in_place drop_no_grad"
SHOWN = {"raises": RAISES, "loses": LOSES, "alters": ALTERS, "grows": GROWS, "nothing": NOTHING}


@pytest.fixture(scope="module")
def labels() -> dict[str, set[str]]:
    """By operator: the labels of its mutants of all programs."""
    torch = Torch()
    found: dict[str, set[str]] = defaultdict(set)
    for program in PROGRAMS:
        text = program.read_text(encoding="utf-8")
        torch.start(Job(str(program), text))
        original = torch.answer()
        assert original.outcome in {"ended", "stopped"}
        for mutant in mutants(text, most=4):
            torch.start(Job(str(program), mutant.text))
            found[mutant.operator].add(label(original, torch.answer()))
    torch.close()
    return found


def test_every_operator_is_shown(labels: dict[str, set[str]]) -> None:
    assert FAULTS.keys() | HARMLESS.keys() == labels.keys()
    assert FAULTS.keys() == {name for names in SHOWN.values() for name in names.split()}


@pytest.mark.parametrize("expected", SHOWN)
def test_faults_do_harm(labels: dict[str, set[str]], expected: str) -> None:
    missing = {name: labels[name] for name in SHOWN[expected].split() if expected not in labels[name]}
    assert not missing


def test_harmless_changes_change_nothing(labels: dict[str, set[str]]) -> None:
    assert {name: labels[name] for name in HARMLESS if labels[name] != {"nothing"}} == {}


def test_score() -> None:
    """Of a sample, what breaks is found, and the table says so."""
    torch = Torch()
    script = Script(Path(__file__).parent / "programs" / "adversary.py", ())
    verdicts = list(judge_script(torch, script, sample=4, steps=8, seconds=20))
    torch.close()
    assert len(verdicts) == 5
    assert not any(verdict.failed or verdict.false_errors for verdict in verdicts)
    assert all(verdict.found for verdict in verdicts if verdict.label == "raises")
    assert table(verdicts).startswith("scripts 1, mutants 4\n")
