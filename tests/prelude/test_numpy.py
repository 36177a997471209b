"""Which of numpy's functions refuse a tensor with a graph: each is asked, with a tensor and with a list of tensors."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterator

import numpy as np
import pytest
import torch

from analyzers.host import Host

TALK = {"info", "show_config", "show_runtime", "test"}
"""What prints, or runs tests of its own."""

HANDED = {"t": "a tensor", "[t, t]": "a list"}
PROGRAM = "import numpy as np, torch\nt = torch.rand(2, 3, requires_grad=True)\nnp.{name}({handed})\n"


def functions() -> Iterator[tuple[str, Callable[..., object]]]:
    for prefix, module in (("", np), ("linalg.", np.linalg), ("fft.", np.fft)):
        for name in sorted(vars(module)):
            function = getattr(module, name)
            if name in module.__all__ and callable(function) and not inspect.isclass(function) and name not in TALK:
                yield prefix + name, function


def refusal(function: Callable[..., object], handed: object) -> str | None:
    """What torch says; None where it does not come to that."""
    try:
        function(handed)
    except RuntimeError as error:
        return str(error)
    except Exception:
        return ""
    return None


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("handed", HANDED, ids=HANDED.get)
def test_what_numpy_takes_is_no_fault(handed: str) -> None:
    t = torch.rand(2, 3, requires_grad=True)
    wrong, missed, refused = [], [], 0
    for name, function in functions():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            said = refusal(function, t if handed == "t" else [t, t])
        host = Host(read=lambda _: None)
        host.set_text("a.py", PROGRAM.format(name=name, handed=handed))
        told = any(finding.code == "AG109" for finding in host.snapshot().findings("a.py"))
        if said is not None and "Can't call numpy()" in said:
            refused += 1
            missed += [] if told else [name]
        elif said is None and told:
            wrong.append(name)
    assert (wrong, missed) == ([], [])
    assert refused > 100
