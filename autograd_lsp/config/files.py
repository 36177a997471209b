"""Which configuration file a path belongs to, and what it says.

The nearest file upwards counts: `autograd-lsp.toml`, whose keys stand at its top, or `pyproject.toml` with a table
`[tool.autograd-lsp]`. It may `extend` another one, which may lie anywhere. Where there is none, the user's own counts.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypeAlias, TypeVar

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

T = TypeVar("T")

Layers: TypeAlias = tuple[Layer, ...]
"""The lowest first."""


class Configuration:
    """The layers of each path: its configuration file's, and those `over` it.

    `file` stands for every configuration file, and its patterns start from the working directory. With `isolated` no
    file is read. Comments in programs silence findings only if they are heeded. A file that cannot be used is handed to
    `on_error`, if there is one, and else raised.
    """

    def __init__(
        self,
        *,
        over: Layer | None = None,
        file: str | None = None,
        isolated: bool = False,
        heeds_comments: bool = True,
        on_error: Callable[[ConfigError], None] | None = None,
    ) -> None:
        self.over = over or Layer()
        self.over_in: dict[str, Layer] = {}
        """What is over the files of one folder, in the place of `over`."""
        self._file = file
        self._folder = os.getcwd() if file is not None else ""
        self._isolated = isolated
        self._heeds_comments = heeds_comments
        self.on_error = on_error
        self._by_folder: dict[str, Layers] = {}

    def lenient(self) -> Configuration:
        """The same, for those who read it after somebody else has seen what is wrong with it, wherever they are."""
        file = None if self._file is None else os.path.join(self._folder, self._file)
        return Configuration(
            over=self.over,
            file=file,
            isolated=self._isolated,
            heeds_comments=self._heeds_comments,
            on_error=_forgive,
        )

    def forget(self) -> None:
        """Read the files again."""
        self._by_folder = {}

    def looked_for(self) -> frozenset[str]:
        """The configuration files that there are or might be, of all that was asked about."""
        if self._isolated:
            return frozenset()
        if self._file is not None:
            named = {os.path.join(self._folder, self._file)}
        else:
            named = {os.path.join(folder, name) for folder in self._by_folder for name in FILES} | {user_file()}
        return frozenset(named | {layer.file for layers in self._by_folder.values() for layer in layers if layer.file})

    def choice(self, path: str) -> Choice:
        """What is reported of the file at `path`."""
        return replace(choose(self.layers(path), path), heeds_comments=self._heeds_comments)

    def excludes(self, path: str, *, is_folder: bool = False) -> bool:
        """Whether a file or a folder is left out, itself or with a folder above it."""
        if any(layer.excludes(path, is_folder=is_folder) for layer in self.layers(path)):
            return True
        parent = os.path.dirname(path)
        return parent != path and self.excludes(parent, is_folder=True)

    def python(self, folder: str) -> str | None:
        """The interpreter that is configured for the programs in a folder."""
        return self._last(folder, lambda layer: layer.interpreter)

    def torch_version(self, folder: str) -> str | None:
        """The version of torch that is configured for the programs in a folder."""
        return self._last(folder, lambda layer: layer.torch_version)

    def baseline(self, folder: str) -> str | None:
        """The file of known findings that is configured for a check from a folder."""
        return self._last(folder, lambda layer: layer.baseline_path)

    def fail_on(self, folder: str) -> str | None:
        return self._last(folder, lambda layer: layer.fail_on)

    def output_format(self, folder: str) -> str | None:
        return self._last(folder, lambda layer: layer.output_format)

    def jobs(self, folder: str) -> int | None:
        return self._last(folder, lambda layer: layer.jobs)

    def layers(self, path: str) -> Layers:
        """What counts for the file at `path`, the lowest first."""
        return (*self._of_folder(os.path.dirname(path)), self._over(path))

    def _last(self, folder: str, said: Callable[[Layer], T | None]) -> T | None:
        """What the highest layer says that says anything."""
        layers = (*self._of_folder(folder), self._over(folder))
        return next((value for layer in reversed(layers) if (value := said(layer)) is not None), None)

    def _over(self, path: str) -> Layer:
        around = [folder for folder in self.over_in if is_below(path, folder)]
        return self.over_in[max(around, key=len)] if around else self.over

    def _of_folder(self, folder: str) -> Layers:
        known = self._by_folder.get(folder)
        if known is None:
            known = self._by_folder[folder] = self._read(folder)
        return known

    def _read(self, folder: str) -> Layers:
        if self._isolated:
            return ()
        parent = os.path.dirname(folder)
        try:
            if self._file is not None:
                return read_chain(self._file, self._folder) or ()
            for name in FILES:
                path = os.path.join(folder, name)
                if os.path.isfile(path) and (layers := read_chain(path, folder)) is not None:
                    return layers
            if parent == folder:
                return _of_user()
        except ConfigError as error:
            if self.on_error is None:
                raise
            self.on_error(error)
            return ()
        return self._of_folder(parent)


def user_file() -> str:
    """The user's own configuration, of whichever project."""
    if sys.platform == "win32":
        base = os.environ.get("APPDATA") or os.path.join(os.path.expanduser("~"), "AppData", "Roaming")
    else:
        base = os.environ.get("XDG_CONFIG_HOME") or os.path.join(os.path.expanduser("~"), ".config")
    return os.path.join(base, "autograd-lsp", FILES[0])


def _of_user() -> Layers:
    """Its patterns are for every project: they match the names of files and folders, wherever these lie."""
    path = user_file()
    return (read_chain(path, os.path.dirname(path)) or ()) if os.path.isfile(path) else ()


def read_chain(path: str, root: str) -> Layers | None:
    """What a file says, over what those say that it extends; None as for `read_file`."""
    layer = read_file(path, root)
    if layer is None:
        return None
    chain, seen = [layer], {os.path.realpath(path)}
    while layer is not None and layer.extend is not None:
        base = os.path.normpath(os.path.join(os.path.dirname(layer.file), os.path.expanduser(layer.extend)))
        if os.path.realpath(base) in seen:
            raise ConfigError(f"{layer.file}: extend: {base} leads back to itself")
        seen.add(os.path.realpath(base))
        layer = read_file(base, os.path.dirname(base))
        if layer is None:
            raise ConfigError(f"{chain[-1].file}: extend: {base} has no [{_TABLE}]")
        chain.append(layer)
    return tuple(reversed(chain))


def read_file(path: str, root: str) -> Layer | None:
    """What a file says; None for a `pyproject.toml` that does not speak of us."""
    try:
        document = _parse(read_regular_file(path, MOST_BYTES).decode("utf-8-sig"))
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{path}: not valid TOML: {error}") from error
    if os.path.basename(path) != "pyproject.toml":
        return replace(read_layer(document, f"{path}: ", root), file=os.path.abspath(path))
    table: Any = document
    for name in _TABLE.split("."):
        table = table.get(name) if isinstance(table, dict) else None
    if table is None:
        return None
    if not isinstance(table, dict):
        raise ConfigError(f"{path}: {_TABLE}: expected a table")
    return replace(read_layer(table, f"{path}: {_TABLE}.", root), file=os.path.abspath(path))


def _parse(text: str) -> Mapping[str, Any]:
    document: Mapping[str, Any] = tomllib.loads(text)
    return document


def _forgive(error: ConfigError) -> None:
    del error
