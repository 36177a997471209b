"""Programs that train: models, optimizers and loops, with the steps in the orders that people write them in."""

from __future__ import annotations

from tests.differential.modules import Modular, Network
from tests.differential.vocabulary import Var

OPTIMIZERS = (
    "SGD({}, lr=0.1)", "SGD({}, lr=0.1)", "SGD({}, lr=0.1, momentum=0.9)", "Adam({}, lr=0.01)", "Adam({}, lr=0.01)",
    "AdamW({}, lr=0.01)", "RMSprop({}, lr=0.01)", "Adagrad({}, lr=0.01)", "Adadelta({})", "NAdam({})", "RAdam({})",
    "SGD({}, lr=0.1, momentum=0.9, nesterov=True, weight_decay=1e-4)", "Adam({}, amsgrad=True)", "Adamax({})",
    "SGD({}, lr=0.1, foreach=True)", "Rprop({})", "ASGD({})", "AdamW({}, foreach=False)",
)  # fmt: skip
_SCHEDULERS = (
    "StepLR({}, 1)", "ExponentialLR({}, 0.9)", "CosineAnnealingLR({}, 3)", "LambdaLR({}, lambda n: 1.0 / (n + 1))",
)  # fmt: skip
_LOSSES = (
    "F.mse_loss({o}, {t})", "F.mse_loss({o}, {t})", "nn.MSELoss()({o}, {t})", "F.l1_loss({o}, {t})",
    "F.smooth_l1_loss({o}, {t})", "F.huber_loss({o}, {t})", "nn.BCEWithLogitsLoss()({o}, {t})",
    "({o} - {t}).abs().mean()",
    "F.binary_cross_entropy(torch.sigmoid({o}), {t})", "{o}.pow(2).mean()", "((({o} - {t}) ** 2).sum())", "{o}.sum()",
    "F.soft_margin_loss({o}, {t})", "F.kl_div({o}.log_softmax(-1), {t}.softmax(-1))", "F.poisson_nll_loss({o}, {t})",
    "(1 - F.cosine_similarity({o}, {t})).mean()", "nn.GaussianNLLLoss()({o}, {t}, torch.ones_like({t}))",
)  # fmt: skip
_CLASS_LOSSES = (
    "F.cross_entropy({o}, {l})", "nn.CrossEntropyLoss()({o}, {l})", "F.nll_loss(F.log_softmax({o}, dim=-1), {l})",
    "F.multi_margin_loss({o}, {l})", "F.cross_entropy({o}, {l}, label_smoothing=0.1)",
    "-{o}.log_softmax(-1)[:, 0].mean()",
)  # fmt: skip
_WRONG_LOSSES = (
    "F.mse_loss({o}.detach(), {t})", "({o} - {t}) ** 2", "F.mse_loss({o}, {t}, reduction=\"none\")",
    "F.mse_loss({o}.argmax(-1).float(), {t}[:, 0])", "torch.tensor(F.mse_loss({o}, {t}).item())",
)  # fmt: skip


