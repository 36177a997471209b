"""Programs with hooks, kept gradients, saved-tensor hooks and checkpoints."""

from __future__ import annotations

from collections.abc import Callable

from tests.differential.containers import Containing
from tests.differential.vocabulary import Expr, Var


class Hooking(Containing):
    """Writes what watches the graph, or makes parts of it again."""

    @property
    def hooking(self) -> list[Callable[[], None]]:
        """What this file adds."""
        return [
            self.tensor_hook, self.tensor_hook, self.kept_gradient, self.packed, self.checkpointed, self.checkpointed,
            self.module_hook, self.module_hook, self.accumulated, self.under_anomaly, self.graph_walk,
            self.checkpointed_model,
        ]  # fmt: skip

    def graphed(self) -> Var:
        """A tensor that has a graph, or is a leaf that requires grad; made where there is none."""
        found = [var for var in self.vars if var.grad and var.floating]
        if found:
            return self.rng.choices(found, range(1, len(found) + 1))[0]
        name = self.fresh("t")
        self.emit(f"{name} = torch.randn(3, requires_grad=True)")
        self.vars.append(Var(name, (3,), True, leaf=True))
        return self.vars[-1]

    def intermediate(self) -> Var:
        """A tensor that an operator made."""
        found = [var for var in self.vars if var.grad and not var.leaf and var.floating]
        if found and self.recording:
            return self.rng.choices(found, range(1, len(found) + 1))[0]
        x = self.graphed()
        self.bind(Expr(self.keeping(x.name), x.shape), self.recording)
        return self.vars[-1]

    def walk(self, text: str) -> None:
        """A backward of an expression of one element."""
        self.emit(f"{text}.backward({self.one_of('', 'retain_graph=True', 'retain_graph=True')})")

    def tensor_hook(self) -> None:
        """A hook of a tensor, that looks, changes or writes."""
        x = self.graphed() if self.rng.random() < 0.9 else self.tensor()
        seen, handle = self.fresh("seen"), self.fresh("handle")
        body = self.one_of(
            "lambda g: g * 2", "lambda g: None", "lambda g: g.clamp(-1, 1)", "lambda g: g.mul_(2)", f"{seen}.append",
            "lambda g: torch.zeros_like(g)", "torch.detach",
        )  # fmt: skip
        if seen in body:
            self.emit(f"{seen} = []")
        self.emit(f"{handle} = {x.name}.register_hook({body})")
        if self.rng.random() < 0.2:
            self.emit(f"{handle}.remove()")
        if self.rng.random() < 0.6:
            self.walk(f"({self.keeping(x.name)}).sum()")

    def accumulated(self) -> None:
        """A hook that runs when a leaf's gradient has been added to."""
        leaf = self.fresh("t")
        self.emit(f"{leaf} = torch.randn(3, requires_grad=True)")
        self.vars.append(Var(leaf, (3,), True, leaf=True))
        action = self.one_of(
            "t.grad = None", "t.grad.zero_()", "t.data.sub_(t.grad)", "t.sub_(t.grad)", "counts.append(t.grad)",
        )  # fmt: skip
        self.write_lines(f"""
            counts = []
            def step{leaf}(t):
                {self.one_of("with torch.no_grad():", "if t.grad is not None:", "with torch.no_grad():")}
                    {action}
            {leaf}.register_post_accumulate_grad_hook(step{leaf})
            """)
        for _ in range(self.rng.randint(1, 2)):
            self.walk(f"({self.keeping(leaf)}).sum()")

    def kept_gradient(self) -> None:
        """`retain_grad`, and the gradient that was kept."""
        x = self.intermediate()
        self.emit(f"{x.name}.retain_grad()")
        if self.rng.random() < 0.7:
            self.walk(f"({self.keeping(x.name)}).mean()")
            self.bind(Expr(f"{x.name}.grad{self.one_of(' * 2', '', '.clone()')}", x.shape), False)

    def packed(self) -> None:
        """Saved tensors that are packed and unpacked."""
        x = self.graphed()
        pack, unpack = self.one_of(
            ("lambda t: t", "lambda t: t"), ("lambda t: t.detach()", "lambda t: t"),
            ("lambda t: t.detach().numpy().copy()", "lambda a: torch.from_numpy(a)"),
            ("lambda t: t * 1", "lambda t: t"), ("lambda t: t.clone()", "lambda t: t"),
            ("lambda t: (t.shape, t.detach())", "lambda p: p[1]"),
        )  # fmt: skip
        name = self.fresh("t")
        self.emit(self.one_of(
            f"with torch.autograd.graph.saved_tensors_hooks({pack}, {unpack}):",
            f"with torch.autograd.graph.saved_tensors_hooks({pack}, {unpack}):",
            "with torch.autograd.graph.save_on_cpu():",
            "with torch.autograd.graph.allow_mutation_on_saved_tensors():",
            "with torch.autograd.graph.disable_saved_tensors_hooks('no'):".replace("'", '"'),
        ))  # fmt: skip
        self.emit(f"    {name} = {self.keeping(x.name)}")
        if self.rng.random() < 0.3:
            self.emit(f"    {name}.{self.one_of('mul_(2)', 'add_(1)', 'relu_()')}")
        if self.rng.random() < 0.3:
            self.emit(f"    {name}.sum().backward()")
        self.vars.append(Var(name, x.shape, self.recording))
        if self.rng.random() < 0.3:
            self.write()
        if self.rng.random() < 0.5:
            self.walk(f"{name}.sum()")

    def checkpointed(self) -> None:
        """A function whose insides are computed again."""
        x, y = self.alike(2)
        f = self.fresh("block")
        kind = self.one_of("use_reentrant=False", "use_reentrant=True")
        closed = self.rng.random() < 0.3
        self.write_lines(f"""
            def {f}({"a" if closed else "a, b"}):
                out = {self.keeping("a")} * {y.name if closed else "b"}
                return {self.one_of(self.keeping("out"), self.keeping("out"), "out", "out.detach()")}
            """)
        arguments = x.name if closed else f"{x.name}, {y.name}"
        grad = self.any_grad(x, *([] if closed and "True" in kind else [y]))
        self.bind(Expr(f"checkpoint({f}, {arguments}, {kind})", x.shape), grad)
        made = self.vars[-1].name
        if self.rng.random() < 0.3:
            self.emit(self.one_of(f"{made} *= 2", f"{made}.add_(1)", f"{made} = {made} * {made}"))
        if grad and self.rng.random() < 0.5:
            self.walk(f"{made}.sum()")

    def checkpointed_model(self) -> None:
        """A module run under a checkpoint."""
        model, out = self.fresh("model"), self.fresh("out")
        kind = self.one_of("False", "False", "True")
        self.emit(f"{model} = nn.Sequential(nn.Linear(3, 3), nn.{self.one_of('Tanh', 'ReLU')}())")
        data = self.one_of("torch.randn(2, 3)", "torch.randn(2, 3, requires_grad=True)")
        self.emit(f"{out} = checkpoint({model}, {data}, use_reentrant={kind})")
        grad = kind == "False" or "True" in data
        self.vars.append(Var(out, (2, 3), grad))
        if grad or self.rng.random() < 0.3:
            self.walk(f"{out}.sum()")

    def module_hook(self) -> None:
        """A forward or backward hook of a module."""
        layer, out = self.fresh("layer"), self.fresh("out")
        text = self.one_of(
            "nn.Linear(3, 3)", "nn.Tanh()", "nn.ReLU()", "nn.ReLU(inplace=True)",
            "nn.Sequential(nn.Linear(3, 3), nn.ReLU())",
        )  # fmt: skip
        self.emit(f"{layer} = {text}")
        seen = self.fresh("seen")
        self.emit(f"{seen} = {{}}")
        self.emit(self.one_of(
            f"{layer}.register_forward_hook(lambda m, i, o: {seen}.update(out=o))",
            f"{layer}.register_forward_hook(lambda m, i, o: o * 2)",
            f"{layer}.register_forward_hook(lambda m, i, o: o.detach())",
            f"{layer}.register_forward_pre_hook(lambda m, i: (i[0] * 2,))",
            f"{layer}.register_forward_pre_hook(lambda m, i: None)",
            f"{layer}.register_full_backward_hook(lambda m, gi, go: None)",
            f"{layer}.register_full_backward_hook(lambda m, gi, go: {seen}.update(go=go[0]))",
            f"{layer}.register_full_backward_pre_hook(lambda m, go: (go[0] * 2,))",
        ))  # fmt: skip
        x = self.graphed()
        source = x.name if x.shape[-1:] == (3,) else "torch.randn(2, 3, requires_grad=True)"
        if "inplace" in text and x.leaf:
            source = f"{source} * 1" if "randn" not in source else f"({source} + 0)"
        self.emit(f"{out} = {layer}({source})")
        shape = x.shape if x.shape[-1:] == (3,) else (2, 3)
        self.vars.append(Var(out, shape, self.recording))
        if self.rng.random() < 0.3:
            self.emit(f"{out}{self.one_of('.add_(1)', ' *= 2', ' += 1')}")
        if self.rng.random() < 0.7:
            self.walk(f"{out}.sum()")

    def under_anomaly(self) -> None:
        """Anomaly mode."""
        x = self.intermediate()
        self.emit(f"with torch.autograd.{self.one_of('detect_anomaly()', 'set_detect_anomaly(False)')}:")
        self.emit(f"    {x.name}.sum().backward({self.one_of('', 'retain_graph=True', 'retain_graph=True')})")

    def graph_walk(self) -> None:
        """The graph, as Python sees it."""
        x = self.intermediate()
        n = self.fresh("n")
        self.emit(self.one_of(
            f"{n} = str({x.name}.grad_fn)",
            f"{n} = {x.name}.grad_fn is None",
            f"{n} = {x.name}._version",
            f"{n} = {x.name}.grad_fn",
            f"{n} = torch.autograd.graph.get_gradient_edge({x.name})",
            f"{n} = {x.name}.is_leaf, {x.name}.requires_grad",
        ))  # fmt: skip
