"""The one thread on which every analysis runs.

pygls reads its input on its thread pool, so work must not go there: busy handlers would stop all reading, cancellations
included. The thread is a daemon: an analysis that is still running does not hold up the exit.

Jobs run one after the other. But one that takes long *makes way* from time to time: jobs that are *quick* then run in
the middle of it, so that a hover in one file does not wait for the analysis of another.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, TypeVar

from analyzers.queries.cancellation import Cancelled
from autograd_lsp.process.stack import start_with_room

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _Job:
    """`work` is told whether it runs in the middle of another."""

    future: Future[Any]
    work: Callable[[bool], Any]
    is_quick: bool


class Worker:
    def __init__(self) -> None:
        self._jobs: deque[_Job] = deque()
        self._arrived = threading.Condition()
        self._waiting_quick = 0
        start_with_room(self._work)

    def start(self, job: Callable[[], object]) -> None:
        """A job whose result nobody waits for."""
        self._put(_Job(Future(), lambda _: job(), is_quick=False))

    async def run(self, job: Callable[[bool], T], *, is_quick: bool = False) -> T:
        """A job whose caller is cancelled before its turn never starts."""
        future: Future[T] = Future()
        self._put(_Job(future, job, is_quick))
        return await asyncio.wrap_future(future)

    def make_way(self) -> None:
        """On this thread, in the middle of a job: do what is quick. What cannot be done there keeps its turn."""
        if not self._waiting_quick:
            return
        with self._arrived:
            quick = [job for job in self._jobs if job.is_quick]
            self._waiting_quick = 0
        for job in quick:
            if job.future.cancelled():
                continue
            try:
                result = job.work(True)
            except Cancelled:
                continue
            except BaseException as error:
                self._end(job, error=error)
            else:
                self._end(job, result)

    def _put(self, job: _Job) -> None:
        with self._arrived:
            self._jobs.append(job)
            self._waiting_quick += job.is_quick
            self._arrived.notify()

    def _end(self, job: _Job, result: object = None, error: BaseException | None = None) -> None:
        with self._arrived:
            self._jobs.remove(job)
        if job.future.set_running_or_notify_cancel():
            if error is None:
                job.future.set_result(result)
            else:
                job.future.set_exception(error)

    def _work(self) -> None:
        while True:
            with self._arrived:
                self._arrived.wait_for(lambda: bool(self._jobs))
                job = self._jobs.popleft()
            if not job.future.set_running_or_notify_cancel():
                continue
            try:
                job.future.set_result(job.work(False))
            except BaseException as error:
                job.future.set_exception(error)
            del job
