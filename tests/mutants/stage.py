"""The stage on which a script runs: little data, no disk, no screen, no games that must be installed.

Datasets of torchvision give a few random items of the right form, a data loader a few batches. What a script draws,
logs or saves goes nowhere. A module for drawing or logging that is not installed is a stand-in that swallows all.
"""

from __future__ import annotations

import contextlib
import importlib
import itertools
import random
import sys
import types
from collections.abc import Iterator
from typing import Any

import torch
import torch._dynamo  # A step asks for it: imported here once, not in each fork.
import torch.utils.data

ITEMS = 320
BATCHES = 3

SWALLOWED = ("matplotlib", "matplotlib.pyplot", "seaborn", "tqdm", "wandb", "visdom", "tensorboard", "tensorboardX")
SWALLOWED += ("torch.utils.tensorboard", "tqdm.auto", "torchsummary", "torchinfo")


class Swallow:
    """Takes every call and every attribute, and is every one of its results; iterates over what it was given."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        del named
        self._first = arguments[0] if arguments else ()

    def __call__(self, *arguments: Any, **named: Any) -> Swallow:
        return Swallow(*arguments, **named)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Swallow()

    def __iter__(self) -> Iterator[Any]:
        return iter(self._first if hasattr(self._first, "__iter__") else (Swallow(), Swallow()))

    def __getitem__(self, key: Any) -> Swallow:
        del key
        return Swallow()

    def __enter__(self) -> Swallow:
        return self

    def __exit__(self, *error: object) -> None:
        pass


def set_up() -> None:
    """Once, in the process that forks."""
    torch.set_num_threads(1)
    with contextlib.suppress(Exception):
        _torchvision()
    for name in SWALLOWED:
        if name == "torch.utils.tensorboard" or not _is_there(name):
            _stand_in(name)
    if _is_there("gymnasium"):
        sys.modules.setdefault("gym", importlib.import_module("gymnasium"))
    if _is_there("matplotlib.pyplot"):
        plotting: Any = sys.modules["matplotlib.pyplot"]
        if isinstance(plotting, types.ModuleType) and hasattr(plotting, "switch_backend"):
            with contextlib.suppress(Exception):
                plotting.switch_backend("Agg")
                plotting.show = plotting.savefig = plotting.pause = Swallow()
    _loaders()
    torch.save = Swallow()


def seed() -> None:
    """At the start of each run, so that an original and its mutant draw the same numbers."""
    random.seed(0)
    torch.manual_seed(0)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(0)


def _is_there(name: str) -> bool:
    try:
        importlib.import_module(name)
    except Exception:
        return False
    return True


def _stand_in(name: str) -> None:
    module: Any = types.ModuleType(name)
    module.__getattr__ = _missing
    module.__path__ = []
    module.__spec__ = importlib.machinery.ModuleSpec(name, None, is_package=True)
    sys.modules[name] = module
    parent, _, last = name.rpartition(".")
    if parent in sys.modules:
        setattr(sys.modules[parent], last, module)


def _missing(attribute: str) -> Any:
    if attribute.startswith("__"):
        raise AttributeError(attribute)
    return _progress if attribute in {"tqdm", "trange"} else Swallow()


def _progress(items: Any = (), *rest: Any, **named: Any) -> Any:
    """`tqdm` and `trange`: what they are given."""
    del rest, named
    return range(items) if isinstance(items, int) else items


def _loaders() -> None:
    made, iterated = torch.utils.data.DataLoader.__init__, torch.utils.data.DataLoader.__iter__

    def start(self: Any, *arguments: Any, **named: Any) -> None:
        for option in ("num_workers", "prefetch_factor", "persistent_workers", "multiprocessing_context"):
            named.pop(option, None)
        made(self, *arguments, **named)

    def few(self: Any) -> Any:
        return itertools.islice(iterated(self), BATCHES)

    torch.utils.data.DataLoader.__init__ = start
    torch.utils.data.DataLoader.__iter__ = few


def _torchvision() -> None:
    """A torchvision whose compiled part does not fit this torch still has its models and transforms."""
    register = torch.library.register_fake
    torch.library.register_fake = lambda *arguments, **named: lambda function: function
    try:
        vision: Any = importlib.import_module("torchvision")
    finally:
        torch.library.register_fake = register
    forms = {"MNIST": (28, "L", 10), "FashionMNIST": (28, "L", 10), "KMNIST": (28, "L", 10), "USPS": (16, "L", 10)}
    forms |= {"CIFAR10": (32, "RGB", 10), "CIFAR100": (32, "RGB", 100), "SVHN": (32, "RGB", 10), "LSUN": (64, "RGB", 1)}
    forms |= {"ImageFolder": (64, "RGB", 10), "STL10": (96, "RGB", 10), "CelebA": (64, "RGB", 40)}
    for name, (side, mode, classes) in forms.items():
        setattr(vision.datasets, name, _images(name, side, mode, classes))
        if hasattr(vision.datasets, name.lower()) and name == "MNIST":
            vision.datasets.mnist.MNIST = vision.datasets.MNIST
    vision.utils.save_image = Swallow()


def _images(name: str, side: int, mode: str, classes: int) -> type:
    """A dataset's stand-in: random pictures of that size, and numbers of classes."""
    image = importlib.import_module("PIL.Image")

    def start(self: Any, *arguments: Any, transform: Any = None, target_transform: Any = None, **named: Any) -> None:
        del named
        self.transform = transform or next((given for given in arguments[1:] if callable(given)), None)
        self.target_transform = target_transform
        generator = torch.Generator().manual_seed(0)
        depth = () if mode == "L" else (3,)
        self.data = torch.randint(0, 256, (ITEMS, side, side, *depth), dtype=torch.uint8, generator=generator)
        self.targets = torch.randint(0, classes, (ITEMS,), generator=generator)
        self.classes = [str(number) for number in range(classes)]
        self.train_data, self.train_labels, self.labels = self.data, self.targets, self.targets
        self.test_data, self.test_labels = self.data, self.targets

    def item(self: Any, index: int) -> tuple[Any, Any]:
        picture: Any = image.fromarray(self.data[index].numpy(), mode=mode)
        target: Any = int(self.targets[index])
        picture = self.transform(picture) if self.transform else picture
        return picture, self.target_transform(target) if self.target_transform else target

    body = {"__init__": start, "__getitem__": item, "__len__": lambda self: len(self.data)}
    return type(name, (torch.utils.data.Dataset,), body)
