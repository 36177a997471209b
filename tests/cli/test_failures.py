"""An internal error is never taken for a clean file, nor for a finding."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.cli.command import BROKEN, REPOSITORY


def check_with(patch: str, *arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    program = (
        f"import sys, analyzers.host as host\n{patch}\nfrom autograd_lsp.cli import main\nsys.exit(main(sys.argv[1:]))"
    )
    return subprocess.run(
        [sys.executable, "-c", program, "check", *arguments],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_file_that_breaks_the_analyzer_leaves_the_others_checked(tmp_path: Path) -> None:
    (tmp_path / "bad.py").write_text("x = 1\n")
    (tmp_path / "train.py").write_text(BROKEN)
    patch = (
        "real = host.Snapshot.findings\n"
        "def findings(self, path):\n"
        "    if path.endswith('bad.py'): raise ValueError('told to fail')\n"
        "    return real(self, path)\n"
        "host.Snapshot.findings = findings"
    )
    done = check_with(patch, "bad.py", "train.py", cwd=tmp_path)
    assert done.returncode == 2
    assert "internal error in bad.py" in done.stderr
    assert "told to fail" in done.stderr
    assert "--> train.py:4:1\n" in done.stdout


def test_a_process_that_dies_is_an_internal_error(tmp_path: Path) -> None:
    for name in ("a.py", "b.py"):
        (tmp_path / name).write_text(BROKEN)
    patch = "import os; host.Snapshot.findings = lambda self, path: os._exit(7)"
    done = check_with(patch, "--jobs", "2", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stdout == ""


def test_a_reader_that_leaves_is_no_error(tmp_path: Path) -> None:
    for number in range(60):
        (tmp_path / f"train_{number}.py").write_text(BROKEN)
    done = subprocess.run(
        f"{sys.executable} -m autograd_lsp check --jobs 1 | head -1",
        shell=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
