"""The one thread on which every analysis runs.

pygls reads its input on its thread pool, so work must not go there: busy handlers would stop all reading, cancellations
included. The thread is a daemon: an analysis that is still running does not hold up the exit.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue
from typing import Any, TypeVar

_STACK_BYTES = 64 * 1024 * 1024

T = TypeVar("T")


class Worker:
    def __init__(self) -> None:
        self._jobs: SimpleQueue[tuple[Future[Any], Callable[[], Any]]] = SimpleQueue()
        usual = threading.stack_size(_STACK_BYTES)  # deep programs mean deep recursion
        try:
            threading.Thread(target=self._work, name="analysis", daemon=True).start()
        finally:
            threading.stack_size(usual)

    def start(self, job: Callable[[], object]) -> None:
        """A job whose result nobody waits for."""
        self._jobs.put((Future(), job))

    async def run(self, job: Callable[[], T]) -> T:
        """Jobs run one after the other; a job whose caller is cancelled before its turn never starts."""
        future: Future[T] = Future()
        self._jobs.put((future, job))
        return await asyncio.wrap_future(future)

    def _work(self) -> None:
        while True:
            future, job = self._jobs.get()
            if not future.set_running_or_notify_cancel():
                continue
            try:
                future.set_result(job())
            except BaseException as error:
                future.set_exception(error)
            del future, job
