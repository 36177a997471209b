"""What is known of an environment by now: asked in the background, one question after the other, and kept on the disk.

Answers are kept by environment: by its interpreter, the versions of all that is installed there, and jedi's own. What
took too long is `unknown` for as long as the process lives, and asked again by the next.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

from analyzers.program.disk import read_regular_file
from autograd_lsp.environment.find import folders_of, pythons
from autograd_lsp.environment.torch_version import installed_torch
from autograd_lsp.process.drafts import write_whole
from autograd_lsp.process.loading import folder_of
from autograd_lsp.text.releases import Release, release_of

FORMAT = 2
SECONDS = 30.0
"""For one question; the first one reads torch."""

PATIENCE = 20.0
"""Seconds for which somebody who waits does so, all in all."""

ATTEMPTS = 3
"""Children that are started one after the other, as questions take too long."""

_CHILD = Path(__file__).with_name("child.py")


class SlowError(Exception):
    """No answer within the time, or no more answers at all."""


class Child:
    """The process that looks names up."""

    def __init__(self, command: list[str]) -> None:
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        self._lines: SimpleQueue[str] = SimpleQueue()
        threading.Thread(target=self._read, name="environment-child", daemon=True).start()

    def ask(self, name: str) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(name + "\n")
            self._process.stdin.flush()
        except OSError as error:
            raise SlowError from error

    def answer(self, seconds: float) -> Any:
        try:
            line = self._lines.get(timeout=seconds)
        except Empty as error:
            raise SlowError from error
        if not line:
            raise SlowError
        return json.loads(line)

    def stop(self) -> None:
        self._process.kill()
        self._process.wait()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._lines.put(line)
        self._lines.put("")


Start = Callable[[list[str]], Child]


@dataclass(frozen=True, slots=True)
class Place:
    """Where an environment is looked for."""

    folder: str
    """Near which one is looked for, where none is configured."""
    python: str | None = None
    """The interpreter that is configured, or its folder."""
    torch: str | None = None
    """The version of torch that is configured."""


Where = Callable[[], Place]


def here() -> Place:
    return Place(os.getcwd())


class Environment:
    """The kinds of names, by dotted name. `on_answers` is called, on a thread of our own, when there are new ones."""

    def __init__(self, where: Where = here, *, start: Start = Child, seconds: float = SECONDS) -> None:
        """`where` is asked with the first question."""
        self.on_answers: Callable[[Mapping[str, str]], None] = lambda answers: None
        self.patience = PATIENCE
        self.python: str | None = None
        """The one that was found, once somebody has asked."""
        self.has_failed = False
        """Whether something is unknown that another time would not be."""
        self._where = where
        self._start = start
        self._seconds = seconds
        self._known: dict[str, str] = {}
        self._waiting: dict[str, None] = {}
        self._has_news = False
        """Whether answers have come since anybody waited for them."""
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._torch: list[str | None] = []

    @property
    def is_asking(self) -> bool:
        """Whether answers are still to come."""
        return bool(self._waiting)

    @property
    def has_news(self) -> bool:
        """Whether more is known than the last `wait` or `tell` gave: what was made before may be out of date."""
        return self._has_news

    @property
    def is_settled(self) -> bool:
        """Whether the last `wait` or `tell` gave all that was ever asked for."""
        with self._changed:
            return not (self._waiting or self._has_news)

    def kind(self, dotted: str) -> str:
        """What is known at this moment; the rest is asked in the background."""
        with self._changed:
            if dotted not in self._known and dotted not in self._waiting:
                self._waiting[dotted] = None
                self._changed.notify_all()
                if self._thread is None:
                    self._thread = threading.Thread(target=self._work, name="environment", daemon=True)
                    self._thread.start()
            return self._known.get(dotted, "unknown")

    @property
    def torch(self) -> str | None:
        """The version of torch that is configured, or else installed; None where there is none. Read at once."""
        if not self._torch:
            place = self._where()
            environments = (folders_of(python) for python in pythons(place.python, place.folder))
            installed = (version for folders in environments if (version := installed_torch(folders)) is not None)
            self._torch.append(place.torch or next(installed, None))
        return self._torch[0]

    def torch_release(self) -> Release | None:
        """Its major and minor version."""
        return None if self.torch is None else release_of(self.torch)

    def wait(self) -> dict[str, str]:
        """What is known once every question has its answer, or our patience is at its end."""
        began = time.monotonic()
        with self._changed:
            self._changed.wait_for(lambda: not self._waiting, max(self.patience, 0))
            self.patience -= time.monotonic() - began
            self._has_news = False
            return dict(self._known)

    def tell(self, hear: Callable[[Mapping[str, str]], None]) -> None:
        """What is known by now, without waiting."""
        with self._changed:
            known = dict(self._known)
        hear(known)
        with self._changed:
            if len(self._known) == len(known):
                self._has_news = False

    def _work(self) -> None:
        kinds: dict[str, str] = {}
        for _ in range(ATTEMPTS):
            child: Child | None = None
            try:
                place = self._where()
                environments = [[python, folders_of(python)] for python in pythons(place.python, place.folder)]
                child = self._start([sys.executable, str(_CHILD), json.dumps(environments), folder_of("jedi")])
                self._serve(child, kinds, place.folder)
                break
            except (OSError, SlowError, ValueError):
                self.has_failed = True
                continue
            finally:
                if child is not None:
                    child.stop()
        while True:
            name = self._next()
            self._answer({name: kinds.get(name, "unknown")})

    def _serve(self, child: Child, kinds: dict[str, str], folder: str) -> None:
        """Until a question takes too long; at once where there is no environment."""
        environment = child.answer(self._seconds)
        if environment is None:
            return
        self.python = str(environment[0])
        store = Store(environment, is_kept=not cache_lies_below([folder]))
        kinds.update(store.kinds)
        while True:
            name = self._next()
            if name not in kinds:
                try:
                    child.ask(name)
                    kinds[name] = str(child.answer(self._seconds))
                except (SlowError, ValueError):
                    self._answer({name: "unknown"})
                    raise
                store.add(name, kinds[name])
            self._answer({name: kinds[name]})

    def _next(self) -> str:
        with self._changed:
            self._changed.wait_for(lambda: bool(self._waiting))
            return next(iter(self._waiting))

    def _answer(self, answers: Mapping[str, str]) -> None:
        with self._changed:
            self._known.update(answers)
            self._has_news = True
            for name in answers:
                self._waiting.pop(name, None)
            self._changed.notify_all()
        self.on_answers(answers)


class Store:
    """The answers about one environment on the disk, if they are kept there. A file that cannot be read is none."""

    def __init__(self, environment: Iterable[object], *, is_kept: bool = True) -> None:
        self.is_kept = is_kept
        key = hashlib.sha256(json.dumps([FORMAT, *environment]).encode()).hexdigest()[:32]
        self.path = cache_folder() / "environments" / f"{key}.json"
        self.kinds = self._read()

    def add(self, name: str, kind: str) -> None:
        self.kinds[name] = kind
        if not self.is_kept:
            return
        with suppress(OSError):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(str(self.path), json.dumps({**self._read(), **self.kinds}).encode(), lasting=False)

    def _read(self) -> dict[str, str]:
        try:
            data = json.loads(read_regular_file(self.path)) if self.is_kept else {}
        except (OSError, RecursionError, ValueError):
            return {}
        sound = isinstance(data, dict) and all(isinstance(kind, str) for kind in data.values())
        return data if sound else {}


def cache_lies_below(folders: Iterable[str]) -> bool:
    """Whether a checkout in one of these folders may have brought the cache along."""
    place = cache_folder().resolve()
    return any(place.is_relative_to(Path(folder).resolve()) for folder in folders if os.path.isdir(folder))


def cache_folder() -> Path:
    home = os.path.expanduser("~")
    if home == "~":
        # Somebody without a home, as in some containers.
        home = tempfile.gettempdir()
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or os.path.join(home, "AppData", "Local")
    elif sys.platform == "darwin" and not os.environ.get("XDG_CACHE_HOME"):
        base = os.path.join(home, "Library", "Caches")
    else:
        base = os.environ.get("XDG_CACHE_HOME") or os.path.join(home, ".cache")
    return Path(base) / "autograd-lsp"
