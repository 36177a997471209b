"""`python -m tests.docs`: writes what the pages show anew, the outputs of commands and torch's messages.

What comes of it is for a person to read before it is committed.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from tests.cli.command import REPOSITORY
from tests.docs.errors import INDEX, PAGES, all_told, as_raised, index, run_all
from tests.docs.pages import DOCS, read
from tests.docs.shown import outcomes


def main() -> None:
    programs = all_told()
    runs = run_all(programs)
    for path, items in programs.items():
        _write(path, as_raised(read(path), items, runs))
    _write(INDEX, index())
    for path in [REPOSITORY / "README.md", *sorted(DOCS.glob("*.md")), *PAGES]:
        with tempfile.TemporaryDirectory() as folder:
            text, problems = outcomes(read(path), Path(folder))
        _write(path, text)
        for problem in problems:
            print(f"{path.name}: {problem}")


def _write(path: Path, text: str) -> None:
    if not path.exists() or read(path) != text:
        path.write_text(text, encoding="utf-8")
        print(f"{path.relative_to(REPOSITORY)} is written anew")


if __name__ == "__main__":
    main()
