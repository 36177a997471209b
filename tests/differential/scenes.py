"""Scenes of training beyond the plain loop: recurrent state, adversaries, averages, penalties, policies."""

from __future__ import annotations

from collections.abc import Callable

from tests.differential.containers import imported
from tests.differential.training import OPTIMIZERS, Training


class Scenes(Training):
    """Writes one scene to a program."""

    def program(self) -> str:
        """One scene, below its imports."""
        scenes: list[Callable[[], None]] = [
            self.supervised, self.supervised, self.supervised, self.supervised, self.two_losses, self.carried_hidden,
            self.adversarial, self.averaged, self.by_hand, self.teacher, self.closure_step, self.penalty, self.policy,
            self.early_forward, self.parameters_alone, self.encoder, self.evaluated,
        ]  # fmt: skip
        self.rng.choice(scenes)()
        return imported(self.lines)

    def two_losses(self) -> None:
        """Two losses of one output, walked one after the other or as one."""
        net = self.network()
        model = self.model(net)
        self.data(net, "x", "target", "labels")
        self.optimizer("opt", model, net)
        first, second = self.loss(net, "out", "target", "labels"), self.loss(net, "out", "target", "labels")
        self.emit(f"for step in range({self.rng.randint(1, 3)}):")
        self.depth += 1
        self.emit("opt.zero_grad()")
        self.emit(f"out = {model}(x)")
        self.emit(f"loss1 = {first}")
        self.emit(f"loss2 = {second}")
        match self.rng.randrange(5):
            case 0:
                self.emit("(loss1 + loss2).backward()")
            case 1:
                self.emit("loss1.backward(retain_graph=True)")
                self.emit("loss2.backward()")
            case 2:
                self.emit("loss1.backward()")
                self.emit("loss2.backward()")
            case 3:
                self.emit("loss1.backward(retain_graph=True)")
                self.emit("opt.step()")
                self.emit("loss2.backward()")
            case _:
                self.emit("torch.autograd.backward([loss1, loss2])")
        self.emit("opt.step()")
        self.depth -= 1
        self.afterwards(net, model, "x")

    def carried_hidden(self) -> None:
        """A recurrent network whose state goes from one chunk to the next."""
        kind = self.one_of("RNN", "GRU", "LSTM", "GRUCell", "LSTMCell", "RNNCell")
        cell, pair = kind.endswith("Cell"), kind.startswith("LSTM")
        self.emit(f"rnn = nn.{kind}(3, 4{'' if cell else self.one_of(', batch_first=True', '')})")
        self.emit("head = nn.Linear(4, 2)")
        self.emit("params = list(rnn.parameters()) + list(head.parameters())")
        self.emit(f"opt = torch.optim.{self.rng.choice(OPTIMIZERS).format('params')}")
        zeros = "torch.zeros(2, 4)" if cell else "torch.zeros(1, 2, 4)"
        start = f"({zeros}, {zeros})" if pair else zeros
        self.emit(f"state = {self.one_of(start, start, 'None')}")
        self.emit(f"for step in range({self.rng.randint(2, 4)}):")
        self.depth += 1
        batched = "batch_first" in self.lines[0]
        self.emit(f"x = torch.randn({'2, 3' if cell else '2, 5, 3' if batched else '5, 2, 3'})")
        cut = self.rng.random()
        if cut < 0.45:
            self.emit("if state is not None:")
            detached = "tuple(s.detach() for s in state)" if pair else "state.detach()"
            self.emit(f"    state = {detached}")
        if not cell:
            self.emit("out, state = rnn(x, state)")
        elif pair:
            self.emit("state = rnn(x, state)")
            self.emit("out = state[0]")
        else:
            self.emit("state = rnn(x, state)")
            self.emit("out = state")
        self.emit(f"loss = head(out).{self.one_of('pow(2).mean()', 'sum()', 'tanh().mean()')}")
        self.emit("opt.zero_grad()")
        self.emit(f"loss.backward({'retain_graph=True' if cut > 0.8 else ''})")
        self.emit("opt.step()")
        if 0.45 < cut < 0.55:
            self.emit("state = [s.detach_() for s in state]" if pair else "state.detach_()")
        self.depth -= 1

    def adversarial(self) -> None:
        """A generator and a discriminator that train by turns."""
        self.write_lines(f"""
            middle = nn.{self.one_of("ReLU()", "ReLU(inplace=True)", "Tanh()")}
            gen = nn.Sequential(nn.Linear(3, 4), middle, nn.Linear(4, 4))
            disc = nn.Sequential(nn.Linear(4, 4), nn.LeakyReLU(0.2), nn.Linear(4, 1))
            opt_g = torch.optim.{self.rng.choice(OPTIMIZERS).format("gen.parameters()")}
            opt_d = torch.optim.{self.rng.choice(OPTIMIZERS).format("disc.parameters()")}
            bce = nn.BCEWithLogitsLoss()
            ones, zeros = torch.ones(2, 1), torch.zeros(2, 1)
            for step in range({self.rng.randint(2, 3)}):
                real = torch.randn(2, 4)
                fake = gen(torch.randn(2, 3))
                opt_d.zero_grad()
                wrong = disc({self.one_of("fake.detach()", "fake.detach()", "fake")})
                d_loss = bce(disc(real), ones) + bce(wrong, zeros)
                d_loss.backward({self.one_of("", "", "retain_graph=True")})
            """)
        self.depth += 1
        late = self.rng.random() < 0.25
        if late:
            self.emit("g_loss = bce(disc(fake), ones)")
        self.emit("opt_d.step()")
        self.emit("opt_g.zero_grad()")
        if not late:
            self.emit("g_loss = bce(disc(fake), ones)")
        self.emit("g_loss.backward()")
        self.emit("opt_g.step()")
        self.depth -= 1

    def averaged(self) -> None:
        """A copy of the model that follows it."""
        net = self.network(tokens=False)
        model = self.model(net)
        self.data(net, "x", "target", "labels")
        self.emit(f"ema = copy.deepcopy({model})")
        if self.rng.random() < 0.6:
            frozen = "for p in ema.parameters(): p.requires_grad = False"
            self.emit(self.one_of("ema.requires_grad_(False)", frozen))
        self.optimizer("opt", model, net)
        self.emit(f"for step in range({self.rng.randint(2, 3)}):")
        self.depth += 1
        self.emit("opt.zero_grad()")
        goal = self.one_of("target", "ema(x)", "ema(x).detach()")
        self.emit(f"out = {model}(x)")
        self.emit(f"loss = F.mse_loss(out, {goal})")
        self.emit("loss.backward()")
        self.emit("opt.step()")
        if self.rng.random() < 0.7:
            self.emit("with torch.no_grad():")
            self.depth += 1
        self.emit(f"for p, q in zip(ema.parameters(), {model}.parameters()):")
        self.emit(self.one_of(
            "    p.mul_(0.9).add_(q, alpha=0.1)", "    p.copy_(q)", "    p.data.copy_(0.9 * p.data + 0.1 * q.data)",
            "    p.lerp_(q, 0.1)", "    p.data = 0.9 * p + 0.1 * q", "    p.mul_(0.9).add_(q.detach(), alpha=0.1)",
        ))  # fmt: skip
        self.depth = 0
        self.afterwards(net, model, "x")

    def by_hand(self) -> None:
        """Steps without an optimizer."""
        net = self.network()
        model = self.model(net)
        self.data(net, "x", "target", "labels")
        self.emit(f"for step in range({self.rng.randint(2, 3)}):")
        self.depth += 1
        self.forward(net, model, "x", "target", "labels")
        if self.rng.random() < 0.7:
            self.emit("loss.backward()")
            update = self.one_of("p -= 0.1 * p.grad", "p.sub_(0.1 * p.grad)", "p.data -= 0.1 * p.grad",
                                      "p.copy_(p - 0.1 * p.grad)", "p.data = p.data - 0.1 * p.grad")  # fmt: skip
            if self.rng.random() < 0.75:
                self.emit("with torch.no_grad():")
                self.depth += 1
            self.emit(f"for p in {model}.parameters():")
            self.emit("    if p.grad is not None:")
            self.emit(f"        {update}")
            if self.rng.random() < 0.8:
                self.emit(self.one_of("        p.grad = None", "        p.grad.zero_()"))
        else:
            options = self.one_of("", ", allow_unused=True", ", allow_unused=True, create_graph=True")
            self.emit(f"grads = torch.autograd.grad(loss, list({model}.parameters()){options})")
            self.emit("with torch.no_grad():")
            self.emit(f"    for p, g in zip({model}.parameters(), grads):")
            self.emit("        if g is not None:")
            self.emit("            p -= 0.1 * g")
        self.depth = 0

    def teacher(self) -> None:
        """A model that learns from another."""
        net = self.network(tokens=False)
        model = self.model(net)
        self.emit(f"teacher = {net.name}()")
        if self.rng.random() < 0.5:
            self.emit("teacher.eval()")
        self.data(net, "x", "target", "labels")
        self.optimizer("opt", model, net)
        self.emit(f"for step in range({self.rng.randint(1, 3)}):")
        self.depth += 1
        guard = self.one_of("with torch.no_grad()", "with torch.no_grad()", "with torch.inference_mode()", "if True")
        self.emit(f"{guard}:")
        self.emit("    goal = teacher(x)")
        self.emit("opt.zero_grad()")
        self.emit(f"out = {model}(x)")
        self.emit(f"loss = {self.loss(net, 'out', 'goal', 'labels')}")
        self.emit("loss.backward()")
        self.emit("opt.step()")
        self.depth -= 1

    def closure_step(self) -> None:
        """An optimizer that runs the model itself."""
        net = self.network()
        model = self.model(net)
        self.data(net, "x", "target", "labels")
        kind = self.one_of("LBFGS({}, lr=0.1, max_iter=2)", "SGD({}, lr=0.1)", "Adam({})")
        self.emit(f"opt = torch.optim.{kind.format(f'{model}.parameters()')}")
        self.emit("def closure():")
        self.depth += 1
        self.emit("opt.zero_grad()")
        self.forward(net, model, "x", "target", "labels", faulty=False)
        self.emit("loss.backward()")
        self.emit("return loss")
        self.depth -= 1
        self.emit(f"for step in range({self.rng.randint(1, 3)}):")
        self.emit("    loss = opt.step(closure)")
        if self.rng.random() < 0.4:
            self.emit("    loss.backward()")

    def penalty(self) -> None:
        """A loss with a gradient in it."""
        net = self.network(tokens=False)
        model = self.model(net)
        self.data(net, "x", "target", "labels")
        self.emit(f"x.requires_grad_({self.one_of('', '', 'True', 'False')})")
        self.optimizer("opt", model, net)
        self.emit(f"for step in range({self.rng.randint(1, 3)}):")
        self.depth += 1
        self.emit("opt.zero_grad()")
        self.emit(f"out = {model}(x)")
        create = self.one_of("create_graph=True", "create_graph=True", "retain_graph=True")
        self.emit(f"(slope,) = torch.autograd.grad(out.sum(), x, {create})")
        self.emit(f"loss = {self.loss(net, 'out', 'target', 'labels')} + (slope.norm() - 1) ** 2")
        self.emit("loss.backward()")
        self.emit("opt.step()")
        self.depth -= 1

    def policy(self) -> None:
        """An actor and a critic."""
        self.write_lines(f"""
            actor = nn.Sequential(nn.Linear(3, 4), nn.{self.one_of("Tanh", "ReLU")}(), nn.Linear(4, 2))
            critic = nn.Linear(3, 1)
            opt = torch.optim.{self.rng.choice(OPTIMIZERS).format("[*actor.parameters(), *critic.parameters()]")}
            log_probs, values, rewards = [], [], []
            state = torch.randn(3)
            for step in range({self.rng.randint(2, 4)}):
                dist = torch.distributions.Categorical(logits=actor(state))
                action = dist.sample()
                log_probs.append(dist.log_prob(action){self.one_of("", "", ".detach()")})
                values.append(critic(state))
                rewards.append(float(step))
                state = torch.randn(3)
            returns = torch.tensor(rewards)
            values = torch.cat(values)
            advantage = returns - {self.one_of("values.detach()", "values")}
            actor_loss = -(torch.stack(log_probs) * advantage).mean()
            critic_loss = F.mse_loss(values, returns)
            opt.zero_grad()
            """)
        self.write_lines(self.one_of(
            "(actor_loss + 0.5 * critic_loss).backward()",
            "actor_loss.backward()\ncritic_loss.backward()",
            "actor_loss.backward(retain_graph=True)\ncritic_loss.backward()",
            "actor_loss.backward()\nopt.step()\ncritic_loss.backward()",
        ))  # fmt: skip
        self.emit("opt.step()")

    def early_forward(self) -> None:
        """Something that is computed once, before the loop."""
        net = self.network()
        model = self.model(net)
        self.data(net, "x", "target", "labels")
        self.optimizer("opt", model, net)
        self.emit(f"features = {model}(x){self.one_of('', '', '.detach()')}")
        self.emit(f"out_layer = nn.Linear({net.gives[1]}, 2)")
        if self.rng.random() < 0.5:
            self.emit("opt.add_param_group({'params': out_layer.parameters()})".replace("'", '"'))
        self.emit(f"for step in range({self.rng.randint(1, 3)}):")
        self.depth += 1
        self.emit("opt.zero_grad()")
        self.emit(f"loss = out_layer(features).{self.one_of('sum()', 'pow(2).mean()')}")
        self.emit(f"loss.backward({self.one_of('', '', 'retain_graph=True')})")
        self.emit("opt.step()")
        self.depth -= 1

    def parameters_alone(self) -> None:
        """Parameters without a module."""
        weight = self.one_of(
            "nn.Parameter(torch.randn(3, 2))", "torch.randn(3, 2, requires_grad=True)",
            "torch.randn(3, 2, requires_grad=True) * 0.1", "torch.zeros(3, 2).requires_grad_()",
        )  # fmt: skip
        self.write_lines(f"""
            w = {weight}
            b = torch.zeros(2, requires_grad=True)
            x, y = torch.randn(4, 3), torch.rand(4, 2)
            for epoch in range({self.rng.randint(2, 3)}):
            """)
        self.depth += 1
        out = self.one_of("x @ w + b", "torch.tanh(x @ w + b)", "F.linear(x, w.t(), b)", "(x @ w).exp() * b")
        self.emit(f"out = {out}")
        if self.rng.random() < 0.25:
            self.emit(self.one_of("out += b", "out *= 2", "out.relu_()", "b += 1", "w[0] = 0", "out[0] = 0"))
        self.emit("loss = ((out - y) ** 2).mean()")
        self.emit("loss.backward()")
        self.write_lines(self.one_of(
            "with torch.no_grad():\n    w -= 0.1 * w.grad\n    b -= b.grad\n    w.grad.zero_()\n    b.grad = None",
            "w.data -= 0.1 * w.grad\nb.data -= 0.1 * b.grad\nw.grad.zero_()",
            "with torch.no_grad():\n    w = w - 0.1 * w.grad\n    b -= 0.1 * b.grad",
            "w = w - 0.1 * w.grad\nw.grad = None",
            "w = (w - 0.1 * w.grad).detach().requires_grad_()",
            "w -= 0.1 * w.grad",
            "with torch.no_grad():\n    for p in (w, b):\n        p -= 0.1 * p.grad\n        p.grad = None",
        ))  # fmt: skip
        self.depth -= 1

    def encoder(self) -> None:
        """A variational autoencoder, with its weights tied or not."""
        self.write_lines(f"""
            class Coder(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.enc = nn.Linear(4, 6)
                    self.dec = nn.Linear(3, 4)
                    self.out = nn.Linear(4, 4)
                    {self.one_of("pass", "self.out.weight = nn.Linear(4, 4).weight", "self.skip = self.out")}
                def encode(self, x):
                    return {self.one_of("self.enc(x).chunk(2, dim=-1)", "torch.split(self.enc(x), 3, dim=-1)")}
                def forward(self, x):
                    mu, logvar = self.encode(x)
                    {self.one_of("pass", "pass", "logvar.clamp_(-5, 5)", "mu += 0.1", "mu = mu.clone()")}
                    std = (0.5 * logvar).exp()
                    z = mu + std * torch.randn_like(std)
                    return self.out(F.relu(self.dec(z))), mu, logvar
            model = Coder()
            opt = torch.optim.{self.rng.choice(OPTIMIZERS).format("model.parameters()")}
            history = []
            for step in range({self.rng.randint(1, 3)}):
                x = torch.rand(2, 4)
                recon, mu, logvar = model(x)
                {self.one_of("pass", "pass", "recon.sigmoid_()", "std = logvar.exp_()", "mu.zero_()")}
                kl = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
                loss = F.mse_loss(recon, x) + kl
                opt.zero_grad()
                loss.backward()
                opt.step()
                history.append({self.one_of("loss.item()", "loss", "loss.detach()")})
            mean = sum(history) / len(history)
            """)
        if self.rng.random() < 0.2:
            self.emit("torch.as_tensor(mean).backward()")

    def evaluated(self) -> None:
        """Training and evaluation in functions, over batches."""
        net = self.network()
        sizes = ", ".join(map(str, net.takes))
        rows, columns = net.gives
        made = f"torch.randint(0, 10, ({sizes},))" if net.tokens else f"torch.randn({sizes})"
        self.emit(f"batches = [({made}, torch.rand({rows}, {columns})) for _ in range({self.rng.randint(2, 3)})]")
        self.emit("def train(model, opt):")
        self.depth += 1
        self.emit("model.train()")
        self.emit("total = 0.0")
        self.emit("for x, target in batches:")
        self.depth += 1
        self.emit("opt.zero_grad()")
        self.emit("out = model(x)")
        self.emit(f"loss = {self.loss(net, 'out', 'target', 'out.argmax(-1)')}")
        self.emit("loss.backward()")
        self.emit("opt.step()")
        self.emit(f"total += {self.one_of('loss.item()', 'loss', 'loss.detach()')}")
        self.depth -= 1
        self.emit("return total")
        self.depth -= 1
        if self.rng.random() < 0.7:
            self.emit(self.one_of("@torch.no_grad()", "@torch.inference_mode()"))
        self.write_lines("""
            def evaluate(model):
                model.eval()
                losses = []
                for x, target in batches:
                    losses.append(F.mse_loss(model(x), target))
                return torch.stack(losses).mean()
            """)
        model = self.model(net)
        self.optimizer("opt", model, net)
        self.emit(f"for epoch in range({self.rng.randint(1, 2)}):")
        self.emit(f"    trained = train({model}, opt)")
        self.emit(f"    score = evaluate({model})")
        if self.rng.random() < 0.4:
            self.emit(self.one_of("score.backward()", "trained.backward()", "best = min(1.0, score.item())"))
