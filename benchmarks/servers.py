"""The servers that are measured: how each is started, how it answers, and how the same tool checks a folder.

All get the same environment: the virtual environment of one interpreter is active, so that each finds torch there by
its own means. What settings a tool has stay as they are, but where it would otherwise do less than its full work.
"""

from __future__ import annotations

import atexit
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks.client import Answers, Client

REPOSITORY = Path(__file__).resolve().parents[1]
OURS = "autograd-lsp"
COMPILED = REPOSITORY / "build" / "compiled"
"""Where `make compiled` leaves a copy of the repository."""


@dataclass(frozen=True, slots=True)
class Server:
    """`{cores}` in a command or a variable is the number of cores; `start[0]` is looked for beside the interpreter."""

    name: str
    start: tuple[str, ...]
    version: tuple[str, ...]
    answers: Answers
    """How it answers an editor that can do either."""
    checks: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Commands that check a folder, which comes last, by what they are called."""
    variables: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    note: str = ""
    sources: Path | None = None
    """Where the server's own modules are found, if that is a folder."""


_US = (sys.executable, "-m", "autograd_lsp")

SERVERS = (
    Server(
        OURS,
        (*_US, "server"),
        (*_US, "--version"),
        "pull",
        {OURS: (*_US, "check", "--jobs", "{cores}")},
        sources=REPOSITORY,
    ),
    Server(
        "compiled",
        (*_US, "server"),
        (*_US, "--version"),
        "pull",
        {"compiled": (*_US, "check", "--jobs", "{cores}")},
        note="This is autograd-lsp with its hot modules compiled by mypyc (`make compiled`).",
        sources=COMPILED,
    ),
    Server(
        "ruff",
        ("ruff", "server"),
        ("ruff", "--version"),
        "pull",
        {"ruff": ("ruff", "check")},
        variables={"RAYON_NUM_THREADS": "{cores}"},
        note="It looks at one file at a time, and does not follow imports.",
    ),
    Server(
        "ty",
        ("ty", "server"),
        ("ty", "--version"),
        "pull",
        {"ty": ("ty", "check")},
        variables={"TY_MAX_PARALLELISM": "{cores}"},
    ),
    Server(
        "pyrefly",
        ("pyrefly", "lsp"),
        ("pyrefly", "--version"),
        "push",
        {"pyrefly": ("pyrefly", "check", "--threads", "{cores}", "--preset", "default", "--progress-bar", "no")},
        settings={"python": {"pyrefly": {"displayTypeErrors": "force-on"}}},
        note="It offers no pulling. It is told to show type errors, which a folder has to be configured for.",
    ),
    Server(
        "pyright",
        ("pyright-langserver", "--stdio"),
        ("pyright", "--version"),
        "pull",
        {"pyright": ("pyright",), "pyright --threads": ("pyright", "--threads", "{cores}")},
        note="Where it pushes, it first waits for a quarter of a second in which nobody types. `check` uses one thread "
        "unless told otherwise.",
    ),
    Server(
        "jedi-language-server",
        ("jedi-language-server",),
        ("jedi-language-server", "--version"),
        "never",
        note="Its diagnostics are errors of syntax, so that only its start is compared.",
    ),
)


@dataclass(frozen=True, slots=True)
class Tool:
    """A server that is installed here."""

    server: Server
    version: str
    environment: Mapping[str, str]
    cores: int

    @property
    def name(self) -> str:
        return self.server.name

    async def start(self, folder: Path, push: bool = False, log: Path | None = None) -> Client:
        answers: Answers = "push" if push and self.server.answers == "pull" else self.server.answers
        return await Client.start(
            self.name,
            _found(self.server.start, self.environment) or self.server.start,
            folder,
            answers,
            environment={**self.environment, "XDG_CACHE_HOME": tempfile.mkdtemp(dir=_caches())},
            settings=self.server.settings,
            log=log,
        )

    def checks(self) -> dict[str, list[str]]:
        """The commands that check a folder; more than one thread is another command only where there are more cores."""
        found = {}
        for label, command in self.server.checks.items():
            if label == self.name or self.cores > 1:
                whole = _found(command, self.environment) or command
                found[label] = [part.format(cores=self.cores) for part in whole]
        return found


BEFORE = {OURS: "before", "compiled": "before-compiled"}
"""What another checkout of ours is called, plain and compiled."""


def of_checkout(folder: Path) -> list[Server]:
    """Our server and its compiled form, as another checkout has them."""
    sources = {OURS: folder, "compiled": folder / COMPILED.relative_to(REPOSITORY)}
    return [
        replace(
            server,
            name=BEFORE[server.name],
            checks={BEFORE[server.name]: server.checks[server.name]},
            sources=sources[server.name],
        )
        for server in SERVERS
        if server.name in BEFORE
    ]


def installed(names: Sequence[str], others: Sequence[Server] = ()) -> tuple[list[Tool], list[str]]:
    """The servers of these names that are installed here and the others, and the names of what is not installed."""
    tools: list[Tool] = []
    missing: list[str] = []
    for server in (*SERVERS, *others):
        if server.name in names or server in others:
            tool = _tool(server)
            if tool is None:
                missing.append(server.name)
            else:
                tools.append(tool)
    return tools, missing


def cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _tool(server: Server) -> Tool | None:
    environment = _environment(server)
    command = _found(server.version, environment)
    if server.sources and server.sources.name == COMPILED.name and not any(server.sources.glob("*.so")):
        return None
    if command is None or _found(server.start, environment) is None:
        return None
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, env=environment, cwd=server.sources, timeout=120, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return Tool(server, done.stdout.split()[-1], environment, cores())


def _environment(server: Server) -> dict[str, str]:
    """That of a shell in which this interpreter's virtual environment is active."""
    variables = {name: value.format(cores=cores()) for name, value in server.variables.items()}
    kept = {name: value for name, value in os.environ.items() if name not in {"PYTHONHOME", "PYTHONPATH"}}
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
    ours = {"PYTHONPATH": str(server.sources)} if server.sources else {}
    return {**kept, **variables, **ours, "PATH": path, "VIRTUAL_ENV": sys.prefix}


@cache
def _caches() -> str:
    """A folder of caches that are empty: nobody is to know what another start has found."""
    folder = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def _found(command: Sequence[str], environment: Mapping[str, str]) -> list[str] | None:
    """The command with the whole path of its program."""
    program = shutil.which(command[0], path=environment["PATH"])
    return [program, *command[1:]] if program else None
