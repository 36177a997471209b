"""A wheel carries what the analyzer reads at run time, and what it installs needs no torch."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

from autograd_lsp import __version__
from tests.project.checkout import REPOSITORY, copy_to

EXAMPLE = REPOSITORY / "examples" / "gan.py"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    source = tmp_path_factory.mktemp("source")
    copy_to(source)
    out = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", out, source)
    (built,) = out.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def scripts(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return environment_with(wheel, tmp_path_factory.mktemp("environment"))


def environment_with(package: Path, home: Path) -> Path:
    """The scripts of a new environment with a package in it; what that depends on comes from the present one."""
    venv.create(home, symlinks=True)
    place = {"base": str(home), "platbase": str(home)}
    site = Path(sysconfig.get_path("purelib", "venv" if "venv" in sysconfig.get_scheme_names() else None, place))
    (site / "present.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    bin_ = site.parents[2] / "bin"
    options = ("--no-deps", "--no-index", "--no-build-isolation")
    run(sys.executable, "-m", "pip", "--python", bin_ / "python", "install", *options, package)
    return bin_


def run(*command: str | Path, cwd: Path | None = None, code: int = 0) -> str:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, cwd=cwd, env=environment, check=False)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout


def test_the_wheel_holds_the_prelude_and_the_tables(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        inside = set(archive.namelist())
    data = [*(REPOSITORY / "analyzers/prelude").rglob("*.py"), *(REPOSITORY / "analyzers/ops/data").iterdir()]
    assert {path.relative_to(REPOSITORY).as_posix() for path in data} <= inside
    assert not [name for name in inside if name.startswith(("tests", "tools", "examples"))]


def test_the_manual_page_is_installed_where_man_looks_for_it(scripts: Path) -> None:
    page = scripts.parent / "share" / "man" / "man1" / "autograd-lsp.1"
    assert page.read_bytes() == (REPOSITORY / "docs" / "autograd-lsp.1").read_bytes()


def test_flake8_finds_the_plugin_that_is_installed(scripts: Path, tmp_path: Path) -> None:
    told = run(scripts / "python", "-m", "flake8", "--isolated", "--select", "AG", EXAMPLE, cwd=tmp_path, code=1)
    assert ":68:9: AG104 " in told


def test_the_installed_command_knows_its_version(scripts: Path, tmp_path: Path) -> None:
    assert run(scripts / "autograd-lsp", "--version", cwd=tmp_path) == f"autograd-lsp {__version__}\n"


def test_the_installed_check_works_without_torch(scripts: Path, tmp_path: Path) -> None:
    program = (
        "import sys\n"
        "sys.modules['torch'] = None\n"
        "import autograd_lsp.cli\n"
        "print(autograd_lsp.__file__)\n"
        f"sys.exit(autograd_lsp.cli.main(['check', {str(EXAMPLE)!r}]))\n"
    )
    place, _, report = run(scripts / "python", "-c", program, cwd=tmp_path, code=1).partition("\n")
    assert Path(place).is_relative_to(scripts.parent)
    assert "AG104" in report
