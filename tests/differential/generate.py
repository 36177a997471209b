"""`python -m tests.differential.generate SEED [--level 1..5]`: a random program, as a person might read it.

Level 1 is one straight line: tensors are made, computed with, looked at through views, written in place, cut off, and
walked by `backward` or `autograd.grad`. Level 2 puts such lines under grad modes, into branches, loops, functions,
closures and comprehensions, and behind names of lists and dicts. Level 3 is about what Python has to carry tensors
around: functions, containers, records, generators, handlers. Level 4 trains networks. Level 5 reaches into autograd:
custom functions, hooks, checkpoints, derivatives of derivatives, `torch.func`.

The generator tracks shapes, so that few programs fail for want of a fitting one, and beliefs about gradients, so that
the faults it comes upon are those of autograd.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Callable

from tests.differential import vocabulary as ops
from tests.differential.vocabulary import Expr, Shape, Var

_SHAPES: tuple[Shape, ...] = ((3,), (3,), (2, 3), (3, 3), (4, 3), ())
_INDENT = "    "

LEVELS = range(1, 6)


def generate(seed: int, level: int = 1) -> str:
    """The program of `seed`; the same each time."""
    from tests.differential.containers import Containing
    from tests.differential.control import Branching
    from tests.differential.custom import Custom
    from tests.differential.scenes import Scenes

    writer = (Straight, Branching, Containing, Scenes, Custom)[level - 1]
    return writer(random.Random(seed)).program()


class Straight:
    """Writes a program statement by statement."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.lines: list[str] = []
        self.vars: list[Var] = []
        self.depth = 0
        self.names = 0
        self.recording = True
        self.keeps_shape = False

    def program(self) -> str:
        """A program of some twenty lines that ends in a backward."""
        self.emit("import torch")
        self.emit("import torch.nn.functional as F")
        self.emit("")
        for _ in range(self.rng.randint(2, 4)):
            self.create()
        for _ in range(self.rng.randint(4, 14)):
            self.statement()
        self.backward()
        return "\n".join(self.lines) + "\n"

    def statement(self) -> None:
        """One more statement of any kind."""
        self._pick(
            (self.compute, 34),
            (self.view, 12),
            (self.write, 16),
            (self.backward, 6),
            (self.cut, 3),
            (self.create, 3),
            (self.grad, 2),
            (self.read_grad, 2),
            (self.leave, 2),
            (self.alias, 3),
            (self.pieces, 2),
            (self.flag, 2),
            (self.integer, 1),
        )()

    # Statements.

    def create(self) -> None:
        """A new tensor, a leaf that requires grad more often than not."""
        shape = self.rng.choice(_SHAPES)
        grad = self.rng.random() < 0.6
        sizes = ", ".join(map(str, shape)) if shape else "()"
        options = ", requires_grad=True" if grad else ""
        text = self.rng.choice(("torch.rand({}{})", "torch.ones({}{})", "torch.zeros({}{})", "torch.randn({}{})"))
        self.bind(Expr(text.format(sizes, options), shape), grad=grad, leaf=True)

    def compute(self) -> None:
        """The result of an operator, under a new name or that of its operand."""
        x = self.tensor()
        result, operands = self.expression(x)
        grad = self.recording and any(var.grad for var in operands)
        if self.rng.random() < 0.2 and result.shape == x.shape:
            self.rebind(x, result, grad)
        else:
            self.bind(result, grad)

    def expression(self, x: Var) -> tuple[Expr, list[Var]]:
        """An operator applied to `x`, and to another where it takes two; with the tensors that it reads."""
        kind = self.rng.random()
        if kind < 0.4:
            y = self.tensor()
            pair = self.binary(x, y)
            if pair is not None:
                return pair, [x, y]
        if kind < 0.5:
            return Expr(self.rng.choice(ops.REDUCTION).format(x=x.name), ()), [x]
        if x.shape and kind < 0.56:
            return Expr(self.rng.choice(ops.ALONG_FIRST).format(x=x.name), x.shape[1:]), [x]
        if x.shape and kind < 0.65:
            return Expr(self.rng.choice(ops.ALONG_LAST).format(x=x.name), x.shape), [x]
        return Expr(self.rng.choice(ops.ELEMENTWISE).format(x=x.name), x.shape), [x]

    def binary(self, x: Var, y: Var) -> Expr | None:
        """An operator of two; None where their shapes go together in none."""
        together = list(ops.products(x, y))
        shape = ops.broadcast(x.shape, y.shape)
        if together and (shape is None or self.rng.random() < 0.5):
            return self.rng.choice(together)
        if shape is None:
            return None
        if x.shape == y.shape and self.rng.random() < 0.2:
            text, result = self.rng.choice(ops.PAIRED)
            return Expr(text.format(x=x.name, y=y.name), shape if result is None else result)
        return Expr(self.rng.choice(ops.BINARY).format(x=x.name, y=y.name), shape)

    def view(self) -> None:
        """Another look at a tensor."""
        x = self.tensor()
        self.bind(self.rng.choice(list(ops.views(x))), x.grad and self.recording)

    def write(self) -> None:
        """A write in place, seldom into a leaf that requires grad, as this ends the program."""
        x = self.tensor()
        if x.leaf and x.grad and self.rng.random() < 0.85:
            others = [var for var in self.vars if not (var.leaf and var.grad) and var.floating]
            if not others:
                return
            x = self.rng.choice(others)
        kind = self.rng.random()
        if x.shape and kind < 0.3:
            self.emit(self.rng.choice(ops.IN_PLACE_INDEXED).format(x=x.name))
        elif kind < 0.55:
            y = self.tensor()
            if ops.broadcast(x.shape, y.shape) == x.shape:
                self.emit(self.rng.choice(ops.IN_PLACE_BINARY).format(x=x.name, y=y.name))
                self.believe(x, grad=x.grad or (y.grad and self.recording))
        else:
            self.emit(self.rng.choice(ops.IN_PLACE).format(x=x.name))

    def backward(self) -> None:
        """A walk from some tensor, most often one that has a graph."""
        text, grad = self.scalar()
        if not grad and self.rng.random() < 0.8:
            return
        options = "retain_graph=True" if self.rng.random() < 0.3 else ""
        if self.rng.random() < 0.5:
            self.emit(f"{text}.backward({options})")
        else:
            name = self.fresh("loss")
            self.emit(f"{name} = {text}")
            self.emit(f"{name}.backward({options})")
            self.vars.append(Var(name, (), grad))

    def scalar(self) -> tuple[str, bool]:
        """Some tensor made one number (forgotten now and then), and whether it has a graph."""
        graph = [var for var in self.vars if var.grad and not var.leaf and var.floating]
        x = self.rng.choice(graph[-4:]) if graph and self.rng.random() < 0.95 else self.tensor()
        if len(graph) > 1 and self.rng.random() < 0.3:
            return "({}.sum() + {}.mean())".format(*(var.name for var in self.rng.sample(graph, 2))), True
        if x.shape == () or self.rng.random() < 0.04:
            return x.name, x.grad
        return self.rng.choice(("{}.sum()", "{}.mean()", "({} * 2).sum()")).format(x.name), x.grad

    def grad(self) -> None:
        """`autograd.grad` of a sum, to a leaf."""
        leaves = [var for var in self.vars if var.leaf and var.grad]
        text, grad = self.scalar()
        if not leaves or not grad:
            return
        leaf = self.rng.choice(leaves)
        options = self.rng.choice(("", "", ", retain_graph=True", ", create_graph=True", ", allow_unused=True"))
        name = self.fresh("g")
        self.emit(f"({name},) = torch.autograd.grad({text}, {leaf.name}{options})")
        if "unused" not in options:
            self.vars.append(Var(name, leaf.shape, "create" in options))

    def read_grad(self) -> None:
        """A leaf's gradient, looked at or taken away."""
        leaves = [var for var in self.vars if var.leaf and var.grad]
        if leaves:
            leaf = self.rng.choice(leaves).name
            name = self.fresh("g")
            self.emit(self.rng.choice((f"{name} = {leaf}.grad", f"{leaf}.grad = None", f"{name} = {leaf}.grad")))

    def cut(self) -> None:
        """The same numbers without the graph."""
        x = self.tensor()
        self.bind(Expr(self.rng.choice(ops.CUTTING).format(x=x.name), x.shape, x.contiguous), grad=False, leaf=True)

    def leave(self) -> None:
        """Numbers leave torch; now and then in the way that torch refuses."""
        x = self.tensor()
        name = self.fresh("n")
        if x.grad and self.rng.random() < 0.2:
            self.emit(f"{name} = {x.name}.numpy()")
            return
        texts = ["{x}.sum().item()", "{x}.detach().numpy()", "{x}.tolist()", "float({x}.mean())", "{x}.shape"]
        self.emit(f"{name} = {self.rng.choice(texts).format(x=x.name)}")

    def alias(self) -> None:
        """Another name, a plain `del` of one, or a write through what shares memory."""
        x = self.tensor()
        match self.rng.randrange(4):
            case 0:
                name = self.fresh("t")
                self.emit(f"{name} = {x.name}")
                self.vars.append(x.named(name))
            case 1:
                self.emit(f"{x.name}.data.mul_(2)")
            case 2:
                self.emit(f"{x.name}.detach().add_(1)")
            case _ if len(self.vars) > 4 and not self.keeps_shape:
                self.emit(f"del {x.name}")
                self.vars.remove(x)

    def pieces(self) -> None:
        """Several views at once, by unpacking."""
        x = self.tensor()
        if not x.shape or x.shape[0] != 2:
            x = next((var for var in self.vars if var.shape[:1] == (2,)), x)
        if x.shape[:1] != (2,):
            return
        first, second = self.fresh("t"), self.fresh("t")
        text, shape = self.rng.choice(
            ((f"{x.name}.unbind(0)", x.shape[1:]), (f"{x.name}.chunk(2)", (1, *x.shape[1:])), (x.name, x.shape[1:]))
        )
        self.emit(f"{first}, {second} = {text}")
        grad = x.grad and self.recording
        self.vars += [Var(name, shape, grad, contiguous=x.contiguous) for name in (first, second)]

    def flag(self) -> None:
        """A switch of `requires_grad`, or a gradient kept."""
        x = self.tensor()
        if x.grad and not x.leaf:
            self.emit(self.rng.choice((f"{x.name}.retain_grad()", f"{x.name}.detach_()", f"{x.name}.requires_grad_()")))
            self.believe(x, grad="detach" not in self.lines[-1])
        elif self.rng.random() < 0.5:
            self.emit(f"{x.name}.requires_grad_()")
            self.believe(x, grad=True)
        else:
            self.emit(f"{x.name}.requires_grad = True")
            self.believe(x, grad=True)

    def integer(self) -> None:
        """A tensor that can have no gradient."""
        x = self.tensor()
        text = self.rng.choice(ops.INTEGER)
        self.bind(Expr(text.format(x=x.name), () if "arg" in text else x.shape, floating=False), grad=False)

    # What the statements are made with.

    def tensor(self) -> Var:
        """A floating tensor, the newer the likelier."""
        floating = [var for var in self.vars if var.floating]
        if not floating:
            self.create()
            return self.vars[-1]
        weights = [1 + index for index in range(len(floating))]
        return self.rng.choices(floating, weights)[0]

    def bind(self, result: Expr, grad: bool, leaf: bool = False) -> None:
        """A new name for the result."""
        name = self.fresh("t")
        self.emit(f"{name} = {result.text}")
        self.vars.append(Var(name, result.shape, grad, leaf, result.contiguous, result.floating))

    def rebind(self, x: Var, result: Expr, grad: bool) -> None:
        """The name of `x` for the result."""
        self.emit(f"{x.name} = {result.text}")
        self.vars[self.vars.index(x)] = Var(x.name, result.shape, grad, False, result.contiguous, result.floating)

    def believe(self, x: Var, grad: bool) -> None:
        """`x` has been written: from now on it has a graph, or has none."""
        leaf = x.leaf if grad == x.grad else False
        self.vars[self.vars.index(x)] = Var(x.name, x.shape, grad, leaf, x.contiguous, x.floating)

    def fresh(self, stem: str) -> str:
        """A name that nobody has."""
        self.names += 1
        return f"{stem}{self.names}"

    def emit(self, text: str) -> None:
        """One line, as deep as the block that it stands in."""
        self.lines.append(_INDENT * self.depth + text if text else "")

    def _pick(self, *weighted: tuple[Callable[[], None], int]) -> Callable[[], None]:
        choices = [choice for choice, _ in weighted]
        return self.rng.choices(choices, [weight for _, weight in weighted])[0]


def main() -> None:
    """Print a program."""
    parser = argparse.ArgumentParser(prog="python -m tests.differential.generate", description=__doc__)
    parser.add_argument("seed", type=int)
    parser.add_argument("--level", type=int, choices=LEVELS, default=1)
    options = parser.parse_args()
    print(generate(options.seed, options.level), end="")


if __name__ == "__main__":
    main()
