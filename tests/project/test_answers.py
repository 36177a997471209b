"""`tools/answers.py` tells two analyzers apart, and the analyzer says the same in every process."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tools.answers import differences

REPOSITORY = Path(__file__).resolve().parents[2]


def _answers(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "tools/answers.py", *words]
    return subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)


def test_processes_with_other_hash_seeds_say_the_same() -> None:
    """The program's finding names one of several layers: which one once depended on the order of a hash table."""
    done = _answers("tests/corpus/b/210_growing_layers_optimizer_broken.py", "examples", "--seeds", "4", "--jobs", "1")
    assert done.returncode == 0, done.stdout
    assert done.stdout.count("0 lines differ") == 3


def test_what_was_analyzed_before_changes_no_answer() -> None:
    """Names of leaves once followed the numbers that their objects had, which a program before this one moves."""
    tried = ["081_variance_plus_equals_ok", "205_loss_marked_after_no_grad_fixed"]
    tried += ["230_detached_copy_gets_the_gradient_fixed", "252_lbfgs_closure_with_outer_features_fixed"]
    done = _answers(*(f"tests/corpus/a/{name}.py" for name in tried), "examples", "--last-first", "--jobs", "1")
    assert done.returncode == 0, done.stdout


def test_a_page_is_its_programs_and_words_can_be_left_out(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "# One\n```python\nimport torch\nx = torch.ones(3)\nx.sum().backward()\n```\n"
        "# Two\n```python net.py\nimport torch\nw = torch.ones(3, requires_grad=True)\n```\n"
        "```python main.py\nfrom net import w\ny = w * 2\n```\n"
    )
    said = _answers(str(page)).stdout
    assert "finding Finding(code='AG101'" in said
    assert "name='y', requires_grad=True" in said
    assert "message=" in said
    assert "message=" not in _answers(str(page), "--no-words").stdout


def test_each_line_that_only_one_side_has_counts() -> None:
    assert differences(["a", "b"], ["a", "b"], "other") == 0
    assert differences(["a", "b"], ["a", "c", "d"], "other") == 3
