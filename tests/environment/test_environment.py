"""What jedi says of installed libraries, when it is asked, and what becomes of its answers."""

from __future__ import annotations

import asyncio
import os
import threading
import time
import venv
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import torch

from analyzers.host import Host
from autograd_lsp.config import Configuration
from autograd_lsp.environment import Environment, Place
from autograd_lsp.environment.answers import Child, SlowError, cache_folder
from autograd_lsp.environment.find import pythons
from autograd_lsp.files.sources import Source
from autograd_lsp.reports.make import make_reports
from tests.lsp.editor import editing
from tests.oracle import Program, run_program

LIBRARY = """\
import torch
from torch import Tensor, nn
from torch.optim import Optimizer
from torch.optim.lr_scheduler import LRScheduler


class Backbone(nn.Module):
    @classmethod
    def from_pretrained(cls, name) -> "Backbone":
        return cls()


class Bigger(Backbone):
    def forward(self, x): ...


class Lion(Optimizer):
    def step(self, closure=None): ...


class Warmup(LRScheduler): ...


class Pictures(torch.utils.data.Dataset): ...


def resnet(pretrained: bool = False) -> Backbone: ...


def create_model(name: str, **kwargs) -> nn.Module: ...


def unannotated(x):
    model = Bigger()
    return model


def soften(x: Tensor) -> Tensor: ...


def untold(x):
    return x.anything
"""

KINDS = {
    "vision.Backbone": "module",
    "vision.nets.Bigger": "module",
    "vision.nets.Backbone.from_pretrained": "module",
    "vision.resnet": "module",
    "vision.nets.create_model": "module",
    "vision.nets.unannotated": "module",
    "vision.nets.Lion": "optimizer",
    "vision.nets.Warmup": "scheduler",
    "vision.nets.Pictures": "dataset",
    "vision.nets.soften": "tensor",
    "vision.nets.untold": "unknown",
    "vision.nets.nothing": "unknown",
    "vision": "unknown",
    "fused_kernels": "missing",
}

PROGRAM = """\
import torch
import vision
from torch import nn

nets = {"body": vision.resnet()}
head = nn.Linear(2, 2)
optimizer = torch.optim.SGD([*nets["body"].parameters(), *head.parameters()], lr=0.1)
features = nets["body"](torch.ones(1, 2))
for _ in range(2):
    loss = head(features).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""

TRANSFORM = """\
import numpy as np
import torch
import vision

resize = vision.Resize()
picture = np.asarray(resize(torch.ones(3, 8, 8)))
"""

FALLBACK = {
    "ops.py": """\
def swish(x):
    gate = x.sigmoid()
    out = x * gate
    gate.sub_(0.5)
    return out
""",
    "main.py": """\
import torch

try:
    from fused_kernels import swish
except ImportError:
    from ops import swish