class Training(Modular):
    """Writes models, the loops that train them, and what these are made of."""

    def supervised(self) -> None:
        """A model, an optimizer, and a loop in some order."""
        net = self.network()
        model, x, t, label = self.model(net), "x", "target", "labels"
        self.data(net, x, t, label)
        self.prepare(net, model)
        self.optimizer("opt", model, net)
        scheduler = self.rng.random() < 0.2
        if scheduler:
            self.emit(f"scheduler = torch.optim.lr_scheduler.{self.rng.choice(_SCHEDULERS).format('opt')}")
        total = self.rng.random() < 0.4
        if total:
            self.emit("total = 0.0")
        accumulate = self.rng.random() < 0.2
        self.emit(f"for step in range({self.rng.randint(2, 4)}):")
        self.depth += 1
        zero = self.one_of("opt.zero_grad()", "opt.zero_grad(set_to_none=False)", f"{model}.zero_grad()")
        first = self.rng.random() < 0.7
        if first and not accumulate:
            self.emit(zero)
        self.forward(net, model, x, t, label)
        self.between(net, model)
        if accumulate:
            self.emit("(loss / 2).backward()")
        else:
            self.emit(f"loss.backward({self.one_of('', '', '', '', 'retain_graph=True')})")
        if self.rng.random() < 0.2:
            self.emit(self.one_of(
                f"torch.nn.utils.clip_grad_norm_({model}.parameters(), 1.0)",
                f"norm = torch.nn.utils.clip_grad_norm_({model}.parameters(), 1.0)",
                f"torch.nn.utils.clip_grad_value_({model}.parameters(), 0.5)",
            ))  # fmt: skip
        if accumulate:
            self.write_lines("""
                if (step + 1) % 2 == 0:
                    opt.step()
                    opt.zero_grad()
                """)
        else:
            self.emit("opt.step()")
            if not first:
                self.emit(zero)
        if scheduler:
            self.emit("scheduler.step()")
        if total:
            self.emit(f"total += {self.one_of('loss.item()', 'loss', 'loss.detach()', 'float(loss)')}")
        self.depth -= 1
        if total and self.rng.random() < 0.2:
            self.emit("total.backward()" if self.lines[-1].strip() == "total += loss" else "print(total)")
        self.afterwards(net, model, x)

    # What scenes are made of.

    def data(self, net: Network, x: str, target: str, labels: str) -> None:
        """An input, and what the output is to be."""
        sizes = ", ".join(map(str, net.takes))
        self.emit(f"{x} = torch.randint(0, 10, ({sizes},))" if net.tokens else f"{x} = torch.randn({sizes})")
        rows, columns = net.gives
        self.emit(f"{target} = torch.rand({rows}, {columns})")
        self.emit(f"{labels} = torch.zeros({rows}, dtype=torch.long)")

    def model(self, net: Network) -> str:
        """An instance of the class, or of it in a `Sequential`."""
        name = self.fresh("model")
        text = f"{net.name}()"
        if self.rng.random() < 0.1:
            text = f"nn.Sequential({net.name}(), {self.one_of('nn.Identity()', 'nn.Softplus()')})"
        self.emit(f"{name} = {text}")
        return name

    def prepare(self, net: Network, model: str) -> None:
        """What is done to a model before it is trained."""
        if self.rng.random() > 0.5:
            return
        self.write_lines(self.one_of(
            f"for p in {model}.parameters():\n    p.requires_grad = False",
            f"for p in {model}.parameters():\n    p.requires_grad_(False)\n    break",
            f'for name, p in {model}.named_parameters():\n    if "head" not in name:\n        p.requires_grad = False',
            f"{model}.eval()",
            f"{model}.train()",
            f"{model} = copy.deepcopy({model})",
            f"{model}.double().float()",
            f"{model}.load_state_dict({model}.state_dict())",
            f"x.requires_grad_({not net.tokens})",
            f"x = x{'' if net.tokens else '.requires_grad_()'}",
            f"for p in {model}.parameters():\n    nn.init.uniform_(p, -0.1, 0.1)",
            f"for p in {model}.parameters():\n    p.data.mul_(0.5)",
            f"state = {{k: v.clone() for k, v in {model}.state_dict().items()}}\n{model}.load_state_dict(state)",
            f"for m in {model}.modules():\n    if isinstance(m, nn.Linear):\n        nn.init.zeros_(m.weight)",
            f"count = sum(p.numel() for p in {model}.parameters() if p.requires_grad)",
            f"{model}.requires_grad_(False)\nlist({model}.parameters())[-1].requires_grad = True",
            f"with torch.no_grad():\n    for p in {model}.parameters():\n        p.add_(0.1)",
        ))  # fmt: skip

    def optimizer(self, name: str, model: str, net: Network) -> None:
        """An optimizer of the model's parameters, some or all."""
        groups = self.one_of(
            f"{model}.parameters()", f"{model}.parameters()", f"{model}.parameters()", f"list({model}.parameters())",
            f"[p for p in {model}.parameters() if p.requires_grad] or list({model}.parameters())",
            f'[{{"params": {model}.parameters(), "lr": 0.05}}]',
            f'[{{"params": [p]}} for p in {model}.parameters()]',
        )  # fmt: skip
        self.emit(f"{name} = torch.optim.{self.rng.choice(OPTIMIZERS).format(groups)}")

    def loss(self, net: Network, out: str, target: str, labels: str, faulty: bool = False) -> str:
        """A loss of the output."""
        choices = _WRONG_LOSSES if faulty else _LOSSES
        if not faulty and net.gives[1] > 1 and self.rng.random() < 0.4:
            choices = _CLASS_LOSSES
        return self.rng.choice(choices).format(o=out, t=target, l=labels)

    def forward(self, net: Network, model: str, x: str, target: str, labels: str, faulty: bool = True) -> None:
        """The model is run, its output perhaps worked on, and the loss taken."""
        if faulty and self.rng.random() < 0.06:
            self.emit(f"with torch.{self.one_of('no_grad', 'inference_mode')}():")
            self.emit(f"    out = {model}({x})")
        else:
            self.emit(f"out = {model}({x})")
        before = self.vars
        self.vars = [Var("out", net.gives, True), Var("out", net.gives, True), Var(target, net.gives, False)]
        self.keeps_shape = True
        if self.rng.random() < 0.25:
            self.one_of(self.write, self.write, self.compute, self.view)()
        self.vars, self.keeps_shape = before, False
        loss = self.loss(net, "out", target, labels, faulty and self.rng.random() < 0.08)
        self.emit(f"loss = {loss}")
        if self.rng.random() < 0.12:
            power = self.one_of("pow(2)", "abs()")
            self.emit(f"loss = loss + 1e-3 * sum(p.{power}.sum() for p in {model}.parameters())")

    def between(self, net: Network, model: str) -> None:
        """What comes between the forward and its backward, most often nothing."""
        if self.rng.random() < 0.8:
            return
        self.write_lines(self.one_of(
            "opt.step()",
            "opt.zero_grad()",
            f"{model}.eval()",
            f"with torch.no_grad():\n    {model}(x)",
            f"with torch.no_grad():\n    for p in {model}.parameters():\n        p.mul_(0.99)",
            f"for p in {model}.parameters():\n    p.data.mul_(0.99)",
            f"{model}.load_state_dict({model}.state_dict())",
            "accuracy = (out.argmax(-1) == labels).float().mean().item()",
            "out.retain_grad()",
            "preds = out.detach().numpy()",
            "preds = out.numpy()",
            "out.add_(1)",
            "loss.detach_()",
            "if torch.isnan(loss):\n    break",
            "loss.backward()",
        ))  # fmt: skip

    def afterwards(self, net: Network, model: str, x: str) -> None:
        """What is done with a trained model."""
        if self.rng.random() < 0.5:
            return
        self.write_lines(self.one_of(
            f"{model}.eval()\nwith torch.no_grad():\n    test = {model}({x})",
            f"with torch.inference_mode():\n    test = {model}({x})\nloss = test.sum()",
            f"test = {model}({x})\ntest.sum().backward()",
            f"with torch.no_grad():\n    test = {model}({x}).mean()\ntest.backward()",
            f"grads = [p.grad for p in {model}.parameters()]",
            "loss.backward()",
            f"copied = copy.deepcopy({model})\ntest = copied({x}).mean()\ntest.backward()",
            f"norms = [p.grad.norm() for p in {model}.parameters() if p.grad is not None]\ntest = sum(norms)",
            f"flat = torch.cat([p.reshape(-1) for p in {model}.parameters()])\nflat.sum().backward()",
            f"vector = nn.utils.parameters_to_vector({model}.parameters())",
            f"for p in {model}.parameters():\n    p.add_(1)",
            f"weights = [p.detach().clone() for p in {model}.parameters()]",
            f"test = {model}({x}).detach().numpy()",
            f"test = {model}({x}).numpy()",
        ))  # fmt: skip
