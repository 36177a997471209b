"""`autograd-lsp why`: tracebacks that torch has printed, in every shape that a log gives them."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzers.rules import RULES
from autograd_lsp.config import Configuration
from autograd_lsp.why.answer import MOST_EXCEPTIONS, Answer, answers, told_in
from autograd_lsp.why.log import read_log
from autograd_lsp.why.page import page_of
from autograd_lsp.why.program import Finder, Mapping
from tests.cli.command import REPOSITORY, run
from tests.cli.record_tracebacks import PROJECT, RECORDED
from tests.support.steps import lines_of

RECORDS: list[dict[str, Any]] = json.loads(RECORDED.read_text(encoding="utf-8"))
BY_NAME = {f"{record['code']} {record['name']}": record for record in RECORDS}

INPLACE = BY_NAME["AG104 page 0"]
SAME_MESSAGE = {"AG102", "AG103"}

KEYS = {
    "version", "exception", "message", "code", "name", "raised", "certainty", "cause", "trace", "fixes", "explanation",
    "missing", "past", "others", "earlier",
}  # fmt: skip


def explain(log: str, finder: Finder | None = None) -> Answer | None:
    configuration = Configuration(isolated=True)
    return next(answers(told_in(log), finder or Finder(), configuration, every=False, cached=False), None)


def line_of(answer: Answer) -> int:
    cause = answer.causes[0]
    return cause.report.texts[cause.place.path].encode()[: cause.place.start].count(b"\n") + 1


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "train.py").write_text(INPLACE["program"])
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("name", BY_NAME)
def test_a_message_alone_is_explained_by_its_rule(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    answer = explain(BY_NAME[name]["log"])
    assert answer is not None
    assert answer.code == BY_NAME[name]["code"] or {answer.code, BY_NAME[name]["code"]} == SAME_MESSAGE
    assert not answer.causes
    assert answer.missing == (f"{PROJECT}/train.py",)
    assert page_of(answer.code) is not None


@pytest.mark.parametrize("name", [name for name, record in BY_NAME.items() if "# error:" in record["program"]])
def test_the_program_of_a_page_is_explained_as_the_page_says(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = BY_NAME[name]["program"]
    (tmp_path / "train.py").write_text(program)
    monkeypatch.chdir(tmp_path)
    answer = explain(BY_NAME[name]["log"])
    assert answer is not None
    assert answer.code == BY_NAME[name]["code"]
    assert answer.causes[0].certain
    assert "# error:" in program.splitlines()[line_of(answer) - 1]
    assert answer.at is not None
    assert "# raises:" in program.splitlines()[answer.at.line - 1]


def test_every_rule_whose_message_torch_raises_is_recorded() -> None:
    raising = {rule.code for rule in RULES if rule.code.startswith("AG1")}
    assert raising <= {record["code"] for record in RECORDS}


def _on_each_line(begin: Callable[[int], str]) -> Callable[[str], str]:
    return lambda log: "".join(begin(number) + line for number, line in enumerate(log.splitlines(keepends=True)))


SHAPES: dict[str, Callable[[str], str]] = {
    "as it is": str,
    "below a log": lambda log: "INFO: epoch 1\n> quoted\nE something\n" + log + "srun: error: node1: task 0: Exited\n",
    "ranks": _on_each_line(lambda number: "[rank0]: "),
    "times": _on_each_line(lambda number: f"2026-03-04 10:00:{number:02d},{number}12 ERROR "),
    "a container's": _on_each_line(lambda number: "stderr | "),
    "Windows line ends": lambda log: log.replace("\n", "\r\n"),
    "a progress bar": lambda log: "\r 10%|#   |\r 20%|##  |" + "\r\n" + log,
    "colours": lambda log: re.sub(r"File (\S+), line (\d+)", "File \x1b[35m\\1\x1b[0m, line \x1b[35m\\2\x1b[0m", log),
    "a Windows path": lambda log: log.replace(f"{PROJECT}/", "C:\\Users\\user\\project\\"),
    "no top": lambda log: log.split("\n", 1)[1],
    "an exception group": lambda log: (
        '  + Exception Group Traceback (most recent call last):\n  |   File "/usr/lib/python3/asyncio/run.py", line 1\n'
        "  | ExceptionGroup: unhandled errors in a TaskGroup (1 sub-exception)\n  +-+---------------- 1 --------\n"
        + _on_each_line(lambda number: "    | ")(log)
        + "    +------------------------------------\n"
    ),
    "wrapped": lambda log: log.replace("has been modified by an inplace", "has been\nmodified by an inplace"),
    "handled": lambda log: (
        log + "\nDuring handling of the above exception, another exception occurred:\n\n"
        'Traceback (most recent call last):\n  File "/home/user/project/run.py", line 3, in <module>\n    main()\n'
        "KeyError: 'loss'\n"
    ),
    "another one after it": lambda log: (
        log + 'Traceback (most recent call last):\n  File "/home/user/eval.py", line 3, in f\n    x\nKeyError: 1\n'
    ),
    "markers": lambda log: log.replace("y.sum().backward()", "y.sum().backward()", 1).replace("^^^", "~~^"),
}  # fmt: skip


@pytest.mark.parametrize("shape", SHAPES)
def test_whatever_a_log_does_to_it(shape: str, project: Path) -> None:
    answer = explain(SHAPES[shape](INPLACE["log"]))
    assert answer is not None
    assert (answer.code, line_of(answer), answer.causes[0].certain) == ("AG104", 4, True)


NOTEBOOK = """\
---------------------------------------------------------------------------
RuntimeError                              Traceback (most recent call last)
{frame}
      3 y = x.exp()
      4 y.add_(1)
