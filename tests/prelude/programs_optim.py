"""Programs about torch.optim, schedules, averaging and gradient scaling."""


def layer_with_gradient(torch):
    layer = torch.nn.Linear(2, 2)
    layer.extra = torch.nn.Parameter(torch.ones(1))
    layer(torch.ones(1, 2)).sum().backward()
    return layer


def written_by(torch, make):
    layer = layer_with_gradient(torch)
    optimizer = make(list(layer.parameters()))
    wrote = []
    for _ in range(2):
        before = [p._version for p in layer.parameters()]
        optimizer.step()
        wrote.append([p._version > b for p, b in zip(layer.parameters(), before, strict=False)])
    return [wrote, [p.grad is not None for p in layer.parameters()], [p.grad_fn is None for p in layer.parameters()]]


def case_sgd(torch):
    o = torch.optim
    return [
        written_by(torch, lambda ps: o.SGD(ps, lr=0.1)),
        written_by(torch, lambda ps: o.SGD(ps, 0.1, momentum=0.9, nesterov=True, weight_decay=0.1)),
        written_by(torch, lambda ps: o.SGD(ps, 0.1, foreach=True)),
    ]


def case_adam(torch):
    o = torch.optim
    return [
        written_by(torch, o.Adam),
        written_by(torch, lambda ps: o.AdamW(ps, lr=0.1, amsgrad=True)),
        written_by(torch, lambda ps: o.Adam(ps, foreach=True)),
    ]


def case_fused(torch):
    o = torch.optim
    return [written_by(torch, lambda ps, c=c: c(ps, fused=True)) for c in (o.SGD, o.Adam, o.AdamW, o.Adagrad)]


def case_others(torch):
    o = torch.optim
    makers = (o.RMSprop, o.Adagrad, o.Adadelta, o.Adamax, o.NAdam, o.RAdam, o.ASGD, o.Rprop, o.Adafactor)
    return [written_by(torch, c) for c in makers]


def case_muon(torch):
    w = torch.nn.Parameter(torch.randn(3, 3))
    w.sum().backward()
    before = w._version
    torch.optim.Muon([w]).step()
    return [w._version > before, w]


def case_muon_vector(torch):
    try:
        torch.optim.Muon([torch.nn.Parameter(torch.ones(3))])
    except ValueError as error:
        return str(error)[:26]


def case_lbfgs(torch):
    w = torch.nn.Parameter(torch.ones(2))
    optimizer = torch.optim.LBFGS([w], max_iter=4)
    calls = []

    def closure():
        optimizer.zero_grad()
        loss = (w - 3).pow(2).sum() * 0.01
        loss.backward()
        calls.append(torch.is_grad_enabled())
        return loss

    before = w._version
    loss = optimizer.step(closure)
    return [loss, w._version > before, len(calls) > 1, calls[0]]


def case_closure(torch):
    w = torch.nn.Parameter(torch.ones(2))
    optimizer = torch.optim.SGD([w], 0.1)

    def closure():
        loss = w.sum()
        loss.backward()
        return loss

    with torch.no_grad():
        return [optimizer.step(closure), w, w._version]


def case_empty(torch):
    torch.optim.SGD([], 0.1)


def case_exhausted(torch):
    parameters = torch.nn.Linear(2, 2).parameters()
    torch.optim.SGD(parameters, 0.1)
    torch.optim.Adam(parameters)


def case_non_leaf(torch):
    torch.optim.SGD([torch.ones(2, requires_grad=True) * 2], 0.1)


def case_duplicate(torch):
    w = torch.nn.Parameter(torch.ones(2))
    torch.optim.SGD([{"params": [w]}, {"params": w, "lr": 1.0}], 0.1)


def case_one_tensor(torch):
    torch.optim.SGD(torch.ones(2, requires_grad=True), 0.1)


def case_groups(torch):
    a, b, c = [torch.nn.Parameter(torch.ones(2)) for _ in range(3)]
    optimizer = torch.optim.SGD([{"params": a}, {"params": [b], "lr": 1.0}], lr=0.1)
    optimizer.add_param_group({"params": c})
    return [
        [len(g["params"]) for g in optimizer.param_groups],
        [g["lr"] for g in optimizer.param_groups],
        optimizer.param_groups[1]["params"][0] is b,
        optimizer.state_dict()["param_groups"][1]["params"],
    ]


def case_named(torch):
    layer = torch.nn.Linear(2, 2)
    optimizer = torch.optim.AdamW(layer.named_parameters())
    return [[p is q for p, q in zip(optimizer.param_groups[0]["params"], layer.parameters(), strict=False)]]


def case_zero_grad(torch):
    layer = layer_with_gradient(torch)
    optimizer = torch.optim.SGD(layer.parameters(), 0.1)
    kept = layer.weight.grad
    optimizer.zero_grad(set_to_none=False)
    same = layer.weight.grad is kept
    optimizer.zero_grad()
    return [same, [p.grad is None for p in layer.parameters()]]


def case_zero_grad_of_graph(torch):
    w = torch.nn.Parameter(torch.ones(2))
    w.pow(3).sum().backward(create_graph=True)
    had = w.grad.requires_grad
    torch.optim.SGD([w], 0.1).zero_grad(set_to_none=False)
    return [had, w.grad]


def case_step_between(torch):
    layer = layer_with_gradient(torch)
    optimizer = torch.optim.SGD(layer.parameters(), 0.1)
    x = torch.ones(1, 2, requires_grad=True)
    loss = layer(x).sum()
    optimizer.step()
    try:
        loss.backward()
    except RuntimeError as error:
        return str(error)[:50]


