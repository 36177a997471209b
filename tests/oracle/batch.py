"""Many programs over a few worker processes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from queue import Empty, SimpleQueue
from types import TracebackType

from tests.oracle.record import Program, Run

_REPOSITORY = Path(__file__).resolve().parents[2]


class Pool:
    """Workers that live as long as the `with`; each imports torch when it starts."""

    def __init__(self, jobs: int | None = None) -> None:
        self.workers = [_start() for _ in range(jobs or os.cpu_count() or 1)]

    def __enter__(self) -> Pool:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        for worker in self.workers:
            if error is not None:
                worker.kill()
            # Leaving closes its input, at whose end a worker stops.
            worker.__exit__(kind, error, None)

    def run(self, programs: Sequence[Program], seconds: int = 60) -> list[Run]:
        """The runs of `programs`, in their order; `seconds` is the time that each may take."""
        waiting: SimpleQueue[tuple[int, Program]] = SimpleQueue()
        for numbered in enumerate(programs):
            waiting.put(numbered)
        runs: dict[int, Run] = {}

        def serve(worker: subprocess.Popen[str]) -> None:
            while True:
                try:
                    number, program = waiting.get_nowait()
                except Empty:
                    return
                runs[number] = _ask(worker, program, seconds)

        threads = [threading.Thread(target=serve, args=(worker,)) for worker in self.workers]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if len(runs) < len(programs):
            raise RuntimeError("an oracle worker died")
        return [runs[number] for number in range(len(programs))]


def run_batch(programs: Sequence[Program], jobs: int | None = None, seconds: int = 60) -> list[Run]:
    """The runs of `programs`, in their order, by workers of their own."""
    with Pool(max(1, min(jobs or os.cpu_count() or 1, len(programs)))) as pool:
        return pool.run(programs, seconds)


def run_program(program: Program, seconds: int = 60) -> Run:
    """One program; the price of importing torch is paid for it alone."""
    return run_batch([program], jobs=1, seconds=seconds)[0]


def _ask(worker: subprocess.Popen[str], program: Program, seconds: int) -> Run:
    assert worker.stdin
    assert worker.stdout
    worker.stdin.write(json.dumps({"program": asdict(program), "seconds": seconds}) + "\n")
    worker.stdin.flush()
    return Run.from_json(json.loads(worker.stdout.readline()))


def _start() -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "tests.oracle.worker"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=_REPOSITORY,
        env={**os.environ, "OMP_NUM_THREADS": "1", "MPLBACKEND": "Agg"},
    )
