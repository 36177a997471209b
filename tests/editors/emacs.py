"""Emacs in batch mode, with a user's configuration of eglot, that runs a test's script inside."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.editors.home import Home
from tests.editors.inside import run_inside
from tests.editors.installs import Program

DRIVER = Path(__file__).with_suffix(".el")


def run(program: Program, home: Home, init: str, script: str) -> Any:
    """What the one Lisp form in `script` comes to; `emacs.el` has the words for scripts."""
    configuration = home.write(".emacs.d/init.el", init)
    arguments = ("-Q", "--batch", "-l", str(configuration), "-l", str(DRIVER))
    return run_inside(program, arguments, home, "script.el", script)
