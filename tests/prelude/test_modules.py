"""Every module of torch.nn that the prelude models does to autograd what the real one does."""

import pytest
import torch
from torch.testing._internal.common_modules import module_db

from tests.prelude.compare import fresh, observe, tensors_in
from tests.prelude.loader import World

WORLD = World()
MODELLED = {info.name: info for info in module_db if info.name.startswith("nn.") and "Lazy" not in info.name}


def prelude_class(info):
    return WORLD.namespaces["torch.nn"][info.name.removeprefix("nn.")]


LIVED_WITH = {
    ("nn.KLDivLoss", "scalar_reduction_batchmean"): "a division by one more",
    ("nn.KLDivLoss", "scalar_reduction_batchmean_log_target"): "a division by one more",
}


def samples(info, training):
    dtype = torch.float64 if "Fractional" in info.name else torch.float32
    found = info.module_inputs_func(info, device="cpu", dtype=dtype, requires_grad=True, training=training)
    # Chunked by `options`, the loss is one operator written in Python.
    found = [s for s in found if s.constructor_input.kwargs.get("options") is None]
    return [s for s in found if (info.name, s.desc) not in LIVED_WITH]


def table(module):
    return {
        "parameters": [(n, tuple(p.shape), p.dtype, p.requires_grad) for n, p in module.named_parameters()],
        "buffers": [(n, tuple(b.shape), b.dtype) for n, b in module.named_buffers()],
        "state": sorted(module.state_dict()),
        "modules": [n for n, _ in module.named_modules()],
    }


def run(module, args, kwargs):
    args, kwargs = fresh((args, kwargs))
    inputs = [(f"input {i}", t) for i, t in enumerate(tensors_in((args, kwargs)))]
    inputs += list(module.named_parameters()) + list(module.named_buffers())
    return observe(lambda: module(*args, **kwargs), inputs)


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("name", sorted(MODELLED))
def test_module(name, training):
    info = MODELLED[name]
    made = 0
    for sample in samples(info, training):
        given = sample.constructor_input
        real = info.module_cls(*given.args, **given.kwargs).train(training)
        given = WORLD.own((given.args, given.kwargs))
        mine = prelude_class(info)(*given[0], **given[1]).train(training)
        assert table(mine) == table(real), sample.desc
        if sample.forward_input is None:
            continue
        args, kwargs = sample.forward_input.args, sample.forward_input.kwargs
        torch.manual_seed(0)
        expected = run(real, args, kwargs)
        torch.manual_seed(0)
        assert run(mine, args, kwargs) == expected, (sample.desc, [tuple(t.shape) for t in tensors_in(args)])
        made += 1
    assert made
