"""`python -m tests.cli.killed`: kills `check --fix` at random moments, and looks at what is left.

    python -m tests.cli.killed --times 200

Each file has to be the old one or the finished one, byte by byte; and the next command, which is let live, has to bring
all of them to the end and to leave nothing else behind. Half of the commands are on a slow disk, so that more of them
are killed while they write; and the command that ends it all is two commands at once.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

from autograd_lsp.cli import main
from tests.cli.command import BROKEN

MODEL = "def cost(x):\n    y = x.exp()\n    y.add_(1)\n    return y.sum()\n"
TRAIN = "import torch\nfrom model import cost\ncost(torch.ones(3, requires_grad=True)).backward()\n"
OLD = {
    "model.py": MODEL.encode(),
    "train.py": TRAIN.encode(),
    "sub/dos.py": BROKEN.replace("\n", "\r\n").encode("utf-8-sig"),
    "sub/latin.py": ("# coding: latin-1\n# é\n" + BROKEN).encode("latin-1"),
    "sub/open.py": BROKEN.rstrip("\n").encode(),
    **{f"many/twice_{number}.py": (BROKEN + BROKEN.replace("y", "z")).encode() for number in range(4)},
}
NEW = {
    name: data.replace(b"y.add_(1)", b"y = y.add(1)").replace(b"z.add_(1)", b"z = z.add(1)")
    for name, data in OLD.items()
}
SLOW = ("replace", "fsync")
"""What takes longer on a slow disk."""


def kill(times: int, seed: int) -> Iterator[str]:
    """What each killed command left: a line that says how far it came, or what is wrong."""
    chance = random.Random(seed)
    with tempfile.TemporaryDirectory() as base:
        os.environ["XDG_CACHE_HOME"] = os.path.join(base, "cache")
        wait_for(start(written(base, 0), slow=False))  # what is loaded once is loaded
        took: dict[bool, float] = {}
        for slow in (False, True):
            folder = written(base, 0)
            since = time.monotonic()
            wait_for(start(folder, slow=slow))
            took[slow] = time.monotonic() - since
        for number in range(times):
            slow = number % 2 == 1
            folder = written(base, number)
            process = start(folder, slow=slow)
            time.sleep(chance.uniform(0, took[slow]))
            os.kill(process, signal.SIGKILL)
            os.waitpid(process, 0)
            yield looked_at(folder)


def looked_at(folder: Path) -> str:
    found = {name: (folder / name).read_bytes() for name in OLD}
    damaged = [name for name, data in found.items() if data not in (OLD[name], NEW[name])]
    done = sum(found[name] == NEW[name] != OLD[name] for name in OLD)
    left = {*names(folder)} - {*OLD}
    codes = [wait_for(process) for process in [start(folder, slow=False) for _ in range(2)]]
    wrong = [name for name in OLD if (folder / name).read_bytes() != NEW[name]]
    over = {*names(folder)} - {*OLD}
    if damaged or wrong or over or any(codes):
        return f"WRONG in {folder}: damaged {damaged}, unfinished {wrong}, left over {sorted(over)}, exit codes {codes}"
    return f"{done} of {sum(OLD[name] != NEW[name] for name in OLD)} written, {len(left)} temporary"


def written(base: str, number: int) -> Path:
    folder = Path(base, f"project_{number}")
    for name, data in OLD.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return folder


def names(folder: Path) -> Iterator[str]:
    return (path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def start(folder: Path, *, slow: bool) -> int:
    """A process with all loaded that a command loads."""
    process = os.fork()
    if process:
        return process
    code = 3
    try:
        os.chdir(folder)
        nowhere = os.open(os.devnull, os.O_RDWR)
        for stream in range(3):
            os.dup2(nowhere, stream)
        if slow:
            for name in SLOW:
                setattr(os, name, slowed(getattr(os, name)))
        code = main(["check", "--fix", "--jobs", "1", "."])
    finally:
        os._exit(code)


def slowed(real):
    def call(*arguments, **named):
        time.sleep(0.1)
        return real(*arguments, **named)

    return call


def wait_for(process: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    for name in (
        "analyzers.host",
        "analyzers.rules",
        *(f"autograd_lsp.cli.{name}" for name in ("formats.text", "fixing.fix")),
    ):
        import_module(name)  # what is forked shares it
    failed = 0
    for line in kill(chosen.times, chosen.seed):
        failed += line.startswith("WRONG")
        print(line, flush=True)
    print(f"{chosen.times} killed, {failed} wrong")
    sys.exit(failed > 0)
