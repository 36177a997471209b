"""docs/fixing.md: its commands, run one after the other on its program, print what the page shows."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

from tests.cli.command import BROKEN, REPOSITORY, run

PAGE = (REPOSITORY / "docs" / "fixing.md").read_text(encoding="utf-8")


def blocks(kind: str) -> list[str]:
    return re.findall(rf"```{kind}\n([\s\S]*?)```", PAGE)


def test_the_commands_print_what_is_shown(tmp_path: Path) -> None:
    assert blocks("python") == [BROKEN]
    (tmp_path / "train.py").write_text(BROKEN)
    ran = 0
    for block in blocks("console"):
        for command, shown in re.findall(r"^\$ autograd-lsp (.*)\n((?:(?!\$ ).*\n)*)", block, re.MULTILINE):
            words, _, redirected = command.partition(" < ")
            stdin = (tmp_path / redirected).read_bytes() if redirected else b""
            done = run(*shlex.split(words), cwd=tmp_path, stdin=stdin)
            assert done.stdout + done.stderr == shown, command
            ran += 1
    assert ran == PAGE.count("$ autograd-lsp")


def test_the_entry_shown_is_the_entry(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(BROKEN)
    run("check", "--write-baseline", "known.json", cwd=tmp_path)
    [shown] = blocks("json")
    assert shown in (tmp_path / "known.json").read_text()
    assert json.loads(shown)
