"""A `check --fix` that is killed damages nothing; `python -m tests.cli.killed` tries more often."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

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


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="asks the kernel for the processes that there are")
def test_no_process_outlives_a_killed_command(tmp_path: Path) -> None:
    for number in range(40):
        (tmp_path / f"m{number}.py").write_text("import torch\n" + "x = torch.ones(3).exp()\n" * 200)
    command = [sys.executable, "-m", "autograd_lsp", "check", "--no-cache", "--jobs", "2"]
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    process = subprocess.Popen(command, cwd=tmp_path, env=environment)
    while len(workers := _children_of(process.pid)) < 2:
        assert process.poll() is None, "the check was over before it was killed"
        time.sleep(0.01)
    process.kill()
    process.wait()
    left = time.monotonic() + 60
    while any(_is_alive(worker) for worker in workers):
        assert time.monotonic() < left, "a worker waits for a command that is no more"
        time.sleep(0.05)


def _children_of(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def _is_alive(pid: int) -> bool:
    """What has ended and waits to be asked how is not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
