"""Programs about torch.nn. Each takes the `torch` to run on and returns what both have to agree about."""

import collections


def table(module):
    return [
        [(n, tuple(p.shape), p.requires_grad, str(p.dtype)) for n, p in module.named_parameters()],
        [(n, tuple(b.shape), str(b.dtype)) for n, b in module.named_buffers()],
        [n for n, _ in module.named_modules()],
        sorted(module.state_dict()),
    ]


def net(torch):
    nn = torch.nn
    return nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.ReLU(), nn.Dropout(0.5), nn.Linear(4, 2))


def versions(module):
    return [p._version for p in module.parameters()] + [b._version for b in module.buffers()]


def case_sequential(torch):
    model = net(torch)
    return [
        table(model),
        model(torch.randn(5, 3)),
        len(model),
        isinstance(model[0], torch.nn.Linear),
        table(model[1:3]),
    ]


def case_sequential_grows(torch):
    model = net(torch)
    model.append(torch.nn.Linear(2, 2))
    model.insert(1, torch.nn.Identity())
    model.extend([torch.nn.Tanh()])
    model[2] = torch.nn.LayerNorm(4)
    del model[0]
    return [table(model), len(model), table(model.pop(0)), table(model + net(torch))]


def case_sequential_of_names(torch):
    model = torch.nn.Sequential(collections.OrderedDict(a=torch.nn.Linear(2, 2), b=torch.nn.ReLU()))
    return [table(model), model(torch.randn(1, 2)), model.a is model[0]]


def case_module_list(torch):
    layers = torch.nn.ModuleList([torch.nn.Linear(2, 2) for _ in range(3)])
    layers.append(torch.nn.Linear(2, 1))
    layers += [torch.nn.ReLU()]
    layers.insert(0, torch.nn.Tanh())
    x = torch.randn(4, 2)
    for layer in layers:
        x = layer(x)
    return [table(layers), x, len(layers), layers[-1] is layers[5], table(layers[:2]), layers[0] in layers]


def case_module_dict(torch):
    heads = torch.nn.ModuleDict({"a": torch.nn.Linear(2, 2)})
    heads["b"] = torch.nn.Linear(2, 1)
    heads.update({"c": torch.nn.ReLU()})
    return [
        table(heads),
        list(heads),
        list(heads.keys()),
        "b" in heads,
        len(heads),
        heads["b"](torch.ones(1, 2)),
        [n for n, _ in heads.items()],
        table(heads.pop("a")),
        table(heads),
    ]


def case_parameter_list(torch):
    weights = torch.nn.ParameterList([torch.nn.Parameter(torch.ones(i + 1)) for i in range(3)])
    weights.append(torch.ones(4))
    weights.extend([torch.ones(5)])
    return [table(weights), weights[1], weights[-1], len(weights), [w.sum() for w in weights], table(weights[:2])]


def case_parameter_dict(torch):
    weights = torch.nn.ParameterDict({"a": torch.ones(2)})
    weights["b"] = torch.nn.Parameter(torch.ones(3))
    return [
        table(weights),
        weights["a"],
        weights.b,
        list(weights),
        "a" in weights,
        [k for k, _ in weights.items()],
        weights.get("z"),
        weights.pop("a"),
        len(weights),
    ]


