"""The prelude: torch's Python layer, rewritten in the subset of Python that the machine runs.

A folder of the prelude is named after the module that it models; every top-level name of its files is a name of that
module. Two folders model no module, and have names that none can have: `aten-composites` holds operators that torch's
C++ makes of parts, `tensor-methods` the methods of tensors that are Python. A prelude module's path begins with
`<prelude>/`, which no file's does.
"""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1] / "prelude"
PREFIX = "<prelude>/"


def is_prelude(path: str) -> bool:
    return path.startswith(PREFIX)


@cache
def read(path: str) -> bytes:
    return (ROOT / path[len(PREFIX) :]).read_bytes()


@cache
def aliases() -> dict[str, str]:
    """Other dotted names of the modelled ones."""
    namespace: dict[str, object] = {}
    source = ROOT / "aliases.py"
    if source.exists():
        exec(compile(source.read_text(encoding="utf-8"), "aliases.py", "exec"), namespace)  # our own data file
    found = namespace.get("ALIASES", {})
    assert isinstance(found, dict)
    return found


@cache
def symbols(folder: str) -> dict[str, str]:
    """The names that a folder defines, and the prelude module of each."""
    out: dict[str, str] = {}
    for file in sorted((ROOT / folder).glob("*.py")) if (ROOT / folder).is_dir() else ():
        path = f"{PREFIX}{folder}/{file.name}"
        for node in ast.parse(file.read_bytes()).body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                out.setdefault(node.name, path)
            elif isinstance(node, ast.Assign):
                for target in node.targets:
                    if isinstance(target, ast.Name):
                        out.setdefault(target.id, path)
    return out


def find(dotted: str) -> tuple[str, str] | None:
    """The prelude module and name that model `dotted`; `path:name` asks for a name in the folder of `path`."""
    if ":" in dotted:
        path, _, name = dotted.partition(":")
        folder = path[len(PREFIX) :].rsplit("/", 1)[0]
        found = symbols(folder).get(name)
        return (found, name) if found is not None and found != path else None
    dotted = aliases().get(dotted, dotted)
    folder, _, name = dotted.rpartition(".")
    if not folder:
        return None
    found = symbols(folder).get(name)
    private = name.startswith("_") and folder != "aten-composites"
    return (found, name) if found is not None and not private else None


__all__ = ["find", "is_prelude", "read"]
