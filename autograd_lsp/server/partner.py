"""A second process, which makes runs on presumed values while this one makes those on what is known.

An edit of training code needs both, and neither needs the other: with two processors, its findings come in half the
time. The process starts with the first file that mentions torch. It is told the texts that are open and what changed
on the disk, and looks names of libraries up here. An answer says what it rests on, and counts only where the analyzer
finds the same; without one, this process does all of the work, as it would alone.
"""

from __future__ import annotations

import json
import logging
import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import fields, is_dataclass
from queue import SimpleQueue
from typing import Any, BinaryIO, Literal, cast

from autograd_lsp.process.own import SAFE
from autograd_lsp.text.releases import Release

logger = logging.getLogger(__name__)

LOOKS = 0.005
"""Seconds between two looks, of one that waits, at whether something else is wanted."""

_START = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from autograd_lsp.server.partner_process import main; main()"
)

Job = tuple[str, int]
"""The run of a file, or of one of its functions, on presumed values."""


def is_worth_it() -> bool:
    """Whether two processes are done sooner than one."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return usable > 1 and bool(sys.executable)


def start() -> subprocess.Popen[bytes]:
    command = [sys.executable, SAFE, "-c", _START, json.dumps(sys.path)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)


class _Pickler(pickle.Pickler):
    """Makes data classes anew: those that are frozen, and compiled, take no fields one by one."""

    def reducer_override(self, one: Any) -> Any:
        if isinstance(one, type) or not is_dataclass(one):
            return NotImplemented
        return type(one), tuple(getattr(one, field.name) for field in fields(one))


def send(message: tuple[Any, ...], stream: BinaryIO) -> None:
    _Pickler(stream, pickle.HIGHEST_PROTOCOL).dump(message)


class PartnerProcess:
    """Told and asked on any thread. Once it is gone, nothing comes of it any more."""

    def __init__(
        self,
        look_up: Callable[[str], str],
        torch_release: Callable[[], Release | None],
        start: Callable[[], subprocess.Popen[bytes]] = start,
    ) -> None:
        self._look_up = look_up
        self._torch_release = torch_release
        self._start = start
        self._changed = threading.Condition()
        self._told = 0
        """How many changes of inputs there were."""
        self._inputs: dict[tuple[str, object], object] = {}
        """Those that it is to know when it starts."""
        self._process: subprocess.Popen[bytes] | None = None
        self._outbox: SimpleQueue[tuple[Any, ...]] = SimpleQueue()
        self._answers: dict[Job, object] = {}
        """For the inputs that were told last."""
        self.is_ready = False
        """It takes a moment to load the analyzer."""
        self._is_gone = False

    @property
    def state(self) -> Literal["not started", "loading", "ready", "gone"]:
        if self._is_gone:
            return "gone"
        if self._process is None:
            return "not started"
        return "ready" if self.is_ready else "loading"

    @property
    def pid(self) -> int | None:
        """By which a user finds what it takes; None where no process runs."""
        return self._process.pid if self._process is not None and not self._is_gone else None

    def tell(self, family: str, key: object, value: object) -> None:
        with self._changed:
            if self._is_gone:
                return
            self._told += 1
            self._answers.clear()
            if self._process is None:
                self._inputs[family, key] = value
            else:
                self._outbox.put(("tell", self._told, family, key, value))

    def begin(self, jobs: Sequence[Job]) -> None:
        if self._is_there():
            self._outbox.put(("begin", list(jobs)))

    def answer(self, path: str, index: int, make_way: Callable[[], None]) -> object:
        job = path, index
        if not self._is_there():
            return None
        with self._changed:
            told = self._told
            if not self.is_ready:
                return None
            if job not in self._answers:
                self._outbox.put(("need", job))
        while True:
            with self._changed:
                if self._is_gone or self._told != told:
                    return None
                if job in self._answers:
                    return self._answers[job]
                self._changed.wait(LOOKS)
            make_way()

    def _is_there(self) -> bool:
        with self._changed:
            if self._process is None and not self._is_gone:
                try:
                    self._process = self._start()
                except OSError as error:
                    self._end(error)
                    return False
                for (family, key), value in self._inputs.items():
                    self._outbox.put(("tell", self._told, family, key, value))
                self._inputs.clear()
                for work in (self._read, self._write):
                    threading.Thread(target=work, args=(self._process,), name="partner", daemon=True).start()
            return not self._is_gone

    def _read(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdout is not None
        try:
            while True:
                kind, number, *said = pickle.load(process.stdout)
                if kind == "ready":
                    self.is_ready = True
                elif kind == "answer":
                    self._take(number, *said)
                elif kind == "look_up":
                    self._outbox.put(("known", number, self._look_up(*said)))
                else:
                    self._outbox.put(("known", number, self._torch_release()))
        except Exception as error:
            self._end(error)

    def _take(self, told: int, job: Job, answer: object) -> None:
        with self._changed:
            if told == self._told:
                self._answers[job] = answer
                self._changed.notify_all()

    def _write(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdin is not None
        try:
            while not self._is_gone:
                send(self._outbox.get(), cast(BinaryIO, process.stdin))
                if self._outbox.empty():
                    process.stdin.flush()
        except (OSError, ValueError) as error:
            self._end(error)

    def _end(self, error: Exception) -> None:
        with self._changed:
            if self._is_gone:
                return
            self._is_gone = True
            self._changed.notify_all()
        logger.warning("the second process is gone, this one goes on alone: %s", error or type(error).__name__)
        if self._process is not None:
            with suppress(OSError):
                self._process.kill()
            self._process.wait()
