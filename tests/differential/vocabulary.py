"""The operators that generated programs are made of, each with the shape of its result.

A template names its operands `{x}` and `{y}`; a shape is a tuple of sizes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias

Shape: TypeAlias = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Var:
    """A tensor that the generator believes a name to hold; beliefs steer the choice and need not be right."""

    name: str
    shape: Shape
    grad: bool
    leaf: bool = False
    contiguous: bool = True
    floating: bool = True

    def named(self, name: str) -> Var:
        """The same tensor under another name."""
        return replace(self, name=name)


@dataclass(frozen=True, slots=True)
class Expr:
    """An expression and what it gives."""

    text: str
    shape: Shape
    contiguous: bool = True
    floating: bool = True


ELEMENTWISE = (
    "{x}.exp()",
    "{x}.sin()",
    "{x}.cos()",
    "{x}.tanh()",
    "{x}.sigmoid()",
    "{x}.relu()",
    "{x}.abs()",
    "{x}.sqrt()",
    "{x}.rsqrt()",
    "{x}.log()",
    "{x}.log1p()",
    "{x}.square()",
    "{x}.reciprocal()",
    "{x}.erf()",
    "{x}.expm1()",
    "{x}.round()",
    "{x}.floor()",
    "{x}.sign()",
    "{x}.clone()",
    "{x}.clamp(min=0)",
    "{x}.clamp(0, 1)",
    "{x}.nan_to_num()",
    "{x}.contiguous()",
    "{x}.float()",
    "{x}.double().float()",
    "torch.sin({x})",
    "torch.exp({x})",
    "torch.relu({x})",
    "torch.zeros_like({x})",
    "torch.where({x} > 0, {x}, 0.0)",
    "{x}.masked_fill({x} > 0, 0.0)",
    "F.gelu({x})",
    "F.silu({x})",
    "F.elu({x})",
    "F.softplus({x})",
    "F.leaky_relu({x})",
    "F.dropout({x}, 0.5)",
    "{x} + 1",
    "{x} - 2",
    "{x} * 3",
    "{x} / 2",
    "{x} ** 2",
    "{x} ** 1",
    "{x} ** 0.5",
    "2 - {x}",
    "1 / {x}",
    "-{x}",
    "{x} - {x}.mean()",
    "{x} / {x}.sum()",
)
ALONG_LAST = (
    "{x}.softmax(-1)",
    "{x}.log_softmax(-1)",
    "{x}.cumsum(0)",
    "{x}.cumprod(0)",
    "{x}.flip(0)",
    "{x}.roll(1, 0)",
    "{x}.sort(0).values",
    "F.layer_norm({x}, {x}.shape[-1:])",
)
CUTTING = (
    "{x}.detach()",
    "{x}.data",
    "{x}.detach().clone()",
    "torch.ones_like({x})",
    "torch.from_numpy({x}.detach().numpy())",
)
INTEGER = ("{x}.long()", "{x} > 0", "{x}.argmax()")
BINARY = (
    "{x} + {y}",
    "{x} - {y}",
    "{x} * {y}",
    "{x} * {y}",
    "{x} / {y}",
    "torch.maximum({x}, {y})",
    "torch.minimum({x}, {y})",
    "torch.where({x} > {y}, {x}, {y})",
    "torch.atan2({x}, {y})",
    "torch.lerp({x}, {y}, 0.3)",
    "{x}.abs() ** {y}",
)
PAIRED = (
    ("torch.stack([{x}, {y}]).sum(0)", None),
    ("torch.cat([{x}.reshape(-1), {y}.reshape(-1)]).sum()", ()),
    ("F.mse_loss({x}, {y})", ()),
    ("F.l1_loss({x}, {y})", ()),
    ("F.smooth_l1_loss({x}, {y})", ()),
    ("({x} * {y}).sum()", ()),
)
REDUCTION = (
    "{x}.sum()",
    "{x}.mean()",
    "{x}.max()",
    "{x}.min()",
    "{x}.prod()",
    "{x}.norm()",
    "{x}.square().sum()",
    "torch.sum({x})",
    "torch.mean({x} * {x})",
)
ALONG_FIRST = (
    "{x}.sum(0)",
    "{x}.mean(0)",
    "{x}.amax(0)",
    "{x}.max(0).values",
    "{x}.logsumexp(0)",
    "{x}.norm(dim=0)",
    "{x}.prod(0)",
)
IN_PLACE = (
    "{x}.add_(1)",
    "{x}.mul_(2)",
    "{x}.sub_(1)",
    "{x}.div_(2)",
    "{x}.zero_()",
    "{x}.fill_(1.0)",
    "{x}.exp_()",
    "{x}.sin_()",
    "{x}.relu_()",
    "{x}.sigmoid_()",
    "{x}.tanh_()",
    "{x}.neg_()",
    "{x}.clamp_(min=0)",
    "{x} += 1",
    "{x} *= 2",
    "{x} -= 1",
    "{x} **= 2",
    "{x} /= 3",
    "{x} *= {x}",
    "{x} += torch.relu({x})",
    "{x} -= {x}.mean()",
)
IN_PLACE_INDEXED = ("{x}[0] = 1.0", "{x}[0] += 1", "{x}[:1] *= 2", "{x}[0].zero_()", "{x}[:] = 0.5")
IN_PLACE_BINARY = (
    "{x}.add_({y})",
    "{x}.mul_({y})",
    "{x}.sub_({y})",
    "{x}.copy_({y})",
    "{x} += {y}",
    "{x} *= {y}",
    "{x} -= {y}",
    "{x} += {y} * {y}",
    "{x}[...] = {y}",
)


def broadcast(a: Shape, b: Shape) -> Shape | None:
    """The shape that the two give together; None where they give none."""
    rank = max(len(a), len(b))
    left, right = ((1,) * (rank - len(shape)) + shape for shape in (a, b))
    if any(m != n and 1 not in (m, n) for m, n in zip(left, right, strict=True)):
        return None
    return tuple(max(m, n) for m, n in zip(left, right, strict=True))


def views(x: Var) -> Iterator[Expr]:
    """Ways to look at `x`, most of them views of its memory."""
    name, shape = x.name, x.shape
    size = math.prod(shape)
    yield Expr(f"{name}.reshape(-1)", (size,))
    yield Expr(f"{name}.unsqueeze(0)", (1, *shape), x.contiguous)
    yield Expr(f"{name}.squeeze()", tuple(n for n in shape if n != 1), x.contiguous)
    yield Expr(f"{name}.flatten()", (size,))
    if x.contiguous:
        yield Expr(f"{name}.view(-1)", (size,))
        yield Expr(f"{name}.view_as({name})", shape)
    if shape:
        first, *rest = shape
        yield Expr(f"{name}[0]", tuple(rest), x.contiguous)
        yield Expr(f"{name}[:1]", (1, *rest), x.contiguous)
        yield Expr(f"{name}[-1]", tuple(rest), x.contiguous)
        yield Expr(f"{name}[[0]]", (1, *rest))
        yield Expr(f"{name}.narrow(0, 0, 1)", (1, *rest), x.contiguous)
        yield Expr(f"{name}.select(0, {first - 1})", tuple(rest), x.contiguous)
        yield Expr(f"{name}.index_select(0, torch.tensor([0]))", (1, *rest))
        yield Expr(f"{name}.expand(2, {', '.join(map(str, shape))})", (2, *shape), False)
        yield Expr(f"{name}[..., 0]", shape[:-1], False)
    if len(shape) == 2:
        rows, columns = shape
        yield Expr(f"{name}.t()", (columns, rows), False)
        yield Expr(f"{name}.T", (columns, rows), False)
        yield Expr(f"{name}.transpose(0, 1)", (columns, rows), False)
        yield Expr(f"{name}[:, 0]", (rows,), False)
        yield Expr(f"{name}.diagonal()", (min(rows, columns),), False)


def products(x: Var, y: Var) -> Iterator[Expr]:
    """Matrix and vector products of the two."""
    match x.shape, y.shape:
        case (n, k), (l, m) if k == l:
            yield Expr(f"{x.name} @ {y.name}", (n, m))
            yield Expr(f"torch.mm({x.name}, {y.name})", (n, m))
        case (n, k), (m, l) if k == l:
            yield Expr(f"F.linear({x.name}, {y.name})", (n, m))
            yield Expr(f"{x.name} @ {y.name}.t()", (n, m))
        case (n, k), (l,) if k == l:
            yield Expr(f"{x.name} @ {y.name}", (n,))
            yield Expr(f"torch.mv({x.name}, {y.name})", (n,))
        case (n,), (m,):
            yield Expr(f"torch.outer({x.name}, {y.name})", (n, m))
            if n == m:
                yield Expr(f"torch.dot({x.name}, {y.name})", ())
