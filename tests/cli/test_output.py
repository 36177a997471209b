"""Where reports go: whole into a file, and with colours and links to a terminal alone."""

from __future__ import annotations

import json
import os
import pty
import re
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from autograd_lsp.cli.output import output
from autograd_lsp.config.reporting import FORMATS
from autograd_lsp.process.exits import UsageError
from tests.cli.command import BROKEN, REPOSITORY, run

LINK = re.compile(r"\x1b\]8;[^;]*;(?P<address>[^\x1b]*)\x1b\\(?P<shown>.*?)\x1b\]8;;\x1b\\")
CODE = re.compile(r"\x1b\[(?P<numbers>[0-9;]*)m")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "train.py").write_text(BROKEN)
    return tmp_path


@pytest.mark.parametrize("name", FORMATS)
def test_a_file_gets_what_standard_output_would(project: Path, name: str) -> None:
    plain = run("check", "--format", name, cwd=project)
    done = run("check", "--format", name, "--output-file", "out/of/report", cwd=project)
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "")
    assert (project / "out/of/report").read_text(encoding="utf-8") == plain.stdout
    assert os.listdir(project / "out/of") == ["report"]


def test_a_check_that_fails_leaves_the_old_file(project: Path) -> None:
    (project / "report").write_text("old")
    done = run("check", "--select", "no-such-rule", "--output-file", "report", cwd=project)
    assert done.returncode == 2
    assert (project / "report").read_text() == "old"
    assert sorted(os.listdir(project)) == ["report", "train.py"]


def test_a_file_is_old_or_new_and_never_half(project: Path) -> None:
    target = project / "report"
    target.write_text("old")
    target.chmod(0o640)
    with output(str(target)) as stream:
        stream.write("new")
        stream.flush()
        assert target.read_text() == "old"
    assert target.read_text() == "new"
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    with pytest.raises(ZeroDivisionError), output(str(target)):
        raise ZeroDivisionError
    assert target.read_text() == "new"
    assert sorted(os.listdir(project)) == ["report", "train.py"]


def test_a_link_stays_one(project: Path) -> None:
    (project / "there").mkdir()
    (project / "report").symlink_to("there/report")
    with output(str(project / "report")) as stream:
        stream.write("new")
    assert (project / "report").is_symlink()
    assert (project / "there/report").read_text() == "new"


def test_a_pipe_is_written_to(project: Path) -> None:
    os.mkfifo(project / "pipe")
    got: list[str] = []
    reader = threading.Thread(target=lambda: got.append((project / "pipe").read_text()))
    reader.start()
    run("check", "--format", "json", "--output-file", "pipe", cwd=project)
    reader.join(timeout=60)
    assert [file["path"] for file in json.loads(got[0])["files"]] == ["train.py"]
    assert stat.S_ISFIFO((project / "pipe").stat().st_mode)
    done = run("check", "--output-file", "/dev/stdout", cwd=project)
    assert done.stdout == run("check", cwd=project).stdout


def test_what_cannot_be_written_is_bad_usage(project: Path) -> None:
    for path in (".", "train.py/report"):
        done = run("check", "--output-file", path, cwd=project)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith(f"autograd-lsp: cannot write {path}: ")
    with pytest.raises(UsageError), output(str(project)):
        pass


def on_terminal(project: Path, *arguments: str, code: int = 1, **variables: str) -> str:
    """What a terminal is sent."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "autograd_lsp", "check", *arguments],
        cwd=project,
        env=environment(**{"TERM": "xterm-256color", **variables}),
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    parts: list[bytes] = []
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        parts.append(part)
    os.close(ours)
    assert process.wait() == code
    return b"".join(parts).decode().replace("\r\n", "\n")


def test_a_terminal_is_told_how_far_a_long_check_is(project: Path) -> None:
    """From the beginning on, and nothing of it stays."""
    for number in range(24):
        (project / f"model_{number}.py").write_text("import torch\n")
    sent = on_terminal(project)
    shown = [f"\r\x1b[Kchecked {done} of 25 files" for done in range(26)]
    assert "".join(shown) + "\r\x1b[K" in sent.replace("\n", "")
    assert "\x1b[K" not in through_pipe(project)


def through_pipe(project: Path, *arguments: str, **variables: str) -> str:
    command = [sys.executable, "-m", "autograd_lsp", "check", *arguments]
    return subprocess.run(
        command, cwd=project, env=environment(**variables), capture_output=True, text=True, check=False
    ).stdout


def environment(**variables: str) -> dict[str, str]:
    told = ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE", "TERM", "COLORTERM")
    kept = {key: value for key, value in os.environ.items() if key not in told}
    return {**kept, "PYTHONPATH": str(REPOSITORY), **variables}


def colours(text: str) -> list[int]:
    """The codes that set a colour."""
    numbers = [int(n) for found in CODE.finditer(text) for n in found["numbers"].split(";") if n]
    return [n for n in numbers if 30 <= n <= 49 or 90 <= n <= 107]


def bare(text: str) -> str:
    return CODE.sub("", LINK.sub(lambda found: found["shown"], text))


def test_a_terminal_gets_colours_and_links(project: Path) -> None:
    sent = on_terminal(project)
    assert bare(sent) == through_pipe(project)
    assert colours(sent)
    [link] = LINK.finditer(sent)
    assert link["address"] == "https://autograd-lsp.readthedocs.io/rules/saved-tensor-modified/"
    assert bare(link["shown"]) == "error[AG104]"


def test_a_file_that_cannot_be_read_has_its_page(project: Path) -> None:
    (project / "data.py").write_bytes(b"\xff")
    sent = on_terminal(project, code=2)
    assert [bare(link["shown"]) for link in LINK.finditer(sent)] == ["error[AG001]", "error[AG104]"]


def test_no_color_takes_the_colours_and_leaves_the_links(project: Path) -> None:
    sent = on_terminal(project, NO_COLOR="1")
    assert colours(sent) == []
    assert len([*LINK.finditer(sent)]) == 1
    assert bare(sent) == through_pipe(project)


def test_a_dumb_terminal_is_sent_text(project: Path) -> None:
    assert on_terminal(project, TERM="dumb") == through_pipe(project)


def test_elsewhere_only_who_asks_gets_colours_and_nobody_links(project: Path) -> None:
    plain = through_pipe(project)
    assert "\x1b" not in plain
    forced = through_pipe(project, FORCE_COLOR="1", TERM="xterm")
    assert colours(forced) and CODE.sub("", forced) == plain
    assert colours(through_pipe(project, FORCE_COLOR="1", NO_COLOR="1", TERM="xterm")) == []


def test_a_file_and_the_formats_for_machines_have_no_colours(project: Path) -> None:
    on_terminal(project, "--output-file", "report", FORCE_COLOR="1")
    assert (project / "report").read_text() == through_pipe(project)
    for name in FORMATS[2:]:
        assert "\x1b" not in on_terminal(project, "--format", name, FORCE_COLOR="1")
