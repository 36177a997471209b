"""The hook for pre-commit: its manifest is valid, and pre-commit hands its files to `check`."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from autograd_lsp.cli import build_parser
from tests.cli.command import BROKEN, FIXED, REPOSITORY

MANIFEST = REPOSITORY / ".pre-commit-hooks.yaml"
NOTEBOOK = json.dumps(
    {
        "cells": [{"cell_type": "code", "metadata": {}, "source": BROKEN, "outputs": [], "execution_count": None}],
        "metadata": {"language_info": {"name": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
)


def run(*command: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    own = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environment = {**own, "PYTHONPATH": str(REPOSITORY), "PRE_COMMIT_HOME": str(cwd / ".home")}
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def hook() -> dict[str, object]:
    [only] = yaml.safe_load(MANIFEST.read_text(encoding="utf-8"))
    assert isinstance(only, dict)
    return only


def test_the_manifest_is_valid(tmp_path: Path) -> None:
    done = run(sys.executable, "-m", "pre_commit", "validate-manifest", str(MANIFEST), cwd=tmp_path)
    assert done.returncode == 0, done.stdout


def test_the_entry_is_a_command_of_ours(hook: dict[str, object]) -> None:
    program, *arguments = shlex.split(str(hook["entry"]))
    assert (hook["id"], hook["language"], program) == ("autograd-lsp", "python", "autograd-lsp")
    assert build_parser().parse_args(arguments).command == "check"


def as_it_lies_here(hook: dict[str, object]) -> dict[str, object]:
    entry = str(hook["entry"]).replace("autograd-lsp", f"{shlex.quote(sys.executable)} -m autograd_lsp", 1)
    return {**hook, "language": "system", "entry": f"{entry} --no-cache"}


def test_it_looks_at_programs_and_notebooks(hook: dict[str, object], tmp_path: Path) -> None:
    """As pre-commit runs it, but with the tool as it lies here in the place of one that it installs."""
    local = {"repo": "local", "hooks": [as_it_lies_here(hook)]}
    (tmp_path / ".pre-commit-config.yaml").write_text(yaml.safe_dump({"repos": [local]}))
    for name, text in {"a.py": BROKEN, "b.ipynb": NOTEBOOK, "c.txt": BROKEN, "d.py": FIXED}.items():
        (tmp_path / name).write_text(text)
    assert run("git", "init", cwd=tmp_path).returncode == 0
    assert run("git", "add", "a.py", "b.ipynb", "c.txt", "d.py", cwd=tmp_path).returncode == 0
    done = run(sys.executable, "-m", "pre_commit", "run", cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    assert "--> a.py:4:1\n" in done.stdout and "--> b.ipynb:cell 1:4:1\n" in done.stdout
    assert "Found 2 errors in 2 files." in done.stdout
    assert run(sys.executable, "-m", "pre_commit", "run", "--files", "c.txt", cwd=tmp_path).returncode == 0


def test_a_fault_shows_where_only_the_imported_module_is_committed(hook: dict[str, object], tmp_path: Path) -> None:
    local = {"repo": "local", "hooks": [as_it_lies_here(hook)]}
    (tmp_path / ".pre-commit-config.yaml").write_text(yaml.safe_dump({"repos": [local]}))
    (tmp_path / "layers.py").write_text("def grow(y):\n    y.add_(1)\n")
    (tmp_path / "train.py").write_text("from layers import grow\n" + BROKEN.replace("y.add_(1)", "grow(y)"))
    assert run("git", "init", cwd=tmp_path).returncode == 0
    assert run("git", "add", "layers.py", cwd=tmp_path).returncode == 0
    done = run(sys.executable, "-m", "pre_commit", "run", cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    assert "--> layers.py:2:5\n" in done.stdout
