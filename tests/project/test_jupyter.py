"""jupyter-lsp finds the server by an entry point, and is told what it asks of a server, version 2."""

from __future__ import annotations

import subprocess
import sys

from jsonschema import Draft7Validator

from autograd_lsp.jupyter import language_servers
from tests.cli.command import REPOSITORY

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

WORDS = {"type": "array", "items": {"type": "string"}, "minItems": 1, "uniqueItems": True}
TEXTS = {"type": "object", "additionalProperties": {"type": "string"}}
SERVER = {
    "type": "object",
    "required": ["argv", "languages", "version"],
    "properties": {
        "argv": {"type": "array", "items": {"type": "string"}},
        "version": {"enum": [2]},
        "languages": WORDS,
        "mime_types": WORDS,
        "display_name": {"type": "string"},
        "urls": TEXTS,
        "requires_documents_on_disk": {"type": "boolean"},
    },
    # jupyter-lsp lets other keys pass; a slip is found here.
    "additionalProperties": False,
}


def test_the_entry_point_leads_to_what_jupyter_lsp_asks_for() -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    maker = f"{language_servers.__module__}:{language_servers.__name__}"
    assert list(project["entry-points"]["jupyter_lsp_spec_v1"].values()) == [maker]
    assert not list(
        Draft7Validator({"type": "object", "additionalProperties": SERVER}).iter_errors(language_servers(None))
    )


def test_the_server_of_another_is_before_ours_in_the_alphabet() -> None:
    """Of two with the same rank JupyterLab asks the first."""
    [ours] = language_servers(None)
    assert all(
        other < ours for other in ("basedpyright", "jedi-language-server", "pylsp", "pyls", "pyrefly", "pyright")
    )


def test_its_command_starts_a_server() -> None:
    [server] = language_servers(None).values()
    done = subprocess.run([*server["argv"], "--help"], cwd=REPOSITORY, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("usage: autograd-lsp server")


def test_jupyter_does_not_pay_for_the_analysis() -> None:
    program = "import sys, autograd_lsp.jupyter; print([name for name in sys.modules if 'analyzers' in name])"
    done = subprocess.run([sys.executable, "-c", program], cwd=REPOSITORY, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
