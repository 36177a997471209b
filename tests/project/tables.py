"""Tables and a picture of the pages: `python -m tests.project.tables` writes them from what the server says."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from tests.editors import served
from tests.editors.installs import REPOSITORY
from tests.editors.pages import snippets
from tests.project import settings

DOCS = REPOSITORY / "docs"
PICTURE = DOCS / "pictures" / "editors" / "graph.svg"
TABLES: dict[str, Callable[[], str]] = {"editors.md": served.table, "configuration.md": settings.table}
START, END = "<!-- written by `make update` -->\n", "<!-- end of what is written -->\n"


def parts(page: str) -> tuple[str, str, str]:
    """What stands before the table, the table, and what stands behind it."""
    before, _, rest = page.partition(START)
    found, _, after = rest.partition(END)
    return before, found, after


def picture() -> str:
    """Of the tensor that the last line of the page's program binds."""
    [program] = snippets("VS Code", "python")
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "train.py").write_text(program, encoding="utf-8")
        place = f"train.py:{len(program.splitlines())}"
        command = (sys.executable, "-m", "autograd_lsp", "graph", place, "--format", "svg")
        environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
        return subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, encoding="utf-8", check=True
        ).stdout


def write() -> None:
    PICTURE.parent.mkdir(parents=True, exist_ok=True)
    PICTURE.write_text(picture(), encoding="utf-8")
    for name, table in TABLES.items():
        before, _, after = parts((DOCS / name).read_text(encoding="utf-8"))
        (DOCS / name).write_text(f"{before}{START}{table()}{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    write()