def case_own_module(torch):
    class Block(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.scale = torch.nn.Parameter(torch.ones(2))
            self.plain = torch.ones(2, requires_grad=True)
            self.inner = torch.nn.Linear(2, 2)
            self.shared = self.inner
            self.register_buffer("mean", torch.zeros(2))
            self.register_buffer("hidden", torch.zeros(2), persistent=False)
            self.layers = [torch.nn.Linear(2, 2)]

        def forward(self, x, y=None):
            return self.inner(x) * self.scale + self.mean + self.plain

    block = Block()
    state = sorted(block.state_dict())
    return [
        table(block),
        block(torch.ones(1, 2)),
        state,
        len(list(block.children())),
        len(list(block.modules())),
        [n for n, _ in block.named_parameters("top")],
        [n for n, _ in block.named_parameters(recurse=False)],
        next(block.parameters()),
        block.get_parameter("inner.weight"),
        block.get_submodule("inner") is block.inner,
    ]


def case_forward_before_init(torch):
    class Block(torch.nn.Module):
        def forward(self, x):
            return self.missing(x)

    return Block()(1)


def case_plain_tensor_for_parameter(torch):
    layer = torch.nn.Linear(2, 2)
    try:
        layer.weight = torch.ones(2, 2)
    except TypeError as error:
        return [str(error)[:13], table(layer)]


def case_register_parameter_of_non_leaf(torch):
    layer = torch.nn.Module()
    layer.register_parameter("w", torch.nn.Parameter(torch.ones(2)))
    layer.register_parameter("none", None)
    return [table(layer), layer.none]


def case_train_and_eval(torch):
    model = net(torch)
    x = torch.randn(5, 3)
    before = versions(model)
    model(x)
    trained = [a != b for a, b in zip(versions(model), before, strict=False)]
    before = versions(model.eval())
    model(x)
    return [
        trained,
        versions(model) == before,
        [m.training for m in model.modules()],
        model.train() is model,
        [m.training for m in model.modules()],
    ]


def case_eval_dropout_is_the_input(torch):
    x = torch.ones(2, requires_grad=True)
    drop = torch.nn.Dropout().eval()
    return [
        drop(x) is x,
        torch.nn.Dropout2d().eval()(x[None, None, :, None]),
        torch.nn.Identity()(x) is x,
        torch.nn.Dropout(0.0).train()(x) is x,
        torch.nn.Flatten()(x[None]),
        torch.nn.ReLU(inplace=True)(x * 2),
    ]


def case_in_place_relu_on_leaf(torch):
    return torch.nn.ReLU(inplace=True)(torch.ones(2, requires_grad=True))


def case_requires_grad(torch):
    model = net(torch).requires_grad_(False)
    model[4].requires_grad_(True)
    return [table(model), model(torch.randn(5, 3))]


def case_zero_grad(torch):
    model = net(torch)
    model(torch.randn(5, 3)).sum().backward()
    had = [p.grad is not None for p in model.parameters()]
    kept = model[0].weight.grad
    model.zero_grad(set_to_none=False)
    same = model[0].weight.grad is kept
    model.zero_grad()
    return [had, same, kept._version, [p.grad is None for p in model.parameters()]]


def case_to_double(torch):
    model = net(torch)
    first = model[0].weight
    model(torch.randn(5, 3)).sum().backward()
    moved = model.double()
    return [
        moved is model,
        model[0].weight is first,
        table(model),
        str(first.grad.dtype),
        versions(model),
        table(model.float()),
        table(model.to("cpu")),
        table(model.to(torch.float64)),
        table(model.half()),
    ]


def case_apply(torch):
    seen = []
    model = net(torch)
    model.apply(lambda m: seen.append(type(m).__name__))
    return seen


def case_state_dict(torch):
    model = net(torch)
    state = model.state_dict()
    weight = state["0.weight"]
    weight.zero_()
    return [
        list(state),
        weight,
        model[0].weight._version == weight._version,
        model.state_dict(keep_vars=True)["0.weight"],
    ]


def case_load_state_dict(torch):
    model, other = net(torch), net(torch)
    before = versions(model)
    first = model[0].weight
    model.load_state_dict(other.state_dict())
    return [[a != b for a, b in zip(versions(model), before, strict=False)], model[0].weight is first, table(model)]


def case_load_state_dict_assign(torch):
    model, other = net(torch), net(torch)
    first = model[0].weight
    model.load_state_dict(other.state_dict(), assign=True)
    return [model[0].weight is first, table(model)]


def case_load_between_forward_and_backward(torch):
    model = net(torch)
    loss = model(torch.randn(5, 3)).sum()
    model.load_state_dict(model.state_dict())
    try:
        loss.backward()
    except RuntimeError as error:
        return str(error)[:50]


def case_forward_hooks(torch):
    layer = torch.nn.Linear(2, 2)
    seen = []
    one = layer.register_forward_hook(lambda m, args, out: out * 2)
    two = layer.register_forward_hook(lambda m, args, out: seen.append(out))
    three = layer.register_forward_pre_hook(lambda m, args: (args[0] + 1,))
    x = torch.ones(1, 2)
    hooked = layer(x)
    one.remove()
    after = layer(x)
    two.remove()
    three.remove()
    return [hooked, after, len(seen), seen[0], layer(x)]


def case_forward_hooks_with_kwargs(torch):
    class Two(torch.nn.Module):
        def forward(self, x, y=1):
            return x * y

    module = Two()
    module.register_forward_pre_hook(lambda m, args, kwargs: (args, {"y": 3}), with_kwargs=True)
    module.register_forward_hook(lambda m, args, kwargs, out: out + kwargs["y"], with_kwargs=True)
    module.register_forward_hook(lambda m, args, out: None, prepend=True)
    return module(torch.ones(2, requires_grad=True), y=2)


def case_full_backward_hook(torch):
    layer = torch.nn.Linear(2, 2)
    layer.register_full_backward_hook(lambda m, gi, go: None)
    leaf = torch.ones(1, 2, requires_grad=True)
    return [layer(leaf), layer(torch.ones(1, 2))]


def case_full_backward_hook_before_in_place(torch):
    layer = torch.nn.Linear(2, 2)
    layer.register_full_backward_hook(lambda m, gi, go: None)
    try:
        torch.nn.ReLU(inplace=True)(layer(torch.ones(1, 2, requires_grad=True)))
    except RuntimeError as error:
        return str(error)[:60]


def case_tied_weights(torch):
    model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 2))
    model[1].weight = model[0].weight
    return [table(model), model(torch.ones(1, 2))]


