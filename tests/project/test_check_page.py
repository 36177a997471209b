"""The pages on reports and on CI: commands are run, recipes name the files that these write, tables say what is so."""

from __future__ import annotations

import json
import re
import shlex
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest
import yaml

from autograd_lsp.config.reporting import FORMATS
from tests.cli.command import BROKEN, REPOSITORY, run

PAGE, CI = ((REPOSITORY / "docs" / name).read_text(encoding="utf-8") for name in ("check.md", "ci.md"))
LINES = [line for block in re.findall(r"```sh\n([\s\S]*?)```", PAGE + CI) for line in block.splitlines()]
SHELL = [line.partition(" #")[0] for line in LINES if not line.startswith(("docker ", "rattler-build "))]
"""Without what builds an image or a package; `test_recipes.py` looks at those."""
RECIPES = [yaml.safe_load(block) for block in re.findall(r"```yaml\n([\s\S]*?)```", CI)]
GROOVY = re.findall(r"sh '(.*)'", CI)


def words(value: Any) -> list[str]:
    """Every string in a recipe."""
    if isinstance(value, dict):
        return [word for item in value.values() for word in words(item)]
    if isinstance(value, list):
        return [word for item in value for word in words(item)]
    return [value] if isinstance(value, str) else []


COMMANDS = [*SHELL, *(word for recipe in RECIPES for word in words(recipe) if word.startswith("autograd-lsp "))]
COMMANDS += GROOVY


@pytest.fixture(autouse=True)
def no_ci(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where these tests run does not matter."""
    monkeypatch.delenv("GITHUB_WORKSPACE", raising=False)
    monkeypatch.delenv("CI_PROJECT_DIR", raising=False)


def test_there_are_commands_and_recipes() -> None:
    assert len(SHELL) == 7 and len(RECIPES) == 4 and len(GROOVY) == 1
    assert (PAGE + CI).count("autograd-lsp check ") >= len(COMMANDS) == 12


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_does_what_is_said(command: str, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(BROKEN)
    program, *arguments = shlex.split(command)
    assert program == "autograd-lsp"
    done = run(*arguments, cwd=tmp_path)
    assert done.returncode == (0 if "never" in arguments else 1), done.stderr
    if "--output-file" in arguments:
        assert done.stdout == ""
        written = (tmp_path / arguments[arguments.index("--output-file") + 1]).read_text(encoding="utf-8")
        assert ET.fromstring(written) if "junit" in arguments else json.loads(written)


def test_a_recipe_hands_on_the_file_that_its_command_writes() -> None:
    for recipe in RECIPES:
        said = words(recipe)
        for target in re.findall(r"--output-file (\S+)", "\n".join(said)):
            assert target in said
    for command in GROOVY:
        assert f"junit '{command.partition('--output-file ')[2].split()[0]}'" in CI


def test_the_table_has_every_format() -> None:
    assert re.findall(r"^\| `(\w+)` \| [^|]+ \| [^|]+ \| [^|]+ \|$", PAGE, re.MULTILINE) == [*FORMATS]
