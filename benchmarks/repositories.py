"""Public repositories of training code, each at one commit: fetched when they are measured, and not kept here."""

from __future__ import annotations

import os
import subprocess
import tarfile
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

CHECKOUTS = "BENCHMARK_CHECKOUTS"
"""The environment variable with the folder of those that were fetched before, each as `owner+name`."""


@dataclass(frozen=True, slots=True)
class Repository:
    owner: str
    name: str
    commit: str

    def copy(self, folder: Path) -> Path:
        """Its Python files at the commit. Raises `LookupError` where they are not there and cannot be fetched."""
        clone = checkouts() / f"{self.owner}+{self.name}"
        if not clone.exists():
            clone.parent.mkdir(parents=True, exist_ok=True)
            self._git("clone", "--quiet", "--bare", f"https://github.com/{self.owner}/{self.name}", str(clone))
        packed = self._git("-C", str(clone), "archive", "--format=tar", self.commit, "--", "*.py")
        with tarfile.open(fileobj=BytesIO(packed)) as files:
            files.extractall(folder, members=[each for each in files if each.isfile()], filter="data")
        return folder

    def _git(self, *arguments: str) -> bytes:
        try:
            return subprocess.run(["git", *arguments], check=True, capture_output=True, timeout=600).stdout
        except (OSError, subprocess.SubprocessError) as error:
            raise LookupError(f"{self.owner}/{self.name} is not to be had: {error}") from error


def checkouts() -> Path:
    usual = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "autograd-lsp-benchmarks"
    return Path(os.environ.get(CHECKOUTS) or usual)


EXAMPLES = Repository("pytorch", "examples", "77f55b912142e11fcfdf5b530231fb9c52f181e8")
CLEANRL = Repository("vwxyzjn", "cleanrl", "fe8d8a03c41a7ef5b523e2e354bd01c363e786bb")
GANS = Repository("eriklindernoren", "PyTorch-GAN", "36d3c77e5ff20ebe0aeefd322326a134a279b93e")
NANOGPT = Repository("karpathy", "nanoGPT", "3adf61e154c3fe3fca428ad6bc3818b27a3b8291")
LECTURE = Repository("karpathy", "ng-video-lecture", "52201428ed7b46804849dea0b3ccf0de9df1a5c3")
CIFAR = Repository("kuangliu", "pytorch-cifar", "49b7aa97b0c12fe0d4054e670403a16b6b834ddd")
UNET = Repository("milesial", "Pytorch-UNet", "21d7850f2af30a9695bbeea75f3136aa538cfc4a")
DIFFUSION = Repository("lucidrains", "denoising-diffusion-pytorch", "faed4db28e724735323fa91c70aa9b28a6e1cbac")
TUTORIAL = Repository("yunjey", "pytorch-tutorial", "0500d3df5a2a8080ccfccbc00aca0eacc21818db")
CHECKED = (EXAMPLES, CLEANRL, GANS, NANOGPT, CIFAR, UNET, DIFFUSION, TUTORIAL)
