"""An alias is a name of torch, and means what torch means by it."""

import pytest

from tests.prelude.loader import ALIASES, World, real

WORLD = World()


@pytest.mark.parametrize("name", [n for n in ALIASES if n.startswith("torch.")])
def test_alias(name):
    theirs = real(name)
    assert theirs is not None
    assert theirs is real(ALIASES[name]) or name.rsplit(".", 1)[1] in {
        "GradScaler",
        "autocast",
        "custom_fwd",
        "custom_bwd",
        "_Loss",
        "_WeightedLoss",
        "_BatchNorm",
        "_ConvNd",
        "_DropoutNd",
        "_LRScheduler",
    }
    assert WORLD.lookup(name) is not theirs or ALIASES[name] in {"torch.nn.Parameter", "torch.nn.Buffer"}
