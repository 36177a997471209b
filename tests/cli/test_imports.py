"""What the command line imports: nothing of the protocol for `check`, and nothing of the project it is run in."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.command import BROKEN, REPOSITORY, run


def test_check_does_not_pay_for_the_protocol(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(BROKEN)
    program = (
        "import sys; from autograd_lsp.cli import main; code = main(['check', 'train.py'])\n"
        "assert code == 1, code\n"
        "print('heavy:', sorted({'pygls', 'lsprotocol', 'torch', 'asyncio'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    assert done.stdout.endswith("heavy: []\n")


@pytest.mark.parametrize("name", ["analyzers", "rich", "jedi", "argparse", "queue", "immutables", "multiprocessing"])
def test_a_project_with_names_of_ours_is_checked_like_any_other(tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir()
    (tmp_path / name / "__init__.py").write_text("raise SystemExit('the project was imported')")
    (tmp_path / "train.py").write_text(BROKEN)
    done = run("check", "train.py", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (1, "")


def test_neither_are_the_processes_of_several_jobs_misled(tmp_path: Path) -> None:
    (tmp_path / "analyzers.py").write_text("raise SystemExit('the project was imported')")
    for number in range(4):
        (tmp_path / f"train_{number}.py").write_text(BROKEN)
    done = run("check", "--jobs", "2", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (1, "")
    assert "in 4 files" in done.stdout
