"""What a check would do, and what it rests on: files, settings, the environment."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import fields

from autograd_lsp.config import Configuration, Layer
from autograd_lsp.environment import Environment
from autograd_lsp.files.sources import Source, shown_path
from autograd_lsp.reports.surroundings import place_of

_NOT_SAID = {"root", "file"}


def files(sources: Sequence[Source]) -> Iterator[str]:
    yield from (source.shown for source in sources)


def settings(configuration: Configuration, path: str) -> Iterator[str]:
    """What counts for one file or folder, in the words of a configuration file: the highest layer comes last."""
    inside = os.path.join(path, "") if os.path.isdir(path) else path
    yield f"# Settings for {shown_path(path) or '.'}"
    for layer in configuration.layers(inside):
        said = list(_said(layer))
        if said or layer.file:
            yield f"# from {layer.file or 'the command line'}"
            yield from said


def grounds(configuration: Configuration, sources: Sequence[Source], folder: str) -> Iterator[str]:
    """What a report rests on, for who asks why it says what it says."""
    read = sorted({layer.file for source in sources for layer in configuration.layers(source.path) if layer.file})
    yield f"settings: {', '.join(map(shown_path, read)) if read else 'no file'}"
    environment = Environment(lambda: place_of(configuration, folder))
    yield f"torch of the programs: {environment.torch or 'none found'}"
    yield f"files: {len(sources)}"


def _said(layer: Layer) -> Iterator[str]:
    empty = Layer()
    for field in fields(layer):
        value = getattr(layer, field.name)
        if field.name not in _NOT_SAID and value != getattr(empty, field.name):
            yield f"{field.name.replace('_', '-')} = {_toml(value)}"


def _toml(value: object) -> str:
    if isinstance(value, tuple) and value and isinstance(value[0], tuple):
        return "{ " + ", ".join(f"{_toml(key)} = {_toml(inner)}" for key, inner in value) + " }"
    if isinstance(value, tuple):
        return "[" + ", ".join(map(_toml, value)) + "]"
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return str(value)
