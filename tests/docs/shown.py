"""Runs the commands of a page in a folder of their own, and holds what they print against what the page shows."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

from tests.cli.command import BROKEN, REPOSITORY
from tests.docs.pages import Command, commands

NOT_RUN = {
    "make demo": "installs the package, over the network",
    "make dist": "builds for minutes, with npm and a C compiler",
    "make test": "runs all tests, and these among them",
    "pip install": "installs, over the network; tests/project/test_wheel.py installs the package without",
    "python3 -m venv": "makes an environment for what is not installed",
    "~/.venvs/autograd/bin/pip install": "installs, over the network",
    "python -m tests.corpus.peers": "takes minutes, and needs tools that are not the tests'",
    "flake8 ": "needs the plugin installed, as tests/cli/test_flake8.py has it",
    "docker ": "needs a container engine, and an image from the network",
    "rattler-build ": "needs conda's channels",
    "code ": "needs VS Code; `make test-editors` tries the extension in its workbench",
}
"""Commands by how they begin, and why they cannot run in a test."""

LONG = "\n" * 37 + BROKEN
"""`train.py` for pages without a program: some ask about its line 42."""

TRACEBACK = f"""\
Traceback (most recent call last):
  File "{{path}}", line 42, in <module>
    {BROKEN.splitlines()[4]}
RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation: \
[torch.FloatTensor [3]], which is output 0 of Exp, is at version 1; expected version 0 instead.
"""


def reason(command: str) -> str | None:
    """Why a command is not run, or None for one that is."""
    return next((why for start, why in NOT_RUN.items() if command.startswith(start)), None)


def furnish(folder: Path, page: str) -> Path:
    """What the commands of a page take for granted, and nothing else; `autograd-lsp` and `python` are on the path."""
    work = folder / "work"
    work.mkdir()
    if "examples/" in page:
        shutil.copytree(REPOSITORY / "examples", work / "examples")
    for name in ("train.py", "src/train.py"):
        if name.partition("train")[0] in page:
            (work / name).parent.mkdir(exist_ok=True)
            (work / name).write_text(LONG, encoding="utf-8")
    for name in ("crash.log", "run.log"):
        if name in page:
            (work / name).write_text(TRACEBACK.format(path=work / "train.py"), encoding="utf-8")
    programs = folder / "bin"
    programs.mkdir()
    for name, words in (("autograd-lsp", "-m autograd_lsp"), ("python", "")):
        program = programs / name
        program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} {words} "$@"\n', encoding="utf-8")
        program.chmod(0o755)
    return work


def run(command: str, work: Path) -> subprocess.CompletedProcess[str]:
    """By a shell, in a home of its own, with nothing to read and no terminal."""
    home = work.parent / "home"
    home.mkdir(exist_ok=True)
    drop = {"GITHUB_WORKSPACE", "CI_PROJECT_DIR", "XDG_CACHE_HOME", "FORCE_COLOR", "NO_COLOR"}
    environment = {name: value for name, value in os.environ.items() if name not in drop}
    environment |= {
        "HOME": str(home),
        "PATH": f"{work.parent / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(REPOSITORY),
        "PYTHONIOENCODING": "utf-8",
    }
    return subprocess.run(
        ["bash", "-o", "pipefail", "-c", command],
        cwd=work,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )


def outcomes(page: str, folder: Path) -> tuple[str, list[str]]:
    """The page with each output as it is now, and what went wrong with commands that show none."""
    work = furnish(folder, page)
    lines = page.splitlines(keepends=True)
    problems: list[str] = []
    train: str | None = None
    moved = 0
    for command in commands(page):
        if reason(command.text) is not None:
            continue
        if command.train is not None and command.train != train:
            train = command.train
            (work / "train.py").write_text(train, encoding="utf-8")
        done = run(command.text, work)
        problems += _problems(command, done)
        if not command.silent:
            printed = (done.stdout + done.stderr).splitlines(keepends=True)
            lines[command.first + moved : command.end + moved] = printed
            moved += len(printed) - (command.end - command.first)
    return "".join(lines), problems


def _problems(command: Command, done: subprocess.CompletedProcess[str]) -> list[str]:
    """A command on a page may find something; it must not be refused, and must not break."""
    if done.returncode in (0, 1) and "Traceback" not in done.stderr and "not found" not in done.stderr:
        return []
    return [f"`{command.text}` ends with {done.returncode}:\n{done.stdout}{done.stderr}"]
