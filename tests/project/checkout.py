"""A copy of what a build needs of this repository, as a build leaves folders beside what it builds."""

from __future__ import annotations

import shutil
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]


def copy_to(folder: Path) -> None:
    for package in ("analyzers", "autograd_lsp"):
        shutil.copytree(REPOSITORY / package, folder / package, ignore=shutil.ignore_patterns("__pycache__"))
    for file in ("pyproject.toml", "README.md", "LICENSE", "docs/autograd-lsp.1"):
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(REPOSITORY / file, folder / file)
