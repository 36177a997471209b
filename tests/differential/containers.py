"""Programs of containers: tensors that travel in lists, dicts and records, through loops, and out to numbers."""

from __future__ import annotations

import re
from collections.abc import Callable

from tests.differential.functions import Functional
from tests.differential.vocabulary import Expr, Var

_IMPORTS = {
    "collections.": "import collections",
    "contextlib.": "import contextlib",
    "copy.": "import copy",
    "dataclasses.": "import dataclasses",
    "functools.": "import functools",
    "itertools.": "import itertools",
    "operator.": "import operator",
    "np.": "import numpy as np",
}
_TORCH = {
    "torch": "import torch",
    "F.": "import torch.nn.functional as F",
    "nn.": "from torch import nn",
    "checkpoint(": "from torch.utils.checkpoint import checkpoint",
}


class Containing(Functional):
    """Writes containers, as well as functions and blocks."""

    def program(self) -> str:
        """A program that imports what it uses."""
        for _ in range(self.rng.randint(2, 4)):
            self.create()
        for _ in range(self.rng.randint(3, 7)):
            self.block() if self.rng.random() < 0.7 else self.statement()
        self.backward()
        return imported(self.lines)

    @property
    def calling(self) -> list[Callable[[], None]]:
        """What this file adds, beside the functions."""
        return [
            *super().calling,
            self.list_methods, self.list_methods, self.dict_methods, self.dict_methods, self.record, self.named,
            self.together, self.together, self.unpacked, self.carried, self.carried, self.history, self.totals,
            self.handled, self.managed, self.inline, self.matched, self.numbers, self.searching, self.queues,
        ]  # fmt: skip

    # Sequences and mappings.

    def list_methods(self) -> None:
        """A list that is changed in several ways, then read."""
        x, y = self.alike(2)
        xs = self.fresh("xs")
        length = 2
        self.emit(f"{xs} = [{x.name}, {self.keeping(y.name)}]")
        for _ in range(self.rng.randint(2, 5)):
            at = self.rng.randrange(length) if length else 0
            change, more = self.one_of(
                (f"{xs}.append({self.keeping(x.name)})", 1),
                (f"{xs}.insert(0, {y.name})", 1),
                (f"{xs}.extend([{x.name}, {self.keeping(y.name)}])", 2),
                (f"{xs}.reverse()", 0),
                (f"{xs}[{at}] = {self.keeping(f'{xs}[{at}]')}", 0),
                (f"{xs}[-1] = {xs}[0] * {xs}[-1]", 0),
                (f"{xs}[{at}] = {xs}[{at}].detach()", 0),
                (f"{xs} = {xs}[::-1]", 0),
                (f"{xs} = {xs} + [{x.name}]", 1),
                (f"{xs} += ({y.name},)", 1),
                (f"{xs} = [{self.keeping('t')} for t in {xs}]", 0),
                (f"{xs} = [t for t in {xs} if t.dim() == {len(x.shape)}]", 0),
                (f"{self.fresh('t')} = {xs}.pop()", -1),
                (f"del {xs}[0]", -1),
                (f"{xs} = {xs}.copy()", 0),
            )  # fmt: skip
            if length + more < 1:
                continue
            length += more
            self.emit(change)
        self._read(xs, f"{xs}[{self.rng.randrange(length)}]", x, y)

    def dict_methods(self) -> None:
        """The same for a dict."""
        x, y = self.alike(2)
        d = self.fresh("d")
        self.emit(self.one_of(
            f'{d} = {{"a": {x.name}, "b": {y.name}}}',
            f"{d} = dict(a={x.name}, b={y.name})",
            f'{d} = dict(zip(["a", "b"], [{x.name}, {y.name}]))',
        ))  # fmt: skip
        for _ in range(self.rng.randint(1, 4)):
            b = self.keeping(f'{d}["b"]')
            self.emit(self.one_of(
                f'{d}["a"] = {b}',
                f'{d}["c"] = {d}["a"] * {d}["b"]',
                f"{d}.update(b={self.keeping(x.name)})",
                f'{d}.setdefault("b", {x.name})',
                f'{d}.setdefault("e", {y.name}.exp())',
                f"{d} = {{k: {self.keeping('v')} for k, v in {d}.items()}}",
                f"{d} = {{**{d}, 'a': {x.name}}}".replace("'", '"'),
                f'{d} = {d} | {{"b": {self.keeping(y.name)}}}',
                f"for k in {d}: {d}[k] = {d}[k] + 1",
                f'{self.fresh("t")} = {d}.pop("c", None)',
            ))  # fmt: skip
        texts = (f'{d}["a"]', f'{d}.get("b")', f'{d}.get("z", {x.name})', f"next(iter({d}.values()))")
        self._read(f"list({d}.values())", self.rng.choice(texts), x, y)

    def _read(self, xs: str, one: str, *sources: Var) -> None:
        shape, grad = sources[0].shape, self.any_grad(*sources)
        match self.rng.randrange(4):
            case 0:
                self.bind(Expr(f"sum({xs})", shape), grad)
            case 1:
                self.bind(Expr(f"torch.stack({xs}).mean(0)", shape), grad)
            case 2:
                self.bind(Expr(f"sum(t.sum() for t in {xs})", ()), grad)
            case _:
                self.bind(Expr(one, shape), grad)

    def together(self) -> None:
        """`zip`, `enumerate`, `map`, `filter`, `sorted`, `reversed`, `itertools`."""
        a, b, c = self.alike(3)
        grad, shape = self.any_grad(a, b, c), a.shape
        xs, total = self.fresh("xs"), self.fresh("t")
        self.emit(f"{xs} = [{a.name}, {b.name}, {c.name}]")
        match self.rng.randrange(8):
            case 0:
                self.emit(f"{total} = 0")
                self.emit(f"for i, t in enumerate({xs}, start=1):")
                self.emit(f"    {total} = {total} + i * {self.keeping('t')}")
            case 1:
                self.emit(f"{total} = sum(s * t for s, t in zip({xs}, {xs}[1:]))")
            case 2:
                function = self.one_of("torch.exp", "lambda t: t * t", "torch.Tensor.sin", "torch.clone")
                self.emit(f"{total} = sum(map({function}, {xs}))")
            case 3:
                self.emit(f"{total} = sum(filter(lambda t: t.requires_grad, {xs}), torch.zeros(()))")
            case 4:
                self.emit(f"{total} = functools.reduce(operator.mul, reversed({xs}))")
            case 5:
                self.emit(f"{total} = sorted({xs}, key=lambda t: t.requires_grad)[-1] * 2")
            case 6:
                self.emit(f"{total} = sum(s * t for s, t in itertools.combinations({xs}, 2))")
            case _:
                self.emit(f"{total} = torch.zeros(())")
                self.emit(f"for s, t in itertools.product({xs}[:2], {xs}[1:]):")
                self.emit(f"    {total} = {total} + (s * t).sum()")
                shape = ()
        self.vars.append(Var(total, shape, grad))

    def unpacked(self) -> None:
        """Stars, nests and swaps."""
        a, b, c = self.alike(3)
        s, t, rest = self.fresh("t"), self.fresh("t"), self.fresh("rest")
        grad = self.any_grad(a, b, c)
        names = f"{a.name}, {self.keeping(b.name)}, {c.name}"
        match self.rng.randrange(4):
            case 0:
                self.emit(f"{s}, *{rest} = [{names}]")
                self.emit(f"{t} = {rest}[0] * {rest}[-1]")
            case 1:
                self.emit(f"({s}, {t}), {rest} = ({a.name}, {self.keeping(b.name)}), {c.name}")
            case 2:
                self.emit(f"*{rest}, {s}, {t} = {names}")
            case _:
                self.emit(f"{s}, {t} = {a.name}, {self.keeping(b.name)}")
                self.emit(f"{s}, {t} = {t}, {s}")
        self.vars += [Var(s, a.shape, grad), Var(t, a.shape, grad)]

    def queues(self) -> None:
        """A `deque`, a `defaultdict`, a set of tensors."""
        x, y = self.alike(2)
        q, item = self.fresh("q"), self.fresh("t")
        grad = self.any_grad(x, y)
        match self.rng.randrange(3):
            case 0:
                self.write_lines(f"""
                    {q} = collections.deque(maxlen=2)
                    for {item} in ({x.name}, {y.name}, {x.name}):
                        {q}.append({self.keeping(item)})
                    """)
                self.bind(Expr(f"{q}[0] + {q}[-1]", x.shape), grad)
            case 1:
                self.write_lines(f"""
                    {q} = collections.defaultdict(list)
                    {q}["a"].append({x.name})
                    {q}["b"].append({self.keeping(y.name)})
                    {q}["a"].append({self.keeping(x.name)})
                    """)
                self.bind(Expr(f"sum({q}['a']) * {q}['b'][0]".replace("'", '"'), x.shape), grad)
            case _:
                self.emit(f"{q} = {{{x.name}, {y.name}, {x.name}}}")
                self.emit(f"{item} = {x.name} * 2 if {x.name} in {q} else {x.name}.detach()")
                self.vars.append(Var(item, x.shape, x.grad and self.recording))

    # Records.

    def record(self) -> None:
        """A dataclass whose fields are replaced and written."""
        x, y = self.alike(2)
        cls, s = self.fresh("State"), self.fresh("s")
        self.write_lines(f"""
            @dataclasses.dataclass
            class {cls}:
                value: torch.Tensor
                scale: float = 2.0
                parts: list = dataclasses.field(default_factory=list)
                def scaled(self):
                    return self.value * self.scale
            {s} = {cls}({self.one_of(x.name, self.keeping(x.name))})
            """)
        for _ in range(self.rng.randint(1, 3)):
            self.emit(self.one_of(
                f"{s}.value = {s}.value * {y.name}",
                f"{s}.parts.append({s}.value)",
                f"{s}.parts.append({self.keeping(y.name)})",
                f"{s} = dataclasses.replace({s}, scale=0.5)",
                f"{s} = dataclasses.replace({s}, value={self.keeping(f'{s}.value')})",
                f"{s}.value = {s}.value.detach()",
                f"{s}.value = {s}.scaled()",
            ))  # fmt: skip
        text, shape = self.rng.choice(
            ((f"{s}.scaled()", x.shape), (f"{s}.value.sum()", ()), (f"sum({s}.parts, {s}.value)", x.shape))
        )
        self.bind(Expr(text, shape), self.any_grad(x, y))

    def named(self) -> None:
        """A named tuple."""
        x, y = self.alike(2)
        cls, p = self.fresh("Pair"), self.fresh("p")
        self.emit(f'{cls} = collections.namedtuple("{cls}", "left right")')
        self.emit(f"{p} = {cls}({x.name}, right={self.keeping(y.name)})")
        if self.rng.random() < 0.5:
            self.emit(f"{p} = {p}._replace(left={p}.right * {p}.left)")
        texts = (f"{p}.left * {p}.right", f"{p}[0] + {p}[1]", f"sum({p})", f"torch.stack({p}).sum(0)")
        self.bind(Expr(self.rng.choice(texts), x.shape), self.any_grad(x, y))

    # Loops that carry something.

    def carried(self) -> None:
        """A state that each round makes of the last, walked inside, with the graph cut or not."""
        w, x = self.alike(2)
        h = self.fresh("h")
        step = self.one_of("({h} * {w}).tanh()", "{h} + {w}", "{h} * {w}", "({h} + {w}).sigmoid()", "{h}.exp()")
        self.emit(f"{h} = {self.one_of(x.name, f'torch.zeros_like({x.name})', f'{x.name}.detach()')}")
        self.emit(f"for {self.fresh('step')} in range({self.rng.randint(2, 4)}):")
        with self.inner(steady=True):
            if self.rng.random() < 0.35:
                self.emit(f"{h} = {h}.detach()")
            self.emit(f"{h} = {step.format(h=h, w=w.name)}")
            if self.rng.random() < 0.25:
                self.emit(self.one_of(f"{h} *= 2", f"{h}.relu_()", f"{h}[...] = 0.5", f"{h} += {w.name}"))
            if self.rng.random() < 0.5 and self.any_grad(w, x):
                self.emit(f"{h}.sum().backward({self.one_of('', '', 'retain_graph=True')})")
            if self.rng.random() < 0.3 and w.leaf and w.grad:
                self._descend(w.name)
        self.vars.append(Var(h, x.shape, self.any_grad(w, x)))

    def _descend(self, w: str) -> None:
        self.write_lines(f"""
            with torch.no_grad():
                if {w}.grad is not None:
                    {self.one_of(f"{w} -= 0.1 * {w}.grad", f"{w}.sub_({w}.grad, alpha=0.1)")}
                    {self.one_of(f"{w}.grad = None", f"{w}.grad.zero_()")}
            """)

    def history(self) -> None:
        """Losses that are kept, and walked later or together."""
        w, x = self.alike(2)
        losses = self.fresh("losses")
        self.emit(f"{losses} = []")
        self.emit(f"for {self.fresh('i')} in range({self.rng.randint(2, 3)}):")
        kept = self.one_of("{}", "{}", "{}.detach()", "{}.item()")
        self.emit(f"    loss = ({self.keeping(w.name)} * {x.name}).sum()")
        if self.rng.random() < 0.3 and self.any_grad(w, x):
            self.emit(f"    loss.backward({self.one_of('', 'retain_graph=True')})")
        self.emit(f"    {losses}.append({kept.format('loss')})")
        if "item" in kept:
            self.emit(f"{self.fresh('mean')} = sum({losses}) / len({losses})")
        else:
            text = self.one_of(f"sum({losses})", f"torch.stack({losses}).mean()", f"{losses}[-1]", f"{losses}[0]")
            self.bind(Expr(text, ()), self.any_grad(w, x) and "detach" not in kept)

    def totals(self) -> None:
        """A running total of losses: of numbers, or of tensors with their graphs."""
        w, x = self.alike(2)
        total = self.fresh("total")
        self.emit(f"{total} = {self.one_of('0.0', '0.0', 'torch.zeros(())')}")
        self.emit(f"for {self.fresh('i')} in range({self.rng.randint(2, 3)}):")
        self.emit(f"    loss = ({self.keeping(w.name)} * {x.name}).mean()")
        added = self.one_of("loss.item()", "loss", "loss.detach()", "float(loss)", "loss.data")
        if self.rng.random() < 0.4 and self.any_grad(w, x):
            self.emit("    loss.backward()")
        self.emit(f"    {total} {self.one_of('+= {}', f'= {total} + {{}}').format(added)}")
        if added == "loss":
            self.vars.append(Var(total, (), self.any_grad(w, x)))

    def searching(self) -> None:
        """A loop that ends early, and one that goes on."""
        xs = self.alike(3)
        best, item = self.fresh("t"), self.fresh("t")
        names = ", ".join(x.name for x in xs)
        self.write_lines(f"""
            {best} = {xs[0].name}
            for {item} in [{names}]:
                if {self.one_of(f"not {item}.requires_grad", f"{item}.is_leaf", f"{item} is {xs[2].name}")}:
                    {self.one_of("break", "continue")}
                {best} = {best} {self.rng.choice("+*")} {item}
            else:
                {best} = {best} * 2
            """)
        self.vars.append(Var(best, xs[0].shape, self.any_grad(*xs)))

    # Smaller forms.

    def handled(self) -> None:
        """`try` in its forms."""
        x = self.tensor()
        t = self.fresh("t")
        action = self.one_of(
            f"{t} = {self.keeping(x.name)}",
            'raise ValueError("Index")',
            f"{x.name}.sum().backward()",
            f"{x.name}.add_(1)",
            f"{t} = {{}}['missing']",
        )  # fmt: skip
        self.write_lines(f"""
            {t} = {x.name}
            try:
                {action}
            except {self.one_of("(ValueError, KeyError, RuntimeError)", "Exception", "Exception as error")}:
                {t} = {x.name} * 2
            """)
        if self.rng.random() < 0.4:
            self.emit("else:")
            self.emit(f"    {t} = {t} + 1")
        if self.rng.random() < 0.3:
            self.emit("finally:")
            self.emit(f"    {t} = {t} * 1.0")
        self.vars.append(Var(t, x.shape, x.grad and self.recording))

    def managed(self) -> None:
        """Contexts that are chosen, stacked, or the program's own."""
        x = self.tensor()
        t = self.fresh("t")
        train = self.one_of("True", "False")
        match self.rng.randrange(3):
            case 0:
                context = self.fresh("context")
                self.emit(f"{context} = contextlib.nullcontext() if {train} else torch.no_grad()")
                self.emit(f"with {context}:")
            case 1:
                self.emit(f"with torch.set_grad_enabled({train}), contextlib.suppress(ValueError):")
            case _:
                frozen = self.fresh("frozen")
                self.write_lines(f"""
                    @contextlib.contextmanager
                    def {frozen}(off):
                        before = torch.is_grad_enabled()
                        torch.set_grad_enabled(off)
                        try:
                            yield
                        finally:
                            torch.set_grad_enabled(before)
                    with {frozen}({train}):
                    """)
        self.emit(f"    {t} = {self.keeping(x.name)}")
        self.vars.append(Var(t, x.shape, x.grad and self.recording and train == "True"))

    def inline(self) -> None:
        """`:=`, `... if ... else ...`, chained comparisons, `and` and `or`."""
        x, y = self.alike(2)
        t = self.fresh("t")
        grad = self.any_grad(x, y)
        self.emit(self.one_of(
            f"{t} = ({self.fresh('t')} := {self.keeping(x.name)}) * 2",
            f"{t} = {self.keeping(x.name)} if {y.name}.requires_grad else {y.name}",
            f"{t} = {x.name} if 0 < {x.name}.dim() <= 2 else {x.name}.clone()",
            f"{t} = None or {self.keeping(x.name)}",
            f"{t} = {x.name} is not None and {self.keeping(y.name)}",
            f"{t} = [{x.name}, {y.name}][{x.name}.requires_grad] * 2",
            f'{t} = getattr({x.name}, "exp")()',
            f'{t} = getattr(torch, "relu")({x.name})',
        ))  # fmt: skip
        self.vars.append(Var(t, x.shape, grad))

    def matched(self) -> None:
        """`match` on what the text decides."""
        x, y = self.alike(2)
        t = self.fresh("t")
        subject = self.one_of('"sum"', '"mul"', "3", f"({x.name}, {y.name})", '{"op": 1}', "None")
        self.write_lines(f"""
            match {subject}:
                case "sum" | 3:
                    {t} = {x.name} + {y.name}
                case "mul":
                    {t} = {x.name} * {y.name}
                case (first, second):
                    {t} = first * second.exp()
                case {{"op": 1}}:
                    {t} = {self.keeping(x.name)}
                case _:
                    {t} = {y.name}.detach()
            """)
        self.vars.append(Var(t, x.shape, self.any_grad(x, y)))

    def numbers(self) -> None:
        """Tensors become numbers or arrays, and the numbers tensors."""
        x = self.tensor()
        n = self.fresh("n")
        text, shape = self.one_of(
            (f"{x.name}.sum().item()", ()),
            (f"float({x.name}.mean())", ()),
            (f"{x.name}.detach().numpy()", x.shape),
            (f"{x.name}.detach().cpu().numpy().copy()", x.shape),
            (f"{x.name}.tolist()", x.shape),
            (f"np.asarray({x.name}.detach())", x.shape),
            (f"{x.name}.numpy()", x.shape) if self.rng.random() < 0.4 else (f"{x.name}.data.numpy()", x.shape),
        )  # fmt: skip
        self.emit(f"{n} = {text}")
        back = self.one_of("torch.tensor({})", "torch.as_tensor({})", "torch.tensor({}, requires_grad=True)")
        if "numpy" in text and self.rng.random() < 0.3:
            back = "torch.from_numpy({})" if shape else back
        self.bind(Expr(back.format(n), shape), "True" in back, leaf=True)


def imported(lines: list[str]) -> str:
    """The program of these lines, below the imports that it needs."""
    body = "\n".join(lines) + "\n"
    needed = [statement for word, statement in _IMPORTS.items() if word in body]
    torch = [statement for word, statement in _TORCH.items() if re.search(rf"(?<![\w.]){re.escape(word)}", body)]
    return "\n".join([*needed, *torch, "", ""]) + body
