"""What is installed runs on the oldest Python that `pyproject.toml` promises: its grammar, and its standard library."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.project.checkout import REPOSITORY

PACKAGES = ("analyzers", "autograd_lsp")
PROJECT = (REPOSITORY / "pyproject.toml").read_text(encoding="utf-8")
[OLDEST] = [(3, int(minor)) for minor in re.findall(r'^requires-python = ">=3\.(\d+)"$', PROJECT, re.MULTILINE)]


def vermin(*paths: Path | str) -> subprocess.CompletedProcess[str]:
    """Exit code 0 where nothing needs a newer Python, unless the line says `# novm`."""
    options = [f"--target=3.{OLDEST[1]}-", "--violations", "--no-tips", "--eval-annotations"]
    command = [sys.executable, "-c", "from vermin import main; main()", *options, *map(str, paths)]
    return subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)


def test_the_tools_are_told_of_the_same_version() -> None:
    said = f"3.{OLDEST[1]}"
    assert f'python_version = "{said}"' in PROJECT
    assert f'target-version = "py{said.replace(".", "")}"' in PROJECT


@pytest.mark.parametrize("package", PACKAGES)
def test_every_file_is_of_its_grammar(package: str) -> None:
    files = sorted((REPOSITORY / package).rglob("*.py"))
    assert files
    for file in files:
        ast.parse(file.read_bytes(), str(file), feature_version=OLDEST)


def test_nothing_newer_is_used() -> None:
    done = vermin(*PACKAGES)
    assert done.returncode == 0, done.stdout + done.stderr


def test_something_newer_would_be_seen(tmp_path: Path) -> None:
    (tmp_path / "newer.py").write_text("import tomllib\n")
    assert "'tomllib' module requires" in vermin(tmp_path).stdout
    with pytest.raises(SyntaxError):
        ast.parse("try: pass\nexcept* ValueError: pass\n", feature_version=OLDEST)
