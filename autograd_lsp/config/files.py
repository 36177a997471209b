"""Which configuration file a path belongs to, and what it says.

The nearest file upwards counts, alone: `autograd-lsp.toml`, whose keys stand at its top, or `pyproject.toml` with a
table `[tool.autograd-lsp]`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from typing import Any

from analyzers.program.disk import read_regular_file
from analyzers.report import Choice
from autograd_lsp.config.layer import ConfigError, Layer, is_below, read_layer
from autograd_lsp.config.rules import choose

if sys.version_info >= (3, 11):
    import tomllib  # novm
else:
    import tomli as tomllib

FILES = ("autograd-lsp.toml", "pyproject.toml")
_TABLE = "tool.autograd-lsp"
MOST_BYTES = 1_000_000


class Configuration:
    """The layers of each path: its configuration file's, and those `over` it.

    `file` stands for every configuration file, and its patterns start from the working directory. With `isolated` no
    file is read. A file that cannot be used is handed to `on_error`, if there is one, and else raised.
    """

    def __init__(
        self,
        *,
        over: Layer | None = None,
        file: str | None = None,
        isolated: bool = False,
        on_error: Callable[[ConfigError], None] | None = None,
    ) -> None:
        self.over = over or Layer()
        self.over_in: dict[str, Layer] = {}
        """What is over the files of one folder, in the place of `over`."""
        self._file = file
        self._folder = os.getcwd() if file is not None else ""
        self._isolated = isolated
        self.on_error = on_error
        self._by_folder: dict[str, Layer] = {}

    def lenient(self) -> Configuration:
        """The same, for those who read it after somebody else has seen what is wrong with it, wherever they are."""
        file = None if self._file is None else os.path.join(self._folder, self._file)
        return Configuration(over=self.over, file=file, isolated=self._isolated, on_error=_forgive)

    def forget(self) -> None:
        """Read the files again."""
        self._by_folder = {}

    def looked_for(self) -> frozenset[str]:
        """The configuration files that there are or might be, of all that was asked about."""
        if self._isolated:
            return frozenset()
        if self._file is not None:
            return frozenset([os.path.join(self._folder, self._file)])
        return frozenset(os.path.join(folder, name) for folder in self._by_folder for name in FILES)

    def choice(self, path: str) -> Choice:
        """What is reported of the file at `path`."""
        return choose(self._layers(path), path)

    def excludes(self, path: str, *, is_folder: bool = False) -> bool:
        """Whether a file or a folder is left out, itself or with a folder above it."""
        if any(layer.excludes(path, is_folder=is_folder) for layer in self._layers(path)):
            return True
        parent = os.path.dirname(path)
        return parent != path and self.excludes(parent, is_folder=True)

    def python(self, folder: str) -> str | None:
        """The interpreter that is configured for the programs in a folder."""
        for layer in (self._over(folder), self._of_folder(folder)):
            if layer.interpreter is not None:
                return layer.interpreter
        return None

    def torch_version(self, folder: str) -> str | None:
        """The version of torch that is configured for the programs in a folder."""
        return self._over(folder).torch_version or self._of_folder(folder).torch_version

    def _layers(self, path: str) -> tuple[Layer, Layer]:
        return self._of_folder(os.path.dirname(path)), self._over(path)

    def _over(self, path: str) -> Layer:
        around = [folder for folder in self.over_in if is_below(path, folder)]
        return self.over_in[max(around, key=len)] if around else self.over

    def _of_folder(self, folder: str) -> Layer:
        known = self._by_folder.get(folder)
        if known is None:
            known = self._by_folder[folder] = self._read(folder)
        return known

    def _read(self, folder: str) -> Layer:
        if self._isolated:
            return Layer()
        try:
            if self._file is not None:
                found = read_file(self._file, self._folder)
                return found if found is not None else Layer()
            for name in FILES:
                path = os.path.join(folder, name)
                if os.path.isfile(path) and (layer := read_file(path, folder)) is not None:
                    return layer
        except ConfigError as error:
            if self.on_error is None:
                raise
            self.on_error(error)
            return Layer()
        parent = os.path.dirname(folder)
        return Layer() if parent == folder else self._of_folder(parent)


def read_file(path: str, root: str) -> Layer | None:
    """What a file says; None for a `pyproject.toml` that does not speak of us."""
    try:
        document = _parse(read_regular_file(path, MOST_BYTES).decode("utf-8-sig"))
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{path}: not valid TOML: {error}") from error
    if os.path.basename(path) != "pyproject.toml":
        return read_layer(document, f"{path}: ", root)
    table: Any = document
    for name in _TABLE.split("."):
        table = table.get(name) if isinstance(table, dict) else None
    if table is None:
        return None
    if not isinstance(table, dict):
        raise ConfigError(f"{path}: {_TABLE}: expected a table")
    return read_layer(table, f"{path}: {_TABLE}.", root)


def _parse(text: str) -> Mapping[str, Any]:
    document: Mapping[str, Any] = tomllib.loads(text)
    return document


def _forgive(error: ConfigError) -> None:
    del error
