"""`check --watch`: each change of what a check rests on is answered by another one."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Timer

import pytest

from autograd_lsp.cli import watch
from tests.cli.command import BROKEN, FIXED, REPOSITORY, run

MODEL = "def cost(x):\n    return {}\n"
TRAIN = "import torch\nfrom model import cost\nx = torch.ones(3, requires_grad=True)\ncost(x).backward()\n"
CUT, WHOLE = MODEL.format("x.detach().sum()"), MODEL.format("x.sum()")
HEEDING = """
import signal, sys
from autograd_lsp.cli import main
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.exit(main())
"""
"""The command line, heeding interrupts: what a shell has put into the background, and all that it starts, does not."""
CLEAN, ONE = "No findings in {}.\n", "Found 1 error in {}.\n"


@pytest.fixture
def watched(tmp_path: Path) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    started: list[subprocess.Popen[str]] = []

    def start(*arguments: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-c", HEEDING, "check", "--watch", *arguments],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
            stdout=subprocess.PIPE,
            stderr=(tmp_path / "errors").open("w"),
            text=True,
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.wait()


def put(path: Path, text: str) -> None:
    """At once, as otherwise the empty file might be seen, too."""
    path.with_suffix(".new").write_text(text)
    path.with_suffix(".new").replace(path)


def summary(process: subprocess.Popen[str]) -> str:
    """The last line of the next report; nothing if there is none for long."""
    assert process.stdout is not None
    patience = Timer(120, process.kill)
    patience.start()
    try:
        return next((line for line in process.stdout if line.startswith(("Found ", "No findings "))), "")
    finally:
        patience.cancel()


def test_an_imported_file_and_the_configuration_count(
    tmp_path: Path, watched: Callable[..., subprocess.Popen[str]]
) -> None:
    put(tmp_path / "train.py", TRAIN)
    process = watched("train.py")
    assert summary(process) == CLEAN.format("1 file")
    # There was no such file, and it was looked for.
    put(tmp_path / "model.py", CUT)
    assert summary(process) == ONE.format("1 file")
    put(tmp_path / "autograd-lsp.toml", 'ignore = ["AG101"]')
    assert summary(process) == CLEAN.format("1 file")
    put(tmp_path / "autograd-lsp.toml", "ignore = 3")
    (tmp_path / "autograd-lsp.toml").unlink()
    assert summary(process) == ONE.format("1 file")
    put(tmp_path / "model.py", WHOLE)
    assert summary(process) == CLEAN.format("1 file")
    process.send_signal(signal.SIGINT)
    assert process.wait() == 130


def test_files_come_and_go(tmp_path: Path, watched: Callable[..., subprocess.Popen[str]]) -> None:
    put(tmp_path / "train.py", FIXED)
    process = watched()
    assert summary(process) == CLEAN.format("1 file")
    (tmp_path / "sub").mkdir()
    put(tmp_path / "sub" / "more.py", BROKEN)
    assert summary(process) == ONE.format("1 file")
    (tmp_path / "sub" / "more.py").unlink()
    assert summary(process) == CLEAN.format("1 file")


@pytest.mark.parametrize("arguments", [("--fix",), ("--diff",), ("--write-baseline", "known.json"), ("-",)])
def test_what_cannot_be_watched_is_refused(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    assert run("check", "--watch", *arguments, cwd=tmp_path).returncode == 2


def test_what_changes_during_the_check_is_checked_again(tmp_path: Path) -> None:
    """Also an import that nobody knew of before."""
    (tmp_path / "asked.py").write_text("")
    rounds: list[str] = []

    def check() -> list[str]:
        rounds.append((tmp_path / "asked.py").read_text())
        if len(rounds) == 1:
            (tmp_path / "import.py").write_text("")
        elif len(rounds) == 2:
            (tmp_path / "asked.py").write_text("changed")
        elif len(rounds) == 3:
            raise KeyboardInterrupt
        return [str(tmp_path / "import.py")]

    with pytest.raises(KeyboardInterrupt):
        watch.watch(lambda: [str(tmp_path / "asked.py")], check)
    assert rounds == ["", "", "changed"]
