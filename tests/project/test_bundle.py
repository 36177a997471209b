"""The server that comes with the extension starts under a Python that has nothing installed."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

from autograd_lsp.environment.answers import _CHILD
from autograd_lsp.process.loading import folder_of
from tests.project.checkout import REPOSITORY
from tests.project.test_wheel import EXAMPLE
from tools import bundle
from tools.check_wheels import PYTHONS

TAG = f"cp{sys.version_info.major}{sys.version_info.minor}"


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    venv.create(tmp_path / "bare", symlinks=True)
    return tmp_path / "bare" / "bin" / "python"


@pytest.fixture
def start(tmp_path: Path) -> Path:
    """The starter beside libraries as they are laid out; they are those of the present environment."""
    libs = tmp_path / "bundled" / "libs"
    (libs / TAG).mkdir(parents=True)
    for package in ("analyzers", "autograd_lsp"):
        (libs / TAG / package).symlink_to(REPOSITORY / package)
    (libs / "any").symlink_to(sysconfig.get_path("purelib"))
    return Path(shutil.copy(REPOSITORY / "vscode-client" / "bundled" / "start.py", tmp_path / "bundled"))


def test_the_starter_needs_nothing_but_python(bare: Path, start: Path, tmp_path: Path) -> None:
    # A project may have files of any name.
    (tmp_path / "analyzers.py").write_text("raise SystemExit('not this one')")
    command = [bare, "-I", start, "check", "--no-cache", "--jobs", "2", EXAMPLE, EXAMPLE.with_name("running_loss.py")]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (1, "")
    assert "AG104" in done.stdout and "AG401" in done.stdout


def test_jedi_is_found_where_the_server_has_it(bare: Path, tmp_path: Path) -> None:
    (tmp_path / "site" / "torch").mkdir(parents=True)
    environments = json.dumps([["python", [str(tmp_path / "site")]]])
    command = [bare, "-I", _CHILD, environments, folder_of("jedi")]
    done = subprocess.run(command, input="vision\n", capture_output=True, text=True, check=True)
    first, answer = done.stdout.splitlines()
    assert json.loads(first)[0] == "python"
    assert json.loads(answer) == "missing"


def test_what_pythons_share_is_there_once(tmp_path: Path) -> None:
    contents = {
        "cp310": {"pure.py": "1", "fast": "a", "back.py": "1", "ours": "pure"},
        "cp311": {"pure.py": "1", "fast": "b", "ours": "compiled"},
        "cp312": {"pure.py": "1", "fast": "c", "ours": "pure"},
    }
    for tag, packages in contents.items():
        for name, text in packages.items():
            file = tmp_path / tag / name if name.endswith(".py") else tmp_path / tag / name / "__init__.py"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
    bundle.lay_out({tag: tmp_path / tag for tag in contents}, tmp_path / "libs")
    laid = {path.name: sorted(entry.name for entry in path.iterdir()) for path in (tmp_path / "libs").iterdir()}
    assert laid == {
        "any": ["ours", "pure.py"],
        "cp310": ["back.py", "fast"],
        "cp311": ["fast", "ours"],
        "cp312": ["fast"],
    }
    assert (tmp_path / "libs" / "any" / "ours" / "__init__.py").read_text() == "pure"


def test_a_compiled_wheel_takes_the_place_of_the_pure_one() -> None:
    pure, compiled = Path("autograd_lsp-1-py3-none-any.whl"), Path("autograd_lsp-1-cp312-cp312-linux_x86_64.whl")
    assert bundle.wheel_for([compiled, pure], "cp312") == compiled
    assert bundle.wheel_for([compiled, pure], "cp311") == pure
    with pytest.raises(bundle.BundleError, match="cp311"):
        bundle.wheel_for([compiled], "cp311")


def test_each_python_that_is_supported_has_its_libraries() -> None:
    settings = (REPOSITORY / "pyproject.toml").read_text(encoding="utf-8")
    assert re.findall(r"Programming Language :: Python :: (3\.\d+)", settings) == list(PYTHONS)
