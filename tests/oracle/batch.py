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

from tests.oracle.record import Program, Run

_REPOSITORY = Path(__file__).resolve().parents[2]


def run_program(program: Program, seconds: int = 60) -> Run:
    """One program; the price of importing torch is paid for it alone."""
    return run_batch([program], jobs=1, seconds=seconds)[0]


def run_batch(programs: Sequence[Program], jobs: int | None = None, seconds: int = 60) -> list[Run]:
    """The runs of `programs`, in their order; `seconds` is the time that each may take."""
    waiting: SimpleQueue[tuple[int, Program]] = SimpleQueue()
    for numbered in enumerate(programs):
        waiting.put(numbered)
    runs: list[Run] = [Run("crash")] * len(programs)

    def serve() -> None:
        with _start() as worker:
            assert worker.stdin
            assert worker.stdout
            while True:
                try:
                    number, program = waiting.get_nowait()
                except Empty:
                    break
                worker.stdin.write(json.dumps({"program": asdict(program), "seconds": seconds}) + "\n")
                worker.stdin.flush()
                runs[number] = Run.from_json(json.loads(worker.stdout.readline()))
            worker.stdin.close()

    jobs = max(1, min(jobs or os.cpu_count() or 1, len(programs)))
    threads = [threading.Thread(target=serve) for _ in range(jobs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return runs


def _start() -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "tests.oracle.worker"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=_REPOSITORY,
        env={**os.environ, "OMP_NUM_THREADS": "1", "MPLBACKEND": "Agg"},
    )
