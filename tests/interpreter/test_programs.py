"""The rooms that run Python, alone in a process of their own, against CPython: what do a program's names hold?"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from types import FunctionType, MethodType
from typing import Any

import pytest

from tests.interpreter.programs import PROGRAMS, UNSEEN

REPOSITORY = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def alone() -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-m", "tests.interpreter.by_machine"],
        capture_output=True,
        text=True,
        check=False,
        cwd=REPOSITORY,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_only_these_rooms_were_there(alone: dict[str, Any]) -> None:
    assert alone["rooms"] == ["core", "interpreter", "objects"]


@pytest.mark.parametrize("name", PROGRAMS)
def test_cpython_ends_the_same(name: str, alone: dict[str, Any]) -> None:
    ours, theirs = alone["endings"][name], json.loads(json.dumps(ending(PROGRAMS[name])))
    if name in UNSEEN:
        assert theirs["raised"] and not ours["raised"]
        assert theirs["names"] == {held: ours["names"][held] for held in theirs["names"]}
    else:
        assert ours == theirs


def ending(text: str) -> dict[str, object]:
    held: dict[str, object] = {"__name__": "__main__"}
    raised = None
    try:
        exec(compile(text, "program.py", "exec"), held)
    except Exception as caught:
        raised = type(caught).__name__
    found = {name: spelled(value) for name, value in sorted(held.items()) if not name.startswith("_")}
    return {"names": found, "raised": raised}


def spelled(value: Any) -> object:
    match value:
        case complex() | bytes():
            return repr(value)
        case None | bool() | int() | float() | str():
            return [type(value).__name__, value]
        case tuple():
            return ["tuple", [spelled(item) for item in value]]
        case list():
            return ["list", [spelled(item) for item in value]]
        case set() | frozenset():
            return ["set", sorted((spelled(item) for item in value), key=repr)]
        case dict():
            return ["dict", [[spelled(key), spelled(item)] for key, item in value.items()]]
        case type() | FunctionType() | MethodType():
            return "callable"
    return ["object", {name: spelled(held) for name, held in sorted(vars(value).items())}]
