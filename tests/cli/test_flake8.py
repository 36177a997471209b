"""flake8 with the plugin: what fails `check`, at the same places, whichever way flake8 comes to a file."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from autograd_lsp.flake8 import Plugin
from tests.cli.command import BROKEN, FIXED, REPOSITORY, check_json

LIBRARY = "def write(y):\n    y.add_(1)\n"
CALLER = BROKEN.replace("import torch\n", "import torch\nfrom lib import write\n").replace("y.add_(1)", "write(y)")
LOCAL = f"""\
[flake8:local-plugins]
extension =
    AG = autograd_lsp.flake8:Plugin
paths = {REPOSITORY}
"""
IS_INSTALLED = any(point.value.startswith("autograd_lsp.") for point in entry_points(group="flake8.extension"))
SETTINGS = "[flake8]\nselect = AG\n" + ("" if IS_INSTALLED else LOCAL)
"""flake8 finds a plugin that is installed by itself, and would ask it twice."""


def flake8(*arguments: str, cwd: Path, stdin: str = "") -> subprocess.CompletedProcess[str]:
    if cwd != REPOSITORY:
        (cwd / ".flake8").write_text(SETTINGS)
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return subprocess.run(
        [sys.executable, "-m", "flake8", *arguments],
        cwd=cwd,
        env=environment,
        input=stdin,
        capture_output=True,
        text=True,
        check=False,
    )


def places(*arguments: str, cwd: Path, stdin: str = "") -> list[str]:
    """`path:line:column: code` of each line."""
    done = flake8(*arguments, cwd=cwd, stdin=stdin)
    lines = done.stdout.splitlines()
    assert (done.returncode, done.stderr) == (1 if lines else 0, "")
    return sorted(" ".join(line.removeprefix("./").split(" ")[:2]) for line in lines)


def as_checked(cwd: Path) -> list[str]:
    _, document = check_json(cwd=cwd)
    return sorted(
        f"{file['path']}:{start['line']}:{start['column']}: {finding['code']}"
        for file in document["files"]
        for finding in file["findings"]
        for start in [finding["range"]["start"]]
        if finding["severity"] != "info"
    )


def test_the_package_registers_the_plugin() -> None:
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["entry-points"]["flake8.extension"] == {"AG": f"{Plugin.__module__}:{Plugin.__name__}"}


def test_a_finding_is_a_line(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("import torch\nx = torch.ones(3)\ns = 'äöü'; x.require_grad = True\n")
    done = flake8("train.py", cwd=tmp_path)
    [finding] = check_json("train.py", cwd=tmp_path)[1]["files"][0]["findings"]
    assert done.stdout == f"train.py:3:{finding['range']['start']['column']}: AG206 {finding['message']}\n"
    assert (done.returncode, done.stderr) == (1, "")


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_folder_has_what_check_finds_there(tmp_path: Path, jobs: str) -> None:
    """Also a cause in an imported file, which no run of that file itself meets."""
    texts = {"broken.py": BROKEN, "fixed.py": FIXED, "lib.py": LIBRARY, "caller.py": CALLER}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    expected = as_checked(tmp_path)
    assert {line.partition(":")[0] for line in expected} == {"broken.py", "lib.py"}
    assert places("--jobs", jobs, ".", cwd=tmp_path) == expected


def test_a_file_alone_tells_of_a_cause_in_another(tmp_path: Path) -> None:
    (tmp_path / "lib.py").write_text(LIBRARY)
    (tmp_path / "caller.py").write_text(CALLER)
    done = flake8("caller.py", cwd=tmp_path)
    [line] = done.stdout.splitlines()
    assert line.startswith("caller.py:6:1: AG104 ") and line.endswith(", at lib.py:2")
    assert places("lib.py", cwd=tmp_path) == []


def test_standard_input(tmp_path: Path) -> None:
    assert places("-", cwd=tmp_path, stdin=BROKEN) == ["stdin:4:1: AG104"]
    (tmp_path / "lib.py").write_text(LIBRARY)
    (tmp_path / "train.py").write_text(FIXED)
    named = ("--stdin-display-name", "train.py", "-")
    assert places(*named, cwd=tmp_path, stdin=BROKEN) == ["train.py:4:1: AG104"]
    assert flake8(*named, cwd=tmp_path, stdin=CALLER).stdout.endswith(", at lib.py:2\n")


def test_comments_and_the_configuration_count(tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text(BROKEN)
    (tmp_path / "noqa.py").write_text(BROKEN.replace("y.add_(1)", "y.add_(1)  # noqa: AG104"))
    (tmp_path / "ours.py").write_text(BROKEN.replace("y.add_(1)", "y.add_(1)  # autograd: ignore"))
    assert places(cwd=tmp_path) == ["broken.py:4:1: AG104"]
    (tmp_path / "autograd-lsp.toml").write_text('severity = { AG104 = "info" }\n')
    assert places(cwd=tmp_path) == []
    (tmp_path / "autograd-lsp.toml").write_text('exclude = ["broken.py"]\n')
    assert places(cwd=tmp_path) == []


def test_what_a_test_expects_is_no_failure(tmp_path: Path) -> None:
    expecting = BROKEN.replace("y.sum()", "with pytest.raises(RuntimeError):\n    y.sum()")
    (tmp_path / "test_train.py").write_text("import pytest\n" + expecting)
    assert check_json(cwd=tmp_path)[1]["files"][0]["findings"]
    assert places(cwd=tmp_path) == []


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_bad_configuration_is_told_once(tmp_path: Path, jobs: str) -> None:
    for name in ("a.py", "b.py"):
        (tmp_path / name).write_text(BROKEN)
    (tmp_path / "autograd-lsp.toml").write_text('severity = { AGX = "error" }\n')
    done = flake8("--jobs", jobs, cwd=tmp_path)
    said = done.stdout + done.stderr
    assert done.returncode == 1 and "Traceback" not in said
    assert said.count("severity: there is no rule `AGX`") == 1


def test_flake8_does_not_pay_for_the_analysis_before_it_needs_it() -> None:
    program = "import sys, autograd_lsp.flake8; print(sorted(name for name in sys.modules if 'analyzers' in name))"
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "[]\n"


def test_the_page_shows_what_flake8_says(tmp_path: Path) -> None:
    page = (REPOSITORY / "docs" / "integrations.md").read_text(encoding="utf-8")
    [(arguments, shown)] = re.findall(r"```text\n\$ flake8 (.+)\n([\s\S]*?)```", page)
    (tmp_path / ".flake8").write_text(SETTINGS)
    done = flake8("--config", str(tmp_path / ".flake8"), *arguments.split(), cwd=REPOSITORY)
    assert (done.stdout, done.returncode) == (shown, 1)
