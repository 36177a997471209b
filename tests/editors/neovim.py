"""A headless Neovim that starts up as a user's does, and runs a test's script inside."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.editors.home import Home
from tests.editors.inside import run_inside
from tests.editors.installs import Program

DRIVER = Path(__file__).with_suffix(".lua")


def run(program: Program, home: Home, init: str, script: str) -> Any:
    """What the Lua `script` returns, under the user's configuration `init`; `neovim.lua` has the words for scripts."""
    home.write(".config/nvim/init.lua", init)
    arguments = ("--headless", "-i", "NONE", "-n", "-c", f"luafile {DRIVER}")
    return run_inside(program, arguments, home, "script.lua", script)