----> 5 y.sum().backward()

File /opt/conda/lib/python3.11/site-packages/torch/_tensor.py:581, in Tensor.backward(self, gradient, retain_graph)
    571 if has_torch_function_unary(self):
--> 581     torch.autograd.backward(

RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation: \
[torch.FloatTensor [3]], which is output 0 of ExpBackward0, is at version 1; expected version 0 instead.
"""
FRAMES = (
    "Cell In[3], line 5", "Cell In[3], line 5, in <cell line: 5>()", "Input In [3], in <cell line: 5>()",
    "<ipython-input-3-0123456789ab> in <module>", "/tmp/ipython-input-3-0123456789.py in <cell line: 0>()",
)  # fmt: skip
CELL = "import torch\nx = torch.ones(3, requires_grad=True)\ny = x.exp()\ny.add_(1)\ny.sum().backward()"


@pytest.mark.parametrize("frame", FRAMES)
def test_a_notebook_is_found_by_what_its_cells_say(frame: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cells = [{"cell_type": "code", "source": source} for source in ("import math\n", CELL)]
    (tmp_path / "work.ipynb").write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4}))
    monkeypatch.chdir(tmp_path)
    done = run("why", "--json", "-", cwd=tmp_path, stdin=NOTEBOOK.format(frame=frame).encode())
    document = json.loads(done.stdout)
    assert (done.returncode, document["code"], document["certainty"]) == (0, "AG104", "certain")
    assert (document["cause"]["path"], document["cause"]["cell"], document["cause"]["line"]) == ("work.ipynb", 2, 4)


RICH = """\
╭─────────────────────────────── Traceback (most recent call last) ────────────────────────────────╮
│ /home/user/project/train.py:5 in <module>                                                        │
│                                                                                                  │
│   3 y = x.exp()                                                                                  │
│   4 y.add_(1)                                                                                    │
│ ❱ 5 y.sum().backward()                                                                           │
│                                                                                                  │
╰──────────────────────────────────────────────────────────────────────────────────────────────────╯
RuntimeError: one of the variables needed for gradient computation has been modified by an inplace
operation: [torch.FloatTensor [3]], which is output 0 of Exp, is at version 1; expected version 0
"""
PYTEST = """\
    def test_train():
        y = x.exp()
>       y.sum().backward()

train.py:5:
_ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _
/usr/lib/python3/dist-packages/torch/_tensor.py:623: in backward
    torch.autograd.backward(
E   RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation: x

/usr/lib/python3/dist-packages/torch/autograd/graph.py:979: RuntimeError
"""


@pytest.mark.parametrize("log", [RICH, PYTEST])
def test_what_other_tools_print(log: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "train.py").write_text(CELL)
    monkeypatch.chdir(tmp_path)
    answer = explain(log)
    assert answer is not None
    assert (answer.code, line_of(answer)) == ("AG104", 4)


def test_a_message_without_a_traceback(tmp_path: Path) -> None:
    done = run("why", "--json", cwd=tmp_path, stdin=b"torch says: Trying to backward through the graph a second time")
    assert (done.returncode, json.loads(done.stdout)["code"]) == (0, "AG102")


def test_a_file_that_has_changed_since(project: Path) -> None:
    (project / "train.py").write_text("# one more line\n" + INPLACE["program"])
    answer = explain(INPLACE["log"])
    assert answer is not None
    assert answer.at is not None
    assert (answer.at.moved, line_of(answer)) == (True, 5)


def test_another_file_of_that_name_is_not_taken(project: Path) -> None:
    (project / "train.py").write_text("print('no such line')\n" * 9)
    answer = explain(INPLACE["log"])
    assert answer is not None
    assert not answer.causes


def test_paths_are_mapped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = tmp_path / "copy"
    here.mkdir()
    (here / "train.py").write_text(INPLACE["program"])
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    answer = explain(INPLACE["log"], Finder([Mapping(PROJECT, str(here))]))
    assert answer is not None
    assert answer.causes
    without = explain(INPLACE["log"])
    assert without is not None
    assert not without.causes


def test_what_no_finding_foresees_is_looked_for_in_the_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = (
        "import torch, unknown\n"
        "def relu(x):\n    h = unknown.relu(x)\n    h += x\n    return h\n"
        "loss = relu(unknown.data()).mean()\n"
        "loss.backward()\n"
    )
    (tmp_path / "train.py").write_text(program)
    monkeypatch.chdir(tmp_path)
    log = INPLACE["log"].replace("line 5, in <module>", "line 7, in <module>")
    answer = explain(re.sub(r"    y\.sum\(\)\.backward\(\).*", "    loss.backward()", log))
    assert answer is not None
    assert (line_of(answer), answer.causes[0].certain) == (4, False)


def test_the_document_and_the_exit_codes(project: Path) -> None:
    (project / "log.txt").write_text(INPLACE["log"])
    done = run("why", "--json", "log.txt", cwd=project)
    document = json.loads(done.stdout)
    assert (done.returncode, set(document), document["version"]) == (0, KEYS, 1)
    assert (document["code"], document["certainty"]) == ("AG104", "certain")
    assert document["raised"] == {"path": "train.py", "line": 5}
    assert document["cause"]["line"] == 4
    assert document["fixes"][0]["edits"][0]["text"] == "y = y.add(1)"
    nothing = run("why", "--json", cwd=project, stdin=b"Traceback (most recent call last):\nKeyError: 1\n")
    assert (nothing.returncode, set(json.loads(nothing.stdout))) == (1, KEYS)
    assert run("why", "absent.txt", cwd=project).returncode == 2
    assert run("why", "--path-map", "nothing", "log.txt", cwd=project).returncode == 2
    assert run("why", "--program", "absent.py", "log.txt", cwd=project).returncode == 2


def test_a_program_that_was_mended_is_told(project: Path) -> None:
    (project / "log.txt").write_text(INPLACE["log"])
    assert not json.loads(run("why", "--json", "log.txt", cwd=project).stdout)["past"]
    (project / "train.py").write_text((project / "train.py").read_text().replace("y.add_(1)", "y = y.add(1)"))
    assert json.loads(run("why", "--json", "log.txt", cwd=project).stdout)["past"]
    assert "As the program is now, nothing was found to raise there" in run("why", "log.txt", cwd=project).stdout


@pytest.mark.parametrize("silenced", ["# autograd: ignore[AG104]", "# noqa", "# autograd: ignore-file"])
def test_what_a_comment_silences_is_the_cause_none_the_less(project: Path, silenced: str) -> None:
    lines = [f"{line}  {silenced}" if "# error:" in line else line for line in INPLACE["program"].split("\n")]
    (project / "train.py").write_text("\n".join(lines))
    assert "No findings" in run("check", "train.py", cwd=project).stdout
    (project / "log.txt").write_text(INPLACE["log"])
    document = json.loads(run("why", "--json", "log.txt", cwd=project).stdout)
    assert (document["certainty"], document["cause"]["line"], document["past"]) == ("certain", 4, False), document


def test_each_of_several(project: Path) -> None:
    (project / "log.txt").write_text(INPLACE["log"] + BY_NAME["AG107 page 0"]["log"])
    document = json.loads(run("why", "--json", "--all", "log.txt", cwd=project).stdout)
    assert [document["code"], *(earlier["code"] for earlier in document["earlier"])] == ["AG107", "AG104"]


def test_the_text_shows_the_cause_and_the_fix(project: Path) -> None:
    (project / "log.txt").write_text(INPLACE["log"])
    shown = run("why", "log.txt", cwd=project).stdout
    assert "certain[AG104]: " in shown
    assert "--> train.py:4:1\n" in shown
    assert "\n4 + y = y.add(1)  #" in shown
    assert "at version 0 and is now at version 1" in shown


def test_anomaly_mode_tells_of_the_forward_call() -> None:
    [raised] = read_log(BY_NAME["AG104 page 0, in anomaly mode"]["log"])
    assert raised.node == "ExpBackward0"
    assert [(frame.line, frame.text) for frame in raised.forward] == [(3, "y = x.exp()")]


def test_neither_torch_nor_the_program_is_imported(project: Path) -> None:
    (project / "torch.py").write_text("raise SystemExit('torch was imported')")
    (project / "train.py").write_text(INPLACE["program"] + "raise SystemExit('the program was run')\n")
    (project / "log.txt").write_text(INPLACE["log"])
    done = run("why", "log.txt", cwd=project)
    assert (done.returncode, done.stderr) == (0, "")


PARTS = st.sampled_from([
    "Traceback (most recent call last):", '  File "train.py", line 3, in f', "    x", "RuntimeError: x", "E   ", "> ",
    "RuntimeError      Traceback (most recent call last)", "Cell In[3], line 5", "----> 5 x", "╭── Traceback (most rec",
    "ent call last) ─╮", "│ train.py:3 in f │", "╰──╯", "\x1b[0m", "\x1b]", " in ", ":1:", "\r", "\n", "\n", "\n",
    "Error detected in A. Traceback of forward call that caused the error:", "| ", '"', "0", "is at version ", "[[",
    "one of the variables needed for gradient computation has been modified by an inplace operation: [",
])  # fmt: skip


@given(st.lists(st.one_of(PARTS, st.text(max_size=5)), max_size=40))
def test_no_text_is_too_odd(parts: list[str]) -> None:
    for told in told_in("".join(parts)):
        assert told.raised.message is not None


NOISE = (
    "epoch 3: loss 0.25\n",
    "> quoted\n",
    "E x\n",
    'File "',
    "a:1: in ",
    "\x1b[",
    "x in y in (",
    "│ a:1 in ",
    "[0] ",
)


@pytest.mark.parametrize("noise", NOISE)
def test_a_megabyte_of_noise(noise: str, project: Path) -> None:
    much = noise * (1_000_000 // len(noise))
    answer = explain(f"{much}\n\n{INPLACE['log']}\n{much}")
    assert answer is not None
    assert (answer.code, line_of(answer)) == ("AG104", 4)


HEADER = "Traceback (most recent call last):\n"
CHAIN = "\nDuring handling of the above exception, another exception occurred:\n\n"
RAISED = "KeyError: 1\n"
LOGS = {
    "chained": lambda n: CHAIN.join([f'{HEADER}  File "a.py", line 1, in f\n    x\nRuntimeError: x\n'] * n),
    "one after the other": lambda n: f'{HEADER}  File "a.py", line 1, in f\n    x\nRuntimeError: x\n' * n,
    "frames": lambda n: HEADER + "".join(f'  File "a.py", line {k}, in f\n    x = {k}\n' for k in range(n)) + RAISED,
    "rich": lambda n: f"╭─ {HEADER[:-2]} ─╮\n│ a.py:3 in f │\n" + "│ ❱ 3 x │\n" * n + f"╰─╯\n{RAISED}",
    "ipython": lambda n: f"KeyError    {HEADER}File a.py:3, in f()\n" + "----> 3 x\n" * n + RAISED,
    "pytest": lambda n: "a.py:3: in f\n    x\n" * n + "E   KeyError: 1\na.py:3: KeyError\n",
    "forward": lambda n: "Error detected in A. Traceback of forward call that caused the error:\n" * n,
    "prefixed": lambda n: "".join(f"[rank{k}]: {HEADER}" for k in range(n)),
}  # fmt: skip


def test_the_earlier_ones_of_a_chain_lack_the_frames_of_the_last() -> None:
    """And those of a chain before it, or after it, are others."""

    def told(line: int) -> str:
        return f'{HEADER}  File "a.py", line {line}, in f\n    x\nRuntimeError: x\n'

    read = read_log(CHAIN.join([told(1), told(2), told(3)]) + told(4) + CHAIN + told(5))
    assert [[frame.line for frame in raised.frames] for raised in read] == [[1], [2], [3], [4], [5]]
    assert [[frame.line for frame in raised.outer] for raised in read] == [[3], [3], [], [5], []]


@pytest.mark.parametrize("shape", LOGS)
def test_a_log_of_twice_the_length_costs_twice_as_much(shape: str) -> None:
    """And nothing that is copied with each line grows with them."""
    fewer, more = (lines_of(lambda n=n: told_in(LOGS[shape](n))) for n in (1_000, 4_000))
    assert more <= 4.5 * fewer
    for told in told_in(LOGS[shape](4_000)):
        assert len(told.raised.frames) <= 200
        assert all(len(frame.around) <= 100 for frame in told.raised.frames)


@pytest.mark.parametrize("anywhere", [False, True])
def test_what_lies_outside_is_not_quoted_unless_it_is_asked_for(tmp_path: Path, anywhere: bool) -> None:
    """Named in full, or linked to from inside."""
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    inside.mkdir()
    outside.mkdir()
    (outside / "train.py").write_text(INPLACE["program"])
    (inside / "linked.py").symlink_to(outside / "train.py")
    more = ("--read-anywhere",) if anywhere else ()
    for path in (outside / "train.py", inside / "linked.py"):
        log = INPLACE["log"].replace(f"{PROJECT}/train.py", str(path)).encode()
        told = run("why", *more, cwd=inside, stdin=log)
        assert (f"{path.name}:4" in told.stdout) == anywhere
        if path == outside / "train.py" and not anywhere:
            assert f"raised in {path}, which lies outside of this folder: use --read-anywhere" in told.stdout


def test_of_many_exceptions_the_last_are_explained(project: Path) -> None:
    (project / "log.txt").write_text(LOGS["one after the other"](MOST_EXCEPTIONS) + INPLACE["log"])
    told = run("why", "log.txt", cwd=project)
    assert told.stderr == "autograd-lsp: only the last 100 of 101 exceptions are looked at\n"
    assert "train.py:4" in told.stdout


def test_the_commands_of_the_page_do_what_it_says(tmp_path: Path) -> None:
    """Each line after `$`; the programs are those of the page."""
    page = (REPOSITORY / "docs/why.md").read_text(encoding="utf-8")
    program = next(iter(re.findall(r"```python\n(.*?)```", page, re.DOTALL)))
    (tmp_path / "train.py").write_text(program)
    shims = tmp_path / "bin"
    shims.mkdir()
    for name, arguments in (("python", ""), ("autograd-lsp", "-m autograd_lsp ")):
        (shims / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" {arguments}"$@"\n')
        (shims / name).chmod(0o755)
    environment = {**os.environ, "PATH": f"{shims}:{os.environ['PATH']}", "PYTHONPATH": str(REPOSITORY)}
    commands = re.findall(r"^\$ (.*)$", page, re.MULTILINE)
    assert commands
    for command in commands:
        done = subprocess.run(
            command, shell=True, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == (1 if command.startswith("python train.py >") else 0), done.stderr

        if "why" in command:
            assert "AG104" in done.stdout, command


OTHERS = {
    "torch.ones(2, 3) @ torch.ones(2, 3)": "the sizes of tensors do not fit",
    "torch.ones(2) + torch.ones(3)": "the sizes of tensors do not fit",
    "torch.ones(4).view(3)": "the sizes of tensors do not fit",
    "torch.cat([torch.ones(2, 3), torch.ones(3, 2)])": "the sizes of tensors do not fit",
    "torch.stack([torch.ones(2), torch.ones(3)])": "the sizes of tensors do not fit",
    "nn.Conv2d(3, 4, 1)(torch.ones(1, 2, 5, 5))": "the sizes of tensors do not fit",
    "nn.Linear(2, 2)(torch.ones(2, 2).double())": "the dtypes of tensors do not fit",
    "nn.Conv2d(2, 2, 1)(torch.ones(1, 2, 4, 4).double())": "the dtypes of tensors do not fit",
    "nn.Embedding(3, 2)(torch.tensor([5]))": "an index is outside of what it goes into",
    "torch.ones(3)[7]": "an index is outside of what it goes into",
    "nn.Linear(2, 2).load_state_dict({})": "the names or sizes in a checkpoint are not those of the model",
    "torch.ones(2) @ torch.ones(2, device='meta')": "the operands of one operator are on different devices",
    "{}['x']": "it does not come from autograd",
}


@pytest.mark.parametrize("statement", OTHERS)
def test_an_exception_that_is_not_autograds_is_told_as_what_it_is(tmp_path: Path, statement: str) -> None:
    """As torch words it here."""
    try:
        exec(f"import torch\nfrom torch import nn\n{statement}", {})
    except Exception as error:
        kind, message = type(error).__name__, str(error)
    log = f'Traceback (most recent call last):\n  File "train.py", line 3, in <module>\n{kind}: {message}\n'
    done = run("why", cwd=tmp_path, stdin=log.encode())
    assert done.returncode == 1
    assert f"no autograd exception in standard input; {kind} at train.py:3: {OTHERS[statement]}" in done.stderr


def test_a_line_without_a_traceback_is_an_exception_too(tmp_path: Path) -> None:
    line = (
        "RuntimeError: Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!"
    )
    done = run("why", cwd=tmp_path, stdin=f"step 3\n{line}\n".encode())
    assert "RuntimeError: the operands of one operator are on different devices" in done.stderr
    assert "no traceback in standard input" in run("why", cwd=tmp_path, stdin=b"all is well\n").stderr
