"""The second process of a server: reads what it is told and asked, and writes what comes of it, as pickles."""

from __future__ import annotations

import logging
import pickle
import signal
import sys
import threading
from collections import deque
from typing import Any, BinaryIO

from analyzers.host import Cancelled, CancelToken
from analyzers.host.helping import Helper
from analyzers.machine.core.program import Release
from autograd_lsp.process.memory import collect_seldom
from autograd_lsp.process.stack import start_with_room
from autograd_lsp.server.partner import LOOKS, Job, send
from autograd_lsp.server.wire import leave


def main() -> None:
    """Until nobody is left at the other end. Whatever prints, prints to standard error."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who interrupts the server ends this one with it
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING)
    collect_seldom()
    answers = sys.stdout.buffer
    sys.stdout = sys.stderr
    process = PartnersProcess(answers)
    start_with_room(process.work)
    process.listen(sys.stdin.buffer)
    leave(0)


class PartnersProcess:
    """One thread listens, the other works; the jobs that are needed come first."""

    def __init__(self, answers: BinaryIO) -> None:
        self._answers = answers
        self._helper = Helper(self._look_up, self._torch_release)
        self._changed = threading.Condition()
        self._jobs: deque[Job] = deque()
        self._running: Job | None = None
        self._is_wanted_again = False
        self._token = CancelToken()
        self._asked = 0
        self._known: dict[int, Any] = {}

    def listen(self, requests: BinaryIO) -> None:
        while True:
            try:
                kind, *said = pickle.load(requests)
            except (EOFError, OSError):
                return
            if kind == "tell":
                self._helper.take_over(*said)
            elif kind == "known":
                self._learn(*said)
            else:
                self._plan(kind, *said)

    def work(self) -> None:
        self._send("ready", 0)
        while True:
            job, token = self._next()
            try:
                told, answer = self._helper.answer(*job, token)
            except Cancelled:
                self._end(job, None)
                continue
            except Exception:  # the server then makes the run itself, and says what is wrong
                told, answer = self._helper.told, None
            self._end(job, told)
            self._send("answer", told, job, answer)

    def _plan(self, kind: str, said: Any) -> None:
        with self._changed:
            if kind == "begin":
                self._jobs = deque(job for job in said if job != self._running)
                is_wanted = self._running in said
            else:
                is_wanted = self._running == said
                others = [job for job in self._jobs if job != said]
                running = [] if self._running is None else [self._running]
                self._jobs = deque(others if is_wanted else [said, *running, *others])
            self._is_wanted_again = is_wanted
            if not is_wanted:
                self._token.cancel()
            self._changed.notify_all()

    def _end(self, job: Job, told: int | None) -> None:
        """Of a job that was asked for anew while it ran, what it began with may be out of date."""
        with self._changed:
            if self._is_wanted_again and told != self._helper.told:
                self._jobs.appendleft(job)
            self._running, self._is_wanted_again = None, False

    def _next(self) -> tuple[Job, CancelToken]:
        with self._changed:
            self._changed.wait_for(lambda: bool(self._jobs))
            self._running, self._token = self._jobs.popleft(), CancelToken()
            return self._running, self._token

    def _look_up(self, dotted: str) -> str:
        return str(self._ask("look_up", dotted))

    def _torch_release(self) -> Release | None:
        found: Release | None = self._ask("torch_release")
        return found

    def _ask(self, kind: str, *said: str) -> Any:
        """On the thread that works."""
        self._asked += 1
        self._known.clear()
        self._send(kind, self._asked, *said)
        while True:
            with self._changed:
                if self._asked in self._known:
                    return self._known.pop(self._asked)
                self._changed.wait(LOOKS)
            self._helper.host.world.check_cancelled()

    def _learn(self, number: int, value: Any) -> None:
        with self._changed:
            if number == self._asked:
                self._known[number] = value
            self._changed.notify_all()

    def _send(self, *message: object) -> None:
        send(message, self._answers)
        self._answers.flush()
