"""Programs of several files in one Markdown page: a heading is a program, a fence is a file, and names it.

The comments are those of snippets (`tests/mdtest/expect.py`), and before them on the line may stand

- `# trace: [rule]`: a step of that finding's trace lies here,
- `# edited: [rule]`: the best fix of that finding edits this line, no other than those so marked.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from tests.mdtest.expect import Expected, expectations
from tests.support.analyzer import Line

_FENCE = re.compile(r"^```python (?P<file>\S+)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
_MARK = re.compile(r"# (?P<kind>trace|edited): (?P<rule>\[[\w-]+\])[ \t]*")


@dataclass(frozen=True, slots=True)
class PackageProgram:
    """`files` are texts by path; the entry is `main.py`."""

    heading: str
    files: dict[str, str]

    @property
    def expected(self) -> dict[str, Expected]:
        """What the comments of each file say."""
        return {file: expectations(_MARK.sub("", text)) for file, text in self.files.items()}

    def marked(self, kind: str) -> dict[str, set[Line]]:
        """The lines marked as `trace` or `edited`, by rule."""
        found: dict[str, set[Line]] = {}
        for file, text in self.files.items():
            for number, line in enumerate(text.splitlines(), 1):
                for mark in _MARK.finditer(line):
                    if mark["kind"] == kind:
                        found.setdefault(mark["rule"].strip("[]"), set()).add(Line(file, number))
        return found

    def write(self, folder: Path) -> Path:
        """The folder, with the program in it."""
        for file, text in self.files.items():
            path = folder / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return folder


def programs_in(page: Path) -> list[PackageProgram]:
    parts = re.split(r"^# (?=[^\n]*\n\n)", page.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    return [
        PackageProgram(part.partition("\n")[0], {fence["file"]: fence["text"] for fence in _FENCE.finditer(part)})
        for part in parts
    ]
