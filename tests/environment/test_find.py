"""Where an environment's packages lie, as its files tell."""

from __future__ import annotations

import os
import sys
import venv
from pathlib import Path

import pytest

from autograd_lsp.environment.child import has
from autograd_lsp.environment.find import folders_of, pythons

FINDER = """\
from __future__ import annotations
raise SystemExit("this is read, not run")
MAPPING: dict[str, str] = {mapping!r}
NAMESPACES: dict[str, list[str]] = {{}}
"""


@pytest.fixture
def packages(tmp_path: Path) -> Path:
    """The folder of packages of an environment without a Python in it."""
    folder = tmp_path / "env" / "lib" / "python3.11" / "site-packages"
    folder.mkdir(parents=True)
    (tmp_path / "env" / "bin").mkdir()
    (tmp_path / "env" / "bin" / "python").write_text("#!/bin/sh\nexit 1\n")
    (tmp_path / "env" / "pyvenv.cfg").write_text("home = /nowhere/bin\ninclude-system-site-packages = false\n")
    return folder


def python_of(packages: Path) -> str:
    [python] = pythons(str(packages.parents[2]), "")
    return python


def test_this_interpreter_finds_what_it_can_import() -> None:
    folders = folders_of(sys.executable)
    assert has(folders, "pytest") and has(folders, "jedi") and not has(folders, "no_such_package")


def test_an_environment_that_venv_makes_has_its_packages(tmp_path: Path) -> None:
    venv.create(tmp_path / "env", with_pip=False, symlinks=os.name != "nt")
    [python] = pythons(str(tmp_path / "env"), "")
    [folder] = folders_of(python)
    assert Path(folder).is_relative_to(tmp_path) and os.path.basename(folder) == "site-packages"


def test_folders_that_files_add_belong_to_it(packages: Path, tmp_path: Path) -> None:
    for name in ("absolute", "src/edited", "flat"):
        (tmp_path / name).mkdir(parents=True)
    lines = ["# a remark", "", "import sys; sys.exit('this is read, not run')", str(tmp_path / "absolute"), "missing"]
    (packages / "a.pth").write_text("\n".join(lines))
    mapping = {"edited": str(tmp_path / "src" / "edited"), "flat": str(tmp_path / "flat")}
    (packages / "__editable___edited_0_1_finder.py").write_text(FINDER.format(mapping=mapping))
    wanted = [packages, tmp_path / "absolute", tmp_path, tmp_path / "src"]
    assert folders_of(python_of(packages)) == [str(path) for path in wanted]


@pytest.mark.parametrize("text", ["MAPPING: dict = 1/0", "MAPPING: dict = {'a': 3}", "MAPPING: dict = (", "\0"])
def test_a_finder_that_says_something_else_adds_nothing(packages: Path, text: str) -> None:
    (packages / "__editable___x_finder.py").write_text(text)
    assert folders_of(python_of(packages)) == [str(packages)]


def test_an_environment_may_be_open_to_what_it_is_based_on(packages: Path, tmp_path: Path) -> None:
    base = tmp_path / "base" / "lib" / "python3.11" / "dist-packages"
    base.mkdir(parents=True)
    settings = "home = {}\ninclude-system-site-packages = {}\n"
    (packages.parents[2] / "pyvenv.cfg").write_text(settings.format(tmp_path / "base" / "bin", "true"))
    assert folders_of(python_of(packages)) == sorted([str(packages), str(base)])
    (packages.parents[2] / "pyvenv.cfg").write_text(settings.format(tmp_path / "base" / "bin", "false"))
    assert folders_of(python_of(packages)) == [str(packages)]


def test_a_link_to_an_interpreter_has_the_packages_of_that(packages: Path, tmp_path: Path) -> None:
    (packages.parents[2] / "pyvenv.cfg").unlink()
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python3").symlink_to(packages.parents[2] / "bin" / "python")
    assert folders_of(str(tmp_path / "bin" / "python3")) == [str(packages)]


def test_what_can_be_imported(packages: Path) -> None:
    (packages / "package").mkdir()
    for name in ("module.py", "compiled.cpython-311-x86_64-linux-gnu.so", "other-1.0.dist-info", "notes.txt"):
        (packages / name).write_text("")
    found = [name for name in ("package", "module", "compiled", "other-1", "notes") if has([str(packages)], name)]
    assert found == ["package", "module", "compiled"]
    assert not has([str(packages / "module.py"), "/nowhere"], "module")
