"""One layer of the configuration, and how it is read from a table of plain data."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeAlias

from autograd_lsp.config.patterns import Pattern, read_pattern
from autograd_lsp.config.reporting import FAIL_ON, FORMATS
from autograd_lsp.config.selectors import LEVELS, matching, no_rule
from autograd_lsp.text.releases import release_of

Patterns: TypeAlias = tuple[str, ...]
"""As in a `.gitignore`, relative to the layer's `root`."""


class ConfigError(Exception):
    """The message names the place and the key."""


@dataclass(frozen=True, slots=True)
class Layer:
    """`select` is None where nothing is selected; `root` is the folder that patterns start from."""

    root: str = ""
    select: tuple[str, ...] | None = None
    extend_select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    exclude: Patterns = ()
    per_file_ignores: tuple[tuple[str, tuple[str, ...]], ...] = ()
    severity: tuple[tuple[str, str], ...] = ()
    python: str | None = None
    """The interpreter, or the folder of the environment, in which the programs run."""
    torch_version: str | None = None
    """The torch that they run on, where it is not that of the environment."""
    baseline: str | None = None
    fail_on: str | None = None
    output_format: str | None = None
    jobs: int | None = None
    extend: str | None = None
    """The file that this one goes over."""
    file: str = ""
    """Where all of it was read."""

    @property
    def interpreter(self) -> str | None:
        """`python` as a path that does not depend on where it was written."""
        return None if self.python is None else os.path.join(self.root, os.path.expanduser(self.python))

    @property
    def baseline_path(self) -> str | None:
        return None if self.baseline is None else os.path.join(self.root, self.baseline)

    def ignored_in(self, path: str) -> tuple[str, ...]:
        """The selectors that are ignored in the file at `path`, beyond `ignore`."""
        found: list[str] = []
        for pattern, selectors in self.per_file_ignores:
            # As ruff has it, `!` turns the pattern around: everywhere but there.
            inverted = pattern.startswith("!")
            if matches((pattern.removeprefix("!"),), self.root, path) != inverted:
                found += selectors
        return tuple(found)

    def excludes(self, path: str, *, is_folder: bool) -> bool:
        return matches(self.exclude, self.root, path, is_folder=is_folder)


def is_below(path: str, folder: str) -> bool:
    """Whether a path lies in a folder, or is that folder."""
    return os.path.join(path, "").startswith(os.path.join(folder, ""))


def matches(patterns: Patterns, root: str, path: str, *, is_folder: bool = False) -> bool:
    """Outside of `root` only the last part of a path counts."""
    if not patterns:
        return False
    below = os.path.join(root, "")
    relative = path[len(below) :] if path.startswith(below) else os.path.basename(path)
    parts = relative.split(os.sep)
    # What lies below a folder that matches does, too.
    above = ("/".join(parts[:depth]) for depth in range(1, len(parts)))
    return any(_match(patterns, folder, is_folder=True) for folder in above) or _match(
        patterns, "/".join(parts), is_folder=is_folder
    )


def _match(patterns: Patterns, path: str, *, is_folder: bool) -> bool:
    """As the last pattern says that speaks of the path itself."""
    for pattern in _read(patterns):
        if pattern.matches(path, is_folder=is_folder):
            return not pattern.is_taken_back
    return False


def read_layer(table: Mapping[str, Any], where: str, root: str, *, strict: bool = True) -> Layer:
    """`where` stands before the key in the message of a `ConfigError`.

    An editor's settings, read without `strict`, hold other keys too, and may spell ours in camel case.
    """
    values: dict[str, Any] = {}
    keys = {**KEYS, **IN_FILES} if strict else KEYS
    for key, value in table.items():
        name = key if key in keys else CAMEL.get(key)
        if name is not None:
            if value is not None or strict:
                values[name.replace("-", "_")] = keys[name].read(value, f"{where}{key}")
        elif strict:
            raise ConfigError(f"{where}{key}: unknown key; the keys are {', '.join(sorted(keys))}")
    layer = Layer(root=root, **values)
    if layer.interpreter is not None and not os.path.exists(layer.interpreter):
        raise ConfigError(f"{where}python: there is no {layer.interpreter}")
    return layer


