"""`check --executor dask`: the workers of a running cluster produce the reports.

A task is a few files, whose reports are made as in a process of this machine. All tasks depend on one *order*, what
they have in common: dask takes it to whoever needs it and drops it at the end, and each worker keeps on its copy what
it comes to know. The files of a worker that is lost go to another one. A task with which workers are lost time and
again may only have been in bad company: its files are tried one by one, and one with which they still are is given up.
"""

from __future__ import annotations

import logging
import threading
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError, Future
from contextlib import contextmanager
from typing import Any, TypeVar

import dask
import distributed
from distributed import Client
from distributed.comm import get_address_host
from distributed.comm.addressing import get_address_host_port

from autograd_lsp import __version__
from autograd_lsp.files.sources import Source, UnreadableError, is_notebook, notebook_data, read_text
from autograd_lsp.process.exits import UsageError
from autograd_lsp.process.stack import start_with_room
from autograd_lsp.reports.make import Task, Work, shares
from autograd_lsp.reports.report import Report

_RETRIES = 2
"""How often a task that fails is tried again."""
LOOK_EVERY = 30.0
"""Seconds after which somebody who waits looks whether there are workers. The second look without any ends the wait."""

T = TypeVar("T")


def make_on_cluster(address: str | None, sources: Sequence[Source], task: Task) -> Iterator[Report | None]:
    """`address` is the scheduler's; None for the one that dask's own configuration names."""
    with _connected(address) as client:
        yield from _made(client, sources, task)


def _connected(address: str | None) -> Client:
    address = address or dask.config.get("scheduler-address", None)
    if address is None:
        raise UsageError(
            "--executor dask needs --dask-scheduler ADDRESS or the environment variable DASK_SCHEDULER_ADDRESS"
        )
    logging.disable(logging.CRITICAL)  # what becomes of the connection is told by whoever waits for an answer
    try:
        get_address_host_port(address)
        return Client(address, set_as_default=False)
    except Exception as error:  # of many kinds, by what the address looks like
        raise UsageError(f"no dask scheduler answers at {address}: {error}") from error


def _made(client: Client, sources: Sequence[Source], task: Task) -> Iterator[Report | None]:
    with _told(client):
        workers = client.nthreads()
        beside = Counter(get_address_host(worker) for worker in workers)
        order = client.submit(Order, task, max(beside.values(), default=1), __version__, pure=False)
    given = deque((share, _give(client, order, share), True) for share in shares(sources, max(len(workers), 1)))
    while given:
        chunk, future, is_first = given.popleft()
        made = _result(client, future)
        if isinstance(made, list):
            for report in made:
                _check_disk(report)
                yield report
        elif is_first:
            given.extendleft([((source,), _give(client, order, (source,)), False) for source in reversed(chunk)])
        else:
            yield Report(chunk[0], failure="internal", traceback=made)


def _give(client: Client, order: Any, chunk: tuple[Source, ...]) -> Any:
    with _told(client):
        return client.submit(check_files, order, chunk, retries=_RETRIES, pure=False)


def _result(client: Client, future: Any) -> list[Report | None] | str:
    """What came of a task; or why nothing will."""
    looks_in_vain = 0
    while True:
        with _told(client):
            try:
                made: list[Report | None] = future.result(timeout=LOOK_EVERY)
                return made
            except distributed.TimeoutError:
                looks_in_vain = 0 if client.nthreads() else looks_in_vain + 1
            except distributed.KilledWorker as error:
                return f"{error}\n"
        if looks_in_vain == 2:
            raise UsageError(f"the dask scheduler at {_address(client)} has no workers")


@contextmanager
def _told(client: Client) -> Iterator[None]:
    """What goes wrong with a cluster is no error of ours."""
    address = _address(client)
    try:
        yield
    except (CancelledError, OSError) as error:
        raise UsageError(f"the connection to the dask scheduler at {address} was lost") from error
    except Exception as error:
        said = f"{type(error).__name__}: {error}"
        raise UsageError(f"the dask cluster at {address} cannot check: {said}") from error


def _address(client: Client) -> str:
    return str(client.scheduler.address)


def _check_disk(report: Report | None) -> None:
    """A file that only the workers cannot read is on another disk than theirs."""
    if report is None or report.failure != "unreadable":
        return
    source = report.source
    try:
        if is_notebook(source):
            notebook_data(source)
        else:
            read_text(source.path)
    except UnreadableError:
        return
    raise UsageError(
        f"a worker cannot read {source.path}: dask workers need the same files at the same paths, as on a shared disk"
    )


class Order:
    """What all the tasks of one command have in common; and, in a worker's process, what it knows of them."""

    def __init__(self, task: Task, processes: int, version: str) -> None:
        """`processes` share the memory of one machine."""
        self._given = (task, processes, version)
        self._lock = threading.Lock()
        self._work: Work | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return Order, self._given

    def reports(self, chunk: Sequence[Source]) -> list[Report | None]:
        task, processes, version = self._given
        if version != __version__:
            raise RuntimeError(f"a worker has autograd-lsp {__version__}, and this is {version}")
        with self._lock:  # a worker may have several threads
            if self._work is None:
                self._work = Work(task, processes, is_away=True)
            return _on_large_stack(lambda work: [work.report(source) for source in chunk], self._work)


def check_files(order: Order, chunk: Sequence[Source]) -> list[Report | None]:
    """A task, by the name that dask's dashboard shows."""
    return order.reports(chunk)


def _on_large_stack(function: Callable[[Work], T], work: Work) -> T:
    """Deep programs mean deep recursion, and a worker's own threads may have small stacks."""
    future: Future[T] = Future()

    def run() -> None:
        try:
            future.set_result(function(work))
        except BaseException as error:
            future.set_exception(error)

    start_with_room(run)
    return future.result()
