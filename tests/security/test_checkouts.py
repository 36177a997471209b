"""What a checkout brings along for others to run or to load: caches, packages, steps of an action."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
import yaml

from autograd_lsp.reports.cache import lies_below
from tests.cli.command import BROKEN, REPOSITORY, run
from tests.security.test_security import importable

TRACE = "open({place!r}, 'a').write(__name__ + chr(10))\n"


def test_a_cache_inside_what_is_checked_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "project" / ".cache"))
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "train.py").write_text(BROKEN)
    done = run("check", "project", cwd=tmp_path)
    assert "lies inside what is checked, and is not used" in done.stderr
    assert "AG104" in done.stdout
    assert not list((tmp_path / "project").rglob("checks"))
    assert lies_below([str(tmp_path / "elsewhere"), str(tmp_path / "project" / "train.py")]) is None


def test_jedi_keeps_and_takes_no_pickles(tmp_path: Path) -> None:
    for name, text in {"torch/__init__.py": "", "vision.py": "from torch import x\ndef resnet() -> int: ...\n"}.items():
        (tmp_path / "packages" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "packages" / name).write_text(text)
    (tmp_path / "cache").mkdir()
    child = REPOSITORY / "autograd_lsp" / "environment" / "child.py"
    done = subprocess.run(
        [sys.executable, str(child), json.dumps([["python", [str(tmp_path / "packages")]]])],
        env={**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")},
        input="vision.resnet\n", capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.splitlines()[1:] == ['"unknown"']
    assert not list((tmp_path / "cache").rglob("*.pkl"))


@pytest.mark.parametrize("name", ["analyzers", "rich", "tree_sitter", "immutables"])
def test_flake8_takes_our_packages_and_not_the_projects(tmp_path: Path, name: str) -> None:
    pytest.importorskip("flake8")
    trace = tmp_path / "trace"
    (tmp_path / "project" / name).mkdir(parents=True)
    (tmp_path / "project" / name / "__init__.py").write_text(TRACE.format(place=str(trace)))
    (tmp_path / "project" / "train.py").write_text(BROKEN)
    command = [sys.executable, "-m", "flake8", "--select", "AG", "train.py"]
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    done = subprocess.run(
        command, cwd=tmp_path / "project", env=environment, capture_output=True, text=True, check=False
    )
    assert "AG104" in done.stdout, done.stderr
    assert not trace.exists()


def _wheel(folder: Path) -> Path:
    """A package of one script that says where it was called, for the action to install in our place."""
    wheel = folder / "autograd_lsp-0-py3-none-any.whl"
    about = "autograd_lsp-0.dist-info"
    with zipfile.ZipFile(wheel, "w") as file:
        file.writestr("autograd_lsp.py", "import sys\ndef main():\n    print('called', *sys.argv[1:])\n")
        file.writestr(f"{about}/METADATA", "Metadata-Version: 2.1\nName: autograd-lsp\nVersion: 0\n")
        file.writestr(
            f"{about}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        file.writestr(f"{about}/entry_points.txt", "[console_scripts]\nautograd-lsp = autograd_lsp:main\n")
        file.writestr(f"{about}/RECORD", "")
    return wheel


@pytest.mark.skipif(sys.platform == "win32", reason="the steps are written for bash")
def test_the_steps_of_the_action_run_nothing_of_a_pull_request(tmp_path: Path) -> None:
    trace, work, home = tmp_path / "trace", tmp_path / "work", tmp_path / "home"
    work.mkdir()
    home.mkdir()
    for name in sys.stdlib_module_names | {"pip", "setuptools", "autograd_lsp", "analyzers"}:
        (work / f"{name}.py").write_text(TRACE.format(place=str(trace)))
    steps = yaml.safe_load((REPOSITORY / "action.yml").read_text())["runs"]["steps"]
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "RUNNER_TEMP": str(home), "GITHUB_ACTION_PATH": str(_wheel(home)), "GITHUB_OUTPUT": str(home / "output"),
        "VERSION": "", "PATHS": ".", "ARGS": "", "FORMAT": "github", "SARIF": "out.sarif", "PIP_NO_INDEX": "1",
    }  # fmt: skip
    environment.pop("PYTHONPATH", None)
    for step in steps:
        if "run" not in step:
            continue
        done = subprocess.run(
            ["bash", "-e", "-c", step["run"]], cwd=work, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        if (home / "output").exists():
            environment["PROGRAM"] = (home / "output").read_text().strip().removeprefix("program=")
    assert "called check" in done.stdout
    assert not trace.exists(), trace.read_text()


def test_the_hook_of_pre_commit_runs_nothing_of_the_project(tmp_path: Path) -> None:
    """As pre-commit runs it: the command of an environment of its own, in the project, with the names of files."""
    program = shutil.which("autograd-lsp", path=str(Path(sys.executable).parent))
    if program is None:
        pytest.skip("autograd-lsp is not installed as a command")
    trace, work = tmp_path / "trace", tmp_path / "work"
    work.mkdir()
    for name in sorted(importable()):
        (work / f"{name}.py").write_text(TRACE.format(place=str(trace)))
    (work / "train.py").write_text(BROKEN)
    [hook] = yaml.safe_load((REPOSITORY / ".pre-commit-hooks.yaml").read_text())
    name, *arguments = hook["entry"].split()
    assert name == "autograd-lsp"
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    done = subprocess.run(
        [program, *arguments, *hook.get("args", ()), *sorted(path.name for path in work.iterdir())],
        cwd=work, env={**environment, "XDG_CACHE_HOME": str(tmp_path)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "train.py:4" in done.stdout, done.stderr
    assert not trace.exists(), trace.read_text()
