"""What pyproject.toml cannot say: with AUTOGRAD_LSP_COMPILE=1 the analyzer's hot modules are compiled by mypyc.

Without it, the package is pure Python. Compiled or not, what it does is the same; what is compiled is a copy of the
sources in which data classes have written out what Python makes of them when it loads them: mypyc compiles methods that
it can read, and a run makes objects by the hundred thousand.
"""

from __future__ import annotations

import ast
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from setuptools import setup

COMPILED = ("domain", "host", "machine", "maps", "ops", "queries", "syntax")
"""The packages of the analyzer in which its time goes."""

INTERPRETED = {"__init__.py", "copies.py", "probe.py"}
"""What compiling would not make faster, or could not take: `copies` runs another function than it shows to whoever
checks types, and an uncompiled class, as the probes of tests are, cannot inherit from a compiled one."""

_SIMPLE = {"bool", "bytes", "float", "int", "str"}
"""Types whose values are compared as soon as it is known whether they are the same object."""

_EMPTY = {"dict", "list", "set"}

Field = tuple[str, str, "str | None", "str | None", bool]
"""Name, type, default, what makes an empty one, and whether it counts for equality."""


def modules(root: Path) -> list[str]:
    files = (file for package in COMPILED for file in Path(root, "analyzers", package).rglob("*.py"))
    return sorted(str(file) for file in files if file.name not in INTERPRETED)


def written_out(source: str, bases: frozenset[str]) -> str:
    """A module whose data classes have methods of their own, where that is simple: none has a base class, or is one of
    `bases`, or has a special field."""
    lines = source.splitlines()
    for node in reversed(list(ast.walk(ast.parse(source)))):
        if isinstance(node, ast.ClassDef) and not node.bases and node.name not in bases:
            _write_out(node, lines)
    return "\n".join(lines) + "\n"


def bases_in(source: str) -> frozenset[str]:
    classes = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.ClassDef))
    return frozenset(ast.unparse(base).rpartition(".")[2] for node in classes for base in node.bases)


def _write_out(node: ast.ClassDef, lines: list[str]) -> None:
    found = next((one for one in node.decorator_list if _is_dataclass(one)), None)
    fields = None if found is None else _fields(node)
    if not isinstance(found, ast.Call) or fields is None:
        return
    options = {word.arg: ast.literal_eval(word.value) for word in found.keywords}
    own = {one.name for one in node.body if isinstance(one, ast.FunctionDef)}
    if not options.keys() <= {"eq", "frozen", "order", "slots"} or "__init__" in own:
        return
    has_eq = options.get("eq", True) and "__eq__" not in own
    is_told = "__post_init__" in own
    methods = [*_init(fields, is_told=is_told), *(() if is_told else _copy(node.name, fields))]
    if has_eq:
        methods += _eq(node.name, fields)
        if options.get("frozen") and "__hash__" not in own:
            methods += _hash(fields)
        if options.get("order"):
            methods += _order(node.name, fields)
    indent = " " * (node.col_offset + 4)
    end = node.end_lineno or node.lineno
    lines[end:end] = [indent + line if line else "" for line in methods]
    lines[found.lineno - 1] = (
        f"{' ' * node.col_offset}@dataclass(slots={options.get('slots', False)}, eq=False, init=False)"
    )


def _is_dataclass(decorator: ast.expr) -> bool:
    called = decorator.func if isinstance(decorator, ast.Call) else decorator
    return isinstance(called, ast.Name) and called.id == "dataclass"


def _fields(node: ast.ClassDef) -> list[Field] | None:
    """None where they are not simple."""
    found: list[Field] = []
    for one in node.body:
        if not isinstance(one, ast.AnnAssign):
            continue
        name, kind = ast.unparse(one.target), ast.unparse(one.annotation)
        if "ClassVar" in kind or "InitVar" in kind:
            return None
        if not (isinstance(one.value, ast.Call) and ast.unparse(one.value.func) == "field"):
            found.append((name, kind, None if one.value is None else ast.unparse(one.value), None, True))
            continue
        said = {word.arg: ast.unparse(word.value) for word in one.value.keywords}
        if not said.keys() <= {"compare", "default", "default_factory", "repr"}:
            return None
        maker = said.get("default_factory")
        if maker is not None and (maker not in _EMPTY or "None" in kind.partition("[")[0]):
            return None
        found.append((name, kind, said.get("default"), maker, said.get("compare") != "False"))
    return found


