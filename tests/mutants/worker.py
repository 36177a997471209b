"""A process that imports torch and sets the stage once, then forks for each script that its standard input names.

One line of JSON in, one line of JSON out. It stays alone: no thread of torch's is running when it forks.
"""

from __future__ import annotations

import gc
import json
import os
import resource
import selectors
import signal
import sys
import time
import traceback
import types
from typing import Any, TextIO

from tests.mutants import stage
from tests.mutants.record import Frame, Job, Run
from tests.mutants.watch import Enough, watch


def main() -> None:
    """Serve until standard input ends."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_RDWR), 1)
    stage.set_up()
    gc.freeze()
    for line in sys.stdin:
        _answer(answers, Job(**json.loads(line)))


def _answer(answers: TextIO, job: Job) -> None:
    reader, writer = os.pipe()
    process = os.fork()
    if process == 0:
        os.close(reader)
        _child(job, writer)
    os.close(writer)
    answer = _read(reader, job.seconds * 2 + 10)
    os.close(reader)
    if not answer:
        os.kill(process, signal.SIGKILL)
    os.waitpid(process, 0)
    answers.write((answer or json.dumps(Run("crashed").to_json())) + "\n")
    answers.flush()


def _child(job: Job, writer: int) -> None:
    """Never returns: whatever the script did to this interpreter, its clean-up is nobody's concern."""
    try:
        null = os.open(os.devnull, os.O_RDWR)
        for number in (0, 1, 2):
            os.dup2(null, number)
        data = json.dumps(run(job).to_json()).encode()
        while data:
            data = data[os.write(writer, data) :]
    finally:
        os._exit(0)


def _read(reader: int, seconds: float) -> str:
    deadline = time.monotonic() + seconds
    parts: list[bytes] = []
    with selectors.DefaultSelector() as selector:
        selector.register(reader, selectors.EVENT_READ)
        while selector.select(max(0.0, deadline - time.monotonic())):
            part = os.read(reader, 1 << 16)
            if not part:
                return b"".join(parts).decode()
            parts.append(part)
    return ""


class _Late(BaseException):
    """Raised in the script when its time is over."""


def run(job: Job) -> Run:
    """Run the script in this process, which is of no use afterwards."""
    result = Run("ended")
    folder = os.path.dirname(job.path)
    main_module: Any = types.ModuleType("__main__")
    main_module.__file__ = job.path
    sys.modules["__main__"] = main_module
    sys.argv = [job.path, *job.arguments]
    sys.path.insert(0, folder)
    os.chdir(folder)
    _limit(job.seconds)
    watch(result, job.steps)
    stage.seed()
    ran: set[tuple[str, int]] = set()
    try:
        code = compile(job.text, job.path, "exec")
        if job.lines:
            sys.settrace(_tracer(folder, ran))
        exec(code, main_module.__dict__)
    except Enough:
        result.outcome = "stopped"
    except _Late:
        result.outcome = "late"
    except SystemExit as leaving:
        result.outcome = "raised" if leaving.code else "ended"
        result.exception = f"SystemExit {leaving.code}" if leaving.code else ""
    except BaseException as error:
        result.outcome = "raised"
        result.exception, result.message = type(error).__name__, str(error)
        result.frames = _frames(error, folder)
    finally:
        sys.settrace(None)
    result.lines = [Frame(*line) for line in sorted(ran)]
    return result


def _limit(seconds: int) -> None:
    def stop(*_: object) -> None:
        raise _Late

    signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    resource.setrlimit(resource.RLIMIT_CPU, (seconds * 2, seconds * 2 + 1))


def _frames(error: BaseException, folder: str) -> list[Frame]:
    stack = traceback.extract_tb(error.__traceback__)
    if isinstance(error, SyntaxError):
        return []
    return [Frame(entry.filename, entry.lineno or 0) for entry in stack if entry.filename.startswith(folder + "/")]


def _tracer(folder: str, ran: set[tuple[str, int]]) -> Any:
    def lines(frame: Any, event: str, argument: Any) -> Any:
        del event, argument
        ran.add((frame.f_code.co_filename, frame.f_lineno))
        return lines

    def calls(frame: Any, event: str, argument: Any) -> Any:
        return lines(frame, event, argument) if frame.f_code.co_filename.startswith(folder) else None

    return calls


if __name__ == "__main__":
    main()
