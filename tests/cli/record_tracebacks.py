"""`python -m tests.cli.record_tracebacks` has torch raise each of its messages, and writes the tracebacks down.

The programs are those of the rules' pages and of `MORE`. Paths are made neutral: a project at `/home/user/project`,
torch at `/usr/lib/python3/dist-packages`, Python's own files at `/usr/lib/python3`.
"""

from __future__ import annotations

import contextlib
import io
import json
import linecache
import re
import traceback
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch

from analyzers.rules import RULES

RECORDED = Path(__file__).parent / "tracebacks.json"
PROJECT = "/home/user/project"

_RAISING = re.compile(r"^```python[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)

MORE: tuple[tuple[str, str, str], ...] = (
    ("AG101", "the second of two losses", """\
w = torch.ones(3, requires_grad=True)
torch.autograd.backward([w.sum(), torch.ones(3).sum()])
"""),
    ("AG101", "an integer", """\
total = 0
total.backward()
"""),
    ("AG104", "a parameter after its step", """\
net = torch.nn.Linear(2, 1)
twice = torch.nn.Linear(1, 1)
opt = torch.optim.SGD([*net.parameters(), *twice.parameters()], lr=0.1)
loss = twice(net(torch.ones(1, 2))).sum()
other = twice(net(torch.ones(1, 2))).sum()
other.backward()
opt.step()
loss.backward()
"""),
    ("AG104", "a number", """\
x = torch.ones((), requires_grad=True)
y = x.exp()
y.add_(1)
y.add_(1)
y.backward()
"""),
    ("AG105", "a view of a leaf", """\
w = torch.ones(3, requires_grad=True)
w[0] = 0
"""),
    ("AG106", "a view made without gradients", """\
h = torch.ones(3, requires_grad=True) * 2
with torch.no_grad():
    v = h[:2]
v.mul_(2)
"""),
    ("AG106", "a view made in inference mode", """\
h = torch.ones(3, requires_grad=True) * 2
with torch.inference_mode():
    v = h[:2]
v.mul_(2)
"""),
    ("AG106", "the base is written", """\
h = torch.ones(2, requires_grad=True) * 2
first, second = h.unbind()
h.mul_(2)
(first * 2).backward()
"""),
    ("AG106", "a view of a custom function", """\
class Same(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.view_as(x)
    @staticmethod
    def backward(ctx, grad):
        return grad
h = Same.apply(torch.ones(3, requires_grad=True) * 2)
h.mul_(2)
"""),
    ("AG107", "a complex number", """\
z = torch.ones(2, dtype=torch.complex64, requires_grad=True)
z.sum().backward()
"""),
    ("AG111", "unfreezing a result", """\
h = torch.ones(3, requires_grad=True) * 2
h.requires_grad_(False)
"""),
    ("AG113", "grad of data", """\
w, x = torch.ones(3, requires_grad=True), torch.ones(3)
torch.autograd.grad((w * x).sum(), [x])
"""),
    ("AG114", "requires_grad on an inference tensor", """\
with torch.inference_mode():
    t = torch.ones(3)
t.requires_grad_()
"""),
    ("AG114", "the version of an inference tensor", """\
with torch.inference_mode():
    t = torch.ones(3)
print(t._version)
"""),
    ("AG118", "a gradient of another shape", """\
class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2
    @staticmethod
    def backward(ctx, grad):
        return grad[:1].repeat(2)
Double.apply(torch.ones(3, requires_grad=True)).sum().backward()
"""),
    ("AG118", "a gradient for a number", """\
class Scale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, by):
        return x * by
    @staticmethod
    def backward(ctx, grad):
        return grad, grad
Scale.apply(torch.ones(3, requires_grad=True), 2).sum().backward()
"""),
    ("AG118", "no backward", """\
class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2
Double.apply(torch.ones(3, requires_grad=True)).sum().backward()
"""),
    ("AG118", "a number among the saved", """\
class Scale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(2)
        return x * 2
Scale.apply(torch.ones(3, requires_grad=True))
"""),
    ("AG118", "an instance is called", """\
class Double(torch.autograd.Function):
    def forward(self, x):
        return x * 2
Double()(torch.ones(3, requires_grad=True))
"""),
    ("AG120", "a step twice", """\
w = torch.nn.Linear(2, 1)
opt = torch.optim.SGD(w.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cpu")
scaler.scale(w(torch.ones(1, 2)).sum()).backward()
scaler.step(opt)
scaler.step(opt)
"""),
    ("AG120", "unscale after the step", """\
w = torch.nn.Linear(2, 1)
opt = torch.optim.SGD(w.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cpu")
scaler.scale(w(torch.ones(1, 2)).sum()).backward()
scaler.step(opt)
scaler.unscale_(opt)
"""),
    ("AG120", "update alone", """\
scaler = torch.amp.GradScaler("cpu")
scaler.scale(torch.ones(1))
scaler.update()
"""),
    ("AG121", "no derivative", """\
x = torch.ones(3, requires_grad=True)
torch.unique(x).sum().backward()
"""),
    ("AG121", "differentiated twice", """\
class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2
    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, grad):
        return grad * 2
x = torch.ones(3, requires_grad=True)
g, = torch.autograd.grad(Double.apply(x).square().sum(), x, create_graph=True)
g.sum().backward()
"""),
    ("AG123", "a hook on a result", """\
h = torch.ones(3, requires_grad=True) * 2
h.register_post_accumulate_grad_hook(print)
"""),
    ("AG201", "a step by hand", """\
w = torch.ones(3, requires_grad=True) * 2
w.sum().backward()
w = w - 0.1 * w.grad
"""),
    ("AG101", "raised once more", """\
def step():
    torch.ones(3).sum().backward()
try:
    step()
except RuntimeError as error:
    raise ValueError("training has failed") from error
"""),
)  # fmt: skip
"""The code that a message stands for, what is special about it, and the program below `import torch`."""


def programs() -> Iterator[tuple[str, str, str]]:
    """What is recorded: the code, a name and the program."""
    for rule in RULES:
        if rule.code >= "AG1":
            raising = [text for text in _RAISING.findall(rule.doc) if "# raises" in text]
            yield from ((rule.code, f"page {number}", text) for number, text in enumerate(raising))
    yield from ((code, name, f"import torch\n{text}") for code, name, text in MORE)


def main() -> None:
    """Run all of them."""
    recorded: list[dict[str, Any]] = []
    for anomaly in (False, True):
        for code, name, text in programs():
            if anomaly and code != "AG104":
                continue
            log = _log(text, anomaly)
            if not log:
                print(f"torch raises nothing: {code} {name}")
                continue
            name = f"{name}, in anomaly mode" if anomaly else name
            recorded.append({"code": code, "name": name, "program": text, "log": log})
    RECORDED.write_text(json.dumps(recorded, indent=1) + "\n", encoding="utf-8")


def _log(text: str, anomaly: bool) -> str:
    """What `python train.py` prints of what is raised, and nothing if nothing is."""
    path = f"{PROJECT}/train.py"
    linecache.cache[path] = len(text), None, text.splitlines(keepends=True), path
    printed = io.StringIO()
    with contextlib.redirect_stderr(printed), warnings.catch_warnings():
        warnings.simplefilter("always" if anomaly else "ignore")
        try:
            with torch.autograd.set_detect_anomaly(anomaly):
                exec(compile(text, path, "exec"), {"__name__": "__main__"})
            return ""
        except Exception as error:
            error.with_traceback(error.__traceback__.tb_next if error.__traceback__ is not None else None)
            traceback.print_exception(error)
    log = re.sub(r"/[^\s\"']*/site-packages/", "/usr/lib/python3/dist-packages/", printed.getvalue())
    log = re.sub(r"/[^\s\"']*/lib/python3\.\d+/(?!site-packages/)", "/usr/lib/python3/", log)
    # The frame that stands here is on anomaly mode's way to the operator, and nobody is told of it.
    here = re.escape(__file__)
    return re.sub(rf'  File "{here}".*\n(?:    .*\n)*|  File "<frozen runpy>".*\n', "", log)


if __name__ == "__main__":
    main()
