"""Editors to test with: those on PATH, or Debian packages that are unpacked where nothing else sees them.

`download` has apt get a package of another Debian suite, from the archive that this machine uses and with all that it
depends on, the C library too. Everything is unpacked into the folder that `EDITORS_CACHE` names (`.cache/editors`), and
the system stays as it is. The tests download nothing: with `AUTOGRAD_LSP_EDITORS=1` they take what is unpacked.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
CACHE = Path(os.environ.get("EDITORS_CACHE") or REPOSITORY / ".cache" / "editors").resolve()
FOLDER = CACHE / "debian"
VARIABLE = "AUTOGRAD_LSP_EDITORS"

_END = time.monotonic() + 900
"""All downloads together have a quarter of an hour."""


class UnavailableError(Exception):
    """Why an editor cannot be had here."""


@dataclass(frozen=True)
class Program:
    """A command line to put arguments behind, and what its environment needs."""

    command: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)


def are_wanted() -> bool:
    """The editors that were downloaded, rather than those on PATH."""
    return os.environ.get(VARIABLE) == "1"


def neovim(version: str) -> Program:
    """`version` is `0.10`, or `newest` for one that has `vim.lsp.enable`."""
    if are_wanted():
        root = unpacked({"newest": "forky", "0.10": "trixie"}[version], "neovim")
        runtime = {"VIMRUNTIME": str(root / "usr/share/nvim/runtime")}
        # The parsers that highlight Markdown, so also a hover, lie beside the runtime.
        parsers = ("--cmd", f"set runtimepath+={root / 'usr/lib/nvim'}")
        return Program((*_with_own_libraries(root, "usr/bin/nvim"), *parsers), runtime)
    found = _on_path("nvim")
    told = subprocess.run([found, "--version"], capture_output=True, text=True, check=True).stdout
    numbers = re.search(r"v(\d+)\.(\d+)", told)
    minor = int(numbers[2]) if numbers and numbers[1] == "0" else 0
    if (minor >= 11) if version == "newest" else (minor == 10):
        return Program((found,))
    raise UnavailableError(f"the nvim on PATH is {told.splitlines()[0]}")


def emacs() -> Program:
    """One that has eglot: 29 or later."""
    if not are_wanted():
        return Program((_on_path("emacs"),))
    root = unpacked("trixie", "emacs-nox")
    [share] = (root / "usr/share/emacs").glob("[0-9]*")
    [private] = (root / "usr/libexec/emacs" / share.name).iterdir()
    folders = [path for path in (share / "lisp").rglob("*") if path.is_dir() and path.name not in ("obsolete", "term")]
    environment = {
        "EMACSLOADPATH": os.pathsep.join(map(str, [share / "lisp", *folders, share.parent / "site-lisp"])),
        "EMACSDATA": str(share / "etc"),
        "EMACSDOC": str(share / "etc"),
        "EMACSPATH": str(private),
    }
    [dump] = private.glob("emacs-*.pdmp")
    return Program((*_with_own_libraries(root, "usr/bin/emacs-nox"), f"--dump-file={dump}"), environment)


def helix() -> Program:
    if not are_wanted():
        return Program((_on_path("hx"),))
    root = unpacked("forky", "hx")
    [runtime] = (path for path in root.glob("usr/lib/*/runtime") if path.is_dir())
    return Program(_with_own_libraries(root, "usr/bin/hx"), {"HELIX_RUNTIME": str(runtime)})


def unpacked(suite: str, package: str) -> Path:
    """The folder of a package that was downloaded."""
    root = FOLDER / f"{suite}-{package}"
    if not root.is_dir():
        raise UnavailableError(f"{package} of {suite} is not there: `make editors` downloads it where that is possible")
    return root


def download(suite: str, package: str) -> None:
    """The newest, unless one is there already."""
    root = FOLDER / f"{suite}-{package}"
    with _alone(root):
        if not root.is_dir():
            unfinished = root.with_suffix(".unfinished")
            shutil.rmtree(unfinished, ignore_errors=True)
            _unpack(suite, package, unfinished)
            unfinished.rename(root)


def _on_path(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        raise UnavailableError(f"there is no {name} on PATH, and {VARIABLE} is not 1")
    return found


def _with_own_libraries(root: Path, program: str) -> tuple[str, ...]:
    """Only the program itself runs so: the processes that it starts have the system's libraries."""
    loader = next(iter(sorted(root.glob("usr/lib/*/ld-linux-*.so.*"))), None)
    if loader is None:
        raise UnavailableError("the C library of the package has another layout on this machine")
    return str(loader), "--library-path", str(loader.parent), str(root / program)


@contextmanager
def _alone(root: Path) -> Iterator[None]:
    """One process at a time unpacks; the others wait for it."""
    root.parent.mkdir(parents=True, exist_ok=True)
    with root.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _unpack(suite: str, package: str, root: Path) -> None:
    """With a state of apt's own, in which nothing is installed yet."""
    if shutil.which("apt-get") is None or shutil.which("dpkg-deb") is None:
        raise UnavailableError("only a machine with apt can unpack Debian packages")
    state = root / "apt"
    for folder in ("lists/partial", "cache/archives/partial", "preferences", "sources"):
        (state / folder).mkdir(parents=True)
    for file in ("status", "empty"):
        (state / file).touch()
    (state / "sources" / "suite.sources").write_text(_source(suite))
    apt = (
        "apt-get",
        "--quiet",
        *("--option", f"Dir::Etc::sourcelist={state / 'empty'}"),
        *("--option", f"Dir::Etc::sourceparts={state / 'sources'}"),
        *("--option", f"Dir::Etc::preferences={state / 'empty'}"),
        *("--option", f"Dir::Etc::preferencesparts={state / 'preferences'}"),
        *("--option", f"Dir::State={state}"),
        *("--option", f"Dir::State::lists={state / 'lists'}"),
        *("--option", f"Dir::State::status={state / 'status'}"),
        *("--option", f"Dir::Cache={state / 'cache'}"),
        *("--option", "APT::Sandbox::User=root"),
        *("--option", "APT::Install-Recommends=false"),
    )
    run(*apt, "update")
    run(*apt, "--yes", "--download-only", "install", package)
    for archive in sorted((state / "cache" / "archives").glob("*.deb")):
        run("dpkg-deb", "--extract", str(archive), str(root))
    shutil.rmtree(state)


def _source(suite: str) -> str:
    """The archive and the keys are those that this machine has."""
    wanted = ("Created-By: Packages", "Origin: Debian", "Component: main")
    uris = run("apt-get", "indextargets", "--format", "$(REPO_URI)", *wanted).split()
    main = next((uri for uri in uris if "security" not in uri), None)
    keys = next(iter(sorted(Path("/usr/share/keyrings").glob("debian-archive-keyring.[gp]*"))), None)
    if main is None or keys is None:
        raise UnavailableError("apt has no Debian archive here")
    return f"Types: deb\nURIs: {main}\nSuites: {suite}\nComponents: main\nSigned-By: {keys}\n"


def run(*command: str, cwd: Path | None = None, env: Mapping[str, str] | None = None) -> str:
    """What it prints."""
    left = max(1.0, _END - time.monotonic())
    try:
        done = subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, check=True, timeout=left)
    except subprocess.TimeoutExpired as error:
        raise UnavailableError(f"`{command[0]}` took too long") from error
    except subprocess.CalledProcessError as error:
        lines = (error.stderr.strip() or error.stdout.strip()).splitlines() or ["no reason given"]
        raise UnavailableError(f"`{' '.join(command[:2])}` failed: {lines[-1]}") from error
    return done.stdout
