"""One row per operator schema: what it takes, returns, saves for backward, writes and views.

A *base* is the operator's name with its in-place underscore (`add_`), an *overload* one of its schemas
(`add_.Tensor`; the default overload is the bare base). `data/rows.tsv` holds one line per base and is read once; the
line of a base is parsed when somebody first asks for it. The file is written by `tools/generate_ops.py`.

    row("mul.Tensor").saves   ->  `other` for the sake of `self`, `self` for the sake of `other`
    row("mul_.Tensor").saves  ->  `other` for the sake of `self`, `original_self` (a clone) for the sake of `other`
"""

import json
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal, TypeAlias

Kind: TypeAlias = Literal["derivative", "composite", "not-implemented", "no-grad"]
View: TypeAlias = Literal["view", "multi", "maybe"]

DATA = Path(__file__).parent / "data"

RELEASE = (2, 13)
"""The release of torch that the tables were read from."""


@dataclass(frozen=True, slots=True)
class Arg:
    """`type` and `default` are schema text (`int[2]`, `Tensor?`, `1`); `alias` is the letter of the alias set."""

    name: str
    type: str
    default: str | None
    kwarg_only: bool
    alias: str | None
    written: bool

    @property
    def is_tensor(self) -> bool:
        return self.type.startswith("Tensor")


@dataclass(frozen=True, slots=True)
class Return:
    """`name` is the schema's name of the result, or None."""

    type: str
    name: str | None
    alias: str | None
    written: bool


@dataclass(frozen=True, slots=True)
class Saved:
    """A tensor (or list of tensors) that the node keeps and whose version backward checks.

    `for_inputs`: it is kept only if at least one of these inputs requires grad; None: whenever there is a node.
    `index` is the position among the returns if it is an output, otherwise -1.
    """

    name: str
    is_output: bool
    index: int
    is_list: bool
    for_inputs: tuple[str, ...] | None

    @property
    def is_private(self) -> bool:
        """An in-place operator keeps a clone of what it overwrites: nobody else can modify that."""
        return self.name == "original_self"


@dataclass(frozen=True, slots=True)
class Row:
    """
    kind: `derivative` makes a node named `grad_fn`; `composite` makes none of its own, its parts do;
        `not-implemented` makes a node whose backward raises; `no-grad`: no result requires grad for the call's
        sake, and what it writes in place keeps the state it had.
    differentiable: the inputs the node has edges to, in order.
    forbidden: inputs for which the call itself raises if they require grad.
    gradient_not_implemented: inputs to which only backward raises.
    not_differentiable: positions of tensor results that never require grad, although the row has a node.
    condition: the node is made only if this C++ expression over the arguments holds.
    view: what the result is of the `self` argument. `multi` results may not be modified in place in grad mode;
        `maybe`: a composite that returns a view, the same tensor or a copy, as the arguments' shapes and types ask.
    bumps: the arguments whose version counter goes up. A batch norm writes its running statistics without that.
    out: an out= schema. In grad mode it raises if a differentiable argument or the target requires grad.
    real_only: in grad mode the call raises where a result would be complex and require grad.
    alias_of: the one row that a composite only forwards its arguments to; that row's node appears.
    """

    name: str
    base: str
    overload: str
    args: tuple[Arg, ...]
    returns: tuple[Return, ...]
    kind: Kind
    grad_fn: str | None
    differentiable: tuple[str, ...]
    forbidden: tuple[str, ...]
    gradient_not_implemented: tuple[str, ...]
    not_differentiable: tuple[int, ...]
    condition: str | None
    saves: tuple[Saved, ...]
    view: View | None
    inplace: bool
    bumps: tuple[str, ...]
    out: bool
    method: bool
    function: bool
    alias_of: str | None
    real_only: bool

    def arg(self, name: str) -> Arg | None:
        return next((a for a in self.args if a.name == name), None)


def names() -> frozenset[str]:
    """Every base name."""
    return frozenset(_lines())


