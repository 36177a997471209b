"""The environment of the programs in a folder, as it is configured there."""

from __future__ import annotations

from autograd_lsp.config import Configuration
from autograd_lsp.environment import Environment, Place, remark_on


def place_of(configuration: Configuration, folder: str) -> Place:
    """Where the environment is, as far as that is configured."""
    return Place(folder, configuration.python(folder), configuration.torch_version(folder))


def remark_here(folder: str, configuration: Configuration | None = None) -> str | None:
    """What there is to say of the torch that programs in a folder run on."""
    configuration = (configuration or Configuration()).lenient()
    return remark_on(Environment(lambda: place_of(configuration, folder)).torch)
