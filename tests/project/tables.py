"""Tables of the pages that are written by `python -m tests.project.tables`, from what the server and its tests say."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tests.editors import served
from tests.project import settings

DOCS = Path(__file__).resolve().parents[2] / "docs"
TABLES: dict[str, Callable[[], str]] = {"editors.md": served.table, "configuration.md": settings.table}
START, END = "<!-- written by `make update` -->\n", "<!-- end of what is written -->\n"


def parts(page: str) -> tuple[str, str, str]:
    """What stands before the table, the table, and what stands behind it."""
    before, _, rest = page.partition(START)
    found, _, after = rest.partition(END)
    return before, found, after


def write() -> None:
    for name, table in TABLES.items():
        before, _, after = parts((DOCS / name).read_text(encoding="utf-8"))
        (DOCS / name).write_text(f"{before}{START}{table()}{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    write()