@cache
def rows(base: str) -> tuple[Row, ...]:
    """The overloads of a base, in the order of torch's own list; empty if there is no such operator."""
    line = _lines().get(base)
    if line is None:
        return ()
    return tuple(_row(base, record) for record in json.loads(line))


@cache
def row(name: str) -> Row | None:
    base = name.split(".", 1)[0]
    return next((r for r in rows(base) if r.name == name), None)


@cache
def _lines() -> dict[str, str]:
    text = (DATA / "rows.tsv").read_text(encoding="utf-8")
    return {name: line for name, _, line in (entry.partition("\t") for entry in text.splitlines())}


def _row(base: str, record: dict[str, Any]) -> Row:
    args, returns = parse_schema(record["schema"])
    overload: str = record["overload"]
    written = any(a.written for a in args)
    out = written and any(a.written and a.kwarg_only for a in args)
    inplace = written and not out and (base.endswith("_") or base.startswith("__i"))
    returned = {r.alias for r in returns if r.written}
    bumped = tuple(a.name for a in args if a.written and (a.alias in returned or not returns))
    return Row(
        name=f"{base}.{overload}" if overload else base,
        base=base,
        overload=overload,
        args=args,
        returns=returns,
        kind=record["kind"],
        grad_fn=record.get("grad_fn"),
        differentiable=tuple(record.get("differentiable", ())),
        forbidden=tuple(record.get("forbidden", ())),
        gradient_not_implemented=tuple(record.get("gradient_not_implemented", ())),
        not_differentiable=tuple(record.get("not_differentiable", ())),
        condition=record.get("condition"),
        saves=tuple(
            Saved(name, index >= 0, index, is_list, None if guard is None else tuple(guard))
            for name, index, is_list, guard in record.get("saves", ())
        ),
        view=record.get("view"),
        inplace=inplace,
        bumps=bumped if record.get("bumps", out or inplace) else (),
        out=out,
        method="m" in record["variants"],
        function="f" in record["variants"],
        alias_of=record.get("alias_of"),
        real_only=record.get("real_only", False),
    )


_PARAMETER = re.compile(r"(?P<type>.+?) (?P<name>\w+)(?:=(?P<default>.*))?")
_RETURN = re.compile(r"(?P<type>\S+?)(?: (?P<name>\w+))?")
_ALIAS = re.compile(r"\((?P<letter>\w)(?P<written>!?)[^)]*\)")


def parse_schema(schema: str) -> tuple[tuple[Arg, ...], tuple[Return, ...]]:
    """`(Tensor(a!) self, *, Scalar alpha=1) -> Tensor(a!)` as records."""
    left, _, right = schema.rpartition(") -> ")
    args: list[Arg] = []
    kwarg_only = False
    for part in split_parameters(left[1:]):
        if part == "*":
            kwarg_only = True
        elif match := _PARAMETER.fullmatch(part):
            type_, letter, written = _strip_alias(match["type"])
            args.append(Arg(match["name"], type_, match["default"], kwarg_only, letter, written))
    returns: list[Return] = []
    for part in split_parameters(right.removeprefix("(").removesuffix(")") if right.startswith("(") else right):
        type_, letter, written = _strip_alias(part)
        if match := _RETURN.fullmatch(type_):
            returns.append(Return(match["type"], match["name"], letter, written))
    return tuple(args), tuple(returns)


def split_parameters(text: str) -> list[str]:
    """The parts between the commas that no bracket encloses."""
    parts: list[str] = []
    depth = 0
    start = 0
    for i, char in enumerate(text):
        if char in "([":
            depth += 1
        elif char in ")]":
            depth -= 1
        elif char == "," and depth == 0:
            parts.append(text[start:i].strip())
            start = i + 1
    last = text[start:].strip()
    return [*parts, last] if last else parts


def _strip_alias(text: str) -> tuple[str, str | None, bool]:
    match = _ALIAS.search(text)
    if match is None:
        return text, None, False
    return text[: match.start()] + text[match.end() :], match["letter"], match["written"] == "!"
