"""The pictures of the page on theory are drawn of its programs, and are as the tool draws them now."""

from __future__ import annotations

import re
import subprocess
import sys

from tests.cli.command import REPOSITORY
from tests.docs.pages import DOCS, blocks, read
from tests.mdtest.expect import without_expectations

PAGE = DOCS / "theory.md"
PICTURES = DOCS / "pictures"


def test_the_pictures_are_as_drawn() -> None:
    command = [sys.executable, "tools/generate_pictures.py", "--check"]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_each_picture_is_on_the_page_and_its_program_too() -> None:
    """But for the claims, and for what comes behind the moment that is drawn."""
    shown = re.findall(r"^!\[[^\]]+\]\(pictures/(\w+)\.svg\)$", read(PAGE), re.MULTILINE)
    assert sorted(shown) == sorted(path.stem for path in PICTURES.glob("*.py"))
    programs = [
        [line for line in without_expectations(block.text).splitlines() if not line.startswith("assert ")]
        for block in blocks(read(PAGE))
        if block.language == "python"
    ]
    for path in PICTURES.glob("*.py"):
        lines = read(path).splitlines()[:-1]
        assert any(program[: len(lines)] == lines for program in programs), path.name


def test_every_program_makes_a_claim() -> None:
    for block in blocks(read(PAGE)):
        assert block.language != "python" or "assert " in block.text or ".backward()" in block.text
