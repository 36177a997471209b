"""The VS Code client is of the same version as the server, offers its settings, and its page lists them."""

from __future__ import annotations

import json
import re
from typing import Any

from autograd_lsp import __version__
from tests.project.settings import MANIFEST, REPOSITORY, SETTINGS, description

CLIENT = REPOSITORY / "vscode-client"
COMMANDS = {command["command"]: command["title"] for command in MANIFEST["contributes"]["commands"]}
README = (CLIENT / "README.md").read_text(encoding="utf-8")


def row(name: str, setting: dict[str, Any]) -> str:
    return f"| `{name}` | `{json.dumps(setting['default'])}` | {description(setting)} |"


def test_the_page_lists_the_settings() -> None:
    listed = re.findall(r"^\| `autograd-lsp\..*$", README, re.MULTILINE)
    assert listed == [row(name, setting) for name, setting in SETTINGS.items()]


def test_the_page_and_the_walkthrough_name_commands_that_there_are() -> None:
    assert re.findall(r"^- \*([^*]+)\*", README, re.MULTILINE) == list(COMMANDS.values())
    used = re.findall(r"command:(autograd-lsp\.\w+)", json.dumps(MANIFEST))
    assert used and set(used) <= COMMANDS.keys()


def test_the_versions_are_the_same() -> None:
    lock = json.loads((CLIENT / "package-lock.json").read_text(encoding="utf-8"))
    assert {MANIFEST["version"], lock["version"], lock["packages"][""]["version"]} == {__version__}
