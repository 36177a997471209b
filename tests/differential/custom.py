"""Programs with `torch.autograd.Function`s of their own, beside hooks and higher derivatives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tests.differential.containers import imported
from tests.differential.higher import Higher
from tests.differential.vocabulary import Expr, Var


@dataclass(frozen=True, slots=True)
class Formula:
    """A function of one tensor or two: what it saves, and its derivative by what was saved and `g`."""

    forward: str
    saved: str
    backward: str
    second: str = ""


_ONE = (
    Formula("x * x", "x", "2 * x * g"),
    Formula("x.exp()", "out", "out * g"),
    Formula("x.sin()", "x", "x.cos() * g"),
    Formula("x.tanh()", "out", "(1 - out * out) * g"),
    Formula("x.clamp(min=0)", "x", "g * (x > 0)"),
    Formula("x.round()", "", "g"),
    Formula("x * 2", "", "g * 2"),
    Formula("torch.sign(x)", "", "g.clamp(-1, 1)"),
    Formula("x.sigmoid()", "out", "g * out * (1 - out)"),
)
_TWO = (
    Formula("x * y", "x, y", "g * y", "g * x"),
    Formula("x + y", "", "g", "g"),
    Formula("x / y", "x, y", "g / y", "-g * x / (y * y)"),
    Formula("x * y.exp()", "x, y", "g * y.exp()", "g * x * y.exp()"),
)


class Custom(Higher):
    """Writes one program of everything that this level has."""

    def program(self) -> str:
        """A program that imports what it uses."""
        for _ in range(self.rng.randint(1, 3)):
            self.create()
        scenes = [*self.functions, *self.functions, *self.hooking, *self.differentiating]
        for _ in range(self.rng.randint(2, 4)):
            kind = self.rng.random()
            if kind < 0.65:
                self.rng.choice(scenes)()
            elif kind < 0.8:
                self.block()
            else:
                self.statement()
        self.backward()
        return imported(self.lines)

    @property
    def functions(self) -> list[Callable[[], None]]:
        """What this file adds."""
        return [
            self.unary, self.unary, self.unary, self.binary_function, self.binary_function, self.with_setup,
            self.with_setup, self.dirty, self.dirty, self.returning_input, self.several_outputs, self.counted,
            self.differentiable_backward, self.differentiable_backward, self.plain_attributes,
        ]  # fmt: skip

    def apply(self, cls: str, shape: tuple[int, ...], grad: bool, *arguments: str) -> Var:
        """The function is called, its result perhaps written or walked."""
        self.bind(Expr(f"{cls}.apply({', '.join(arguments)})", shape), grad and self.recording)
        made = self.vars[-1]
        if self.rng.random() < 0.2:
            self.emit(f"{made.name}{self.one_of('.add_(1)', '.mul_(2)', ' += 1', '[...] = 0.5')}")
        if grad and self.rng.random() < 0.4:
            self.walk(f"{made.name}.sum()")
            if self.rng.random() < 0.2:
                self.walk(f"{made.name}.sum()")
        return made

    def unary(self) -> None:
        """A function of one tensor, right or with a usual mistake."""
        x = self.graphed()
        formula = self.rng.choice(_ONE)
        cls = self.fresh("Fn")
        saved, kept = formula.saved, self.rng.random() < 0.8
        self.emit(f"class {cls}(torch.autograd.Function):")
        self.emit("    @staticmethod")
        self.emit("    def forward(ctx, x):")
        self.emit(f"        out = {formula.forward}")
        if saved:
            self.emit(f"        ctx.save_for_backward({saved})" if kept else f"        ctx.{saved} = {saved}")
        self.emit("        return out")
        self.emit("    @staticmethod")
        if self.rng.random() < 0.15:
            self.emit("    @torch.autograd.function.once_differentiable")
        self.emit("    def backward(ctx, g):")
        if saved:
            self.emit(f"        ({saved},) = ctx.saved_tensors" if kept else f"        {saved} = ctx.{saved}")
        fault = self.rng.random()
        if fault < 0.06:
            self.emit("        return None")
        elif fault < 0.1:
            self.emit(f"        return {formula.backward}, None")
        elif fault < 0.13:
            self.emit(f"        return {formula.backward}, g")
        elif fault < 0.16:
            self.emit(f"        grad = {formula.backward}")
        elif fault < 0.2:
            self.emit(f"        return ({formula.backward}).sum()")
        else:
            self.emit(f"        return {formula.backward}")
        source = x.name if self.rng.random() < 0.8 else self.keeping(x.name)
        self.apply(cls, x.shape, x.grad, source)

    def binary_function(self) -> None:
        """A function of two tensors, or of a tensor and a number."""
        x, y = self.alike(2)
        formula = self.rng.choice(_TWO)
        cls = self.fresh("Fn")
        self.emit(f"class {cls}(torch.autograd.Function):")
        self.emit("    @staticmethod")
        scaled = self.rng.random() < 0.4
        self.emit(f"    def forward(ctx, x, y{', scale=1.0' if scaled else ''}):")
        if formula.saved:
            self.emit(f"        ctx.save_for_backward({formula.saved})")
        self.emit(f"        return {formula.forward}")
        self.emit("    @staticmethod")
        self.emit("    def backward(ctx, g):")
        if formula.saved:
            self.emit(f"        {formula.saved} = ctx.saved_tensors")
        number = self.rng.random() < 0.5 and scaled
        end = ", None" if number else ""
        match self.rng.randrange(5):
            case 0:
                self.emit("        gx = gy = None")
                self.emit("        if ctx.needs_input_grad[0]:")
                self.emit(f"            gx = {formula.backward}")
                self.emit("        if ctx.needs_input_grad[1]:")
                self.emit(f"            gy = {formula.second}")
                self.emit(f"        return gx, gy{end}")
            case 1:
                self.emit(f"        return {formula.backward}, None{end}")
            case 2 if self.rng.random() < 0.4:
                self.emit(f"        return {formula.backward}")
            case _:
                self.emit(f"        return {formula.backward}, {formula.second}{end}")
        arguments = (x.name, y.name, "2.0") if number else (x.name, y.name)
        self.apply(cls, x.shape, x.grad or y.grad, *arguments)

    def with_setup(self) -> None:
        """`setup_context` in place of `ctx` in `forward`."""
        x = self.graphed()
        formula = self.rng.choice(_ONE)
        cls = self.fresh("Fn")
        self.write_lines(f"""
            class {cls}(torch.autograd.Function):
                @staticmethod
                def forward(x):
                    return {formula.forward}
                @staticmethod
                def setup_context(ctx, inputs, output):
                    (x,) = inputs
                    out = output
                    {f"ctx.save_for_backward({formula.saved})" if formula.saved else "pass"}
                @staticmethod
                def backward(ctx, g):
                    {f"({formula.saved},) = ctx.saved_tensors" if formula.saved else "pass"}
                    return {formula.backward}
            """)
        self.apply(cls, x.shape, x.grad, x.name)

    def dirty(self) -> None:
        """A function that writes its input, and says so or not."""
        x = self.intermediate() if self.rng.random() < 0.85 else self.tensor()
        cls = self.fresh("Fn")
        write = self.one_of("x.mul_(2)", "x.exp_()", "x.add_(1)", "x.relu_()")
        marked = self.rng.random() < 0.75
        self.write_lines(f"""
            class {cls}(torch.autograd.Function):
                @staticmethod
                def forward(ctx, x):
                    {write}
                    {"ctx.mark_dirty(x)" if marked else "pass"}
                    {self.one_of("pass", "ctx.save_for_backward(x)")}
                    return x
                @staticmethod
                def backward(ctx, g):
                    return g * 2
            """)
        self.apply(cls, x.shape, x.grad, x.name)

    def returning_input(self) -> None:
        """A function that gives its input as it is, or a view of it."""
        x = self.graphed()
        cls = self.fresh("Fn")
        result, shape, back = self.one_of(
            ("x", x.shape, "g"), ("x.view_as(x)", x.shape, "-g"), ("x.clone()", x.shape, "g.neg()"),
            ("x.detach()", x.shape, "g"), ("x.reshape(-1)", (-1,), "g.view(ctx.shape)"),
        )  # fmt: skip
        if shape == (-1,):
            size = 1
            for n in x.shape:
                size *= n
            shape = (size,)
        self.write_lines(f"""
            class {cls}(torch.autograd.Function):
                @staticmethod
                def forward(ctx, x):
                    ctx.shape = x.shape
                    return {result}
                @staticmethod
                def backward(ctx, g):
                    return {back}
            """)
        self.apply(cls, shape, x.grad, x.name)

    def several_outputs(self) -> None:
        """Two results, of which one may be without derivative."""
        x = self.graphed()
        cls, first, second = self.fresh("Fn"), self.fresh("t"), self.fresh("t")
        other, marked = self.one_of(
            ("x > 0", False), ("x.sign()", True), ("x.exp()", False), ("x * 3", False), ("x.argmax()", False),
            ("x.detach().clone()", True),
        )  # fmt: skip
        self.write_lines(f"""
            class {cls}(torch.autograd.Function):
                @staticmethod
                def forward(ctx, x):
                    first, second = x * 2, {other}
                    {"ctx.mark_non_differentiable(second)" if marked else "pass"}
                    ctx.{self.one_of("save_for_backward(x, first)", "set_materialize_grads(False)")}
                    return first, second
                @staticmethod
                def backward(ctx, g1, g2):
                    return g1 * 2 if g1 is not None else None
            {first}, {second} = {cls}.apply({x.name})
            """)
        grad = x.grad and self.recording
        self.vars.append(Var(first, x.shape, grad))
        self.vars.append(Var(second, () if "arg" in other else x.shape, grad and not marked and "arg" not in other,
                             floating=">" not in other and "arg" not in other))  # fmt: skip
        if grad and self.rng.random() < 0.5:
            self.walk(f"{self.one_of(first, first, second)}.sum()")

    def counted(self) -> None:
        """A function of a list, or with arguments that are no tensors."""
        x, y = self.alike(2)
        cls = self.fresh("Fn")
        result = self.one_of("None, *parts", "None, *parts", "None, *parts", "*parts,", "None")
        self.write_lines(f"""
            class {cls}(torch.autograd.Function):
                @staticmethod
                def forward(ctx, mode, *parts):
                    ctx.mode, ctx.count = mode, len(parts)
                    return sum(parts) if mode == "sum" else torch.stack(parts).mean(0)
                @staticmethod
                def backward(ctx, g):
                    scale = 1.0 if ctx.mode == "sum" else 1.0 / ctx.count
                    parts = [g * scale for _ in range(ctx.count)]
                    return ({result})
            """)
        mode = self.one_of('"sum"', '"mean"')
        self.apply(cls, x.shape, x.grad or y.grad, mode, x.name, y.name)

    def differentiable_backward(self) -> None:
        """A function that is differentiated twice."""
        w = self.leaf()
        cls, g = self.fresh("Fn"), self.fresh("g")
        formula = self.rng.choice(_ONE)
        once = self.rng.random() < 0.25
        self.emit(f"class {cls}(torch.autograd.Function):")
        self.emit("    @staticmethod")
        self.emit("    def forward(ctx, x):")
        self.emit(f"        out = {formula.forward}")
        if formula.saved:
            self.emit(f"        ctx.save_for_backward({formula.saved})")
        self.emit("        return out")
        self.emit("    @staticmethod")
        if once:
            self.emit("    @torch.autograd.function.once_differentiable")
        self.emit("    def backward(ctx, g):")
        if formula.saved:
            self.emit(f"        {formula.saved}, = ctx.saved_tensors")
        self.emit(f"        return {formula.backward}")
        self.emit(f"({g},) = torch.autograd.grad({cls}.apply({w.name}).sum(), {w.name}, create_graph=True)")
        self.emit(self.one_of(f"{g}", f"({g} * {w.name})", f"{g}.pow(2)") + ".sum().backward()")
        self.vars.append(Var(g, w.shape, True))

    def plain_attributes(self) -> None:
        """A function that keeps tensors on `ctx` itself."""
        x = self.graphed()
        cls = self.fresh("Fn")
        self.write_lines(f"""
            class {cls}(torch.autograd.Function):
                @staticmethod
                def forward(ctx, x, scale):
                    ctx.x, ctx.scale = x, scale
                    return x * scale
                @staticmethod
                def backward(ctx, g):
                    return g * ctx.scale, {self.one_of("None", "None", "(g * ctx.x).sum()")}
            """)
        self.apply(cls, x.shape, x.grad, x.name, self.one_of("2.0", "3", "torch.tensor(2.0)"))
