"""The records of one run, and their JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Program:
    """What to run: `entry` under `root`, or `text` in its place.

    `names` are expressions whose values the program finds bound before its first line.
    """

    root: str
    entry: str
    text: str | None = None
    names: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def at(cls, path: Path) -> Program:
        """The program at `path`: a file, or a folder whose entry is `main.py`."""
        path = path.resolve()
        if path.is_dir():
            return cls(str(path), "main.py")
        return cls(str(path.parent), path.name)

    @classmethod
    def from_text(cls, text: str, names: Mapping[str, str] | None = None) -> Program:
        """A program that no disk holds."""
        return cls("/nowhere", "program.py", text, names or {})


@dataclass(frozen=True, slots=True)
class Raised:
    """An exception: `line` of `file` is the innermost of the program's own frames, `outer_line` the outermost."""

    exception: str
    message: str
    file: str | None
    line: int | None
    outer_line: int | None


@dataclass(frozen=True, slots=True)
class Caught(Raised):
    """An exception that a handler of the program's own received."""


@dataclass(frozen=True, slots=True)
class Warned:
    """A warning's category, the first line of its text, and the line it was charged to."""

    category: str
    message: str
    file: str | None
    line: int


@dataclass(frozen=True, slots=True)
class Observation:
    """Every value seen in each field of one binding, over all of its visits, in the order of their appearance."""

    file: str
    line: int
    scope: str
    name: str
    visits: int
    requires_grad: tuple[bool, ...]
    is_leaf: tuple[bool, ...]
    grad_fn: tuple[str | None, ...]
    shape: tuple[tuple[int, ...], ...]
    dtype: tuple[str, ...]
    version: tuple[int | None, ...]


@dataclass(frozen=True, slots=True)
class Run:
    """`outcome`: `ok`, `raises`, `timeout`, or `crash` where the process died without a word.

    `times` counts how often each line of the entry's statements was begun, and `stacks` says from which lines of it
    they were called, the nearest first.

    `learnt`: the value and the gradient, as text, of each leaf that requires grad and that a global name leads to.
    """

    outcome: str
    raised: Raised | None = None
    caught: tuple[Caught, ...] = ()
    warnings: tuple[Warned, ...] = ()
    observations: tuple[Observation, ...] = ()
    learnt: tuple[tuple[str, str], ...] = ()
    times: tuple[tuple[int, int], ...] = ()
    stacks: tuple[tuple[int, tuple[tuple[int, ...], ...]], ...] = ()
    seconds: float = 0.0

    def to_json(self) -> dict[str, Any]:
        """Plain data, for `json.dump`."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Run:
        """The inverse of `to_json`, after a trip through text."""
        return cls(
            outcome=data["outcome"],
            raised=Raised(**data["raised"]) if data["raised"] else None,
            caught=tuple(Caught(**item) for item in data["caught"]),
            warnings=tuple(Warned(**item) for item in data["warnings"]),
            observations=tuple(_observation(item) for item in data["observations"]),
            learnt=tuple((name, text) for name, text in data["learnt"]),
            times=tuple((line, count) for line, count in data["times"]),
            stacks=tuple((line, tuple(tuple(stack) for stack in seen)) for line, seen in data["stacks"]),
            seconds=data["seconds"],
        )


def _observation(data: dict[str, Any]) -> Observation:
    data = {key: tuple(value) if isinstance(value, list) else value for key, value in data.items()}
    data["shape"] = tuple(tuple(shape) for shape in data["shape"])
    return Observation(**data)
