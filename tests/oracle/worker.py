"""A process that imports torch once, then forks for each program that its standard input names.

One line of JSON in, one line of JSON out. It stays alone: no thread of torch's is running when it forks.
"""

from __future__ import annotations

import gc
import json
import os
import selectors
import signal
import sys
import time

import torch
import torch._dynamo
import torch.optim
import torch.utils.checkpoint
import torch.utils.data

from tests.oracle import child
from tests.oracle.record import Program, Run


def main() -> None:
    """Serve until standard input ends."""
    torch.set_num_threads(1)
    gc.freeze()
    for line in sys.stdin:
        job = json.loads(line)
        answer = _forked(Program(**job["program"]), job["seconds"])
        sys.stdout.write(answer.replace("\n", " ") + "\n")
        sys.stdout.flush()


def _forked(program: Program, seconds: int) -> str:
    reader, writer = os.pipe()
    process = os.fork()
    if process == 0:
        os.close(reader)
        _child(program, seconds, writer)
    os.close(writer)
    answer, late = _read(reader, seconds)
    os.close(reader)
    if late:
        os.kill(process, signal.SIGKILL)
    _, status = os.waitpid(process, 0)
    if late or (os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGXCPU):
        return json.dumps(Run("timeout", seconds=seconds).to_json())
    return answer or json.dumps(Run("crash").to_json())


def _child(program: Program, seconds: int, writer: int) -> None:
    """Never returns: whatever the program did to this interpreter, its clean-up is nobody's concern."""
    try:
        os.dup2(os.open(os.devnull, os.O_RDWR), 0)
        os.dup2(os.open(os.devnull, os.O_RDWR), 1)
        data = json.dumps(child.run(program, seconds).to_json()).encode()
        while data:
            data = data[os.write(writer, data) :]
    finally:
        os._exit(0)


def _read(reader: int, seconds: float) -> tuple[str, bool]:
    deadline = time.monotonic() + seconds
    parts: list[bytes] = []
    with selectors.DefaultSelector() as selector:
        selector.register(reader, selectors.EVENT_READ)
        while selector.select(max(0.0, deadline - time.monotonic())):
            part = os.read(reader, 1 << 16)
            if not part:
                return b"".join(parts).decode(), False
            parts.append(part)
    return "", True


if __name__ == "__main__":
    main()