def case_delete_and_replace(torch):
    model = net(torch)
    del model[0].bias
    model[0].register_parameter("bias", None)
    model[4].weight = torch.nn.Parameter(torch.zeros(2, 4))
    model[4].bias = None
    return [table(model), model(torch.randn(5, 3))]


def case_embedding_from_pretrained(torch):
    table_ = torch.nn.Embedding.from_pretrained(torch.ones(4, 2))
    free = torch.nn.Embedding.from_pretrained(torch.ones(4, 2), freeze=False)
    bag = torch.nn.EmbeddingBag.from_pretrained(torch.ones(4, 2))
    i = torch.tensor([[1, 2]])
    return [table(table_), table_(i), table(free), free(i), table(bag), bag(i)]


def case_embedding_max_norm(torch):
    layer = torch.nn.Embedding(4, 2, max_norm=1.0)
    layer(torch.tensor([1]))
    return layer.weight._version > 1


def case_lstm_state(torch):
    lstm = torch.nn.LSTM(2, 3, 2, batch_first=True, bidirectional=True)
    out, (h, c) = lstm(torch.ones(4, 5, 2))
    more, _ = lstm(torch.ones(4, 5, 2), (h, c))
    return [table(lstm), out, h, c, more, len(lstm.all_weights), [len(w) for w in lstm.all_weights]]


def case_packed(torch):
    rnn = torch.nn.utils.rnn
    gru = torch.nn.GRU(2, 3)
    x = torch.ones(4, 2, 2, requires_grad=True)
    packed = rnn.pack_padded_sequence(x, [3, 4], enforce_sorted=False)
    out, h = gru(packed)
    padded, lengths = rnn.pad_packed_sequence(out)
    lstm = torch.nn.LSTM(2, 3)
    _, (h2, _) = lstm(rnn.pack_sequence([torch.ones(3, 2), torch.ones(2, 2)]))
    return [packed.data, out.data, h, padded, lengths, h2, rnn.pad_sequence([x[:, 0], x[:2, 1]], batch_first=True)]


def case_lstm_state_detached_in_place(torch):
    lstm = torch.nn.LSTM(2, 3)
    _, (h, _c) = lstm(torch.ones(5, 2))
    return h.detach_()


def case_attention(torch):
    attention = torch.nn.MultiheadAttention(4, 2, dropout=0.1, batch_first=True)
    x = torch.ones(2, 3, 4, requires_grad=True)
    mask = torch.nn.Transformer.generate_square_subsequent_mask(3)
    return [
        attention(x, x, x),
        attention(x, x + 1, x, attn_mask=mask, need_weights=False),
        attention(x, x, x, key_padding_mask=torch.zeros(2, 3, dtype=torch.bool)),
    ]


def case_weight_norm_old(torch):
    layer = torch.nn.utils.weight_norm(torch.nn.Linear(2, 3))
    made = [table(layer), layer.weight, layer(torch.ones(1, 2))]
    return [*made, table(torch.nn.utils.remove_weight_norm(layer)), layer(torch.ones(1, 2))]


def case_spectral_norm_old(torch):
    layer = torch.nn.utils.spectral_norm(torch.nn.Conv2d(2, 3, 1))
    out = layer(torch.ones(1, 2, 4, 4))
    wrote = layer.weight_u._version
    again = layer.eval()(torch.ones(1, 2, 4, 4))
    return [table(layer), out, again, layer.weight_u._version == wrote]


def case_weight_norm(torch):
    layer = torch.nn.utils.parametrizations.weight_norm(torch.nn.Linear(2, 3))
    return [[n for n, _ in layer.named_parameters()], layer(torch.ones(1, 2)), layer.weight]


