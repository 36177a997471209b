"""`python -m tests.prelude.modules [NAME ...] [--most N] [--show N]`: torch's own samples of modules, on both sides.

Every module of torch's `module_db`, on its sample inputs, in train and eval mode, with inputs that require grad and
with inputs that do not.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from functools import partial
from typing import Any

import torch
from torch.testing._internal.common_modules import module_db

from tests.prelude.programs import Program
from tests.prelude.report import command

INFOS = {info.name.removeprefix("nn."): info for info in module_db}


def programs(name: str) -> Iterator[Program]:
    """The programs of one module, those that differ most next to each other."""
    info = INFOS[name]
    every = [
        [program(info, sample, training, flag) for sample in samples(info, training)]
        for training in (True, False)
        for flag in (True, False)
    ]
    seen: set[str] = set()
    for found in itertools.chain.from_iterable(itertools.zip_longest(*every)):
        if found is not None and found.text not in seen:
            seen.add(found.text)
            yield found


def samples(info: Any, training: bool) -> list[Any]:
    # The samples of random pooling hand it random numbers in the default dtype of torch's own test suite.
    dtype = torch.float64 if "Fractional" in info.name else torch.float32
    made = info.module_inputs_func(info, device="cpu", dtype=dtype, requires_grad=True, training=training)
    return [sample for sample in made if sample.forward_input is not None]


def program(info: Any, sample: Any, training: bool, requires_grad: bool) -> Program:
    made = Program(f"{info.name} {sample.desc} {'train' if training else 'eval'}")
    given, call = sample.constructor_input, sample.forward_input
    made.lines.append(f"module = torch.{info.name}({made.arguments(given.args, given.kwargs)})")
    made.lines.append("module.train()" if training else "module.eval()")
    arguments = made.arguments(call.args, call.kwargs, requires_grad)
    if issubclass(info.module_cls, torch.nn.modules.lazy.LazyModuleMixin):
        made.lines.append(f"module({arguments})")
    made.lines += ["start = None", f"output = module({arguments})", "seen_state = list(module.state_dict())"]
    return made


if __name__ == "__main__":
    command(
        "tests.prelude.modules", "modules, without `nn.`", __doc__, {name: partial(programs, name) for name in INFOS}
    )