def case_own_optimizer(torch):
    class Mine(torch.optim.Optimizer):
        def __init__(self, params, lr=0.1):
            super().__init__(params, {"lr": lr})

        @torch.no_grad()
        def step(self, closure=None):
            for group in self.param_groups:
                for p in group["params"]:
                    if p.grad is None:
                        continue
                    state = self.state[p]
                    if len(state) == 0:
                        state["average"] = torch.zeros_like(p)
                    state["average"].lerp_(p.grad, 0.1)
                    p.add_(state["average"], alpha=-group["lr"])

    return written_by(torch, Mine)


def case_step_hooks(torch):
    layer = layer_with_gradient(torch)
    optimizer = torch.optim.SGD(layer.parameters(), 0.1)
    seen = []
    handle = optimizer.register_step_pre_hook(lambda o, args, kwargs: seen.append("pre"))
    optimizer.register_step_post_hook(lambda o, args, kwargs: seen.append("post"))
    optimizer.step()
    handle.remove()
    optimizer.step()
    return seen


def case_schedulers(torch):
    w = torch.nn.Parameter(torch.ones(2))
    w.sum().backward()
    optimizer = torch.optim.SGD([w], 0.1)
    s = torch.optim.lr_scheduler
    made = [
        s.StepLR(optimizer, 1), s.MultiStepLR(optimizer, [1]), s.ExponentialLR(optimizer, 0.9), s.ConstantLR(optimizer),
        s.LambdaLR(optimizer, lambda e: 0.9), s.MultiplicativeLR(optimizer, lambda e: 0.9), s.LinearLR(optimizer),
        s.PolynomialLR(optimizer), s.CosineAnnealingLR(optimizer, 4), s.CosineAnnealingWarmRestarts(optimizer, 4),
        s.CyclicLR(optimizer, 0.1, 0.2), s.OneCycleLR(optimizer, 0.2, total_steps=10),
        s.SequentialLR(optimizer, [s.StepLR(optimizer, 1), s.ConstantLR(optimizer)], [2]),
        s.ChainedScheduler([s.StepLR(optimizer, 1), s.ConstantLR(optimizer)]),
    ]  # fmt: skip
    optimizer.step()
    before = w._version
    for scheduler in made:
        scheduler.step()
    s.ReduceLROnPlateau(optimizer).step(w.sum())
    return [w._version == before, len(made[0].get_last_lr()), isinstance(made[0], s.LRScheduler)]


def case_own_scheduler(torch):
    class Mine(torch.optim.lr_scheduler.LRScheduler):
        def get_lr(self):
            return [b * 2 for b in self.base_lrs]

    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.ones(2))], 0.5)
    scheduler = Mine(optimizer)
    optimizer.step()
    scheduler.step()
    return [scheduler.get_last_lr(), optimizer.param_groups[0]["lr"]]


def case_averaged(torch):
    model = torch.nn.Linear(2, 2)
    averaged = torch.optim.swa_utils.AveragedModel(model)
    before = [p._version for p in averaged.parameters()]
    averaged.update_parameters(model)
    return [
        [n for n, _ in averaged.named_parameters()],
        [p._version > b for p, b in zip(averaged.parameters(), before, strict=False)],
        averaged(torch.ones(1, 2)),
        [p.requires_grad for p in averaged.parameters()],
        averaged.module is model,
    ]


def case_scaler_disabled(torch):
    layer = layer_with_gradient(torch)
    optimizer = torch.optim.SGD(layer.parameters(), 0.1)
    scaler = torch.amp.GradScaler(enabled=False)
    loss = layer(torch.ones(1, 2)).sum()
    same = scaler.scale(loss) is loss
    scaler.unscale_(optimizer)
    scaler.unscale_(optimizer)
    scaler.step(optimizer)
    scaler.update()
    return [same, layer.weight._version]


def case_scaler(torch):
    layer = layer_with_gradient(torch)
    optimizer = torch.optim.SGD(layer.parameters(), 0.1)
    scaler = torch.amp.GradScaler("cpu")
    before = layer.weight._version
    scaler.scale(layer(torch.ones(1, 2)).sum()).backward()
    scaler.unscale_(optimizer)
    scaler.step(optimizer)
    scaler.update()
    return [layer.weight._version > before, scaler.scale(layer(torch.ones(1, 2)).sum()), scaler.is_enabled()]


def case_scaler_unscaled_twice(torch):
    layer = layer_with_gradient(torch)
    optimizer = torch.optim.SGD(layer.parameters(), 0.1)
    scaler = torch.amp.GradScaler("cpu")
    scaler.scale(layer(torch.ones(1, 2)).sum()).backward()
    scaler.unscale_(optimizer)
    scaler.unscale_(optimizer)


def case_scaler_without_gradients(torch):
    layer = torch.nn.Linear(2, 2)
    optimizer = torch.optim.SGD(layer.parameters(), 0.1)
    scaler = torch.amp.GradScaler("cpu")
    scaler.scale(torch.ones(()))
    scaler.step(optimizer)


def case_scaler_unscaled_then_zeroed(torch):
    layer = layer_with_gradient(torch)
    optimizer = torch.optim.SGD(layer.parameters(), 0.1)
    scaler = torch.amp.GradScaler("cpu")
    scaler.scale(layer(torch.ones(1, 2)).sum()).backward()
    scaler.unscale_(optimizer)
    optimizer.zero_grad()
    before = layer.weight._version
    scaler.step(optimizer)
    return layer.weight._version == before
