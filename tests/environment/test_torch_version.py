"""The torch of the programs: how its version is found, and what follows from it."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from analyzers.host import Host
from autograd_lsp.environment import Environment, Place, remark_on
from autograd_lsp.environment.torch_version import TESTED, installed_torch
from autograd_lsp.text.releases import release_of

CLEARED = """\
import torch
from torch import nn

model = nn.Linear(2, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
model(torch.ones(1, 2)).sum().backward()
{clear}
print(model.weight.grad.norm())
"""
"""torch 1.13.1 prints 0 after `opt.zero_grad()` and `model.zero_grad()`; later ones, and `set_to_none=True`, raise."""


@pytest.mark.parametrize(
    ("entries", "version"),
    [
        (["torch-2.13.0+cpu.dist-info", "torch"], "2.13.0+cpu"),
        (["torch-1.13.1-py3.10.egg-info"], "1.13.1"),
        (["torch-2.9.1.dist-info", "torch-2.13.0.dist-info"], "2.13.0"),
        (["torch-2.14.0a0+git1234567.dist-info"], "2.14.0a0+git1234567"),
        (["torch_geometric-2.6.1.dist-info", "torchvision-0.29.1.dist-info", "torch"], None),
    ],
)
def test_the_folders_of_installers_tell_the_version(entries: list[str], version: str | None, tmp_path: Path) -> None:
    for entry in entries:
        (tmp_path / entry).mkdir()
    assert installed_torch([str(tmp_path), str(tmp_path / "nowhere")]) == version


def test_what_is_configured_counts_before_what_is_installed(tmp_path: Path) -> None:
    packages = tmp_path / "env" / "lib" / "python3.11" / "site-packages"
    (packages / "torch-2.1.0.dist-info").mkdir(parents=True)
    (tmp_path / "env" / "bin").mkdir()
    (tmp_path / "env" / "bin" / "python").touch()
    python = str(tmp_path / "env")
    assert Environment(lambda: Place(str(tmp_path), python)).torch_release() == (2, 1)
    assert Environment(lambda: Place(str(tmp_path), python, "1.13")).torch_release() == (1, 13)
    assert Environment(lambda: Place(str(tmp_path), str(tmp_path / "nowhere"))).torch_release() is None


@pytest.mark.parametrize("version", ["2", "latest", "2.x", "", ">=2.0"])
def test_what_is_no_version_is_none(version: str) -> None:
    assert release_of(version) is None


def test_another_torch_than_the_tested_one_is_remarked_on() -> None:
    assert release_of(torch.__version__) == TESTED
    assert remark_on(torch.__version__) is None and remark_on(None) is None
    assert remark_on("1.13.1") == "torch 1.13.1 is older than 2.13, which the rules were tested with"
    assert remark_on("2.14.1") == "torch 2.14.1 is newer than 2.13, which the rules were tested with"


@pytest.mark.parametrize(
    ("release", "clear", "severities"),
    [
        (None, "opt.zero_grad()", ["error"]),
        ((2, 0), "opt.zero_grad()", ["error"]),
        ((1, 13), "opt.zero_grad()", []),
        ((1, 13), "opt.zero_grad(set_to_none=True)", ["error"]),
        ((2, 0), "model.zero_grad()", ["error"]),
        ((1, 13), "model.zero_grad()", []),
        ((1, 13), "model.zero_grad(True)", ["error"]),
    ],
)
def test_before_2_0_zero_grad_leaves_zeros(release: tuple[int, int] | None, clear: str, severities: list[str]) -> None:
    host = Host(read=lambda _: None, torch_release=lambda: release)
    host.set_text("/nowhere/train.py", CLEARED.format(clear=clear))
    assert [finding.severity for finding in host.snapshot().findings("/nowhere/train.py")] == severities
