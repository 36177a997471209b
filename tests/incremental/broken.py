"""`python -m tests.incremental.broken PATH ... --mutations 2000`: half-typed and damaged files are answered, and soon.

Each file is typed into a host from its first character to its last, so that every prefix is asked about. Then bytes of
the files are changed at random, and a new host is asked about each. Told are failures and the slowest answers.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import takewhile
from pathlib import Path

from analyzers.host import Host

STRANGE = (b"\0", b"\r", b"\x0c", b"\xff", b"\xef\xbb\xbf", b"\t", b'"""', b"\\", b"(", b"]", b"<<<<<<< HEAD\n")
"""What editors, merges and broken disks leave behind."""

MOST = 64
"""Bytes of the longest stretch that is taken out or repeated."""


@dataclass(frozen=True, slots=True)
class Answer:
    """`seconds` are this process' own, so that what else the machine does is not counted."""

    what: str
    seconds: float
    failure: str | None


def timed(what: str, ask: Callable[[], object]) -> Answer:
    began = time.process_time()
    try:
        ask()
    except Exception:
        return Answer(what, time.process_time() - began, traceback.format_exc())
    return Answer(what, time.process_time() - began, None)


def typed(path: str, text: str, step: int = 1) -> Iterator[Answer]:
    """Every prefix that is `step` characters longer than the one before, and the whole."""
    host = Host(lambda path: None)
    host.look_at_together([path])
    for length in [*range(0, len(text), step), len(text)]:
        host.set_text(path, text[:length])
        yield timed(f"{path}, its first {length} characters", lambda: host.snapshot().sightings(path))


def hollow(text: str) -> Iterator[str]:
    """The text without the body of one of its blocks, for each of these."""
    lines = text.splitlines(keepends=True)
    for number, header in enumerate(lines, 1):
        body = [*takewhile(partial(_is_below, header), lines[number:])]
        if header.rstrip().endswith(":") and body:
            yield "".join(lines[:number] + lines[number + len(body) :])


def _is_below(header: str, line: str) -> bool:
    return not line.strip() or len(line) - len(line.lstrip()) > len(header) - len(header.lstrip())


def mutated(data: bytes, seed: int) -> bytes:
    """One to four random changes."""
    chance = random.Random(seed)
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(len(data) + 1)
        end = min(len(data), at + chance.randint(1, MOST))
        data = chance.choice(
            (
                data[:at] + bytes([chance.randrange(256)]) + data[at + 1 :],
                data[:at] + data[end:],
                data[:end] + data[at:],
                data[:at] + chance.choice(STRANGE) + data[at:],
            )
        )
    return data


def damaged(path: str, data: bytes, seed: int) -> Answer:
    host = Host(lambda asked: mutated(data, seed) if asked == path else None)
    return timed(f"{path}, mutation {seed}", lambda: host.snapshot().findings(path))


def tell(what: str, answers: list[Answer]) -> bool:
    """Whether anything failed."""
    slowest = max(answers, key=lambda answer: answer.seconds)
    late = sum(answer.seconds > 1 for answer in answers)
    failures = [answer for answer in answers if answer.failure is not None]
    median = sorted(answer.seconds for answer in answers)[len(answers) // 2]
    print(
        f"{what}: {len(answers)} answers, {len(failures)} failures, median {1000 * median:.1f} ms, {late} over 1 s, "
        f"the slowest {slowest.seconds:.2f} s ({slowest.what})",
        flush=True,
    )
    for failure in failures[:3]:
        print(f"{failure.what}\n{failure.failure}", flush=True)
    return bool(failures)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.incremental.broken", description=__doc__)
    parser.add_argument("paths", nargs="+", type=Path)
    parser.add_argument("--mutations", type=int, default=2000, help="of all files together")
    parser.add_argument("--step", type=int, default=1, help="characters from one prefix to the next")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    failed = False
    for path in options.paths:
        answers = list(typed(str(path.resolve()), path.read_text(encoding="utf-8"), options.step))
        failed |= tell(f"{path}, typed", answers)
    files = [(str(path.resolve()), path.read_bytes()) for path in options.paths]
    seeds = range(options.seed, options.seed + options.mutations)
    answers = [damaged(*files[seed % len(files)], seed) for seed in seeds]
    failed |= bool(answers) and tell("damaged files", answers)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
