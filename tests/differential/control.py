"""Programs with blocks: the statements of level 1 under grad modes, in branches, loops, functions and containers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tests.differential import vocabulary as ops
from tests.differential.generate import Straight
from tests.differential.vocabulary import Expr, Var

_MODES = (
    ("torch.no_grad()", False),
    ("torch.no_grad()", False),
    ("torch.enable_grad()", True),
    ("torch.inference_mode()", False),
    ("torch.set_grad_enabled(False)", False),
    ("torch.set_grad_enabled(True)", True),
)
_DEEPEST = 2


class Branching(Straight):
    """Writes blocks as well as statements."""

    def program(self) -> str:
        """A program whose first lines define what later ones call."""
        self.emit("import torch")
        self.emit("import torch.nn.functional as F")
        self.emit("")
        for _ in range(self.rng.randint(2, 4)):
            self.create()
        for _ in range(self.rng.randint(3, 8)):
            self.block() if self.rng.random() < 0.5 else self.statement()
        self.backward()
        return "\n".join(self.lines) + "\n"

    def block(self) -> None:
        """One more block, or a statement where blocks are deep enough."""
        if self.depth >= _DEEPEST:
            self.statement()
            return
        self._pick(
            (self.mode, 6),
            (self.branch, 5),
            (self.loop, 6),
            (self.counting, 2),
            (self.over_list, 4),
            (self.mapping, 2),
            (self.comprehension, 3),
            (self.function, 5),
            (self.closure, 2),
            (self.handler, 3),
        )()

    # Blocks whose body is run once for certain.

    def mode(self) -> None:
        """A body under a grad mode; what it binds is there afterwards."""
        text, recording = self.rng.choice(_MODES)
        outside = self.recording
        self.emit(f"with {text}:")
        self.recording = recording
        self.depth += 1
        for _ in range(self.rng.randint(1, 2)):
            self.statement_or_pass(self.compute if self.rng.random() < 0.6 else self.write)
        self.depth -= 1
        self.recording = outside

    def handler(self) -> None:
        """A backward whose failure the program takes."""
        self.emit("try:")
        with self.inner():
            self.statement_or_pass(self.backward)
        self.emit("except RuntimeError:")
        self.depth += 1
        self.emit(f"{self.fresh('failed')} = True")
        self.depth -= 1

    # Blocks whose body is run under a condition, or many times.

    def branch(self) -> None:
        """A condition that the program's text decides, whatever the numbers are."""
        x = self.tensor()
        n = self.fresh("n")
        self.emit(f"{n} = {self.rng.randint(0, 3)}")
        condition = self.rng.choice(
            (f"{n} > 1", f"{x.name}.requires_grad", f"{x.name}.dim() == 1", f"{x.name}.is_leaf", f"not {n}")
        )
        self.emit(f"if {condition}:")
        with self.inner(steady=True):
            self.body()
        if self.rng.random() < 0.5:
            self.emit("else:")
            with self.inner(steady=True):
                self.body()

    def loop(self) -> None:
        """A known number of rounds."""
        self.emit(f"for {self.fresh('i')} in range({self.rng.randint(1, 3)}):")
        with self.inner(steady=True):
            self.body()
            if self.rng.random() < 0.4:
                self.backward()

    def counting(self) -> None:
        """The same with a counter."""
        n = self.fresh("n")
        self.emit(f"{n} = 0")
        self.emit(f"while {n} < {self.rng.randint(1, 3)}:")
        with self.inner(steady=True):
            self.body()
            self.emit(f"{n} += 1")

    def over_list(self) -> None:
        """A list of tensors of one shape: made, grown, walked, stacked."""
        x = self.tensor()
        alike = [var for var in self.vars if var.shape == x.shape and var.floating][-3:]
        grad = self.recording and any(var.grad for var in alike)
        xs, item = self.fresh("xs"), self.fresh("t")
        self.emit(f"{xs} = [{', '.join(var.name for var in alike)}]")
        if self.rng.random() < 0.5:
            text, _ = self.expression(x)
            if text.shape == x.shape:
                self.emit(f"{xs}.append({text.text})")
        match self.rng.randrange(3):
            case 0:
                self.emit(f"for {item} in {xs}:")
                with self.inner(steady=True):
                    self.vars.append(Var(item, x.shape, grad))
                    self.body()
            case 1:
                self.bind(Expr(f"torch.stack({xs}).sum(0)", x.shape), grad)
            case _:
                self.bind(Expr(f"sum({xs})", x.shape), grad)

    def mapping(self) -> None:
        """Tensors behind the keys of a dict."""
        d = self.fresh("d")
        x, y = self.tensor(), self.tensor()
        self.emit(f'{d} = {{"a": {x.name}, "b": {y.name}}}')
        result, operands = self.expression(x)
        grad = self.recording and any(var.grad for var in operands)
        key = self.rng.choice(("a", "c"))
        self.emit(f'{d}["{key}"] = {result.text}')
        self.bind(Expr(f'{d}["{key}"] * 2', result.shape), grad)

    def comprehension(self) -> None:
        """A result for each tensor of a tuple, summed."""
        x, y = self.tensor(), self.tensor()
        grad = self.recording and (x.grad or y.grad)
        text = self.rng.choice(("t.exp().sum()", "(t * t).sum()", "t.mean()", "(t + 1).sum()", "t.detach().sum()"))
        ys = self.fresh("ys")
        self.emit(f"{ys} = [{text} for t in ({x.name}, {y.name})]")
        self.bind(Expr(f"{ys}[0] + {ys}[1]", ()), grad and "detach" not in text)

    # Functions.

    def function(self) -> None:
        """A function of two tensors, called once or twice."""
        x, y = self.tensor(), self.tensor()
        name = self.fresh("f")
        outside, depth = self.vars, self.depth
        self.vars = [x.named("a"), y.named("b")]
        self.emit(f"def {name}(a, b):")
        self.depth += 1
        for _ in range(self.rng.randint(1, 3)):
            self.rng.choice((self.compute, self.compute, self.view, self.write))()
        result = self.tensor()
        self.emit(f"return {result.name}")
        self.depth, self.vars = depth, outside
        for _ in range(self.rng.randint(1, 2)):
            self.bind(Expr(f"{name}({x.name}, {y.name})", result.shape, result.contiguous), result.grad)

    def closure(self) -> None:
        """A function that remembers a tensor."""
        x, y = self.tensor(), self.tensor()
        if ops.broadcast(x.shape, y.shape) is None:
            return
        maker, inner = self.fresh("make"), self.fresh("f")
        pair = self.binary(x.named("kept"), y.named("t"))
        if pair is None:
            return
        self.emit(f"def {maker}(kept):")
        self.emit("    def apply(t):")
        self.emit(f"        return {pair.text}")
        self.emit("    return apply")
        self.emit(f"{inner} = {maker}({x.name})")
        for _ in range(self.rng.randint(1, 2)):
            self.bind(Expr(f"{inner}({y.name})", pair.shape), self.recording and (x.grad or y.grad))

    # Bodies.

    def body(self) -> None:
        """A few statements, or blocks."""
        for _ in range(self.rng.randint(1, 3)):
            self.statement_or_pass(self.block if self.rng.random() < 0.25 else self.statement)

    def statement_or_pass(self, statement: Callable[[], None]) -> None:
        """A statement that may write nothing: a block must not be empty."""
        before = len(self.lines)
        statement()
        if len(self.lines) == before:
            self.emit("pass")

    @contextmanager
    def inner(self, steady: bool = False) -> Iterator[None]:
        """A body whose own names are forgotten afterwards; `steady`: outer names keep their shapes in it."""
        before, names, kept = self.keeps_shape, {var.name for var in self.vars}, self.vars[:]
        self.keeps_shape = before or steady
        self.depth += 1
        yield
        self.depth -= 1
        self.keeps_shape = before
        self.vars = [var for var in self.vars if var.name in names] or kept
