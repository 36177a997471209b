"""Runs one program in this process, which is then good for nothing else: a worker forks one for each program."""

from __future__ import annotations

import builtins
import importlib.abc
import importlib.machinery
import importlib.util
import linecache
import os
import random
import resource
import socket
import sys
import tempfile
import time
import types
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import torch

from tests.oracle.instrument import instrument
from tests.oracle.probe import Recorder
from tests.oracle.record import Program, Raised, Run, Warned

STAND_INS = Path(__file__).parent / "stand_ins"
"""Modules in the place of training frameworks that are not installed."""


def run(program: Program, seconds: int) -> Run:
    """The run of `program`: seeded, without a network, with an empty folder to write to."""
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    _close_network()
    sys.dont_write_bytecode = True
    recorder = Recorder(program.root)
    warned: list[Warned] = []
    raised: Raised | None = None
    learnt: tuple[tuple[str, str], ...] = ()
    with tempfile.TemporaryDirectory() as folder, open(os.devnull, "w") as nowhere:
        os.chdir(folder)
        sys.stdout = sys.stderr = nowhere
        _prepare(program, recorder, warned)
        began = time.monotonic()
        try:
            names = _execute(program, recorder)
        except SystemExit as exit_:
            if exit_.code not in (None, 0):
                raised = recorder.raised(exit_, exit_.__traceback__)
        except BaseException as error:
            raised = recorder.raised(error, error.__traceback__)
        else:
            learnt = _learnt(names)
        taken = time.monotonic() - began
        os.chdir("/")
    reached = recorder.reached.get(program.entry, Counter())
    return Run(
        outcome="raises" if raised else "ok",
        raised=raised,
        caught=tuple(recorder.caught),
        warnings=tuple(warned),
        observations=recorder.observations(),
        learnt=learnt,
        stacks=tuple((line, tuple(sorted(seen))) for line, seen in recorder.stacks.get(program.entry, {}).items()),
        times=tuple(sorted(reached.items())),
        seconds=round(taken, 3),
    )


def _execute(program: Program, recorder: Recorder) -> dict[str, Any]:
    path = str(Path(program.root, program.entry))
    text = program.text if program.text is not None else Path(path).read_text(encoding="utf-8")
    # `inspect.getsource` and tracebacks read from here.
    linecache.cache[path] = (len(text), None, text.splitlines(keepends=True), path)
    module = types.ModuleType("__main__")
    module.__file__ = path
    sys.modules["__main__"] = module
    names = {name: eval(expression, {"torch": torch}) for name, expression in program.names.items()}
    module.__dict__.update(names)
    module.__dict__.update(recorder.probes(program.entry))
    exec(compile(instrument(text, path), path, "exec"), module.__dict__)
    return module.__dict__


def _learnt(names: dict[str, Any]) -> tuple[tuple[str, str], ...]:
    found: dict[str, torch.Tensor] = {}
    for name, value in names.items():
        match value:
            case torch.Tensor():
                found[name] = value
            case torch.nn.Module():
                found |= {f"{name}.{parameter}": tensor for parameter, tensor in value.named_parameters()}
    told = ((name, _told(tensor)) for name, tensor in sorted(found.items()))
    return tuple((name, text) for name, text in told if text)


def _told(tensor: torch.Tensor) -> str:
    """Nothing of a tensor that does not learn, nor of a view that torch refuses as its base was written since."""
    try:
        return f"{tensor.detach()} {tensor.grad}" if tensor.requires_grad and tensor.is_leaf else ""
    except RuntimeError:
        return ""


def _prepare(program: Program, recorder: Recorder, warned: list[Warned]) -> None:
    def show(message: Warning | str, category: type[Warning], filename: str, lineno: int, *_: Any, **__: Any) -> None:
        warned.append(Warned(category.__name__, str(message).split("\n", 1)[0], recorder.own(filename), lineno))

    warnings.simplefilter("default")
    warnings.showwarning = show
    random.seed(0)
    np.random.seed(0)
    torch.manual_seed(0)
    sys.argv = [program.entry]
    sys.path[0:0] = [program.root]
    sys.path.append(str(STAND_INS))
    sys.meta_path.insert(0, _Finder(program.root, recorder))
    vars(builtins)["reveal"] = lambda value: None


def _close_network() -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError("the oracle has no network")

    for name in ("connect", "connect_ex"):
        setattr(socket.socket, name, refuse)
    vars(socket)["create_connection"] = vars(socket)["getaddrinfo"] = refuse


class _Finder(importlib.abc.MetaPathFinder):
    """Finds the program's own modules, to load them with probes."""

    def __init__(self, root: str, recorder: Recorder) -> None:
        self.root = root
        self.recorder = recorder

    def find_spec(
        self, fullname: str, path: Any = None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        spec = importlib.machinery.PathFinder.find_spec(fullname, path or [self.root], target)
        if spec is None or spec.origin is None or not isinstance(spec.loader, importlib.machinery.SourceFileLoader):
            return None
        file = self.recorder.own(spec.origin)
        if file is None:
            return None
        spec.loader = _Loader(fullname, spec.origin, self.recorder.probes(file))
        return spec


class _Loader(importlib.machinery.SourceFileLoader):
    def __init__(self, fullname: str, path: str, probes: dict[str, Any]) -> None:
        super().__init__(fullname, path)
        self.probes = probes

    def get_code(self, fullname: str) -> types.CodeType:
        path = self.get_filename(fullname)
        tree = instrument(importlib.util.decode_source(self.get_data(path)), path)
        code: types.CodeType = compile(tree, path, "exec")
        return code

    def exec_module(self, module: types.ModuleType) -> None:
        module.__dict__.update(self.probes)
        super().exec_module(module)