def read_selectors(value: object, where: str) -> tuple[str, ...]:
    for word in _words(value, where, "rules"):
        if not matching(word):
            raise ConfigError(f"{where}: {no_rule(word)}")
    return _words(value, where, "rules")


def read_patterns(value: object, where: str) -> Patterns:
    for pattern in _words(value, where, "patterns"):
        _check_pattern(pattern, where)
    return _words(value, where, "patterns")


def read_selectors_by_pattern(value: object, where: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    table = _table(value, where)
    for pattern in table:
        _check_pattern(pattern.removeprefix("!"), where)
    return tuple((pattern, read_selectors(words, f'{where}."{pattern}"')) for pattern, words in table.items())


def read_severities(value: object, where: str) -> tuple[tuple[str, str], ...]:
    table = _table(value, where)
    for word, level in table.items():
        if not matching(word):
            raise ConfigError(f"{where}: {no_rule(word)}")
        if level not in LEVELS:
            raise ConfigError(f"{where}.{word}: expected one of {', '.join(LEVELS)}, not {_said(level)}")
    return tuple(table.items())


def read_path(value: object, where: str) -> str:
    if not isinstance(value, str):
        raise ConfigError(f"{where}: expected a path, not {_said(value)}")
    return value


def read_version(value: object, where: str) -> str:
    if not isinstance(value, str) or release_of(value) is None:
        raise ConfigError(f'{where}: expected a version such as "2.4", not {_said(value)}')
    return value


def read_count(value: object, where: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise ConfigError(f"{where}: expected a positive number, not {_said(value)}")
    return value


def one_of(names: Sequence[str]) -> Callable[[object, str], str]:
    def read(value: object, where: str) -> str:
        if not isinstance(value, str) or value not in names:
            raise ConfigError(f"{where}: expected one of {', '.join(names)}, not {_said(value)}")
        return value

    return read


read_fail_on, read_format = one_of(FAIL_ON), one_of(FORMATS)


@dataclass(frozen=True, slots=True)
class Key:
    """How the value of a key is read, and what it is for."""

    read: Callable[[object, str], object]
    about: str


KEYS: dict[str, Key] = {
    "select": Key(read_selectors, "Report only these rules."),
    "extend-select": Key(read_selectors, "Report these rules, too."),
    "ignore": Key(read_selectors, "Skip these rules."),
    "exclude": Key(read_patterns, "Skip these files: patterns as in a .gitignore."),
    "per-file-ignores": Key(
        read_selectors_by_pattern,
        "Skip rules in the files that match a pattern; with a leading `!`, in all other files.",
    ),
    "severity": Key(read_severities, "The severity of each rule, which also decides what fails a check."),
    "python": Key(read_path, "The environment in which your programs run: an interpreter or its folder."),
    "torch-version": Key(read_version, "The torch that your programs run on, if not that of the environment."),
}
IN_FILES: dict[str, Key] = {
    "baseline": Key(read_path, "Do not report findings that this file records."),
    "fail-on": Key(read_fail_on, "The severity from which on a finding fails a check."),
    "output-format": Key(read_format, "How a check writes its report."),
    "jobs": Key(read_count, "How many processes a check uses; at most one for each processor."),
    "extend": Key(read_path, "Another configuration file, which this one goes over."),
}
"""What is for `check`, and stands in files alone."""
CAMEL = {"perFileIgnores": "per-file-ignores", "torchVersion": "torch-version", "extendSelect": "extend-select"}
"""As editors may spell a key."""


def _words(value: object, where: str, of: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(word, str) for word in value):
        raise ConfigError(f"{where}: expected a list of {of}, not {_said(value)}")
    return tuple(value)


def _table(value: object, where: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise ConfigError(f"{where}: expected a table, not {_said(value)}")
    return value


def _said(value: object) -> str:
    said = repr(value)
    return said if len(said) <= 40 else f"{said[:40]}..."


def _check_pattern(pattern: str, where: str) -> None:
    if pattern.strip() and not pattern.startswith("#") and read_pattern(pattern) is None:
        raise ConfigError(f"{where}: {_said(pattern)} is not a pattern")


@lru_cache(maxsize=256)
def _read(patterns: Patterns) -> tuple[Pattern, ...]:
    """The last one first."""
    return tuple(found for pattern in reversed(patterns) if (found := read_pattern(pattern)) is not None)
