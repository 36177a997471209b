"""The VS Code client is of the same version as the server, offers its settings, and its page lists them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from autograd_lsp import __version__
from autograd_lsp.config.layer import KEYS

REPOSITORY = Path(__file__).resolve().parents[2]
CLIENT = REPOSITORY / "vscode-client"
MANIFEST: dict[str, Any] = json.loads((CLIENT / "package.json").read_text(encoding="utf-8"))
SETTINGS: dict[str, dict[str, Any]] = MANIFEST["contributes"]["configuration"]["properties"]
COMMANDS = {command["command"]: command["title"] for command in MANIFEST["contributes"]["commands"]}
README = (CLIENT / "README.md").read_text(encoding="utf-8")


def row(name: str, setting: dict[str, Any]) -> str:
    # A link to another setting works in the settings editor only.
    description = re.sub(r"`#([\w.-]+)#`", r"`\1`", setting["markdownDescription"])
    return f"| `{name}` | `{json.dumps(setting['default'])}` | {description} |"


def test_the_page_lists_the_settings() -> None:
    listed = re.findall(r"^\| `autograd-lsp\..*$", README, re.MULTILINE)
    assert listed == [row(name, setting) for name, setting in SETTINGS.items()]


def test_the_page_and_the_walkthrough_name_commands_that_there_are() -> None:
    assert re.findall(r"^- \*([^*]+)\*", README, re.MULTILINE) == list(COMMANDS.values())
    used = re.findall(r"command:(autograd-lsp\.\w+)", json.dumps(MANIFEST))
    assert used and set(used) <= COMMANDS.keys()


def test_every_key_of_the_configuration_can_be_set() -> None:
    camel = {re.sub(r"-(\w)", lambda found: found[1].upper(), key) for key in KEYS}
    assert {f"autograd-lsp.{key}" for key in camel} <= SETTINGS.keys()


def test_the_versions_are_the_same() -> None:
    lock = json.loads((CLIENT / "package-lock.json").read_text(encoding="utf-8"))
    assert {MANIFEST["version"], lock["version"], lock["packages"][""]["version"]} == {__version__}
