"""Programs of functions: arguments of all kinds, closures, recursion, generators, decorators and methods.

The body of a function is made of the same statements as a program; what it may touch are its own parameters. Where a
way of calling is the matter, the body is a line or two.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from textwrap import dedent
from typing import TypeVar

from tests.differential import vocabulary as ops
from tests.differential.control import Branching
from tests.differential.vocabulary import Expr, Var

T = TypeVar("T")

_KEEPING = (
    "{x}.exp()", "{x}.sin()", "{x}.tanh()", "{x}.sigmoid()", "{x}.relu()", "{x} * 2", "{x} + 1", "{x} ** 2",
    "{x} * {x}", "-{x}", "{x}.clone()", "{x} / 2", "F.softplus({x})", "{x}.clamp(min=0)", "{x} - {x}.mean()",
)  # fmt: skip
_DECORATORS = (
    ("@torch.no_grad()", False),
    ("@torch.no_grad()", False),
    ("@torch.inference_mode()", False),
    ("@torch.enable_grad()", True),
    ("@torch.set_grad_enabled(False)", False),
    ("@torch.no_grad", False),
)


class Functional(Branching):
    """Writes functions, and calls of them."""

    def block(self) -> None:
        """A block of this level, or one of those below."""
        if self.depth >= 2 or self.rng.random() < 0.3:
            super().block()
        else:
            self.rng.choice(self.calling)()

    @property
    def calling(self) -> list[Callable[[], None]]:
        """What this file adds."""
        return [
            self.with_defaults, self.with_options, self.gathering, self.returning_many, self.accumulating,
            self.lambdas, self.recursive, self.under_decorator, self.wrapping, self.generating, self.writing,
            self.taking_function, self.leaving_early, self.with_method, self.with_operators, self.walking_inside,
        ]  # fmt: skip

    # Arguments and results.

    def with_defaults(self) -> None:
        """Arguments that are left out now and then."""
        x, y = self.alike(2)
        f = self.fresh("f")
        result, other = self.keeping("a"), self.keeping("b")
        self.write_lines(f"""
            def {f}(a, b=None, scale=2.0, *, detach=False):
                out = {result} * scale
                if b is not None:
                    out = out + {other}
                if detach:
                    out = out.detach()
                return out
            """)
        texts = (f"{y.name}", f"b={y.name}, scale=0.5", "scale=3", "detach=True", f"{y.name}, 1.0, detach=False")
        for text in self.rng.sample(texts, 2):
            grad = (x.grad or (y.name in text and y.grad)) and "True" not in text and self.recording
            self.bind(Expr(f"{f}({x.name}, {text})", x.shape), grad)

    def with_options(self) -> None:
        """Arguments that arrive in a dict, and go on to another function."""
        x, y = self.alike(2)
        inner, outer, options = self.fresh("f"), self.fresh("g"), self.fresh("options")
        self.write_lines(f"""
            def {inner}(t, scale=1.0, shift=None):
                t = t * scale
                return t if shift is None else t + shift
            def {outer}(t, **options):
                return {inner}({self.keeping("t")}, **options)
            {options} = {{"scale": 0.5, "shift": {y.name}}}
            """)
        self.bind(Expr(f"{outer}({x.name}, **{options})", x.shape), (x.grad or y.grad) and self.recording)
        if self.rng.random() < 0.5:
            self.bind(Expr(f"{outer}({x.name}, scale={y.name})", x.shape), (x.grad or y.grad) and self.recording)

    def gathering(self) -> None:
        """Any number of arguments."""
        xs = self.alike(self.rng.randint(2, 3))
        f = self.fresh("total")
        self.write_lines(f"""
            def {f}(*parts, start=0.0):
                out = start
                for part in parts:
                    out {self.one_of("= out + part", "+= part", "= out + part * part", "= part - out")}
                return out
            """)
        names = ", ".join(x.name for x in xs)
        text = self.one_of(f"{f}({names})", f"{f}(*[{names}])", f"{f}({names}, start={xs[0].name}.clone())")
        self.bind(Expr(text, xs[0].shape), self.any_grad(*xs))

    def returning_many(self) -> None:
        """A tuple, a list or a dict is returned, and taken apart."""
        x, y = self.alike(2)
        f, first, second = self.fresh("f"), self.fresh("t"), self.fresh("t")
        left, right = self.keeping("a"), self.keeping("b")
        kind = self.rng.randrange(4)
        result = (f"{left}, {right}", f"[{left}, {right}]", f'{{"first": {left}, "second": {right}}}',
                  f"({left}, ({right}, a))")[kind]  # fmt: skip
        self.write_lines(f"""
            def {f}(a, b):
                return {result}
            """)
        if kind == 2:
            d = self.fresh("d")
            self.emit(f"{d} = {f}({x.name}, {y.name})")
            self.emit(f'{first}, {second} = {d}["first"], {d}["second"]')
        elif kind == 3:
            self.emit(f"{first}, ({second}, _) = {f}({x.name}, {y.name})")
        else:
            self.emit(f"{first}, {second} = {f}({x.name}, {y.name})")
        self.vars += [Var(first, x.shape, x.grad and self.recording), Var(second, x.shape, y.grad and self.recording)]

    # What functions remember.

    def accumulating(self) -> None:
        """A closure that changes what it remembers."""
        x, y = self.alike(2)
        make, add = self.fresh("make"), self.fresh("add")
        update = self.rng.choice(
            ("total = total + t", "total = total + t", "total += t", "total = total * t", "total += t.detach()")
        )
        self.write_lines(f"""
            def {make}(total):
                def add(t):
                    nonlocal total
                    {update}
                    return total
                return add
            {add} = {make}({self.one_of(x.name, f"{x.name}.clone()", "0.0")})
            """)
        for _ in range(self.rng.randint(1, 3)):
            self.bind(Expr(f"{add}({y.name})", x.shape), self.any_grad(x, y))
            if self.rng.random() < 0.3:
                self.backward()

    def lambdas(self) -> None:
        """Functions in expressions: in a table, bound early, made of one another."""
        x, y = self.alike(2)
        grad = self.any_grad(x, y)
        name = self.fresh("f")
        match self.rng.randrange(5):
            case 0:
                self.emit(f"{name} = lambda a, b={y.name}: {self.keeping('a')} * b")
                self.bind(Expr(f"{name}({x.name})", x.shape), grad)
            case 1:
                self.emit(f'{name} = {{"f": lambda a: {self.keeping("a")}, "g": torch.sin, "h": F.relu}}')
                self.bind(Expr(f'{name}["{self.rng.choice("fgh")}"]({x.name})', x.shape), x.grad and self.recording)
            case 2:
                self.emit(f"{name} = functools.partial(torch.mul, {y.name})")
                self.bind(Expr(f"{name}({x.name})", x.shape), grad)
            case 3:
                self.emit(f"{name} = [lambda a, n=n: a * n for n in range(1, 4)]")
                self.bind(Expr(f"{name}[{self.rng.randrange(3)}]({x.name})", x.shape), x.grad and self.recording)
            case _:
                text = self.one_of("lambda a, b: a + b", "torch.add", "operator.mul", "lambda a, b: a * b.exp()")
                self.bind(Expr(f"functools.reduce({text}, [{x.name}, {y.name}, {x.name}])", x.shape), grad)

    def recursive(self) -> None:
        """A function that calls itself a known number of times."""
        x = self.tensor()
        f = self.fresh("f")
        step = self.one_of(self.keeping("t"), self.keeping("t"), "t.mul_(2)", "t.add_(1)")
        if "_(" in step and x.leaf and x.grad:
            step = "t * t"
        self.write_lines(f"""
            def {f}(t, n):
                if n == 0:
                    return t
                return {f}({step}, n - 1)
            """)
        self.bind(Expr(f"{f}({x.name}, {self.rng.randint(1, 3)})", x.shape), x.grad and self.recording)

    def under_decorator(self) -> None:
        """A function that is always run under one grad mode."""
        x, y = self.alike(2)
        f = self.fresh("f")
        decorator, recording = self.rng.choice(_DECORATORS)
        self.emit(decorator)
        with self.body_of(f"def {f}(a, b):", x.named("a"), y.named("b")):
            self.recording = recording
            self.statement_or_pass(self.compute)
            if self.rng.random() < 0.4:
                self.write()
            result = self.tensor()
            self.emit(f"return {result.name}")
        self.bind(Expr(f"{f}({x.name}, {y.name})", result.shape, result.contiguous), result.grad and recording)

    def wrapping(self) -> None:
        """A decorator of the program's own."""
        x = self.tensor()
        deco, f = self.fresh("deco"), self.fresh("f")
        before, after = self.rng.choice(
            (("pass", "out * 2"), ("calls.append(1)", "out"), ("pass", "out.detach()"), ("calls.append(args)", "-out"))
        )
        self.write_lines(f"""
            calls = []
            def {deco}(function):
                @functools.wraps(function)
                def wrapper(*args, **kwargs):
                    {before}
                    out = function(*args, **kwargs)
                    return {after}
                return wrapper
            @{deco}
            def {f}(t):
                return {self.keeping("t")}
            """)
        self.bind(Expr(f"{f}({x.name})", x.shape), x.grad and self.recording and "detach" not in after)

    def generating(self) -> None:
        """A generator, and several ways to use one up."""
        xs = self.alike(3)
        f, item = self.fresh("each"), self.fresh("t")
        names = ", ".join(x.name for x in xs)
        guard = self.one_of("", "", "with torch.no_grad():")
        self.emit(f"def {f}(parts):")
        self.emit("    for part in parts:")
        if guard:
            self.emit(f"        {guard}")
            self.emit(f"            yield {self.keeping('part')}")
        else:
            self.emit(f"        yield {self.keeping('part')}")
        grad = self.any_grad(*xs) and not guard
        shape = xs[0].shape
        match self.rng.randrange(4):
            case 0:
                self.emit(f"for {item} in {f}([{names}]):")
                with self.inner(steady=True):
                    self.vars.append(Var(item, shape, grad))
                    self.body()
            case 1:
                self.bind(Expr(f"sum({f}([{names}]))", shape), grad)
            case 2:
                self.bind(Expr(f"next({f}(({names})))", shape), grad)
            case _:
                self.bind(Expr(f"torch.stack(list({f}([{names}])))", (3, *shape)), grad)

    # Functions that do more than compute.

    def writing(self) -> None:
        """A function that writes its argument, as a person may not expect."""
        x = self.tensor()
        if x.leaf and x.grad and self.rng.random() < 0.8:
            return
        f = self.fresh("f")
        self.emit(f"def {f}(t):")
        self.emit("    " + self.rng.choice(ops.IN_PLACE).format(x="t"))
        if self.rng.random() < 0.6:
            self.emit("    return t")
            self.bind(Expr(f"{f}({x.name})", x.shape), x.grad)
        else:
            self.emit(f"{f}({x.name})")

    def taking_function(self) -> None:
        """A function that is handed another."""
        x = self.tensor()
        f, inner = self.fresh("twice"), self.fresh("f")
        self.write_lines(f"""
            def {f}(function, t, times=2):
                for _ in range(times):
                    t = function(t)
                return t
            def {inner}(t):
                return {self.keeping("t")}
            """)
        text = self.one_of(inner, "torch.tanh", "F.relu", "lambda t: t * 0.5", "torch.Tensor.exp", "torch.detach")
        self.bind(Expr(f"{f}({text}, {x.name})", x.shape), x.grad and self.recording and "detach" not in text)

    def leaving_early(self) -> None:
        """Returns in branches, in `with`, in `try`."""
        x, y = self.alike(2)
        f = self.fresh("f")
        head = self.rng.choice(
            ("if a.requires_grad:", "with torch.no_grad():", "if b is a:", "try:", "if not torch.is_grad_enabled():")
        )
        self.emit(f"def {f}(a, b):")
        self.emit(f"    {head}")
        self.emit(f"        return {self.keeping('a')}")
        if head == "try:":
            self.emit("    finally:")
            self.emit("        b = b + 1")
        self.emit(f"    return a * {self.keeping('b')}")
        self.bind(Expr(f"{f}({x.name}, {y.name})", x.shape), self.any_grad(x, y) and "no_grad" not in head)

    def with_method(self) -> None:
        """An object that holds a tensor and works on it."""
        x, y = self.alike(2)
        cls, thing = self.fresh("Holder"), self.fresh("holder")
        update = self.one_of("self.state * t", "self.state + t", "t", "(self.state * t).detach()", "self.state")
        self.write_lines(f"""
            class {cls}:
                scale = 2.0
                def __init__(self, state):
                    self.state = state
                    self.steps = 0
                @property
                def loss(self):
                    return self.state.sum()
                @staticmethod
                def squash(t):
                    return {self.keeping("t")}
                @classmethod
                def zero(cls, t):
                    return cls(torch.zeros_like(t))
                def update(self, t):
                    self.state = {update}
                    self.steps += 1
                    return self
                def __call__(self, t):
                    return self.squash(t) * self.scale
            {thing} = {self.one_of(f"{cls}({x.name})", f"{cls}({x.name})", f"{cls}.zero({x.name})")}
            """)
        grad = self.any_grad(x, y)
        for _ in range(self.rng.randint(1, 3)):
            match self.rng.randrange(4):
                case 0:
                    self.bind(Expr(f"{thing}({y.name})", x.shape), y.grad and self.recording)
                case 1:
                    self.bind(Expr(f"{thing}.loss", ()), grad)
                case 2:
                    self.bind(Expr(f"{thing}.update({y.name}).state", x.shape), grad)
                case _:
                    self.emit(f"{thing}.state = {thing}.state {self.one_of('* 2', '+ 1', '.detach()', '.exp()')}"
                              .replace(" .", "."))  # fmt: skip

    def with_operators(self) -> None:
        """An object that behaves as a number, a sequence or a context."""
        x, y = self.alike(2)
        cls, thing = self.fresh("Pair"), self.fresh("pair")
        self.write_lines(f"""
            class {cls}:
                def __init__(self, a, b):
                    self.a, self.b = a, b
                def __add__(self, other):
                    return {cls}(self.a + other.a, self.b + other.b)
                def __getitem__(self, index):
                    return (self.a, self.b)[index]
                def __len__(self):
                    return 2
                def __iter__(self):
                    yield self.a
                    yield self.b
            {thing} = {cls}({x.name}, {y.name})
            """)
        if self.rng.random() < 0.6:
            self.emit(f"{thing} = {thing} + {thing}")
        grad = self.any_grad(x, y)
        text = self.one_of(f"{thing}[0] * {thing}[1]", f"torch.stack([*{thing}]).sum(0)", f"sum({thing})")
        self.bind(Expr(text, x.shape), grad)
        if self.rng.random() < 0.5:
            first, second = self.fresh("t"), self.fresh("t")
            self.emit(f"{first}, {second} = {thing}")
            self.vars += [Var(first, x.shape, grad), Var(second, x.shape, grad)]

    def walking_inside(self) -> None:
        """A function that runs a backward of what it is handed."""
        x = self.tensor()
        if not x.grad and self.rng.random() < 0.9:
            return
        f, loss = self.fresh("train"), self.fresh("loss")
        options = self.one_of("", "", "retain_graph=True")
        self.write_lines(f"""
            def {f}(t):
                loss = ({self.keeping("t")}).mean()
                loss.backward({options})
                return {self.one_of("loss", "loss.item()", "loss.detach()", "t")}
            """)
        self.emit(f"{loss} = {f}({x.name})")
        if self.rng.random() < 0.3:
            self.emit(f"{loss} = {f}({x.name})")

    # What the rest is made with.

    def one_of(self, *choices: T) -> T:
        """Any of these."""
        return self.rng.choice(choices)

    def keeping(self, name: str) -> str:
        """An expression of one tensor that keeps its shape."""
        return self.rng.choice(_KEEPING).format(x=name)

    def alike(self, count: int) -> list[Var]:
        """Tensors of one shape, made where there are too few."""
        x = self.tensor()
        found = [var for var in self.vars if var.shape == x.shape and var.floating]
        if len(found) < count:
            name = self.fresh("t")
            sizes = ", ".join(map(str, x.shape)) if x.shape else "()"
            grad = self.rng.random() < 0.6
            self.emit(f"{name} = torch.randn({sizes}{', requires_grad=True' if grad else ''})")
            self.vars.append(Var(name, x.shape, grad, leaf=True))
            found.append(self.vars[-1])
        return self.rng.choices(found, range(1, len(found) + 1), k=count)

    def any_grad(self, *xs: Var) -> bool:
        """Whether what is computed of these has a graph here."""
        return self.recording and any(x.grad for x in xs)

    def write_lines(self, text: str) -> None:
        """Several lines at once, indented as the block that they stand in."""
        for line in dedent(text).strip("\n").rstrip().splitlines():
            self.emit(line)

    @contextmanager
    def body_of(self, head: str, *parameters: Var) -> Iterator[None]:
        """A function's body, which sees its parameters only."""
        outside, depth, recording = self.vars, self.depth, self.recording
        self.vars = list(parameters)
        self.emit(head)
        self.depth += 1
        yield
        self.depth, self.vars, self.recording = depth, outside, recording
