"""A user's home for one test: a project, and `autograd-lsp` on PATH and in a virtual environment."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.editors.installs import REPOSITORY


@dataclass(frozen=True)
class Home:
    """`folder` is HOME; `project` is where the programs lie."""

    folder: Path

    @property
    def project(self) -> Path:
        return self.folder / "project"

    @property
    def environment(self) -> dict[str, str]:
        variables = {name: value for name, value in os.environ.items() if not name.startswith(("XDG_", "NVIM", "VIM"))}
        variables |= {
            "HOME": str(self.folder),
            "XDG_CONFIG_HOME": str(self.folder / ".config"),
            "XDG_DATA_HOME": str(self.folder / ".local/share"),
            "XDG_STATE_HOME": str(self.folder / ".local/state"),
            "XDG_CACHE_HOME": str(self.folder / ".cache"),
            "XDG_RUNTIME_DIR": str(self.folder / ".run"),
            "PATH": os.pathsep.join([str(self.folder / "bin"), os.environ.get("PATH", "")]),
            "LC_ALL": "C.UTF-8",
        }
        return variables

    def write(self, name: str, text: str) -> Path:
        """`name` is relative to HOME."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path


def make_home(folder: Path, programs: Mapping[str, str]) -> Home:
    """`programs`: the files of the project by name."""
    home = Home(folder)
    server = f"PYTHONPATH={shlex.quote(str(REPOSITORY))} exec {shlex.quote(sys.executable)} -m autograd_lsp"
    for place in ("bin/autograd-lsp", ".venvs/autograd/bin/autograd-lsp"):
        home.write(place, f'#!/bin/sh\n{server} "$@"\n').chmod(0o755)
    home.write("project/pyproject.toml", "")
    for name, text in programs.items():
        home.write(f"project/{name}", text)
    source = folder / "src" / "autograd-lsp"
    source.parent.mkdir()
    source.symlink_to(REPOSITORY)
    (folder / ".run").mkdir(mode=0o700)
    return home
