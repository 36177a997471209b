"""`python -m tests.corpus.why [--part a|b] [-v] [NAME...]`: how well `autograd-lsp why` explains what torch raised.

Each raising program is run by real torch, as a script in a folder of its own, once as it is and once in anomaly mode,
and the traceback is given to `why --json` in that folder. A cause is *named* when the answer points at a line to edit,
and *told* when its trace does. A fix *works* when the program, with the first one applied, no longer ends in that
message. Then the program is taken away, and the message alone has to be explained by the right rule.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import re
import shutil
import signal
import sys
import tempfile
import traceback
import types
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

import torch
import torch._dynamo  # an optimizer's first step imports it, and would in each process anew

from autograd_lsp.cli import main as command_line
from autograd_lsp.text.positions import LineIndex, Position
from tests.corpus.labels import PARTS, Labelled, corpus

MEANT = (
    ("element 0 of tensors does not require grad", {"AG101"}),
    ("object has no attribute 'backward'", {"AG101"}),
    ("Trying to backward through the graph a second time", {"AG102", "AG103"}),
    ("modified by an inplace operation", {"AG104"}),
    ("leaf Variable that requires grad", {"AG105"}),
    ("is a view and is being modified", {"AG106"}),
    ("A view was created in", {"AG106"}),
    ("grad can be implicitly created only", {"AG107"}),
    ("Mismatch in shape", {"AG108"}),
    ("Can't call numpy()", {"AG109"}),
    ("can require gradients", {"AG110"}),
    ("you can only change requires_grad flags", {"AG111"}),
    ("not have been used in the graph", {"AG112"}),
    ("differentiated Tensors does not require grad", {"AG113"}),
    ("nference tensor", {"AG114"}),
    ("can't optimize a non-leaf", {"AG115"}),
    ("empty parameter list", {"AG115"}),
    ("as parameter '", {"AG116"}),
    ("deepcopy protocol", {"AG117"}),
    ("Legacy autograd function", {"AG118"}),
    ("You must implement either", {"AG118"}),
    ("number of gradients", {"AG118"}),
    ("context manager protocol", {"AG119"}),
    ("is not implemented", {"AG121"}),
    ("Can't detach views", {"AG122"}),
    ("unsupported operation: ", {"AG124"}),
    ("'NoneType' object has no attribute", {"AG201"}),
)
"""By a part of the message, the rules that are right for it."""


@dataclass(slots=True)
class Score:
    """Counts of one way of running, and what they lack."""

    title: str
    verbose: bool
    programs: int = 0
    certain: int = 0
    lacking: dict[str, list[str]] = field(default_factory=dict)

    def count(self, what: str, name: str, is_so: bool) -> None:
        """One program, by its name where it is not so."""
        lacking = self.lacking.setdefault(what, [])
        if not is_so:
            lacking.append(name)
            if self.verbose:
                print(f"not {what}, {self.title}: {name}", flush=True)

    def table(self) -> Iterator[str]:
        """The counts."""
        yield f"  {'said to be certain':<34} {self.certain:>4} of {self.programs}"
        for what, lacking in self.lacking.items():
            yield f"  {what:<34} {self.programs - len(lacking):>4} of {self.programs}"


def main() -> None:
    """Print the tables of each part."""
    parser = argparse.ArgumentParser(prog="python -m tests.corpus.why", description=__doc__)
    parser.add_argument("name", nargs="*", help="only programs whose name contains one of these")
    parser.add_argument("--part", choices=PARTS)
    parser.add_argument("-v", "--verbose", action="store_true", help="tell of each program, and what is lacking")
    options = parser.parse_args()
    for part in [options.part] if options.part else PARTS:
        plain, anomaly = Score("as it is", options.verbose), Score("in anomaly mode", options.verbose)
        for program in corpus((part,), tuple(options.name)):
            if program.truth.outcome == "raises":
                _judge(program, plain, anomaly)
                if options.verbose:
                    print(f"{plain.programs} done: {program.name}", flush=True)
        for score in (plain, anomaly):
            print(f"part {part}, {score.title}:", *score.table(), sep="\n", flush=True)


def _judge(program: Labelled, plain: Score, anomaly: Score) -> None:
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder) / "project"
        entry = _laid_out(program, here)
        log = Path(folder) / "log.txt"
        logs = [(score, run_as_script(here, entry, anomaly=score is anomaly)) for score in (plain, anomaly)]
        for score, text in logs:
            log.write_text(text, encoding="utf-8")
            answer = why(here, log)
            score.programs += 1
            score.certain += answer["certainty"] == "certain"
            cause, trace = _cause_lines(answer)
            score.count("cause named", program.name, bool(cause & _causes(program)))
            score.count("cause named or told", program.name, bool((cause | trace) & _causes(program)))
            score.count("a fix offered", program.name, bool(answer["fixes"]))
            works = bool(answer["fixes"]) and _works(program, answer, Path(folder) / f"fixed-{score is anomaly}")
            score.count("the first fix works", program.name, works)
        shutil.rmtree(here)
        here.mkdir()
        for score, text in logs:
            log.write_text(text, encoding="utf-8")
            answer = why(here, log)
            meant = next((codes for words, codes in MEANT if words in (program.truth.message or "")), set())
            is_right = answer["code"] in meant and answer["cause"] is None and bool(answer["explanation"])
            score.count("explained without the program", program.name, is_right)


def why(folder: Path, log: Path) -> dict[str, Any]:
    """What `why --json` prints in a folder."""
    before = Path.cwd()
    printed = io.StringIO()
    os.chdir(folder)
    try:
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(io.StringIO()):
            command_line(["why", "--json", "--no-cache", str(log)])
    finally:
        os.chdir(before)
    document: dict[str, Any] = json.loads(printed.getvalue())
    return document


def apply(folder: Path, fix: dict[str, Any]) -> None:
    """Make the edits of a fix, from the end of each file on."""
    for edit in sorted(fix["edits"], key=lambda edit: (edit["path"], _begin(edit)), reverse=True):
        file = folder / edit["path"]
        index = LineIndex(file.read_text(encoding="utf-8"))
        start, end = (
            index.offset(Position(edit["range"][side]["line"], edit["range"][side]["column"]))
            for side in ("start", "end")
        )
        data = index.text.encode()
        file.write_bytes(data[:start] + edit["text"].encode() + data[end:])


def _begin(edit: dict[str, Any]) -> tuple[int, int]:
    start = edit["range"]["start"]
    return start["line"], start["column"]


def _laid_out(program: Labelled, folder: Path) -> str:
    """The program in a folder as its user has it; gives the script to run."""
    if program.path.is_dir():
        shutil.copytree(program.path, folder, ignore=shutil.ignore_patterns("__pycache__"))
        return "main.py"
    folder.mkdir()
    shutil.copy(program.path, folder)
    return program.path.name


def run_as_script(folder: Path, entry: str, *, anomaly: bool = False) -> str:
    """What a script prints, its traceback among it, as `python entry` in that folder does.

    The process is forked from this one, which has imported torch already.
    """
    with tempfile.TemporaryFile() as printed:
        child = os.fork()
        if child == 0:
            _become_script(folder, entry, printed.fileno(), anomaly)
        os.waitpid(child, 0)
        printed.seek(0)
        return printed.read().decode("utf-8", "replace")


def _become_script(folder: Path, entry: str, output: int, anomaly: bool) -> NoReturn:
    code = 1
    try:
        signal.alarm(300)
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        os.dup2(output, 1)
        os.dup2(output, 2)
        sys.stdout, sys.stderr = os.fdopen(1, "w", 1), os.fdopen(2, "w", 1)
        os.chdir(folder)
        path = os.path.join(os.getcwd(), entry)
        sys.path[0] = os.getcwd()
        sys.argv = [entry]
        torch.autograd.set_detect_anomaly(anomaly)
        module = types.ModuleType("__main__")
        module.__file__ = path
        sys.modules["__main__"] = module
        program = compile(Path(path).read_bytes(), path, "exec")
        try:
            exec(program, module.__dict__)
            code = 0
        except BaseException as error:
            # Nobody is told of the frame that stands here.
            error.with_traceback(error.__traceback__.tb_next if error.__traceback__ is not None else None)
            traceback.print_exception(error)
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _causes(program: Labelled) -> set[tuple[str, int]]:
    return {(line.file, line.number) for line in program.causes}


def _cause_lines(answer: dict[str, Any]) -> tuple[set[tuple[str, int]], set[tuple[str, int]]]:
    cause = answer["cause"]
    named = set()
    if cause is not None:
        lines = range(cause["range"]["start"]["line"], cause["range"]["end"]["line"] + 1)
        named = {(cause["path"], line) for line in lines}
    return named, {(step["path"], step["line"]) for step in answer["trace"]}


def _works(program: Labelled, answer: dict[str, Any], folder: Path) -> bool:
    entry = _laid_out(program, folder)
    apply(folder, answer["fixes"][0])
    message = re.split(r"[:.\[]", program.truth.message or "")[0]
    return message not in run_as_script(folder, entry)


if __name__ == "__main__":
    main()
