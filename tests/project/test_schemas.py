"""The schemas are current, allow what is read, and forbid what is not."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft7Validator

from analyzers.rules import RULES
from autograd_lsp.config import ConfigError, read_layer
from autograd_lsp.config.display import Display, read_display
from autograd_lsp.config.selectors import matching
from tests.cli.command import REPOSITORY
from tests.project.test_vscode_client import SETTINGS

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


def schema(name: str) -> Draft7Validator:
    document = json.loads((REPOSITORY / "schemas" / f"{name}.schema.json").read_text(encoding="utf-8"))
    Draft7Validator.check_schema(document)
    return Draft7Validator(document)


FILES, EDITOR = schema("autograd-lsp"), schema("settings")
PAGE = (REPOSITORY / "docs" / "configuration.md").read_text(encoding="utf-8")


def is_read(table: dict[str, Any], *, strict: bool = True, root: str = "/") -> bool:
    try:
        read_layer(table, "", root, strict=strict)
        read_display(table if not strict else {}, "")
    except ConfigError:
        return False
    return True


def test_they_are_not_stale() -> None:
    command = [sys.executable, "tools/generate_schemas.py", "--check"]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_every_rule_can_be_named_and_nothing_else() -> None:
    listed = FILES.schema["definitions"]["rule"]["enum"]
    assert all(matching(word) for word in listed) and len(set(listed)) == len(listed)
    assert {word for rule in RULES for word in (rule.code, rule.name, rule.code[:3])} <= set(listed)


def test_the_examples_of_the_page_are_valid(tmp_path: Path) -> None:
    examples = [tomllib.loads(block) for block in re.findall(r"```toml\n([\s\S]*?)```", PAGE)]
    tables = [example["tool"]["autograd-lsp"] for example in examples if "tool" in example]
    assert {key for table in tables for key in table} == set(FILES.schema["properties"])
    (tmp_path / ".venv").mkdir()
    for table in tables:
        assert is_read(table, root=str(tmp_path)) and FILES.is_valid(table) and EDITOR.is_valid(table)


@pytest.mark.parametrize(
    "table",
    [
        {},
        {"select": []},
        {"select": ["ALL", "AG1", "AG104", "saved-tensor-modified"]},
        {"exclude": ["a/", "!b.py"]},
        {"per-file-ignores": {"!tests/": ["AG3"]}},
        {"severity": {"AG2": "off", "AG104": "info"}},
        {"python": "~"},
    ],
)
def test_what_is_read_is_valid(table: dict[str, Any]) -> None:
    assert is_read(table) and FILES.is_valid(table) and EDITOR.is_valid(table)


@pytest.mark.parametrize(
    "table",
    [
        {"select": "AG1"},
        {"select": ["AG1", 3]},
        {"ignore": ["AG9"]},
        {"exclude": True},
        {"exclude": [3]},
        {"per-file-ignores": []},
        {"per-file-ignores": {"a.py": "AG1"}},
        {"per-file-ignores": {"a.py": ["A"]}},
        {"severity": {"AG104": "loud"}},
        {"severity": {"AG9": "off"}},
        {"python": 3},
    ],
)
def test_what_is_not_read_is_not_valid(table: dict[str, Any]) -> None:
    assert not is_read(table) and not FILES.is_valid(table)
    assert not is_read(table, strict=False) and not EDITOR.is_valid(table)


def test_a_key_that_there_is_not_is_the_editors_own_and_wrong_in_a_file() -> None:
    assert not is_read({"selct": []}) and not FILES.is_valid({"selct": []})
    assert is_read({"path": "x"}, strict=False) and EDITOR.is_valid({"path": "x"})


def test_an_editor_may_leave_a_setting_null_and_write_it_in_camel_case() -> None:
    nothing: dict[str, Any] = dict.fromkeys(EDITOR.schema["properties"])
    assert is_read(nothing, strict=False) and EDITOR.is_valid(nothing)
    assert EDITOR.is_valid({"perFileIgnores": {"a.py": ["AG1"]}})
    assert not EDITOR.is_valid({"perFileIgnores": ["AG1"]})


@pytest.mark.parametrize("value", [{"shape": 1}, {"shape": "yes"}, True, []])
def test_what_an_editor_shows_is_switched_on_or_off(value: object) -> None:
    assert not is_read({"inlayHints": value}, strict=False) and not EDITOR.is_valid({"inlayHints": value})
    assert EDITOR.is_valid({"inlayHints": {"shape": True, "gradFn": None}, "codeLens": None})


def switches() -> dict[str, bool]:
    """The defaults, by dotted name."""
    groups = {name: part["properties"] for name, part in EDITOR.schema["properties"].items() if "properties" in part}
    inside = {f"{name}.{key}": inner["default"] for name, part in groups.items() for key, inner in part.items()}
    alone = EDITOR.schema["properties"].items()
    return {**inside, **{name: part["default"] for name, part in alone if part["type"] == ["boolean", "null"]}}


def test_the_defaults_are_those_of_the_server_and_the_client() -> None:
    nested: dict[str, Any] = {}
    for name, default in switches().items():
        *groups, key = name.split(".")
        inside = nested
        for group in groups:
            inside = inside.setdefault(group, {})
        inside[key] = default
        assert SETTINGS[f"autograd-lsp.{name}"]["default"] is default
    assert len(switches()) >= 5 and read_display(nested, "") == Display()


def test_the_client_offers_what_the_schema_knows() -> None:
    """Its own settings aside, which no server is told."""
    known = {f"autograd-lsp.{name}" for name in switches()} | {
        f"autograd-lsp.{name}" for name in EDITOR.schema["properties"] if "-" not in name
    }
    offered = {name for name in SETTINGS if name in known}
    assert offered >= {f"autograd-lsp.{name}" for name in (*switches(), "select", "perFileIgnores", "python")}
    for name in offered & {f"autograd-lsp.{key}" for key in EDITOR.schema["properties"].keys() - switches()}:
        types = EDITOR.schema["properties"][name.removeprefix("autograd-lsp.")]["type"]
        assert SETTINGS[name]["type"] == types
