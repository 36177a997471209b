"""A folder stands for what git does not ignore, as git itself says it."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
from pathlib import Path

import pytest

from autograd_lsp.config import Configuration
from autograd_lsp.files.sources import discover
from tests.cli.command import BROKEN, FIXED, check_json, run

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="asks git")

NAMES = ("a", "b", "c")
PATTERNS = (
    "a", "/b", "c/", "a.py", "!a.py", "/a/b", "*.py", "!b.py", "**/c", "a/**", "a/**/b.py", "!/a/", "[ab].py", "?.py",
    "# a", "", "!", "a/*", "!a/b", "b.py  ", "\\!a.py", "c/../a", "/*", "!/c",
    "[!a].py", "[^b-c]/", "a/[[:alpha:]].py", "[a", "a/**b/c.py", "a**", "?/?", "\\[a].py", "[]a]", "b\\", "[a-b]?py",
    "a/", "!a/b/", "**/b/**", "**", "!**/", "c.py\t", "c.py\\ ", "*/b", "/**/a.py", "a/b/", "[[]", "***/a.py",
)  # fmt: skip


def git(folder: Path, *arguments: str) -> str:
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    command = ["git", "-c", "core.quotePath=false", *arguments]
    return subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True, text=True).stdout


def found(*paths: str, cwd: Path) -> list[str]:
    code, answer = check_json(*paths, "--no-cache", cwd=cwd)
    assert code in (0, 1)
    return [file["path"] for file in answer["files"]]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name in ("train.py", "made.py", "out/a.py", "out/kept.py", "src/made.py", "src/deep/b.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(FIXED)
    (tmp_path / ".gitignore").write_text("/made.py\n/out/*\n!/out/kept.py\n")
    (tmp_path / "src" / ".gitignore").write_text("deep/\n")
    git(tmp_path, "init")
    return tmp_path


def test_what_git_ignores_is_left_out(project: Path) -> None:
    assert found(cwd=project) == ["train.py", "out/kept.py", "src/made.py"]
    assert found("src", cwd=project) == ["src/made.py"]
    (project / ".git" / "info").mkdir(exist_ok=True)
    (project / ".git" / "info" / "exclude").write_text("train.py\n")
    assert found(cwd=project) == ["out/kept.py", "src/made.py"]


def list_of_users(tmp_path: Path, kind: str) -> tuple[Path, dict[str, str]]:
    """Where git looks for a user's list of patterns, and what has to be set for that."""
    home = tmp_path / "home"
    variables = {"HOME": str(home), "GIT_CONFIG_NOSYSTEM": "1"}
    place = home / "my list"
    (home / ".config" / "git").mkdir(parents=True)
    match kind:
        case "default":
            place = home / ".config" / "git" / "ignore"
        case "xdg":
            variables["XDG_CONFIG_HOME"] = str(home / "x")
            place = home / "x" / "git" / "ignore"
            place.parent.mkdir(parents=True)
        case "home":
            (home / ".gitconfig").write_text('[user]\n\tname = a\n[CORE] ; c\n\tExcludesFile = "~/my list" # why\n')
        case "own":
            (home / ".config" / "git" / "config").write_text(
                f"[core]\nexcludesfile = {place}\n[other]\nexcludesfile=b\n"
            )
        case "later":
            (home / ".config" / "git" / "config").write_text("[core]\nexcludesfile = ~/nothing\n")
            (home / ".gitconfig").write_text('[core "x"]\n[core]excludesfile = ~/my list\n')
        case "global":
            (home / "other").write_text("[core]\nexcludesfile = ~/my list\n")
            variables["GIT_CONFIG_GLOBAL"] = str(home / "other")
    return place, variables


@pytest.mark.parametrize("kind", ["default", "xdg", "home", "own", "later", "global"])
def test_the_list_of_the_user_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    """Where git finds it, and with the same patterns."""
    for name in ("XDG_CONFIG_HOME", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"):
        monkeypatch.delenv(name, raising=False)
    place, variables = list_of_users(tmp_path, kind)
    place.write_text("out/\n!/train.py\n")
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    project = tmp_path / "project"
    (project / "out").mkdir(parents=True)
    for name in ("train.py", "out/a.py"):
        (project / name).write_text(FIXED)
    command = ["git", "ls-files", "--others", "--exclude-standard"]
    subprocess.run(["git", "init", "--quiet"], cwd=project, check=True)
    assert subprocess.check_output(command, cwd=project, text=True).split() == ["train.py"]
    assert found(cwd=project) == ["train.py"]


def test_a_list_that_cannot_be_read_is_told(project: Path) -> None:
    (project / "src" / ".gitignore").unlink()
    os.mkfifo(project / "src" / ".gitignore")
    told = run("check", "--no-cache", cwd=project)
    assert told.stderr == f"autograd-lsp: {project / 'src' / '.gitignore'} is left out: not a regular file\n"


def test_what_is_named_is_looked_at(project: Path) -> None:
    assert found("made.py", "src/deep", cwd=project) == ["made.py", "src/deep/b.py"]
    assert found(cwd=project / "src" / "deep") == ["b.py"]
    assert len(found("--no-respect-gitignore", cwd=project)) == 6


def test_what_is_imported_is_followed_whether_or_not_it_is_ignored(project: Path) -> None:
    (project / "made.py").write_text(BROKEN.replace("y.sum().backward()", "loss = y.sum()"))
    (project / "train.py").write_text("from made import loss\nloss.backward()\n")
    _, answer = check_json("--no-cache", cwd=project)
    assert [(file["path"], len(file["findings"])) for file in answer["files"] if file["findings"]] == [("made.py", 1)]


def test_without_a_repository_nothing_is_ignored(project: Path) -> None:
    shutil.rmtree(project / ".git")
    assert len(found(cwd=project)) == 6


def test_a_repository_within_another_has_its_own_say(project: Path) -> None:
    git(project / "src", "init")
    (project / ".gitignore").write_text("made.py\n")
    assert found("src", cwd=project) == ["src/made.py"]


@pytest.mark.parametrize("seed", range(40))
def test_git_says_the_same(tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(seed)
    for first in NAMES:
        for second in NAMES:
            (tmp_path / first / second).mkdir(parents=True)
            for third in NAMES:
                (tmp_path / first / second / f"{third}.py").touch()
            (tmp_path / first / f"{second}.py").touch()
        (tmp_path / f"{first}.py").touch()
    for folder in (".", "a", "b", "a/b"):
        if chance.random() < 0.7:
            lines = chance.sample(PATTERNS, chance.randint(1, 4))
            (tmp_path / folder / ".gitignore").write_text("\n".join(lines) + "\n")
    git(tmp_path, "init")
    said = git(tmp_path, "ls-files", "--cached", "--others", "--exclude-standard").splitlines()
    monkeypatch.chdir(tmp_path)
    sources = discover(["."], None, Configuration(isolated=True))
    assert sorted(source.shown for source in sources) == sorted(name for name in said if name.endswith(".py"))
