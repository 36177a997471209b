"""Every statement of real code lowers to what CPython's own parser and symbol table say, spans included."""

from __future__ import annotations

import ast
import importlib.util
import symtable
import sysconfig
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

from analyzers.syntax import nodes as n
from analyzers.syntax.lower import lower
from analyzers.syntax.parse import parse
from analyzers.syntax.split import split
from tests.syntax.compare import first_difference, from_ast, from_nodes, names_of

GRAMMAR = "grammar fstring patma genericalias dictcomps named_expressions unpack with coroutines exception_group scope"


def _torch(*patterns: str) -> list[Path]:
    spec = importlib.util.find_spec("torch")
    assert spec is not None and spec.origin is not None
    root = Path(spec.origin).parent
    return sorted(path for pattern in patterns for path in root.glob(pattern))


def _standard(names: str) -> list[Path]:
    root = Path(sysconfig.get_path("stdlib")) / "test"
    paths = [root / f"test_{name}.py" for name in names.split()]
    return [path for path in paths if path.exists()]


FILES = [
    *_torch("nn/*.py", "nn/modules/*.py", "nn/utils/*.py", "optim/*.py", "distributions/*.py", "utils/data/*.py"),
    *_standard(GRAMMAR),
]


def _parsed(path: Path) -> bytes:
    text = path.read_bytes()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(text)
    except SyntaxError:
        pytest.skip("written for another Python")
    return _with_semicolons(text)


def _with_semicolons(text: bytes) -> bytes:
    """A name alone in a block is half typed; with a semicolon behind it it is a statement like others."""
    lines = text.split(b"\n")
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Name) and node.col_offset:
            lines[node.lineno - 1] += b";"
    return b"\n".join(lines)


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_trees_are_equal(path: Path) -> None:
    text = _parsed(path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = from_ast(text)
    actual = from_nodes(text)
    assert actual == expected, first_difference(actual, expected)


@pytest.mark.parametrize(
    "source",
    [
        "a & b ^ c | d & e",
        "~1 ^ 1 & 1 | 1 & 1 ^ ~1",
        "[*a.b(c)]\n*a.b, c = d",
        "type(x).y = 1; type (x)[0] = 2",
        "with (a as b, c as (d, e),): pass",
        "with (a,): pass\nwith (a, b) as c: pass\nwith (a as b): pass",
        "x[a:b, ::c], x[1,], x[*a], x[:]",
        "f'{x!r:>{w}}b{{c}}' 'd' f'{x = }{y=!s}{z=:>3}' f'\\n{x}\\N{BULLET}{{'",
        "f'{x:=10}'",
        "rf'\\d{x}' f''",
        "lambda x, /, y=1, *a, z, w=2, **k: (yield)",
        "match a, *b:\n case [1, *_, -2] | (3 + 4j) if c: pass\n case {'k': v, **rest}: pass\n case A.B(c, d=e): pass",
        "match a:\n case *b, c: pass\n case (d) as e: pass\n case (f,): pass\n case None | True | x.y: pass",
        "try: pass\nexcept* (A, B) as e: pass\nelse: pass\nfinally: pass",
        "x: int\n(x): int = 1\nx.y: a.b[c] | None = yield_",
        "async def f():\n async with a as b, c: 1\n async for x, in y, z: await w\n [i async for i in j if k]",
        "x = (  # why\n a  # and\n + b)\nif a:\n  # c\n  pass\n  # d\n",
        "\ufefff\u0131 = '\u00e9'; \ufb01 = 1",
        "x = '''a\r\nb''' + \\\r\n c\r\ny",
        "x = 1\f\n\fy = 2\n",
        "0x_ff, 1_0j, 1e3, 0o17, 0b1, ..., 1., .5",
        r"'\x41\u0041\101\N{BULLET}\q\
z', b'\x00\q', r'\n'",
    ],
)
def test_corners(source: str) -> None:
    text = source.encode()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = from_ast(text)
    actual = from_nodes(text)
    assert actual == expected, first_difference(actual, expected)


SCOPES = [path for path in FILES if path.name in ("functional.py", "module.py", "optimizer.py", "test_scope.py")] + [
    path for path in FILES if path.name in ("test_grammar.py", "test_patma.py", "test_named_expressions.py")
]


@pytest.mark.parametrize("path", SCOPES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_locals_are_those_of_the_symbol_table(path: Path) -> None:
    text = _parsed(path)
    _same_scopes(text)


@pytest.mark.parametrize(
    "body",
    [
        "import a.b, c as d\n from e import f as g, h\n from . import i",
        "for a, (b, *c) in d: pass\n with e as [f, g.h]: pass",
        "try: pass\n except A as b: pass\n del c, (d, e[0])",
        "[x := y for y in z]; {(w := 1): 2 for v in u}; (lambda: (t := 1))",
        "global a, b\n a = 1; c = 2\n def b(): pass\n class d: e = 1",
        "match x:\n  case {'a': b, **c} | [d, *e]: pass\n  case F(g, h=i) as j: pass\n  case _: pass",
        "a: int\n (b): int\n c += 1\n d.e = 1\n yield",
        "x = lambda: (yield)",
        "async def g(): yield\n class C:\n  def h(self): yield",
        "for a in b:\n  if c:\n   d = 1\n  elif e:\n   f = 1\n  else: g = 1\n else: h = 1",
    ],
)
def test_locals_of_small_bodies(body: str) -> None:
    _same_scopes(f"def f(p, q=1, *r, s, **t):\n {body}\n".encode())


def _same_scopes(text: bytes) -> None:
    decoded = text.decode()
    line_of = _lines(text)
    tables = {
        (table.get_name(), table.get_lineno()): table for table in _functions(symtable.symtable(decoded, "f", "exec"))
    }
    generators = {
        (node.name, node.lineno): _is_generator(node)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    compared = 0
    module = split(text, parse(text))
    for key in module.spans:
        for function in _definitions(lower(module, key).body):
            line = line_of[module.to_file(key, function.start)]
            first = min([line, *(line_of[module.to_file(key, one.start)] for one in function.decorators)])
            table = tables.get((function.name, first)) or tables[function.name, line]
            symbols = table.get_symbols()
            bound = {one.get_name() for one in symbols if one.is_local()} - {".0", "__class__"}
            mine = {_unmangled(name, bound) for name in function.locals}
            assert mine == bound, (key, function.name)
            assert function.is_generator == generators[function.name, line], (key, function.name)
            compared += 1
    assert compared == len(generators)


def _unmangled(name: str, bound: set[str]) -> str:
    """The symbol table spells `__x` in a class `_C__x`."""
    if not name.startswith("__") or name in bound:
        return name
    return next((one for one in bound if one.startswith("_") and one.endswith(name)), name)


def _functions(table: symtable.SymbolTable) -> Iterator[symtable.SymbolTable]:
    for child in table.get_children():
        if child.get_type() == "function":
            yield child
        yield from _functions(child)


def _is_generator(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    pending: list[ast.AST] = list(function.body)
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Yield | ast.YieldFrom):
            return True
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            pending.extend(ast.iter_child_nodes(node))
    return False


def _definitions(value: object) -> Iterator[n.FunctionDef]:
    if isinstance(value, tuple):
        for one in value:
            yield from _definitions(one)
    elif isinstance(value, n.Node):
        if isinstance(value, n.FunctionDef):
            yield value
        for name in names_of(value):
            yield from _definitions(getattr(value, name))


def _lines(text: bytes) -> list[int]:
    lines, line = [], 1
    for byte in text:
        lines.append(line)
        line += byte == 0x0A
    return [*lines, line]
