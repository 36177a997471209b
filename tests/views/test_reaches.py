"""What a backward is said to reach, held against what torch reaches."""

from __future__ import annotations

from typing import Any

import pytest

from analyzers.host import Host
from analyzers.report import Reach
from analyzers.views import reaches

PATH = "/project/train.py"

NET = """\
import torch
from torch import nn
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(4, 4)
        self.head = nn.Linear(4, 1)
        self.spare = nn.Sequential(nn.Linear(4, 1), nn.ReLU())
    def forward(self, x):
        return self.head(self.body(x){cut})
model = Net()
"""
STEP = "loss = model(torch.ones(2, 4)).sum()\nloss.backward()\n"

PROGRAMS = {
    "everything but a part that is not used": NET.format(cut="") + STEP,
    "what lies behind a cut is not reached": NET.format(cut=".detach()") + STEP,
    "what is frozen is not expected": NET.format(cut="") + "model.spare.requires_grad_(False)\n" + STEP,
    "a frozen body": NET.format(cut="") + "model.body.requires_grad_(False)\n" + STEP,
    "a training loop in a function": (
        NET.format(cut=".detach()").replace("model = Net()\n", "")
        + "def main():\n    global model\n    model = Net()\n    opt = torch.optim.SGD(model.parameters(), lr=0.1)\n"
        "    for _ in range(3):\n        opt.zero_grad()\n        loss = model(torch.ones(2, 4)).sum()\n"
        "        loss.backward()\n        opt.step()\nmain()\n"
    ),
    "tied weights have one name": NET.format(cut="") + "model.spare[0].weight = model.head.weight\n" + STEP,
    "a module in a list is a model of its own": (
        "import torch\nfrom torch import nn\nparts = [nn.Linear(4, 4), nn.Linear(4, 1)]\nmodel = parts[0]\n"
        "loss = model(torch.ones(2, 4)).sum()\nloss.backward()\n"
    ),
}


def reach_of(program: str) -> Reach:
    host = Host()
    host.set_text(PATH, program)
    [found] = reaches(host.snapshot(), PATH)
    return found


def names(leaves: tuple[Any, ...]) -> set[str]:
    return {leaf.name for leaf in leaves}


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_what_torch_reaches_is_what_is_said(program: str) -> None:
    found = reach_of(program)
    space: dict[str, Any] = {"__name__": "__main__"}
    # After the last backward of each program nothing clears a gradient.
    exec(compile(program, PATH, "exec"), space)
    parameters = dict(space["model"].named_parameters())
    assert names(found.always) == {name for name, p in parameters.items() if p.grad is not None}
    assert names(found.never) == {name for name, p in parameters.items() if p.grad is None and p.requires_grad}
    assert found.frozen == sum(not p.requires_grad for p in parameters.values())
    assert (found.sometimes, found.besides) == ((), ())


def test_the_place_is_the_call_and_a_leaf_is_where_it_was_made() -> None:
    program = PROGRAMS["what lies behind a cut is not reached"]
    found = reach_of(program)
    text = program.encode()
    assert text[found.place.start : found.place.end] == b"loss.backward()"
    made = {leaf.name: text[leaf.place.start : leaf.place.end] for leaf in found.never if leaf.place is not None}
    assert made["body.weight"] == made["body.bias"] == b"nn.Linear(4, 4)"


def test_parameters_come_in_the_order_of_their_modules() -> None:
    found = reach_of(PROGRAMS["what lies behind a cut is not reached"])
    assert [leaf.name for leaf in found.always] == ["head.weight", "head.bias"]


def test_the_optimizer_says_what_else_is_trained() -> None:
    program = (
        "import torch\n"
        "a, b, w, v, x = (torch.ones(2, requires_grad=True) for _ in range(5))\n"
        "opt = torch.optim.SGD([w, v], lr=0.1)\n"
        "(w * x).sum().backward()\n"
    )
    found = reach_of(program)
    space: dict[str, Any] = {}
    exec(program, space)
    reached = {name for name in "abwvx" if space[name].grad is not None}
    assert names(found.always) | names(found.besides) == reached == {"w", "x"}
    assert (names(found.never), names(found.besides)) == ({"v"}, {"x"})