def case_spectral_norm(torch):
    layer = torch.nn.utils.parametrizations.spectral_norm(torch.nn.Linear(2, 3))
    names = sorted(n for n, _ in layer.named_parameters())
    return [names, layer(torch.ones(1, 2)), layer.weight, [n for n, _ in layer.named_buffers()]]


def case_own_parametrization(torch):
    class Symmetric(torch.nn.Module):
        def forward(self, w):
            return w.triu() + w.triu(1).transpose(-1, -2)

    layer = torch.nn.Linear(3, 3)
    parametrize = torch.nn.utils.parametrize
    parametrize.register_parametrization(layer, "weight", Symmetric())
    names = [n for n, _ in layer.named_parameters()]
    made = [names, layer.weight, layer(torch.ones(1, 3)), parametrize.is_parametrized(layer, "weight")]
    parametrize.remove_parametrizations(layer, "weight")
    return [*made, sorted(n for n, _ in layer.named_parameters()), layer.weight, parametrize.is_parametrized(layer)]


def case_functional_call(torch):
    layer = torch.nn.Linear(2, 2)
    given = {"weight": torch.ones(2, 2, requires_grad=True) * 2}
    out = torch.func.functional_call(layer, given, (torch.ones(1, 2),))
    return [out, layer.weight]


def case_clip(torch):
    layer = torch.nn.Linear(2, 2)
    layer(torch.ones(1, 2)).sum().backward()
    before = [p.grad._version for p in layer.parameters()]
    norm = torch.nn.utils.clip_grad_norm_(layer.parameters(), 1.0)
    clipped = [p.grad._version > b for p, b in zip(layer.parameters(), before, strict=False)]
    torch.nn.utils.clip_grad_value_(layer.parameters(), 1.0)
    return [norm, clipped, torch.nn.utils.get_total_norm(layer.parameters())]


def case_vector(torch):
    layer = torch.nn.Linear(2, 2)
    vector = torch.nn.utils.parameters_to_vector(layer.parameters())
    torch.nn.utils.vector_to_parameters(vector * 2, layer.parameters())
    return [vector, table(layer), layer(torch.ones(1, 2))]


def case_init(torch):
    init = torch.nn.init
    w = torch.nn.Parameter(torch.empty(3, 3))
    versions_ = []
    for name in (
        "uniform_",
        "normal_",
        "trunc_normal_",
        "ones_",
        "zeros_",
        "eye_",
        "xavier_uniform_",
        "xavier_normal_",
        "kaiming_uniform_",
        "kaiming_normal_",
        "orthogonal_",
    ):
        before = w._version
        versions_.append([name, getattr(init, name)(w) is w, w._version > before])
    return [versions_, init.constant_(w, 1.0) is w, w]


def case_lazy_names(torch):
    return [isinstance(torch.nn.LazyLinear(3), torch.nn.Linear), isinstance(torch.nn.LazyConv2d(3, 1), torch.nn.Conv2d)]


def case_conv_modes(torch):
    x = torch.ones(1, 2, 6, requires_grad=True)
    nn = torch.nn
    return [
        nn.Conv1d(2, 3, 3, padding=1, padding_mode="circular")(x),
        nn.Conv1d(2, 3, 3, padding="same")(x),
        nn.Conv1d(2, 3, 2, padding="same", padding_mode="reflect")(x),
        nn.ConvTranspose1d(2, 3, 3, stride=2)(x, output_size=[14]),
    ]


def case_adaptive_softmax(torch):
    module = torch.nn.AdaptiveLogSoftmaxWithLoss(4, 8, [2, 5])
    out = module(torch.randn(6, 4), torch.tensor([0, 1, 2, 3, 5, 7]))
    return [table(module), out.output, out.loss, module.log_prob(torch.randn(2, 4))]


def case_data_parallel(torch):
    model = torch.nn.DataParallel(torch.nn.Linear(2, 2))
    return [table(model), model(torch.ones(1, 2))]


def case_prune(torch):
    prune = torch.nn.utils.prune
    layer = torch.nn.Linear(2, 2)
    prune.l1_unstructured(layer, "weight", amount=0.5)
    made = [table(layer), layer.weight, layer(torch.ones(1, 2))]
    prune.remove(layer, "weight")
    return [*made, sorted(n for n, _ in layer.named_parameters()), layer(torch.ones(1, 2)), layer.weight]
