"""The second process: it answers as this one would, and its end, whatever the reason, costs time and nothing else."""

from __future__ import annotations

import io
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from analyzers.host import Cancelled, CancelToken, Host
from analyzers.host.presuming import WHOLE
from analyzers.report import Finding
from autograd_lsp.server.partner import PartnerProcess, is_worth_it, start
from autograd_lsp.server.partner_process import PartnersProcess
from tests.incremental.test_partner import LIBRARY, MENDED, SCRIPT, alone, ran_here

PATIENCE = 60.0
QUICK = "import torch\nw = torch.ones(2)\nw.sum().backward()\n"
PATH = "/lab/script.py"


def wait_until(condition: Callable[[], bool]) -> None:
    until = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.01)


class Watched:
    """A partner whose process can be got at."""

    def __init__(self, command: Callable[[], subprocess.Popen[bytes]] = start) -> None:
        self.process: subprocess.Popen[bytes] | None = None
        self.looked_up: list[str] = []
        self.partner = PartnerProcess(self.look_up, lambda: (2, 13), self.start)
        self.host = Host(look_up=self.look_up)
        self._command = command
        self.host.share(self.partner)

    def look_up(self, dotted: str) -> str:
        self.looked_up.append(dotted)
        return "unknown"

    def start(self) -> subprocess.Popen[bytes]:
        self.process = self._command()
        return self.process

    def ready(self) -> None:
        self.partner.begin([])
        wait_until(lambda: self.partner.is_ready)

    def findings(self, text: str, path: str = PATH) -> tuple[Finding, ...]:
        self.host.set_text(path, text)
        return self.host.snapshot().findings(path)


@pytest.fixture
def watched() -> Iterator[Watched]:
    one = Watched()
    yield one
    if one.process is not None:
        one.process.kill()
        one.process.wait()


def test_it_answers_as_this_process_would(watched: Watched) -> None:
    watched.ready()
    for text in (SCRIPT, SCRIPT.replace(*MENDED), LIBRARY, SCRIPT):
        assert watched.findings(text) == alone(PATH, script=text)
    assert not ran_here(watched.host, "presumed_module_run")
    assert not ran_here(watched.host, "presumed_run")


def test_until_it_is_ready_nobody_waits_for_it() -> None:
    """Here one that never will be."""
    silent = [sys.executable, "-c", "import sys; sys.stdin.buffer.read()"]
    watched = Watched(lambda: subprocess.Popen(silent, stdin=subprocess.PIPE, stdout=subprocess.PIPE))
    assert watched.findings(SCRIPT) == alone(PATH, script=SCRIPT)
    assert ran_here(watched.host, "presumed_module_run")
    assert watched.process is not None
    watched.process.kill()
    watched.process.wait()


def test_it_starts_with_the_first_file_that_mentions_torch(watched: Watched) -> None:
    watched.findings("print(1)\n")
    assert watched.process is None
    watched.findings(QUICK, "/lab/other.py")
    assert watched.process is not None


def test_names_of_libraries_are_looked_up_here(watched: Watched) -> None:
    watched.ready()
    watched.looked_up.clear()
    watched.findings(SCRIPT.replace("lab", "elsewhere"))
    assert not ran_here(watched.host, "presumed_module_run")
    assert watched.looked_up.count("elsewhere.build") == 2, "once for each process"


def test_it_says_how_far_it_is_and_by_which_number_a_system_knows_it(watched: Watched) -> None:
    assert (watched.partner.state, watched.partner.pid) == ("not started", None)
    watched.ready()
    assert watched.process is not None
    assert (watched.partner.state, watched.partner.pid) == ("ready", watched.process.pid)
    watched.process.kill()
    wait_until(lambda: watched.partner.state == "gone")
    assert watched.partner.pid is None


def test_its_end_is_not_ours(watched: Watched) -> None:
    watched.ready()
    watched.findings(SCRIPT)
    assert watched.process is not None
    watched.process.kill()
    changed = SCRIPT.replace("0.1", "0.2")
    assert watched.findings(changed) == alone(PATH, script=changed)
    assert ran_here(watched.host, "presumed_module_run")


def test_what_cannot_start_is_gone() -> None:
    def fail() -> subprocess.Popen[bytes]:
        raise OSError("no more processes")

    assert Watched(fail).findings(SCRIPT) == alone(PATH, script=SCRIPT)


def test_what_is_no_message_ends_it() -> None:
    chatty = [sys.executable, "-c", "print('hello', flush=True); import sys; sys.stdin.buffer.read()"]
    watched = Watched(lambda: subprocess.Popen(chatty, stdin=subprocess.PIPE, stdout=subprocess.PIPE))
    assert watched.findings(SCRIPT) == alone(PATH, script=SCRIPT)
    assert watched.process is not None
    watched.process.wait(PATIENCE)


def test_it_ends_with_us(watched: Watched) -> None:
    watched.ready()
    process = watched.process
    assert process is not None
    assert process.stdin is not None
    process.stdin.close()
    assert process.wait(PATIENCE) == 0


def test_edits_in_the_middle_of_its_work_are_told_at_once(watched: Watched) -> None:
    """Whoever types does not wait for runs, nor do runs wait for each other."""
    watched.ready()
    slow = SCRIPT + "".join(f"def f{n}(x):\n    return x.exp() * {n}\nmodel(f{n}(x))\n" for n in range(60))
    texts = [slow.replace("0.1", f"0.{n}") for n in range(1, 8)]
    answers: list[tuple[Finding, ...]] = []

    def ask() -> None:
        while len(answers) == 0:
            try:
                answers.append(watched.host.snapshot(CancelToken(lambda: None)).findings(PATH))
            except Cancelled:
                continue

    watched.host.set_text(PATH, slow)
    for text in texts:
        answers.clear()
        asking = threading.Thread(target=ask)
        asking.start()
        time.sleep(0.05)
        watched.host.set_text(PATH, text)
        asking.join(PATIENCE)
        assert not asking.is_alive()
    assert watched.host.snapshot().findings(PATH) == alone(PATH, script=texts[-1])


def test_what_is_asked_for_again_while_it_runs_runs_again() -> None:
    """It began with other inputs, and whoever asked waits for an answer of these."""
    process, job = PartnersProcess(io.BytesIO()), (PATH, WHOLE)
    process._plan("need", job)
    assert process._next()[0] == job
    process._helper.take_over(1, "buffer", PATH, SCRIPT.encode())
    process._plan("need", job)
    process._end(job, 0)
    assert list(process._jobs) == [job]


def test_what_is_needed_first_takes_the_place_of_what_runs() -> None:
    process, job, other = PartnersProcess(io.BytesIO()), (PATH, WHOLE), ("/lab/other.py", WHOLE)
    process._plan("begin", [job])
    _, token = process._next()
    process._plan("need", other)
    assert token.is_cancelled
    process._end(job, None)
    assert list(process._jobs) == [other, job]


def test_nothing_of_the_working_folder_is_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("json", "pickle", "analyzers", "autograd_lsp", "sitecustomize", "encodings"):
        (tmp_path / f"{name}.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'a').write({name!r})\n")
    monkeypatch.chdir(tmp_path)
    watched = Watched()
    watched.ready()
    assert watched.findings(SCRIPT) == alone(PATH, script=SCRIPT)
    assert not (tmp_path / "ran").exists()
    assert watched.process is not None
    watched.process.kill()
    watched.process.wait()


def test_one_processor_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda process: {0}, raising=False)
    assert not is_worth_it()
    monkeypatch.setattr("os.sched_getaffinity", lambda process: {0, 1}, raising=False)
    assert is_worth_it()
