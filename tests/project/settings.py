"""The settings as a table: the manifest of the VS Code client has them all, those of the server among them."""

from __future__ import annotations

import json
import re
from dataclasses import fields
from pathlib import Path
from typing import Any

from autograd_lsp.config.display import KEYS as DISPLAYED
from autograd_lsp.config.display import Display
from autograd_lsp.config.layer import KEYS as CONFIGURED

REPOSITORY = Path(__file__).resolve().parents[2]
MANIFEST: dict[str, Any] = json.loads((REPOSITORY / "vscode-client" / "package.json").read_text(encoding="utf-8"))
SETTINGS: dict[str, dict[str, Any]] = MANIFEST["contributes"]["configuration"]["properties"]
SCOPES = {"machine-overridable": "machine", "window": "workspace"}


def of_the_server() -> dict[str, object]:
    """Each with what it is where the user says nothing."""
    camel = {re.sub(r"-(\w)", lambda found: found[1].upper(), key): None for key in CONFIGURED}
    defaults = {field.name: field.default for field in fields(Display)}
    shown = {".".join(key): defaults[name] for key, (name, _) in DISPLAYED.items()}
    return {f"autograd-lsp.{key}": value for key, value in {**camel, **shown}.items()}


def description(setting: dict[str, Any]) -> str:
    # A link to another setting works in the settings editor only.
    return re.sub(r"`#([\w.-]+)#`", r"`\1`", setting["markdownDescription"])


def table() -> str:
    rows = [["setting", "default", "scope", "editors", ""], ["---"] * 5]
    server = of_the_server()
    for name, setting in SETTINGS.items():
        scope, editors = SCOPES[setting.get("scope", "window")], "all" if name in server else "VS Code"
        rows.append([f"`{name}`", f"`{json.dumps(setting['default'])}`", scope, editors, description(setting)])
    return "".join("| " + " | ".join(row) + " |\n" for row in rows)
