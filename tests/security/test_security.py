"""What `docs/security.md` promises, held against a project that would betray every breach of it.

Each process notes what it does from its start on (`sitecustomize.py` here). The project has code in every place from
which some tool of Python's runs it, and each such piece leaves a trace.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Any

import pytest

from autograd_lsp.process.own import SAFE
from tests.cli.command import BROKEN, REPOSITORY

HERE = Path(__file__).resolve().parent
TRACE = "open({place!r}, 'a').write(__name__ + chr(10))\n"
PROGRAM = f"""\
import vision, native, helper
import torch
from torch import nn
nets = {{"body": vision.resnet(), "head": native.make(), "other": helper.make()}}
features = nets["body"](torch.ones(1, 2))
{BROKEN}"""
LIBRARY = "from torch import nn\ndef resnet() -> nn.Module: ...\n"
SCRIPT = "#!/bin/sh\necho interpreter >> '{place}'\nexec '{python}' \"$@\"\n"
STARTER = """\
import multiprocessing, os, sys
from autograd_lsp.cli import main
if __name__ == "__main__":
    if os.environ.get("START"):
        multiprocessing.set_start_method(os.environ["START"])
    sys.exit(main())
"""
"""What pip installs as `autograd-lsp`, but that it may be told how to start other processes."""
RUN_BY_OTHERS = ("sitecustomize", "usercustomize", "conftest", "setup", "backend", "helper", "__init__", "__main__")


def importable() -> set[str]:
    """The top-level names of Python's own library, of what is installed here, and ours; torch is what programs use."""
    return {*sys.stdlib_module_names, *packages_distributions(), "analyzers", "autograd_lsp"} - {"torch", "__main__"}


def imported_by_minus_m() -> set[str]:
    """What `python -m` itself imports from the working folder, before any code of ours can leave that out."""
    command = [sys.executable, "-I", "-c", "import runpy, sys; print(*sys.modules)"]
    return {name.partition(".")[0] for name in subprocess.check_output(command, text=True).split()}


@dataclass(frozen=True)
class Hostile:
    """`trace` is a file that any code of the project makes."""

    folder: Path
    trace: Path
    log: Path
    starter: Path
    start: str = ""

    def environment(self) -> dict[str, str]:
        apart = ("VIRTUAL_ENV", "CONDA_PREFIX", "PYTHONPATH")
        return {
            **{name: value for name, value in os.environ.items() if name not in apart},
            "PYTHONPATH": os.pathsep.join([str(HERE), str(REPOSITORY)]),
            "AUDIT_LOG": str(self.log),
            "START": self.start,
            "XDG_CACHE_HOME": str(self.log.parent / "cache"),
        }

    def noted(self, kind: str) -> list[str]:
        rows = (line.partition(" ") for line in self.log.read_text().splitlines())
        return [about for event, _, about in rows if event == kind]


@pytest.fixture(params=["an environment nearby", "an environment that is configured"])
def hostile(tmp_path: Path, request: pytest.FixtureRequest) -> Hostile:
    project, trace = tmp_path / "project", tmp_path / "trace"
    code = TRACE.format(place=str(trace))
    packages = project / ".venv" / "lib" / f"python3.{sys.version_info.minor}" / "site-packages"
    texts = {
        project / "train.py": code + PROGRAM,
        **{project / f"{name}.py": code for name in RUN_BY_OTHERS},
        **{project / f"{name}.py": code for name in importable()},
        project / "pyproject.toml": '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n',
        project / ".jedi" / "project.json": json.dumps([1, {"load_unsafe_extensions": True, "sys_path": ["."]}]),
        project / ".pth": f"import sys; {code}",
        project / ".venv" / "pyvenv.cfg": "home = /usr/bin\n",
        project / ".venv" / "bin" / "python": SCRIPT.format(place=trace, python=sys.executable),
        packages / "evil.pth": f"import sys; {code}",
        packages / "sitecustomize.py": code,
        packages / "torch" / "__init__.py": code + "from torch import nn\n",
        packages / "torch" / "nn.py": code + "class Module:\n    def register_forward_pre_hook(self): ...\n",
        packages / "vision" / "__init__.py": code + LIBRARY,
        packages / "gi" / "__init__.py": code,
        packages / f"native.cpython-3{sys.version_info.minor}-x86_64-linux-gnu.so": "no library",
        packages / "__editable___x_finder.py": code,
    }
    if request.param == "an environment that is configured":
        texts[project / "autograd-lsp.toml"] = 'python = ".venv/bin/python"\n'
    for path, text in texts.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (project / ".venv" / "bin" / "python").chmod(0o755)
    (tmp_path / "log").mkdir()
    (tmp_path / "bin").mkdir()
    starter = tmp_path / "bin" / "autograd-lsp"
    starter.write_text(STARTER)
    return Hostile(project, trace, tmp_path / "log" / "audit", starter)


