"""Findings kept on the disk are those that a new run would give, whatever has changed in between."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from autograd_lsp.environment import cache_folder
from autograd_lsp.reports.cache import version
from tests.cli.command import BROKEN, FIXED, REPOSITORY, check_json, run

MODEL = """\
import torch
def cost(x):
    return {}
"""
IMPORT = "from model import cost\n"
TRAIN = f"""\
import torch
{IMPORT}x = torch.ones(3, requires_grad=True)
cost(x).backward()
"""
CUT, WHOLE = "x.detach().sum()", "x.sum()"


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the entries."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "autograd-lsp" / "checks"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "model.py").write_text(MODEL.format(CUT))
    (folder / "train.py").write_text(TRAIN)
    return folder


def codes(*arguments: str, cwd: Path) -> list[str]:
    _, answer = check_json(*arguments, cwd=cwd)
    return [finding["code"] for file in answer["files"] for finding in file["findings"]]


def entries(kept: Path) -> list[Path]:
    return [path for path in kept.rglob("*") if path.is_file()]


def test_what_is_unchanged_is_not_analysed_again(project: Path, kept: Path) -> None:
    """The second command never loads the analyzer, and says the same."""
    program = (
        "import sys\nfrom autograd_lsp.cli import main\n"
        "code = main(sys.argv[1:])\nprint('analyzers.host' in sys.modules, file=sys.stderr)\nsys.exit(code)"
    )
    command = [sys.executable, "-c", program, "check", "--jobs", "1"]
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    first, second = (
        subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True, check=False)
        for _ in range(2)
    )
    assert (first.stderr.split()[-1], second.stderr.split()[-1]) == ("True", "False")
    assert "AG101" in first.stdout
    assert (second.stdout, second.returncode) == (first.stdout, first.returncode)
    assert len(entries(kept)) == 2


def mend_the_import(project: Path) -> None:
    (project / "model.py").write_text(MODEL.format(WHOLE))


def remove_the_import(project: Path) -> None:
    (project / "model.py").unlink()


def put_a_package_before_it(project: Path) -> None:
    (project / "model").mkdir()
    (project / "model" / "__init__.py").write_text(MODEL.format(WHOLE))


def switch_the_rule_off(project: Path) -> None:
    (project / "autograd-lsp.toml").write_text('ignore = ["AG101"]')


def silence_it_there(project: Path) -> None:
    text = (project / "model.py").read_text()
    (project / "model.py").write_text(text.replace(CUT, CUT + "  # autograd: ignore[AG101]"))


@pytest.mark.parametrize(
    "change", [mend_the_import, remove_the_import, put_a_package_before_it, switch_the_rule_off, silence_it_there]
)
def test_a_change_elsewhere_is_seen(project: Path, kept: Path, change: Callable[[Path], None]) -> None:
    assert codes("train.py", cwd=project) == codes("train.py", cwd=project) == ["AG101"]
    change(project)
    assert codes("train.py", cwd=project) == codes("--no-cache", "train.py", cwd=project) == []


def test_a_comment_is_unused_or_not_by_the_files_looked_at_together(project: Path, kept: Path) -> None:
    """Only the importing file's run finds the fault that the comment is there for."""
    silence_it_there(project)
    assert codes("model.py", cwd=project) == ["AG002"]
    assert codes(cwd=project) == []
    assert codes("model.py", cwd=project) == ["AG002"]


def test_nothing_is_kept_that_is_not_wanted(project: Path, kept: Path) -> None:
    codes("--no-cache", cwd=project)
    check_json("-", "--stdin-filename", "train.py", cwd=project, stdin=TRAIN.encode())
    assert entries(kept) == []


def test_a_file_that_cannot_be_read_is_said_to_be_so_each_time(tmp_path: Path, kept: Path) -> None:
    (tmp_path / "bad.py").write_bytes(b"\xff\xfe\x00")
    for _ in range(2):
        done = run("check", "bad.py", cwd=tmp_path)
        assert done.returncode == 2
        assert "AG001" in done.stdout


def test_a_library_of_which_nobody_knows_yet_costs_other_files_nothing(project: Path, kept: Path) -> None:
    (project / "a.py").write_text("try:\n    from fused_kernels import cost\nexcept ImportError:\n    " + IMPORT)
    program = (
        "import sys, time\nfrom autograd_lsp.cli import main\nfrom autograd_lsp.environment import answers\n"
        "answers.PATIENCE = 0\nanswers.Child.answer = lambda self, seconds: time.sleep(1000)\n"
        "sys.exit(main(sys.argv[1:]))"
    )
    command = [sys.executable, "-c", program, "check", "--jobs", "1"]
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    subprocess.run(command, cwd=project, env=environment, check=False, stdout=subprocess.DEVNULL)
    assert len(entries(kept)) == 2
    check_json(cwd=project)
    assert len(entries(kept)) == 3


@pytest.mark.parametrize("damage", ["empty", "short", "other bytes", "another file's"])
def test_a_damaged_entry_is_none(project: Path, kept: Path, damage: str) -> None:
    assert codes(cwd=project) == ["AG101"]
    first, second = sorted(entries(kept))
    data = {
        "empty": b"",
        "short": first.read_bytes()[:-5],
        "other bytes": first.read_bytes()[:40] + b"!" + first.read_bytes()[41:],
        "another file's": second.read_bytes(),
    }[damage]
    first.write_bytes(data)
    second.write_bytes(first.read_bytes() if damage != "another file's" else b"")
    assert codes(cwd=project) == ["AG101"]


def test_commands_that_are_killed_or_run_at_once_do_no_harm(tmp_path: Path, kept: Path) -> None:
    for number in range(12):
        (tmp_path / f"train_{number}.py").write_text(BROKEN if number % 2 else FIXED)
    command = [sys.executable, "-m", "autograd_lsp", "check", "--jobs", "2"]
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    moments = random.Random(5)
    for _ in range(6):
        pair = [subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=subprocess.DEVNULL) for _ in range(2)]
        time.sleep(moments.uniform(0.2, 2.5))
        for process in pair:
            process.kill()
            process.wait()
    assert codes(cwd=tmp_path) == codes(cwd=tmp_path) == ["AG104"] * 6


def test_versions_long_unused_are_swept_away(project: Path, kept: Path) -> None:
    old, recent = kept / "old", kept / "recent"
    for folder in (old, recent):
        folder.mkdir(parents=True)
        (folder / "entry").write_text("")
    month = time.time() - 30 * 86_400
    os.utime(old, (month, month))
    codes(cwd=project)
    assert sorted(path.name for path in kept.iterdir()) == sorted(["recent", version()])


def test_somebody_without_a_home_or_the_right_to_write_is_answered(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert codes(cwd=project) == ["AG101"]
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)
    assert cache_folder().is_absolute()
