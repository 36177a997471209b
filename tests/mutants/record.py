"""What is run, and what came of it: plain data that crosses a pipe as JSON."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, Literal

Outcome = Literal["ended", "stopped", "raised", "late", "crashed"]


@dataclass(frozen=True, slots=True)
class Job:
    """A script to run: `text` instead of what is at `path`. It is stopped after so many backwards or steps."""

    path: str
    text: str
    arguments: tuple[str, ...] = ()
    seconds: int = 20
    steps: int = 12
    lines: bool = False
    """Whether to write down which lines ran; that takes time."""


@dataclass(frozen=True, slots=True)
class Frame:
    """One line of a traceback, or one that ran."""

    path: str
    line: int


@dataclass(slots=True)
class Run:
    """What a run left behind. All lists are in the order of events."""

    outcome: Outcome
    exception: str = ""
    message: str = ""
    frames: list[Frame] = field(default_factory=list)
    """The script's own frames of the traceback, and those of files beside it, outermost first."""
    lines: list[Frame] = field(default_factory=list)
    backwards: list[list[tuple[str, float]]] = field(default_factory=list)
    """Per backward: the leaves that its graph led to, by shape, and the size of the gradient that they then had."""
    updates: list[tuple[int, list[tuple[float | None, bool]]]] = field(default_factory=list)
    """Per step: which optimizer, and per parameter the size of its gradient and whether it changed."""
    alive: list[int] = field(default_factory=list)
    """Per step: how many graph nodes could still be reached."""

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Run:
        run = cls(**data)
        run.frames = [Frame(**frame) for frame in data["frames"]]
        run.lines = [Frame(**frame) for frame in data["lines"]]
        run.backwards = [[(shape, size) for shape, size in leaves] for leaves in data["backwards"]]
        run.updates = [(which, [(size, moved) for size, moved in rows]) for which, rows in data["updates"]]
        return run
