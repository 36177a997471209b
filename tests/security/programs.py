"""Programs that repeat one construct n times, one after another or inside one another."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

Program: TypeAlias = "Callable[[int], str]"

HEAD = """\
import torch
from elsewhere import f, g, c, x
t = torch.ones(3, requires_grad=True)
"""


def _chained(part: str, *, before: str = "", after: str = "", between: str = "") -> Program:
    """The part for each number below n, one after another."""
    return lambda n: HEAD + before + between.join(part.replace("#", str(i)) for i in range(n)) + after + "\n"


def _nested(opening: str, closing: str = "", leaf: str = "t = t * x") -> Program:
    """Blocks inside one another; what closes a block is at its own depth."""

    def program(n: int) -> str:
        openings = ["    " * i + line.replace("#", str(i)) for i in range(n) for line in opening.splitlines()]
        closings = ["    " * i + line.replace("#", str(i)) for i in reversed(range(n)) for line in closing.splitlines()]
        return HEAD + "\n".join([*openings, "    " * n + leaf, *closings]) + "\n"

    return program


def _inside(left: str, right: str = "", middle: str = "x") -> Program:
    """An expression inside one of the same kind, and so on."""
    return lambda n: f"{HEAD}a = {left * n}{middle}{right * n}\n"


STATEMENTS: dict[str, Program] = {
    "if": _chained("if c[#]:\n    a# = 1\n"),
    "if else of tensors": _chained("if c[#]:\n    t = (t * 1).detach()\nelse:\n    t = t * 2\n"),
    "elif": _chained("elif f(#):\n    a = #\n", before="if c:\n    pass\n"),
    "elif and": _chained("elif f(#) and g(#):\n    a = #\n", before="if c:\n    pass\n"),
    "elif or": _chained("elif f(#) or g(#):\n    a = #\n", before="if c:\n    pass\n"),
    "case": _chained("    case #:\n        a = #\n", before="match x:\n"),
    "case if": _chained("    case # if f(#):\n        a = #\n", before="match x:\n"),
    "case of tensors": _chained("    case # if f(#):\n        t = t.detach()\n", before="match x:\n"),
    "case of classes": _chained("    case A#(u=[1, *r]) if f(#):\n        a = #\n", before="match x:\n"),
    "case of alternatives": _chained("#", before="match x:\n    case ", between=" | ", after=" if c:\n        a = 1"),
    "match": _chained("match x:\n    case 1 if f(#):\n        a# = 1\n    case 2 if g(#):\n        a# = 2\n"),
    "try": _chained("try:\n    a# = f(#)\nexcept ValueError:\n    a# = 1\nfinally:\n    b = 1\n"),
    "while": _chained("while f(#):\n    a# = g(#)\n    if a#:\n        break\n"),
    "for": _chained("for i# in f(#):\n    a# = g(#)\n    if a#:\n        continue\n"),
    "with": _chained("with f(#) as a#:\n    b# = g(#)\n"),
    "assert": _chained("assert f(#) and g(#) or c\n"),
    "del": _chained("if f(#):\n    v# = 1\nif g(#):\n    del v#\n"),
    "return": _chained("    if f(#):\n        return #\n", before="def h():\n", after="    return 0\nh()\n"),
    "return of tensors": _chained(
        "    if f(#):\n        return (t * #).detach()\n    t = t + 1\n",
        before="def h(t):\n", after="    return t\nh(t).sum().backward()\n",
    ),
    "yield": _chained("    if f(#):\n        yield #\n", before="def h():\n", after="for v in h():\n    g(v)\n"),
    "break": _chained("    if f(#):\n        break\n", before="for q in x:\n"),
    "raise": _chained("    if f(#):\n        raise E#\n", before="try:\n", after="except E1:\n    pass\n"),
    "decorator": _chained("@f(#)\n", after="def h():\n    pass\nh()\n"),
    "if inside": _nested("if f(#):"),
    "if and inside": _nested("if f(#) and g(#):"),
    "else inside": _nested("if f(#):\n    t = t.detach()\nelse:"),
    "with inside": _nested("with f(#):"),
    "try inside": _nested("try:", "except E#:\n    g(#)"),
    "except inside": _nested("try:\n    f(#)\nexcept ValueError:"),
    "finally inside": _nested("try:", "finally:\n    g(#)"),
    "def inside": _nested("def h#():", "h#()"),
    "class inside": _nested("class A#:"),
    "match inside": _nested("match f(#):\n  case 1 if g(#):"),
}  # fmt: skip

EXPRESSIONS: dict[str, Program] = {
    "if else": _chained("a# = f(1) if g(#) else f(#)\n"),
    "if else in sum": _chained("(1 if f(#) else 2)", before="a = ", between=" + "),
    "if else in arguments": _chained("(1 if f(#) else 2)", before="a = f(", between=", ", after=")"),
    "if else in list": _chained("(1 if f(#) else 2)", before="a = [", between=", ", after="]"),
    "if else in dict": _chained("#: 1 if f(#) else 2", before="a = {", between=", ", after="}"),
    "if else in text": _chained("{1 if f(#) else 2}", before="a = f'", after="'"),
    "if else in subscripts": _chained("[1 if f(#) else 2]", before="a = x"),
    "if else in else": _chained("# if f(#) else ", before="a = ", after="0"),
    "if else in test": _inside("(1 if ", " else 2)"),
    "and": _chained("f(#)", before="a = ", between=" and "),
    "or of and": _chained("f(#) and g(#)", before="if ", between=" or ", after=":\n    b = 1"),
    "walrus": _chained("(w# := f(#))", before="if ", between=" and ", after=":\n    b = 1"),
    "compare": _chained("f(#)", before="a = ", between=" < "),
    "not": _inside("not (c and ", ")"),
    "call": _inside("f(", ")"),
    "lambda": _inside("(lambda: ", ")()"),
    "comprehension if": _chained("if f(#)", before="a = [i for i in x ", between=" ", after="]"),
    "comprehension for": _chained("for i# in f(#)", before="a = [1 ", between=" ", after="]"),
    "comprehension inside": _inside("[1 for _ in ", "]"),
    "attribute": _inside("", ".a()"),
}  # fmt: skip

LOOPS: dict[str, Program] = {
    "for inside": _nested("for i# in f(#):"),
    "while inside": _nested("while f(#):"),
    "for over numbers inside": _nested("for i# in range(c):"),
    "for with break inside": _nested("for i# in f(#):\n    if g(#):\n        break"),
}
"""Python itself refuses more than twenty of these inside one another."""
