"""What the probes of `instrument` call: they look at what was bound, and keep numbers and names only.

A probe never raises and never changes what the program does. It reads no attribute that runs the program's code, and no
item of a tensor, which would be a new view.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any

import torch

from tests.oracle import instrument
from tests.oracle.record import Caught, Observation, Raised

_FIELDS = ("requires_grad", "is_leaf", "grad_fn", "shape", "dtype", "version")
_MOST_VALUES = 64
_MOST_STACKS = 64


def _lines_of(frame: FrameType | None) -> tuple[int, ...]:
    """The lines of a frame's callers in the same file, the nearest first."""
    file = frame.f_code.co_filename if frame is not None else ""
    lines = []
    while frame is not None and (frame := frame.f_back) is not None:
        if frame.f_code.co_filename == file:
            lines.append(frame.f_lineno)
    return tuple(lines)


class Recorder:
    """Collects what the probes of one program see."""

    def __init__(self, root: str) -> None:
        self.root = Path(root)
        self.caught: list[Caught] = []
        self.reached: dict[str, Counter[int]] = {}
        self.stacks: dict[str, dict[int, set[tuple[int, ...]]]] = {}
        self._seen: dict[tuple[str, int, str, str], _Visits] = {}

    def probes(self, file: str) -> dict[str, Callable[..., Any]]:
        """The functions that the instrumented text of `file` calls, by their names."""

        def bound(line: int, scope: str, items: tuple[tuple[Any, ...], ...]) -> None:
            for item in items:
                self._look(file, line, scope, item[0], _value(item))

        def walrus(line: int, scope: str, name: str, value: object) -> object:
            self._look(file, line, scope, name, value)
            return value

        def caught(_line: int) -> None:
            error = sys.exc_info()[1]
            if error is not None:
                record = self.raised(error, error.__traceback__)
                self.caught.append(
                    Caught(record.exception, record.message, record.file, record.line, record.outer_line)
                )

        counts = self.reached.setdefault(file, Counter())
        stacks = self.stacks.setdefault(file, {})

        def reached(line: int) -> None:
            counts[line] += 1
            seen = stacks.setdefault(line, set())
            if len(seen) < _MOST_STACKS:
                seen.add(_lines_of(sys._getframe(1)))

        return {
            instrument.REACHED: reached,
            instrument.BOUND: bound,
            instrument.WALRUS: walrus,
            instrument.CAUGHT: caught,
            instrument.REVEAL: walrus,
        }

    def raised(self, error: BaseException, traceback: TracebackType | None) -> Raised:
        """`error` as a person reads it: only the program's own frames count."""
        own: list[tuple[str, int]] = []
        while traceback is not None:
            file = self.own(traceback.tb_frame.f_code.co_filename)
            if file is not None:
                own.append((file, traceback.tb_lineno))
            traceback = traceback.tb_next
        if isinstance(error, SyntaxError) and error.filename and self.own(error.filename):
            own.append((self.own(error.filename) or "", error.lineno or 1))
        message = str(error).split("\n", 1)[0]
        if not own:
            return Raised(type(error).__name__, message, None, None, None)
        return Raised(type(error).__name__, message, own[-1][0], own[-1][1], own[0][1])

    def own(self, filename: str) -> str | None:
        """`filename` relative to the program's root; None for anybody else's file."""
        path = Path(filename)
        return path.relative_to(self.root).as_posix() if path.is_relative_to(self.root) else None

    def observations(self) -> tuple[Observation, ...]:
        """All that was seen, in the order of files and lines."""
        return tuple(
            Observation(file, line, scope, name, visits.count, *(tuple(visits.values[name]) for name in _FIELDS))
            for (file, line, scope, name), visits in sorted(self._seen.items())
        )

    def _look(self, file: str, line: int, scope: str, name: str, value: object) -> None:
        if not isinstance(value, torch.Tensor):
            return
        try:
            seen = _facts(value)
        except (RuntimeError, NotImplementedError):
            return
        self._seen.setdefault((file, line, scope, name), _Visits()).add(seen)


class _Visits:
    def __init__(self) -> None:
        self.count = 0
        self.values: dict[str, list[Any]] = {name: [] for name in _FIELDS}

    def add(self, facts: dict[str, Any]) -> None:
        self.count += 1
        for name, value in facts.items():
            known = self.values[name]
            if value not in known and len(known) < _MOST_VALUES:
                known.append(value)


def _value(item: tuple[Any, ...]) -> object:
    """What a probe's item stands for; None where to look would run the program's code or make a view."""
    match item:
        case (_, value):
            return value
        case (_, owner, str(attribute)):
            return _attribute(owner, attribute)
        case (_, dict() | list() as owner, key, None):
            try:
                return owner[key]
            except (KeyError, IndexError, TypeError):
                return None
    return None


def _attribute(owner: object, attribute: str) -> object:
    if isinstance(owner, torch.Tensor):
        # `.grad` of a non-leaf warns, `.data` is a new tensor.
        return owner.grad if attribute == "grad" and owner.is_leaf else None
    if isinstance(owner, torch.nn.Module):
        for table in ("_parameters", "_buffers"):
            found = owner.__dict__.get(table, {}).get(attribute)
            if found is not None:
                return found
    return getattr(owner, "__dict__", {}).get(attribute)


def _facts(tensor: torch.Tensor) -> dict[str, Any]:
    if torch._C._functorch.is_functorch_wrapped_tensor(tensor):
        return {}
    facts: dict[str, Any] = {
        "requires_grad": tensor.requires_grad,
        "is_leaf": tensor.is_leaf,
        "shape": tuple(int(size) for size in tensor.shape),
        "dtype": str(tensor.dtype).removeprefix("torch."),
        "version": None if tensor.is_inference() else tensor._version,
    }
    try:
        # Of a view whose base was written, this makes the node anew, as the view's next use would; or torch refuses.
        node = tensor.grad_fn
    except RuntimeError:
        return facts
    facts["grad_fn"] = None if node is None else type(node).__name__
    return facts
