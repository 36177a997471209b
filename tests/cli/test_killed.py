"""A `check --fix` that is killed damages nothing; `python -m tests.cli.killed` tries more often."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.cli.command import REPOSITORY


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
def test_killed_commands_leave_whole_files() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.cli.killed", "--times", "10", "--seed", "7"],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.endswith("10 killed, 0 wrong\n")
