"""docs/fixing.md: its program is the one that tests of fixing use, and the entry of a baseline is one."""

from __future__ import annotations

import json
import re
from pathlib import Path

from tests.cli.command import BROKEN, REPOSITORY, run

PAGE = (REPOSITORY / "docs" / "fixing.md").read_text(encoding="utf-8")


def blocks(kind: str) -> list[str]:
    return re.findall(rf"```{kind}\n([\s\S]*?)```", PAGE)


def test_the_entry_shown_is_the_entry(tmp_path: Path) -> None:
    assert blocks("python")[0] == BROKEN
    (tmp_path / "train.py").write_text(BROKEN)
    run("check", "--write-baseline", "known.json", cwd=tmp_path)
    [shown] = blocks("json")
    assert shown in (tmp_path / "known.json").read_text()
    assert json.loads(shown)
