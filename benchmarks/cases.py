"""What is measured: files to type into, and folders to check.

The library files are torch's own, copied out of the installed package together with their folders: relative imports
lead to the copy, and `import torch` to the installation.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from benchmarks import generate

Group = Literal["typing", "size", "project", "start", "check"]

TREE = ("autograd", "distributions", "nn", "optim")
"""The folders of torch that are checked: 82,505 lines in torch 2.13.0."""
QUICK_TREE = ("distributions",)

OPEN_AT_MOST = 50
"""Other files that are open in a project: nobody has more tabs than that."""

_PROGRAMS = Path(__file__).parent / "programs"


@dataclass(frozen=True, slots=True)
class Scene:
    """A workspace, the file that is typed into, where in it, and what else is open."""

    folder: Path
    file: Path
    place: str
    others: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True)
class TypingCase:
    """`build` makes the scene in an empty folder; `size` is the number of lines, or of files in a project."""

    name: str
    group: Group
    title: str
    size: int
    text: str
    build: Callable[[Path], Scene]
    quick: bool = True


@dataclass(frozen=True, slots=True)
class StartCase:
    """A server is started anew each time and opens one file."""

    name: str
    title: str
    build: Callable[[Path], Scene]
    group: Group = "start"
    quick: bool = True


@dataclass(frozen=True, slots=True)
class CheckCase:
    """The command line on a tree of torch's own code, and once more when nothing has changed."""

    name: str
    title: str
    group: Group = "check"
    quick: bool = True


Case = TypingCase | StartCase | CheckCase


def torch_folder() -> Path | None:
    found = find_spec("torch")
    return Path(found.origin).parent if found and found.origin else None


def copy_torch(folder: Path, parts: tuple[str, ...] = TREE) -> Path:
    """Some folders of the installed torch, with nothing but their Python files."""
    origin = torch_folder()
    if origin is None:
        raise LookupError("torch is not installed in this environment: install the extra `bench`")
    for part in parts:
        for path in sorted((origin / part).rglob("*.py")):
            target = folder / path.relative_to(origin)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)
    return folder


def _library(file: str, place: str, folder: Path) -> Scene:
    copy_torch(folder)
    return Scene(folder, folder / file, place)


def _script(place: str, folder: Path) -> Scene:
    file = folder / "train.py"
    shutil.copyfile(_PROGRAMS / "train.py", file)
    return Scene(folder, file, place)


def _generated(lines: int, folder: Path) -> Scene:
    file = folder / "layers.py"
    text = generate.source(lines)
    file.write_text(text, encoding="utf-8")
    return Scene(folder, file, generate.middle(text))


def _project(modules: int, opened: bool, folder: Path) -> Scene:
    first, *others = generate.package(folder / "lab", modules)
    return Scene(folder, first, "Layer0.forward", tuple(others[-OPEN_AT_MOST:]) if opened else ())


_ADAM = partial(_library, "optim/adam.py", "_single_tensor_adam.for param")
_GATED = "mixed = hidden + opened * outputs.mean()\noutputs = outputs + mixed.sum(dim=-1, keepdim=True)\n"

CASES: tuple[Case, ...] = (
    TypingCase(
        "library-7000",
        "typing",
        "torch's `nn/functional.py`, in a function",
        7284,
        "noise = torch.rand_like(logits) * tau\nlogits = logits + noise.log()\n",
        partial(_library, "nn/functional.py", "gumbel_softmax"),
    ),
    TypingCase(
        "library-1000",
        "typing",
        "torch's `optim/adam.py`, in a loop of a function",
        990,
        "norm = exp_avg.norm() + exp_avg_sq.sqrt().mean()\nparam.mul_(1 - lr / (1 + norm))\n",
        _ADAM,
    ),
    TypingCase(
        "script-forward",
        "typing",
        "a training script, in a `forward`",
        410,
        "scale = hidden.norm(dim=-1, keepdim=True)\nhidden = hidden / (scale + 1e-6)\n",
        partial(_script, "Writer.forward"),
    ),
    TypingCase(
        "script-loop",
        "typing",
        "a training script, in its loop",
        410,
        "margin = loss.item() - critic_loss.item()\nwriter_losses.add(margin, len(letters))\n",
        partial(_script, "for epoch.for batch"),
    ),
    *(
        TypingCase(
            f"size-{lines}",
            "size",
            f"{lines:,} generated lines",
            lines,
            _GATED,
            partial(_generated, lines),
            quick=lines <= 3_000,
        )
        for lines in (100, 300, 1_000, 3_000, 10_000, 20_000)
    ),
    *(
        TypingCase(
            f"project-{files}-{'open' if opened else 'closed'}",
            "project",
            f"{files} files, {min(files - 1, OPEN_AT_MOST) if opened else 'no'} others open",
            files,
            "hidden = hidden * torch.sigmoid(hidden.mean())\nhidden = hidden + inputs\n",
            partial(_project, files, opened),
            quick=files <= 50,
        )
        for opened in (False, True)
        for files in (10, 50, 200)
    ),
    StartCase("start", "from the start of the process", _ADAM),
    CheckCase("check", "torch's own Python"),
)
