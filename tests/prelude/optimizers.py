"""`python -m tests.prelude.optimizers [NAME ...] [--most N] [--show N]`: torch's samples of optimizers, on both sides.

Every optimizer of torch's `optim_db`, with its sample settings and each of its implementations, in a few situations:
with gradients and without, by closure, in groups, saved and loaded; and its error inputs.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from functools import partial
from typing import Any

import torch
from torch.testing._internal.common_optimizers import OptimizerErrorEnum, optim_db

from tests.prelude.programs import Program
from tests.prelude.report import command

INFOS = {info.optim_cls.__name__: info for info in optim_db}

LOSS = "((operand0 * operand0).sum() + operand1.exp().sum())"
SPARSE_LOSS = "torch.nn.functional.embedding(torch.tensor([0, 1]), operand0, sparse=True).sum()"

SITUATIONS = {
    "step": """
        optimizer = torch.optim.NAME([operand0, operand1, operand2]ARGUMENTS)
        output = LOSS
        output.backward(retain_graph=True)
        operand3 = operand0.grad
        start = None
        seen_nothing = optimizer.step(STEP) is None
        seen_state = sorted(optimizer.state[operand0])
        kept = [v for v in optimizer.state[operand0].values() if isinstance(v, torch.Tensor)]
        seen_kept = [(tuple(v.shape), str(v.dtype), v.requires_grad) for v in kept]
        seen_written = operand0._version > 0
        seen_none = operand2.grad is None
    """,
    "no gradients": """
        optimizer = torch.optim.NAME([operand0, operand1, operand2]ARGUMENTS)
        output = LOSS
        start = None
        optimizer.step(STEP)
        seen_states = len(optimizer.state)
        seen_none = [p.grad is None for p in optimizer.param_groups[0]["params"]]
    """,
    "zero_grad": """
        optimizer = torch.optim.NAME([operand0, operand1, operand2]ARGUMENTS)
        LOSS.backward()
        operand3 = operand0.grad
        start = None
        optimizer.zero_grad()
        seen_none = operand0.grad is None
        optimizer.step(STEP)
    """,
    "zero_grad to zero": """
        optimizer = torch.optim.NAME([operand0, operand1, operand2]ARGUMENTS)
        LOSS.backward()
        operand3 = operand0.grad
        start = None
        optimizer.zero_grad(set_to_none=False)
        seen_none = [operand0.grad is None, operand2.grad is None, operand0.grad is operand3]
    """,
    "groups": """
        optimizer = torch.optim.NAME([{"params": [operand0]}, {"params": [operand1], "lr": 0.5}]ARGUMENTS)
        optimizer.add_param_group({"params": operand2})
        seen_keys = [sorted(g) for g in optimizer.param_groups]
        seen_defaults = sorted(optimizer.defaults)
        seen_rate = optimizer.param_groups[1]["lr"]
        seen_lengths = [len(g["params"]) for g in optimizer.param_groups]
        LOSS.backward()
        start = None
        optimizer.step(STEP)
    """,
    "closure": """
        optimizer = torch.optim.NAME([operand0, operand1, operand2]ARGUMENTS)
        calls = []
        def closure():
            optimizer.zero_grad()
            loss = LOSS
            loss.backward()
            calls.append(torch.is_grad_enabled())
            return loss
        start = None
        output = optimizer.step(closure)
        seen_mode = calls[0]
        seen_none = operand0.grad is None
    """,
    "saved and loaded": """
        optimizer = torch.optim.NAME([operand0, operand1, operand2]ARGUMENTS)
        LOSS.backward()
        optimizer.step(STEP)
        state = optimizer.state_dict()
        seen_keys = sorted(state)
        seen_numbers = state["param_groups"][0]["params"]
        other = torch.optim.NAME([operand0, operand1, operand2]ARGUMENTS)
        start = None
        other.load_state_dict(state)
        seen_same = other.param_groups[0]["params"][0] is operand0
        seen_group = sorted(other.param_groups[0])
        seen_state = [sorted(kept) for kept in other.state.values()]
        other.step(STEP)
    """,
    "module": """
        module = torch.nn.Sequential(torch.nn.Linear(3, 2, bias=False), torch.nn.Sigmoid())
        optimizer = torch.optim.NAME(module.parameters()ARGUMENTS)
        start = None
        for step in range(3):
            optimizer.zero_grad()
            output = module(torch.ones(4, 3)).sum()
            output.backward(retain_graph=True)
            optimizer.step(STEP)
        seen_state = sorted(optimizer.state[module[0].weight])
    """,
    "no leaf": """
        optimizer = torch.optim.NAME([operand0 * 1]ARGUMENTS)
    """,
    "clone": """
        middle = operand0.clone()
        middle.retain_grad()
        optimizer = torch.optim.NAME([middle]ARGUMENTS)
        middle.sum().backward()
        middle.grad = middle.grad.detach()
        optimizer.step(STEP)
        seen_leaf = middle.is_leaf
        seen_version = middle._version > 0
    """,
}


def programs(name: str) -> Iterator[Program]:
    """The programs of one optimizer, those that differ most next to each other."""
    info = INFOS[name]
    settings = [inputs.kwargs for inputs in info.optim_inputs_func(device="cpu")]
    flags = [{}, *({flag: True} for flag in info.supported_impls), {"foreach": False}, {"maximize": True}]
    accepted = info.optim_cls.__init__.__code__.co_varnames
    for given, flag in itertools.product(settings, flags):
        if all(key in accepted and key not in given for key in flag):
            yield from (situation(name, text, what, {**given, **flag}) for what, text in SITUATIONS.items())
    for error in info.optim_error_inputs_func(device="cpu", dtype=torch.float32):
        if error.error_on is OptimizerErrorEnum.CONSTRUCTION_ERROR and error.error_type is not UserWarning:
            yield wrongly_made(name, error.optimizer_error_input)


def situation(name: str, text: str, what: str, kwargs: dict[str, Any]) -> Program:
    made = Program(f"{name} {what} {kwargs}")
    for shape in ((3, 2), (2, 3), (2, 2)):
        made.source(torch.rand(shape).requires_grad_())
    arguments = "".join(f", {key}={made.source(value)}" for key, value in kwargs.items())
    closure = "lambda: operand0.sum()" if name == "LBFGS" else ""
    loss = SPARSE_LOSS if name == "SparseAdam" and "module" not in text else LOSS
    replaced = {"NAME": name, "ARGUMENTS": arguments, "STEP": closure, "LOSS": loss}
    for word, by in replaced.items():
        text = text.replace(word, by)
    made.lines += [line[8:] for line in text.strip("\n").splitlines()[:-1]]
    return made


def wrongly_made(name: str, inputs: Any) -> Program:
    made = Program(f"{name} {inputs.desc}")
    params = [torch.rand(2, 2).requires_grad_()] if inputs.params is None else inputs.params
    arguments = made.arguments([params], inputs.kwargs)
    made.lines.append(f"optimizer = torch.optim.{name}({arguments})")
    return made


if __name__ == "__main__":
    command("tests.prelude.optimizers", "optimizers", __doc__, {name: partial(programs, name) for name in INFOS})
