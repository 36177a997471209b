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

from benchmarks import generate, repositories
from benchmarks.repositories import Repository

Group = Literal["typing", "edits", "size", "project", "start", "check", "repositories"]

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
class EditCase:
    """Whole edits at random places of a script, each taken back before the next."""

    name: str
    title: str
    build: Callable[[Path], Scene]
    group: Group = "edits"
    quick: bool = False


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
    """The command line on a tree of files that `copy` makes, and once more when nothing has changed. With `quick` the
    copy may be of a part."""

    name: str
    title: str
    copy: Callable[[Path, bool], Path]
    group: Group = "check"
    quick: bool = True


Case = TypingCase | EditCase | StartCase | CheckCase


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


def _tree(folder: Path, quick: bool) -> Path:
    return copy_torch(folder, QUICK_TREE if quick else TREE)


def _repository(repository: Repository, folder: Path, quick: bool) -> Path:
    del quick
    return repository.copy(folder)


def _file_of(repository: Repository, file: str, folder: Path) -> Scene:
    repository.copy(folder)
    return Scene(folder, folder / file, "")


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


_SCRIPTS = (
    ("gpt", "a GPT in one file", repositories.LECTURE, "gpt.py"),
    ("nanogpt", "nanoGPT's `train.py`", repositories.NANOGPT, "train.py"),
    ("resnet", "pytorch-cifar's `main.py`", repositories.CIFAR, "main.py"),
    ("dcgan", "pytorch/examples: DCGAN", repositories.EXAMPLES, "dcgan/main.py"),
    ("vae", "pytorch/examples: a VAE", repositories.EXAMPLES, "vae/main.py"),
    ("mnist", "pytorch/examples: MNIST", repositories.EXAMPLES, "mnist/main.py"),
    ("actor-critic", "pytorch/examples: actor-critic", repositories.EXAMPLES, "reinforcement_learning/actor_critic.py"),
    ("wgan", "PyTorch-GAN: WGAN with penalty", repositories.GANS, "implementations/wgan_gp/wgan_gp.py"),
    ("sac", "cleanrl: soft actor-critic", repositories.CLEANRL, "cleanrl/sac_continuous_action.py"),
)

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
    EditCase("edits-script", "the training script that is typed into", partial(_script, "for epoch.for batch")),
    *(
        EditCase(f"edits-{name}", title, partial(_file_of, repository, file))
        for name, title, repository, file in _SCRIPTS
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
    CheckCase("check", "torch's own Python", _tree),
    *(
        CheckCase(
            f"check-{each.name}",
            f"{each.owner}/{each.name}",
            partial(_repository, each),
            "repositories",
            quick=False,
        )
        for each in repositories.CHECKED
    ),
)
