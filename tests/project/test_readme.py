"""The pages that a reader meets first say what is so: commands, targets, paths and links."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from autograd_lsp.cli import build_parser

REPOSITORY = Path(__file__).resolve().parents[2]
PAGES = [
    *(REPOSITORY / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "examples/README.md")),
    *(REPOSITORY / "docs").glob("*.md"),
]
README = PAGES[0].read_text(encoding="utf-8")


def test_the_commands_named_exist() -> None:
    usage = build_parser().format_help()
    named = set(re.findall(r"^autograd-lsp (\w+)", README, re.MULTILINE))
    assert named == set(re.findall(r"^    (\w+)(?:  |$)", usage, re.MULTILINE)) - {"COMMAND"}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text(encoding="utf-8")):
        assert target.startswith("https://") or (page.parent / target).exists(), target


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_paths_in_code_marks_exist(page: Path) -> None:
    pattern = r"`((?:analyzers|autograd_lsp|tests|tools|docs|editors|examples)/[\w./-]*)`"
    for path in re.findall(pattern, page.read_text(encoding="utf-8")):
        assert (REPOSITORY / path).exists(), path


def test_make_knows_what_is_promised() -> None:
    for target in re.findall(r"^make (\w+)", README, re.MULTILINE):
        subprocess.run(["make", "--dry-run", target], cwd=REPOSITORY, check=True, capture_output=True)
