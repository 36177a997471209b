"""What the comments of a snippet expect.

- `# error: [rule]`, `# warning: [rule]`, `# info: [rule]`: the analyzer reports this on this line.
- `# raises: RuntimeError "part of the message"`, `# raises when flag=True: …`: torch raises here, and a handler
  may take it.
- `# revealed: requires_grad=True leaf=False version=1 grad_fn=ExpBackward0 shape=(3,?) dtype=float32`, any of these,
  beside `reveal(x)`: what is true of `x`. `?` stands for what the analyzer cannot know, `A|B` for either.

Several may stand on one line, one after the other.
"""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass

from tests.mdtest.snippets import Case

_START = r"#\s*(?=(?:error|warning|info|raises|revealed)\b[^:]*:)"
_REPORT = re.compile(r"(error|warning|info): \[([\w-]+)\]$")
_RAISES = re.compile(r'raises(?: when (?P<when>[^:]+))?: (?P<exception>\w+) "(?P<message>.*)"$')
_REVEALED = re.compile(r"revealed: (.+)$")
_FIELD = re.compile(r"(\w+)=(\([^)]*\)|\S+)")
_FIELDS = {"leaf": "is_leaf", "requires_grad": "requires_grad", "version": "version"}
_FIELDS |= {name: name for name in ("grad_fn", "shape", "dtype")}


@dataclass(frozen=True, slots=True, order=True)
class Report:
    """The analyzer reports `rule` on `line`."""

    line: int
    severity: str
    rule: str

    def __str__(self) -> str:
        return f"{self.severity}: [{self.rule}]"


@dataclass(frozen=True, slots=True)
class Raise:
    """Torch raises on `line`, in the cases that satisfy `when`."""

    line: int
    exception: str
    message: str
    when: Case

    def __str__(self) -> str:
        return f'raises: {self.exception} "{self.message}"'


@dataclass(frozen=True, slots=True)
class Revealed:
    """What the comment beside a `reveal` says, by the field of a fact, as written."""

    line: int
    fields: dict[str, str]


@dataclass(frozen=True, slots=True)
class Expected:
    """All that the comments of one snippet expect."""

    reports: tuple[Report, ...]
    raises: tuple[Raise, ...]
    revealed: tuple[Revealed, ...]


def expectations(text: str) -> Expected:
    """Reads the comments; one that begins like an expectation and is none is a `ValueError`."""
    found = [_parse(line, part) for line, comment in _comments(text) for part in re.split(_START, comment)[1:]]
    return Expected(
        tuple(sorted(item for item in found if isinstance(item, Report))),
        tuple(item for item in found if isinstance(item, Raise)),
        tuple(item for item in found if isinstance(item, Revealed)),
    )


def without_expectations(text: str) -> str:
    """The text as a person would have written it."""
    lines = (re.split(r"\s*" + _START, line, maxsplit=1)[0].rstrip() for line in text.strip().splitlines())
    return "\n".join(lines) + "\n"


def agrees(said: str, value: object) -> bool:
    """Whether a value, concrete or abstract, is what the comment says; `?` in the comment is for the value None."""
    if said == "?":
        return value is None
    if isinstance(value, tuple) and said.startswith("("):
        sizes = [part.strip() for part in said.strip("()").split(",") if part.strip()]
        return len(sizes) == len(value) and all(map(agrees, sizes, value))
    return said in (str(value), str(value).lower())


def allows(said: str, value: object) -> bool:
    """Whether a concrete value is among those that the comment stands for."""
    if isinstance(value, tuple):
        sizes = [part.strip() for part in said.strip("()").split(",") if part.strip()]
        return said == "?" or (len(sizes) == len(value) and all(map(allows, sizes, value)))
    return any(part == "?" or agrees(part, value) for part in said.split("|"))


def _comments(text: str) -> Iterator[tuple[int, str]]:
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string


def _parse(line: int, comment: str) -> Report | Raise | Revealed:
    comment = comment.strip()
    if found := _REPORT.match(comment):
        return Report(line, found[1], found[2])
    if found := _RAISES.match(comment):
        return Raise(line, found["exception"], found["message"], Case(found["when"] or ""))
    if found := _REVEALED.match(comment):
        fields = dict(_FIELD.findall(found[1]))
        if fields.keys() <= _FIELDS.keys():
            return Revealed(line, {_FIELDS[name]: said for name, said in fields.items()})
    raise ValueError(f"line {line}: cannot read the comment `{comment}`")