def test_parameters_of_several_models_have_the_model_in_front() -> None:
    found = reach_of(
        "import torch\nfrom torch import nn\nbody, head = nn.Linear(4, 4), nn.Linear(4, 1)\n"
        "opt = torch.optim.SGD([*body.parameters(), *head.parameters()], lr=0.1)\n"
        "body(torch.ones(2, 4)).sum().backward()\n"
    )
    assert names(found.always) == {"body.weight", "body.bias"}
    assert names(found.never) == {"head.weight", "head.bias"}


def test_ways_that_reach_different_parts_are_told_apart() -> None:
    program = NET.format(cut="").replace("model = Net()\n", "") + (
        "def main(flag):\n    model = Net()\n    x = torch.ones(2, 4)\n    if flag:\n        loss = model(x).sum()\n"
        "    else:\n        loss = model.spare(x).sum()\n    loss.backward()\n    return model\n"
    )
    found = reach_of(program)
    grads = []
    for flag in (True, False):
        space: dict[str, Any] = {}
        exec(f"{program}model = main({flag})\n", space)
        grads.append({name for name, p in space["model"].named_parameters() if p.grad is not None})
    assert names(found.always) == grads[0] & grads[1]
    assert names(found.sometimes) == grads[0] ^ grads[1]
    assert found.never == ()


@pytest.mark.parametrize(
    "program",
    [
        "import torch\ndef step(model, x):\n    model(x).sum().backward()\n",
        "import torch, somewhere\nmodel = somewhere.Net()\nmodel(torch.ones(2)).sum().backward()\n",
        "import torch\nx = torch.ones(3)\nx.sum().backward()\n",
        NET.format(cut="") + "model.body.requires_grad_(unknown())\n" + STEP,
        NET.format(cut="") + "for n in names():\n    model.add_module(n, nn.Linear(4, 4))\n" + STEP,
        "def broken(:\n    loss.backward(\n",
        "",
    ],
)
def test_nothing_is_said_where_it_is_not_known(program: str) -> None:
    host = Host()
    host.set_text(PATH, program)
    assert reaches(host.snapshot(), PATH) == ()


def test_a_model_of_another_file_is_named_too() -> None:
    host = Host()
    host.set_text("/project/net.py", NET.format(cut=".detach()").replace("model = Net()\n", ""))
    host.set_text(PATH, f"import torch\nfrom net import Net\nmodel = Net()\n{STEP}")
    [found] = reaches(host.snapshot(), PATH)
    assert names(found.always) == {"head.weight", "head.bias"}
    assert {leaf.place.path for leaf in found.never if leaf.place is not None} == {"/project/net.py"}


def test_a_step_in_another_file_is_known_while_its_caller_is_looked_at() -> None:
    host = Host()
    step, caller = "/project/step.py", "/project/main.py"
    host.set_text(step, "def step(model, x):\n    model(x).sum().backward()\n")
    host.set_text(caller, "import torch\nfrom step import step\nm = torch.nn.Linear(2, 1)\nstep(m, torch.ones(2))\n")
    assert reaches(host.snapshot(), step) == ()
    host.look_at_together([step, caller])
    [found] = reaches(host.snapshot(), step)
    assert names(found.always) == {"weight", "bias"}


def test_an_edit_elsewhere_asks_no_run_again(monkeypatch: pytest.MonkeyPatch) -> None:
    from analyzers import views

    ran: list[str] = []
    real = views.run_unknown
    monkeypatch.setattr(views, "run_unknown", lambda *args, **named: ran.append("run") or real(*args, **named))
    program = NET.format(cut="").replace("model = Net()", "def train():\n    model = Net()")
    program += "".join(f"    {line}\n" for line in STEP.splitlines())
    host = Host()
    host.set_text(PATH, program)
    before = reaches(host.snapshot(), PATH)
    assert (len(before), ran) == (1, ["run"])
    host.set_text(PATH, "# moved\n" + program)
    [moved] = reaches(host.snapshot(), PATH)
    assert moved.place.start == before[0].place.start + len("# moved\n")
    assert ran == ["run"]
