"""The manual page is current, and roff has nothing to say against it."""

from __future__ import annotations

import shutil
import subprocess
import sys

import pytest

from autograd_lsp.cli import COMMANDS
from tests.project.checkout import REPOSITORY

PAGE = REPOSITORY / "docs" / "autograd-lsp.1"


def test_it_is_not_stale() -> None:
    command = [sys.executable, "tools/generate_man_page.py", "--check"]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_every_command_has_its_part() -> None:
    text = PAGE.read_text(encoding="utf-8")
    parts = text.partition(".SH COMMANDS\n")[2].partition(".SH ")[0].split(".SS ")[1:]
    assert [part.partition("\n")[0] for part in parts] == [*COMMANDS]
    assert "\\fB\\-\\-stdin\\-filename\\fR \\fINAME\\fR\n" in parts[0]


@pytest.mark.skipif(shutil.which("groff") is None, reason="needs groff")
def test_roff_understands_it() -> None:
    done = subprocess.run(["groff", "-man", "-Tascii", "-ww", str(PAGE)], capture_output=True, text=True, check=True)
    assert done.stderr == "" and "explain every traceback" in done.stdout
