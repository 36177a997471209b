"""What a text may import, and whether it speaks of autograd, read without parsing it."""

from __future__ import annotations

import pytest

from analyzers.program import prelude
from analyzers.program.signs import Import, imports, makes_tensors, speaks

IMPORTS = b"""\
import os, a.b as c
try:
    from . import d, e as f
    from .x.y import (g,  # all (of them)
        h,)
except ImportError: import i
from..j import *
from k import l  # and no more
"""


def test_imports_in_all_their_forms() -> None:
    assert tuple(imports(IMPORTS)) == (
        Import("os", 0, (), False),
        Import("a.b", 0, (), False),
        Import("", 1, ("d", "e"), True),
        Import("x.y", 1, ("g", "h"), True),
        Import("i", 0, (), True),
        Import("j", 2, ("*",), False),
        Import("k", 0, ("l",), False),
    )


@pytest.mark.parametrize(
    "text",
    [
        "import torch",
        "import os, torch.nn as nn",
        "from torch.nn import functional",
        "def f():\n    import torch",
        "try: import torch\nexcept ImportError: pass",
        "import os; import torch",
        "import os\rimport torch",
        "import torchvision",
        "from torch import(nn)",
        "from torch import(\n    nn,\n)",
        "from torch \\\n    import nn",
        "import os, \\\r\n    torch",
        "\ufeffimport torch",
        "from pytorch_lightning import LightningModule",
    ],
)
def test_what_makes_tensors(text: str) -> None:
    assert makes_tensors(text.encode())


def test_every_library_of_the_prelude_is_known_to_make_tensors() -> None:
    of_python = {"argparse", "builtins", "unittest"}
    folders = {folder.name.partition(".")[0] for folder in prelude.ROOT.iterdir() if folder.is_dir()}
    names = folders | {dotted.partition(".")[0] for dotted in prelude.aliases()}
    libraries = {name for name in names if name.isidentifier()} - of_python - {"presumed", "__pycache__"}
    assert [name for name in sorted(libraries) if not makes_tensors(f"import {name}".encode())] == []


@pytest.mark.parametrize("text", ["import os", "from .torch import x", "torch = None", 'x = ["import torch"]'])
def test_what_makes_none(text: str) -> None:
    assert not makes_tensors(text.encode())


@pytest.mark.parametrize(
    "text",
    [
        "loss.backward()",
        "def backward(ctx, grad): pass",
        "print(p.grad)",
        "p.requires_grad_(False)",
        "opt.zero_grad()",
        "def training_step(self, batch): ...",
    ],
)
def test_words_that_are_autograds_alone(text: str) -> None:
    assert speaks(text.encode())


@pytest.mark.parametrize("text", ["# for backward compatibility", "theano.grad(y, x)", "upgrade.step()", "s.detach()"])
def test_words_that_others_use_too(text: str) -> None:
    assert not speaks(text.encode())


@pytest.mark.parametrize(
    "text",
    [
        "from" + " " * 200_000,
        "from " + "." * 200_000,
        ":from " * 50_000,
        "from a import (" * 20_000,
        "from a import (" + "# a\n" * 50_000,
        "from a import (\n" + "# a (b\n" * 50_000 + "(",
        ":" + " " * 200_000,
        "import" + " \\" * 100_000,
        ".grad" + "\n" * 200_000 + "(",
        "import " * 100_000,
        "x import\n" * 50_000,
    ],
)
def test_no_text_keeps_it_for_long(text: str) -> None:
    """Each of them would take hours if any two parts of a pattern could share out what they match."""
    assert not makes_tensors(text.encode())
    assert not speaks(text.encode())