weight = torch.randn(4, 4, requires_grad=True)
swish(torch.randn(2, 4) @ weight).mean().backward()
""",
}


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> str:
    """An environment with the torch of these tests and a library of its own."""
    folder = tmp_path_factory.mktemp("environment")
    venv.EnvBuilder(with_pip=False, symlinks=os.name != "nt").create(folder)
    [packages] = [*folder.glob("lib/python*/site-packages"), *folder.glob("Lib/site-packages")]
    (packages / "with_torch.pth").write_text(str(Path(torch.__file__).parents[1]))
    (packages / "vision").mkdir()
    (packages / "vision" / "nets.py").write_text(LIBRARY)
    (packages / "vision" / "__init__.py").write_text("from .nets import Backbone, resnet\n")
    return next(pythons(str(folder), ""))


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache"


class ScriptedChild(Child):
    """A child that answers by itself, once it may."""

    def __init__(self, kinds: Mapping[str, str], may_answer: threading.Event | None = None) -> None:
        self.kinds = kinds
        self.may_answer = may_answer
        self.asked: list[str] = []
        self.answers: Iterator[Any] = iter([["/python", [], "jedi"]])

    def ask(self, name: str) -> None:
        self.asked.append(name)
        self.answers = iter([self.kinds[name]])

    def answer(self, seconds: float) -> Any:
        if self.may_answer is not None:
            self.may_answer.wait()
        return next(self.answers)

    def stop(self) -> None: ...


def all_of(environment: Environment, names: Mapping[str, str]) -> dict[str, str]:
    environment.patience = 300.0
    for name in names:
        environment.kind(name)
    return environment.wait()


def names_of(host: Host) -> dict[str, str]:
    return {finding.name: finding.severity for finding in host.snapshot().findings("/nowhere/train.py")}


def near(python: str) -> Environment:
    return Environment(lambda: Place("", python), seconds=300.0)


def test_what_jedi_says_is_kept_and_not_asked_again(python: str) -> None:
    assert all_of(near(python), KINDS) == KINDS

    class Silent(Child):
        def ask(self, name: str) -> None:
            raise AssertionError(name)

    again = Environment(lambda: Place("", python), start=Silent, seconds=300.0)
    assert all_of(again, KINDS) == KINDS


def test_a_cache_that_is_no_json_is_made_anew(python: str) -> None:
    names = {"fused_kernels": "missing"}
    assert all_of(near(python), names) == names
    [file] = (cache_folder() / "environments").iterdir()
    for broken in ("{", "[]", '{"fused_kernels": 3}', "[" * 100_000):
        file.write_text(broken)
        assert all_of(near(python), names) == names
        assert "missing" in file.read_text()


def test_a_cache_that_the_workspace_brings_along_is_not_used(
    python: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    names = {"fused_kernels": "missing"}
    assert all_of(near(python), names) == names
    [file] = (cache_folder() / "environments").iterdir()
    file.write_text('{"fused_kernels": "module"}')
    assert all_of(near(python), names) == {"fused_kernels": "module"}
    inside = Environment(lambda: Place(str(tmp_path), python), seconds=300.0)
    assert all_of(inside, names) == names
    assert "module" in file.read_text()


def test_without_an_environment_nothing_is_known(tmp_path: Path) -> None:
    assert list(pythons("nowhere", str(tmp_path))) == []
    assert all_of(near(str(tmp_path / "nowhere")), {"timm": ""}) == {"timm": "unknown"}


def test_an_environment_near_the_workspace_is_found(python: str, tmp_path: Path) -> None:
    (tmp_path / "project" / "src").mkdir(parents=True)
    (tmp_path / "project" / ".venv").symlink_to(Path(python).parents[1])
    found = list(pythons(None, str(tmp_path / "project" / "src"), {}))
    assert found[0] == str(tmp_path / "project" / ".venv" / "bin" / "python")
    active = list(pythons(None, str(tmp_path), {"VIRTUAL_ENV": str(Path(python).parents[1])}))
    assert active[0] == python


def test_a_slow_child_delays_no_answer() -> None:
    may_answer, learnt = threading.Event(), threading.Event()
    child = ScriptedChild({"timm.create_model": "module"}, may_answer)
    environment = Environment(start=lambda command: child)
    environment.on_answers = lambda answers: learnt.set()
    assert environment.kind("timm.create_model") == "unknown"
    assert environment.kind("timm.create_model") == "unknown"
    assert environment.is_asking
    may_answer.set()
    assert learnt.wait(30)
    assert environment.kind("timm.create_model") == "module"
    assert child.asked == ["timm.create_model"]


def test_what_is_never_answered_is_unknown_and_others_are_asked_of_a_new_child() -> None:
    class Stuck(ScriptedChild):
        def ask(self, name: str) -> None:
            raise SlowError

    children = [Stuck({}), ScriptedChild({"b.c": "tensor"})]
    environment = Environment(start=lambda command: children.pop(0))
    assert all_of(environment, {"a.b": "", "b.c": ""}) == {"a.b": "unknown", "b.c": "tensor"}


def test_an_answer_runs_the_analysis_again() -> None:
    asked: list[str] = []

    def look_up(dotted: str) -> str:
        asked.append(dotted)
        return "unknown"

    host = Host(look_up=look_up)
    host.set_text("/nowhere/train.py", PROGRAM)
    assert "graph-reused-across-iterations" not in names_of(host)
    assert asked == ["vision.resnet"]
    host.outside_known({"vision.resnet": "module"})
    assert names_of(host)["graph-reused-across-iterations"] == "warning"
    assert asked == ["vision.resnet"]


def test_a_module_of_a_library_may_be_a_transform() -> None:
    host = Host(look_up={"vision.Resize": "module"}.__getitem__)
    host.set_text("/nowhere/train.py", TRANSFORM)
    assert names_of(host) == {}


def test_a_fallback_counts_where_the_package_is_missing(tmp_path: Path) -> None:
    for file, text in FALLBACK.items():
        (tmp_path / file).write_text(text)
    raised = run_program(Program.at(tmp_path)).raised
    assert raised is not None
    assert (raised.file, raised.line) == ("main.py", 9)
    for kind, severities in (("missing", ["error"]), ("unknown", [])):
        host = Host(look_up=lambda dotted, kind=kind: kind if dotted == "fused_kernels" else "unknown")
        found = host.snapshot().findings(str(tmp_path / "main.py"))
        assert [finding.severity for finding in found if finding.name == "saved-tensor-modified"] == severities


def test_an_answer_that_comes_while_a_file_is_analysed_counts(
    python: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for file, text in FALLBACK.items():
        (tmp_path / file).write_text(text)
    asked = Environment.kind

    def kind(self: Environment, dotted: str) -> str:
        known_by_then = asked(self, dotted)
        while self.is_asking:
            time.sleep(0.01)
        return known_by_then

    monkeypatch.setattr(Environment, "kind", kind)
    monkeypatch.setenv("VIRTUAL_ENV", str(Path(python).parents[1]))
    main = str(tmp_path / "main.py")
    [report] = make_reports([Source(main, main)], "findings", 1, Configuration(isolated=True))
    assert [finding.severity for finding in report.findings if finding.name == "saved-tensor-modified"] == ["error"]


async def test_the_server_runs_again_when_an_answer_comes(python: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VIRTUAL_ENV", str(Path(python).parents[1]))
    all_of(near(python), {"vision.resnet": ""})  # so that the server need not wait for jedi
    uri = "file:///project/train.py"
    async with editing() as editor:
        editor.open(uri, PROGRAM)

        async def told() -> None:
            while not any(d.code == "AG103" for params in editor.published for d in params.diagnostics):
                await asyncio.sleep(0.05)

        await asyncio.wait_for(told(), 120)
