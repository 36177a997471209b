"""Runs the real command line in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parents[2]

BROKEN = """\
import torch
x = torch.ones(3, requires_grad=True)
y = x.exp()
y.add_(1)
y.sum().backward()
"""
FIXED = BROKEN.replace("y.add_(1)", "y = y.add(1)")


def run(*arguments: str, cwd: Path, stdin: bytes = b"", timeout: float = 120) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY), "PYTHONIOENCODING": "utf-8"}
    done = subprocess.run(
        [sys.executable, "-m", "autograd_lsp", *arguments],
        cwd=cwd,
        env=environment,
        input=stdin,
        capture_output=True,
        timeout=timeout,
        check=False,
    )
    return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())


def check_json(*arguments: str, cwd: Path, stdin: bytes = b"") -> tuple[int, dict[str, Any]]:
    done = run("check", "--format", "json", *arguments, cwd=cwd, stdin=stdin)
    return done.returncode, json.loads(done.stdout)
