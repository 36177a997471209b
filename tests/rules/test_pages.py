"""Every rule is a file, a name, a code and a page, and they agree."""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

from analyzers.drafting.base import Rule
from analyzers.rules import RULES
from autograd_lsp.text.urls import rule_page

REPOSITORY = Path(__file__).resolve().parents[2]
RULE_FILES = REPOSITORY / "analyzers" / "rules"

every_rule = pytest.mark.parametrize("rule", RULES, ids=[rule.name for rule in RULES])


def test_the_pages_are_as_generated() -> None:
    command = [sys.executable, "tools/generate_rule_pages.py", "--check"]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_codes_and_names_are_unique() -> None:
    assert len({rule.code for rule in RULES}) == len({rule.name for rule in RULES}) == len(RULES)


@every_rule
def test_a_rule_is_called_as_its_file(rule: Rule) -> None:
    [file] = RULE_FILES.rglob(f"{rule.name.replace('-', '_')}.py")
    module = importlib.import_module(".".join(file.relative_to(REPOSITORY).with_suffix("").parts))
    assert module.RULE is rule
    assert rule.doc == module.__doc__


def test_a_folder_has_the_rules_of_a_block() -> None:
    blocks: dict[str, set[str]] = {}
    for rule in RULES:
        [file] = RULE_FILES.rglob(f"{rule.name.replace('-', '_')}.py")
        blocks.setdefault(rule.code[:3], set()).add(file.relative_to(RULE_FILES).parts[0])
    assert all(len(folders) == 1 for folders in blocks.values()), blocks
    assert len(set[str]().union(*blocks.values())) == len(blocks), blocks


@every_rule
def test_a_rule_has_its_page_and_its_code(rule: Rule) -> None:
    assert re.fullmatch(r"AG[0-4]\d\d", rule.code)
    assert rule_page(rule.name).endswith(f"/{rule.name}/")
    assert (REPOSITORY / "docs" / "rules" / f"{rule.name}.md").exists()


@every_rule
def test_a_page_shows_what_is_reported_and_what_is_not(rule: Rule) -> None:
    assert rule.summary
    if rule.name in {"file-too-large", "unreadable-file"}:
        return
    fence = "```text" if rule.name == "syntax-error" else "```python"
    assert f"## Reported\n{fence}" in rule.doc
    assert "## Not reported\n" in rule.doc
