"""A stretch of code does not parse.

What does not parse is left out of the analysis, together with the lines that belong to it: a broken `def` takes its
body along. The rest of the file is analysed, but what the broken lines would have defined is unknown there. Without
this warning, a file that Python cannot even load would look like one without faults.

## Reported
```text
def forward(self, x:
    return self.layer(x)
```
Each broken stretch is reported once, at its first line.

## Not reported
Syntax that is newer than the Python that runs the tool, such as `def first[T](items: list[T]) -> T:`; and what Python
reads though the grammar of the tool does not. Such a line is not analysed either.
```python
head, *rest = (1, 2), *[3]
```

If another tool already tells you about syntax errors, switch this rule off:

```toml
[tool.autograd-lsp]
ignore = ["syntax-error"]
```
"""

from __future__ import annotations

import ast
import re
import textwrap
import warnings
from collections.abc import Iterable, Iterator

from analyzers.drafting.base import Rule
from analyzers.report import Finding, Place

RULE = Rule("AG005", "syntax-error", "A stretch of code does not parse", None, __doc__ or "")

_NOTHING = re.compile(rb"(?:\s|\\|#[^\n]*)*\Z")
_LINE = re.compile(rb"[^\r\n]*[^\s]")


def findings(path: str, text: bytes, holes: Iterable[tuple[int, int]]) -> Iterator[Finding]:
    """One for each stretch of `text` that is left out; `holes` are byte offsets, in any order."""
    for start, end in _stretches(text, [hole for hole in sorted(holes) if not _python_reads(text, *hole)]):
        line = _LINE.match(text, start, end)
        lines = text.count(b"\n", start, end) + 1
        what = "this line is" if lines == 1 else f"these {lines} lines are"
        yield Finding(
            RULE.code,
            RULE.name,
            "warning",
            f"this does not parse: {what} not analysed",
            Place(path, start, end if line is None else line.end()),
        )


def _python_reads(text: bytes, start: int, end: int) -> bool:
    """Whether statements that the grammar does not know are right all the same."""
    first = text.rfind(b"\n", 0, start) + 1
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(textwrap.dedent(text[first:end].decode()))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _stretches(text: bytes, holes: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Holes with nothing but blanks and comments between them are one."""
    last: tuple[int, int] | None = None
    for start, end in holes:
        if last is not None and _NOTHING.match(text, last[1], start):
            last = last[0], max(end, last[1])
            continue
        if last is not None:
            yield last
        last = start, end
    if last is not None:
        yield last
