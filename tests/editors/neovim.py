"""A headless Neovim that starts up as a user's does, and runs a test's script inside."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

from tests.editors.home import Home
from tests.editors.installs import Program

DRIVER = Path(__file__).with_suffix(".lua")
_PATIENCE = 300


def run(program: Program, home: Home, init: str, script: str) -> Any:
    """What the Lua `script` returns, under the user's configuration `init`; `neovim.lua` has the words for scripts."""
    home.write(".config/nvim/init.lua", init)
    answer = home.folder / "answer.json"
    answer.unlink(missing_ok=True)
    variables = {
        "AUTOGRAD_TEST_SCRIPT": str(home.write("script.lua", script)),
        "AUTOGRAD_TEST_ANSWER": str(answer),
    }
    done = subprocess.run(
        [*program.command, "--headless", "-i", "NONE", "-n", "-c", f"luafile {DRIVER}"],
        cwd=home.project,
        env={**home.environment, **program.environment, **variables},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=_PATIENCE,
        check=False,
    )
    assert answer.exists(), done.stderr
    told = json.loads(answer.read_text(encoding="utf-8"))
    assert told["ok"], f"{told.get('answer')}\n{done.stderr}"
    return told.get("answer")
