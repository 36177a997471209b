"""A script of a test, run inside an editor: a driver has the words for scripts, and writes down what they return."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from typing import Any

from tests.editors.home import Home
from tests.editors.installs import Program

_PATIENCE = 300


def run_inside(program: Program, arguments: Sequence[str], home: Home, name: str, script: str) -> Any:
    """`name` is that of the file that the script is written to."""
    answer = home.folder / "answer.json"
    answer.unlink(missing_ok=True)
    variables = {
        "AUTOGRAD_TEST_SCRIPT": str(home.write(name, script)),
        "AUTOGRAD_TEST_ANSWER": str(answer),
    }
    done = subprocess.run(
        [*program.command, *arguments],
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