def _init(fields: list[Field], *, is_told: bool) -> Iterator[str]:
    yield ""
    yield "def __init__("
    yield "    self,"
    for name, kind, default, maker, _ in fields:
        if maker is not None:
            yield f"    {name}: {kind} | None = None,"
        else:
            yield f"    {name}: {kind}," if default is None else f"    {name}: {kind} = {default},"
    yield ") -> None:"
    for name, _, _, maker, _ in fields:
        made = name if maker is None else f"{maker}() if {name} is None else {name}"
        yield f"    self.{name} = {made}"
    if is_told:
        yield "    self.__post_init__()"
    if not fields and not is_told:
        yield "    pass"


def _copy(owner: str, fields: list[Field]) -> Iterator[str]:
    """For `analyzers/domain/copies.py`."""
    yield ""
    yield f"def copied(self) -> {owner}:"
    yield f"    return {owner}({', '.join(f'self.{name}' for name, *_ in fields)})"


def _eq(owner: str, fields: list[Field]) -> Iterator[str]:
    yield ""
    yield "def __eq__(self, other: object) -> bool:"
    yield f"    if not isinstance(other, {owner}):"
    yield "        return NotImplemented"
    for name, kind, _, _, counts in fields:
        if counts:
            same = "" if kind in _SIMPLE else f"self.{name} is not other.{name} and "
            yield f"    if {same}self.{name} != other.{name}:"
            yield "        return False"
    yield "    return True"


def _hash(fields: list[Field]) -> Iterator[str]:
    yield ""
    yield "def __hash__(self) -> int:"
    yield f"    return hash({_values('self', fields)})"


def _order(owner: str, fields: list[Field]) -> Iterator[str]:
    for name, sign in {"lt": "<", "le": "<=", "gt": ">", "ge": ">="}.items():
        yield ""
        yield f"def __{name}__(self, other: {owner}) -> bool:"
        yield f"    return {_values('self', fields)} {sign} {_values('other', fields)}"


def _values(owner: str, fields: list[Field]) -> str:
    return "(" + "".join(f"{owner}.{name}, " for name, _, _, _, counts in fields if counts) + ")"


def copied(root: Path) -> list[Any]:
    """Extension modules from a copy of the sources."""
    from mypyc.build import mypycify

    shutil.rmtree(root, ignore_errors=True)
    shutil.copytree("analyzers", root / "analyzers", ignore=shutil.ignore_patterns("*.so", "__pycache__"))
    shutil.copy("pyproject.toml", root)
    sources = {module: Path(module).read_text(encoding="utf-8") for module in modules(root)}
    bases = frozenset().union(*map(bases_in, sources.values()))
    for module, source in sources.items():
        Path(module).write_text(written_out(source, bases), encoding="utf-8")
    target, here = str(Path("build").resolve()), Path.cwd()
    os.chdir(root)
    try:
        return mypycify(
            modules(Path()),
            opt_level="1",
            debug_level="0",
            multi_file=True,
            group_name="autograd_lsp",
            target_dir=target,
        )
    finally:
        os.chdir(here)


def main() -> None:
    if os.environ.get("AUTOGRAD_LSP_COMPILE") != "1":
        setup()
        return
    try:
        import mypyc.build  # noqa: F401
    except ImportError:
        # Whoever builds it asks first what that takes: the compiler, and what it has to know the types of.
        setup(
            setup_requires=[
                "mypy[mypyc]>=2.4,<2.5",
                "immutables>=0.20",
                "tree-sitter>=0.23",
                "tree-sitter-python>=0.23",
            ]
        )
        return
    setup(ext_modules=copied(Path("build", "written_out")))


if __name__ == "__main__":
    main()