def run(hostile: Hostile, *arguments: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return python(hostile, str(hostile.starter), *arguments, stdin=stdin)


def python(hostile: Hostile, *arguments: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, *arguments]
    return subprocess.run(
        command, cwd=hostile.folder, env=hostile.environment(), input=stdin, capture_output=True, check=False
    )


def hold_to_the_promises(hostile: Hostile) -> None:
    assert not hostile.trace.exists(), hostile.trace.read_text()
    inside = f"{hostile.folder}{os.sep}"
    ran = [*hostile.noted("run"), *hostile.noted("load")]
    assert any("autograd_lsp" in path for path in ran)
    assert not [path for path in ran if path.startswith(inside) or "site-packages/native" in path]
    # `forkserver` talks with its server by a socket that is a file of its own.
    own = os.path.join(tempfile.gettempdir(), "pymp-")
    assert [address for address in hostile.noted("network") if own not in address] == []
    assert [command for command in hostile.noted("start") if not is_ours(command)] == []
    cache = f"{hostile.log.parent}{os.sep}"
    written = [path for path in hostile.noted("write") if not path.startswith((cache, os.devnull))]
    assert [path for path in written if not is_probe(path)] == []


def is_probe(path: str) -> bool:
    """A file by which `tempfile` finds out whether it may write into a folder, and which it takes away again."""
    return os.path.dirname(path) == tempfile.gettempdir() and not os.path.exists(path)


def is_ours(command: str) -> bool:
    """The child that reads an environment, the workers of `check --jobs`, and the second process of a server."""
    program = command.removeprefix(f"{sys.executable} ")
    child = REPOSITORY / "autograd_lsp" / "environment" / "child.py"
    second = (
        f"{SAFE} -c import json, sys; sys.path[:] = json.loads(sys.argv[1]); from autograd_lsp.server.partner_process"
    )
    return program != command and program.startswith((f"{child} [", "-c from multiprocessing", second))


@pytest.mark.parametrize("arguments", [(), ("--jobs", "2"), ("--fix", "--diff")])
def test_check_runs_nothing_of_the_project(hostile: Hostile, arguments: Sequence[str]) -> None:
    done = run(hostile, "check", "--format", "json", *arguments)
    assert done.returncode == 1, done.stderr
    assert b"error[AG104]" in done.stdout or b"y.add(1)" in done.stdout
    hold_to_the_promises(hostile)
    assert [command for command in hostile.noted("start") if "child.py" in command]


@pytest.mark.parametrize("start", multiprocessing.get_all_start_methods())
def test_neither_does_a_helping_process_however_it_starts(hostile: Hostile, start: str) -> None:
    for name in range(20):  # so many that each of the processes has some
        (hostile.folder / f"train{name}.py").write_text(PROGRAM)
    hostile = replace(hostile, start=start)
    done = run(hostile, "check", "--no-cache", "--jobs", "2")
    assert done.returncode == 1, done.stderr
    assert done.stdout.count(b"error[AG104]") == 21
    hold_to_the_promises(hostile)


def test_python_minus_m_runs_nothing_after_its_own_modules(hostile: Hostile) -> None:
    for name in {*imported_by_minus_m(), "autograd_lsp"}:
        (hostile.folder / f"{name}.py").unlink(missing_ok=True)
    done = python(hostile, "-m", "autograd_lsp", "check", "--jobs", "2")
    assert done.returncode == 1, done.stderr
    hold_to_the_promises(hostile)


@pytest.mark.parametrize("command", ["facts", "graph", "why"])
def test_neither_do_the_other_commands(hostile: Hostile, command: str) -> None:
    line = (hostile.folder / "train.py").read_text().splitlines().index("y.sum().backward()") + 1
    error = (
        "RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation"
    )
    told = f'Traceback (most recent call last):\n  File "train.py", line {line}, in <module>\n    y.sum().backward()\n'
    arguments = {"facts": ["train.py"], "graph": [f"train.py:{line}:y"], "why": []}[command]
    done = run(hostile, command, *arguments, stdin=f"{told}{error}\n".encode())
    assert done.returncode in (0, 1), done.stderr
    assert done.stdout
    hold_to_the_promises(hostile)


def test_neither_does_the_server(hostile: Hostile) -> None:
    uri = (hostile.folder / "train.py").as_uri()
    command = [sys.executable, str(hostile.starter), "server"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(command, cwd=hostile.folder, env=hostile.environment(), **pipes) as server:  # type: ignore[call-overload]
        send(server, "initialize", {"processId": None, "rootUri": hostile.folder.as_uri(), "capabilities": {}}, 1)
        answers = messages(server)
        next(message for message in answers if message.get("id") == 1)
        send(server, "initialized", {})
        text = (hostile.folder / "train.py").read_text()
        document = {"uri": uri, "languageId": "python", "version": 1, "text": text}
        send(server, "textDocument/didOpen", {"textDocument": document})
        published = (
            m["params"]["diagnostics"] for m in answers if m.get("method") == "textDocument/publishDiagnostics"
        )
        assert [one["code"] for one in next(published)] == ["AG104"]
        line = text.splitlines().index("y.sum().backward()")
        at = {"textDocument": {"uri": uri}, "position": {"line": line, "character": 0}}
        send(server, "textDocument/hover", at, 2)
        assert next(message for message in answers if message.get("id") == 2)["result"]
        while not any("child.py" in command for command in hostile.noted("start")):
            time.sleep(0.05)
        send(server, "shutdown", None, 3)
        next(message for message in answers if message.get("id") == 3)
        send(server, "exit", None)
    hold_to_the_promises(hostile)


def test_a_breach_would_be_seen(hostile: Hostile) -> None:
    """What the promises are held to does see what Python does when it is started carelessly there."""
    python(
        hostile, "-c", "import rich, sys; del sys.path[0]; import socket; socket.socket().connect_ex(('127.0.0.1', 9))"
    )
    assert hostile.trace.read_text() == "rich\n"
    assert str(hostile.folder / "rich.py") in hostile.noted("run")
    assert str(hostile.trace) in hostile.noted("write") and hostile.noted("network")
    python(
        hostile, "-c", "import sys; del sys.path[0]; import subprocess; subprocess.run(['.venv/bin/python', '-c', ''])"
    )
    assert "interpreter\n" in hostile.trace.read_text()
    assert not all(is_ours(command) for command in hostile.noted("start"))


def send(server: subprocess.Popen[bytes], method: str, params: Any, number: int | None = None) -> None:
    message = {"jsonrpc": "2.0", "method": method, "params": params, **({} if number is None else {"id": number})}
    body = json.dumps(message).encode()
    assert server.stdin is not None
    server.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
    server.stdin.flush()


def messages(server: subprocess.Popen[bytes]) -> Iterator[dict[str, Any]]:
    assert server.stdout is not None
    while (header := server.stdout.readline()) != b"":
        length = int(header.partition(b":")[2]) if header.lower().startswith(b"content-length") else None
        while length is not None and server.stdout.readline() != b"\r\n":
            pass
        if length is not None:
            yield json.loads(server.stdout.read(length))
