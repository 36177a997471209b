"""What docs/ARCHITECTURE.md and CONTRIBUTING.md say of files and functions is so."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

import pytest

from analyzers.host import Host

REPOSITORY = Path(__file__).resolve().parents[2]
PAGE = (REPOSITORY / "docs" / "ARCHITECTURE.md").read_text(encoding="utf-8")

CONTRIBUTING = (REPOSITORY / "CONTRIBUTING.md").read_text(encoding="utf-8")

_PATH = re.compile(r"`((?:analyzers|autograd_lsp|tests|tools|docs)/[\w./*-]*)`")
_STEP = re.compile(r"`([\w./]+\.py)::(\w+)`")
_PROGRAM = re.compile(r"```python\n(.*?)```", re.DOTALL)


def section(title: str) -> str:
    return PAGE.split(f"\n## {title}\n")[1].split("\n## ")[0]


@pytest.mark.parametrize("path", sorted(set(_PATH.findall(PAGE + CONTRIBUTING))))
def test_each_path_exists(path: str) -> None:
    assert list(REPOSITORY.glob(path.rstrip("/"))), path


@pytest.mark.parametrize(("path", "function"), sorted(set(_STEP.findall(PAGE))))
def test_each_function_is_where_the_page_says(path: str, function: str) -> None:
    tree = ast.parse((REPOSITORY / path).read_bytes())
    assert function in {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


def calls_during(text: str) -> Iterator[tuple[str, str]]:
    """The analyzer's functions that are called on the way to the findings of a program, in order."""
    called: list[tuple[str, str]] = []

    def see(frame: FrameType, event: str, _: object) -> None:
        at = Path(frame.f_code.co_filename)
        if event == "call" and at.is_relative_to(REPOSITORY):
            called.append((at.relative_to(REPOSITORY).as_posix(), frame.f_code.co_name))

    host = Host()
    host.set_text("/program.py", text)
    sys.setprofile(see)
    try:
        host.snapshot().findings("/program.py")
    finally:
        sys.setprofile(None)
    yield from called


def test_one_tensor_goes_the_way_that_the_page_tells() -> None:
    """Each step is called after the one before it."""
    told = section("The way of one tensor")
    program = _PROGRAM.search(told)
    assert program is not None
    calls = calls_during(program[1])
    for step in _STEP.findall(told):
        assert any(call == step for call in calls), f"{'::'.join(step)} is not called after the step before it"


def test_one_keystroke_comes_by_the_functions_that_the_page_names() -> None:
    steps = {step for step in _STEP.findall(section("The way of one keystroke")) if step[1] != "set_text"}
    called = {*calls_during("import torch\n\n\ndef train(w):\n    (w * 2).sum().backward()\n")}
    assert steps <= called
