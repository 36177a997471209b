"""Programs with gradients of gradients, with `torch.func`, and with `torch.autograd.functional`."""

from __future__ import annotations

from collections.abc import Callable

from tests.differential.hooks import Hooking
from tests.differential.vocabulary import Expr, Var

_SMOOTH = ("{x} ** 3", "{x}.sin()", "{x}.exp()", "{x} * {x}", "{x}.tanh()", "{x}.sigmoid()", "{x}.pow(2)", "{x} * 3",
           "{x}.relu()", "F.softplus({x})", "{x}.cos() * {x}", "F.gelu({x})")  # fmt: skip


class Higher(Hooking):
    """Writes derivatives that are differentiated again."""

    @property
    def differentiating(self) -> list[Callable[[], None]]:
        """What this file adds."""
        return [
            self.twice, self.twice, self.several_inputs, self.several_inputs, self.with_vector, self.into_inputs,
            self.penalised, self.hessian_product, self.functional, self.functional, self.transformed, self.transformed,
            self.mapped, self.per_sample, self.reused, self.reused, self.looped,
        ]  # fmt: skip

    def smooth(self, name: str) -> str:
        """An expression whose derivative has a derivative."""
        return self.rng.choice(_SMOOTH).format(x=name)

    def leaf(self) -> Var:
        """A leaf that requires grad; made where there is none."""
        found = [var for var in self.vars if var.grad and var.leaf and var.floating]
        if found and self.rng.random() < 0.8:
            return self.rng.choice(found)
        name = self.fresh("w")
        self.emit(f"{name} = torch.rand(3, requires_grad=True)")
        self.vars.append(Var(name, (3,), True, leaf=True))
        return self.vars[-1]

    def twice(self) -> None:
        """A gradient, and the gradient of it."""
        w = self.leaf()
        y, g = self.fresh("y"), self.fresh("g")
        self.emit(f"{y} = ({self.smooth(w.name)}).sum()")
        create = self.one_of("create_graph=True", "create_graph=True", "create_graph=True", "retain_graph=True")
        self.emit(f"({g},) = torch.autograd.grad({y}, {w.name}, {create})")
        for _ in range(self.rng.randint(1, 2)):
            more = self.one_of(", create_graph=True", "", ", allow_unused=True")
            match self.rng.randrange(4):
                case 0:
                    self.emit(f"{g}.sum().backward({self.one_of('', 'retain_graph=True')})")
                case 1:
                    self.emit(f"{g} = torch.autograd.grad({g}.sum(), {w.name}{more})[0]")
                case 2:
                    self.emit(f"({g} * {self.smooth(w.name)}).sum().backward()")
                case _:
                    self.emit(f"{y}.backward()")
        self.vars.append(Var(g, w.shape, "True" in create and "create" in create))

    def several_inputs(self) -> None:
        """Gradients of several inputs, some of them perhaps unused."""
        a, b = self.leaf(), self.leaf()
        x = self.tensor()
        y = self.fresh("y")
        self.emit(f"{y} = ({self.smooth(a.name)}).sum() + ({self.smooth(self.one_of(a, b, x).name)}).mean()")
        options = self.one_of(
            "", "allow_unused=True", "allow_unused=True", "materialize_grads=True", "create_graph=True",
            "retain_graph=True",
            "allow_unused=True, create_graph=True", "materialize_grads=True, create_graph=True",
        )  # fmt: skip
        inputs = self.one_of(f"[{a.name}, {b.name}]", f"({a.name}, {b.name})", f"[{a.name}, {y}]", f"[{b.name}]")
        g = self.fresh("grads")
        self.emit(f"{g} = torch.autograd.grad({y}, {inputs}{', ' + options if options else ''})")
        if "[" + b.name not in inputs or "materialize" in options:
            self.bind(Expr(f"{g}[0]", a.shape if "[" + b.name not in inputs else b.shape), "create" in options)
            if self.rng.random() < 0.5:
                self.emit(f"{self.vars[-1].name}.sum().backward()") if "create" in options else None

    def with_vector(self) -> None:
        """A backward that is given gradients."""
        x = self.intermediate()
        given = self.one_of(
            f"torch.ones_like({x.name})", f"torch.randn_like({x.name})", f"{x.name}.detach()", "torch.ones(2)", "None",
            f"torch.ones_like({x.name}, requires_grad=True)",
        )  # fmt: skip
        options = self.one_of("", "", ", retain_graph=True", ", create_graph=True")
        self.emit(self.one_of(
            f"{x.name}.backward({given}{options})",
            f"{x.name}.backward(gradient={given}{options})",
            f"torch.autograd.backward([{x.name}], [{given}]{options})",
            f"torch.autograd.backward({x.name}, {given}{options})",
        ))  # fmt: skip

    def into_inputs(self) -> None:
        """A backward that stops at some inputs."""
        a, b = self.leaf(), self.leaf()
        x = self.intermediate()
        y = self.fresh("y")
        self.emit(f"{y} = ({self.smooth(a.name)}).sum() * ({self.smooth(b.name)}).sum() + ({x.name}).sum()")
        inputs = self.one_of(f"[{a.name}]", f"{a.name}", f"[{a.name}, {b.name}]", f"[{x.name}]", "[]")
        self.emit(f"{y}.backward(inputs={inputs}{self.one_of('', ', retain_graph=True')})")
        if self.rng.random() < 0.5:
            self.emit(f"{y}.backward({self.one_of('', f'inputs=[{b.name}]')})")
        self.emit(f"{self.fresh('g')} = {a.name}.grad")

    def penalised(self) -> None:
        """A loss that holds the gradient of another."""
        w, x = self.alike(2)
        if not self.any_grad(w, x) or not w.grad:
            return
        loss, g, create = self.fresh("loss"), self.fresh("g"), self.one_of("create_graph=True", "retain_graph=True")
        self.emit(f"{loss} = ({self.smooth(w.name)} * {x.name}).sum()")
        self.emit(f"{g} = torch.autograd.grad({loss}, {w.name}, {create})[0]")
        self.emit(f"({loss} + {g}.{self.one_of('norm()', 'pow(2).sum()', 'abs().sum()', 'sum()')}).backward()")

    def hessian_product(self) -> None:
        """A product with the Hessian, in one of two ways."""
        w = self.leaf()
        v, g = self.fresh("v"), self.fresh("g")
        self.emit(f"{v} = torch.ones_like({w.name})")
        self.emit(f"({g},) = torch.autograd.grad(({self.smooth(w.name)}).sum(), {w.name}, create_graph=True)")
        h = self.fresh("h")
        options = self.one_of(f"{g}, {w.name}, grad_outputs={v}", f"({g} * {v}).sum(), {w.name}", f"{g}, {w.name}")
        self.emit(f"({h},) = torch.autograd.grad({options})")
        self.vars.append(Var(h, w.shape, False))

    def functional(self) -> None:
        """`torch.autograd.functional`."""
        x = self.tensor()
        if len(x.shape) != 1:
            x = self.leaf()
        if len(x.shape) > 1:
            return
        f = self.fresh("f")
        self.emit(f"{f} = lambda t: {self.smooth('t')}")
        create = self.one_of("", "", ", create_graph=True")
        both = (*x.shape, *x.shape)
        total, vector = f"lambda t: {f}(t).sum()", f"torch.ones_like({x.name})"
        text, shape = self.one_of(
            (f"jacobian({f}, {x.name}{create})", both),
            (f"hessian({total}, {x.name}{create})", both),
            (f"vjp({f}, {x.name}, {vector}{create})[1]", x.shape),
            (f"jvp({f}, {x.name}, {vector}{create})[1]", x.shape),
            (f"hvp({total}, {x.name}, {vector}{create})[1]", x.shape),
            (f"vhp({total}, {x.name}, {vector}{create})[1]", x.shape),
        )
        self.bind(Expr(f"torch.autograd.functional.{text}", shape), bool(create))

    def transformed(self) -> None:
        """`torch.func` of functions of one tensor."""
        x = self.tensor()
        if len(x.shape) != 1:
            x = self.leaf()
        if len(x.shape) > 1:
            return
        f = self.fresh("f")
        other = self.tensor()
        closed = f" * {other.name}.sum()" if self.rng.random() < 0.3 else ""
        self.emit(f"{f} = lambda t: ({self.smooth('t')}).sum(){closed}")
        both = (*x.shape, *x.shape)
        text, shape = self.one_of(
            (f"torch.func.grad({f})({x.name})", x.shape),
            (f"torch.func.grad(torch.func.grad(lambda t: {f}(t.sum())))({x.name}.sum())", ()),
            (f"torch.func.grad_and_value({f})({x.name})[0]", x.shape),
            (f"torch.func.grad_and_value({f})({x.name})[1]", ()),
            (f"torch.func.jacrev({f})({x.name})", x.shape),
            (f"torch.func.jacfwd({f})({x.name})", x.shape),
            (f"torch.func.jacrev(lambda t: {self.smooth('t')})({x.name})", both),
            (f"torch.func.hessian({f})({x.name})", both),
            (f"torch.func.vjp({f}, {x.name})[0]", ()),
            (f"torch.func.vjp({f}, {x.name})[1](torch.ones(()))[0]", x.shape),
            (f"torch.func.jvp({f}, ({x.name},), (torch.ones_like({x.name}),))[1]", ()),
            (f"torch.func.grad(lambda p: {f}(p['w']))({{'w': {x.name}}})['w']".replace("'", '"'), x.shape),
        )  # fmt: skip
        self.bind(Expr(text, shape), self.recording and (x.grad or (bool(closed) and other.grad)))

    def mapped(self) -> None:
        """`vmap` over a first dimension."""
        x = self.tensor()
        if not x.shape:
            return
        text, shape = self.one_of(
            (f"torch.vmap(lambda t: {self.smooth('t')})({x.name})", x.shape),
            (f"torch.vmap(lambda t: t.sum())({x.name})", x.shape[:1]),
            (f"torch.func.vmap(torch.func.grad(lambda t: ({self.smooth('t')}).sum()))({x.name})", x.shape),
        )  # fmt: skip
        self.bind(Expr(text, shape), x.grad and self.recording)

    def per_sample(self) -> None:
        """A module as a function of its parameters."""
        model, params, loss = self.fresh("model"), self.fresh("params"), self.fresh("loss")
        detached = self.one_of("", ".detach()")
        self.write_lines(f"""
            {model} = torch.nn.Linear(3, 1)
            {params} = {{k: v{detached} for k, v in {model}.named_parameters()}}
            {loss} = lambda p, x: torch.func.functional_call({model}, p, (x,)).pow(2).mean()
            """)
        grads = self.fresh("grads")
        self.emit(self.one_of(
            f"{grads} = torch.func.grad({loss})({params}, torch.randn(2, 3))",
            f"{grads} = torch.vmap(torch.func.grad({loss}), in_dims=(None, 0))({params}, torch.randn(2, 3))",
        ))  # fmt: skip
        self.emit(f'{self.fresh("t")} = {grads}["weight"]')
        if self.rng.random() < 0.4:
            self.emit(f"{loss}({params}, torch.randn(2, 3)).backward()")

    def reused(self) -> None:
        """One graph that is walked in parts, or again."""
        x = self.intermediate()
        base = self.fresh("base")
        self.emit(f"{base} = {self.smooth(x.name)}")
        first, second, g = self.fresh("y"), self.fresh("y"), self.fresh("g")
        self.emit(f"{first} = ({self.smooth(base)}).sum()")
        self.emit(f"{second} = ({self.smooth(base)}).mean()")
        self.write_lines(self.one_of(
            f"{first}.backward(retain_graph=True)\n{second}.backward()",
            f"{first}.backward()\n{second}.backward()",
            f"torch.autograd.backward([{first}, {second}])",
            f"({g},) = torch.autograd.grad({first}, {base})\n{second}.backward()",
            f"({g},) = torch.autograd.grad({first}, {base}, retain_graph=True)\n({first} + {second}).backward()",
            f"({first} + {second}).backward(retain_graph=True)\n{base}.sum().backward()",
        ))  # fmt: skip

    def looped(self) -> None:
        """Unrolled steps of descent, differentiated through."""
        w = self.leaf()
        fast = self.fresh("fast")
        create = self.one_of("create_graph=True", "create_graph=True", "create_graph=False")
        self.write_lines(f"""
            {fast} = {w.name}
            for step in range({self.rng.randint(2, 3)}):
                inner = ({self.smooth(fast)}).sum()
                (g,) = torch.autograd.grad(inner, {fast}, {create})
                {fast} = {fast} - 0.1 * g
            {fast}.sum().backward()
            """)
        self.vars.append(Var(fast, w.shape, True))
