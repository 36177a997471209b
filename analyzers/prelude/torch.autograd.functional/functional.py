import torch


def _as_tuple(value):
    return value if isinstance(value, tuple) else tuple(value) if isinstance(value, list) else (value,)


def _inputs(inputs, create_graph):
    """What the function sees: views with a graph to the inputs if a graph is wanted, else cut off."""
    if create_graph:
        return tuple([t.view_as(t) if t.requires_grad else t.detach().requires_grad_() for t in inputs])
    return tuple([t.detach().requires_grad_() for t in inputs])


def _result(values, create_graph, single):
    if not create_graph:
        values = tuple([v.detach() for v in values])
    return values[0] if single else tuple(values)


def _gradients(outputs, inputs, grads, create_graph):
    wanted = [o for o in outputs if o.requires_grad]
    given = None if grads is None else [g for o, g in zip(outputs, grads) if o.requires_grad]
    if len(wanted) == 0:
        return tuple([torch.zeros_like(i) for i in inputs])
    found = torch.autograd.grad(wanted, inputs, given, create_graph=create_graph, allow_unused=True)
    return tuple([torch.zeros_like(i) if g is None else g for g, i in zip(found, inputs)])


def jacobian(func, inputs, create_graph=False, strict=False, vectorize=False, strategy="reverse-mode"):
    single = isinstance(inputs, torch.Tensor)
    with torch.enable_grad():
        given = _inputs(_as_tuple(inputs), create_graph)
        result = func(*given)
        outputs = _as_tuple(result)
        rows = []
        for out in outputs:
            row = []
            for i, g in zip(given, _gradients((out.sum(),), given, None, create_graph or True)):
                full = (g * torch.ones_like(out).reshape(*out.shape, *[1] * i.dim()))
                row.append(full)
            rows.append(_result(row, create_graph, single))
    return tuple(rows) if isinstance(result, tuple) else rows[0]


def hessian(func, inputs, create_graph=False, strict=False, vectorize=False, outer_jacobian_strategy="reverse-mode"):
    single = isinstance(inputs, torch.Tensor)
    with torch.enable_grad():
        given = _inputs(_as_tuple(inputs), create_graph)
        first = _gradients((func(*given),), given, None, True)
        rows = []
        for g, i in zip(first, given):
            second = _gradients((g.sum(),), given, None, True)
            row = [s * torch.ones_like(i).reshape(*i.shape, *[1] * s.dim()) for s in second]
            rows.append(_result(row, create_graph, single))
    return rows[0] if single else tuple(rows)


def vjp(func, inputs, v=None, create_graph=False, strict=False):
    single = isinstance(inputs, torch.Tensor)
    with torch.enable_grad():
        given = _inputs(_as_tuple(inputs), create_graph)
        result = func(*given)
        outputs = _as_tuple(result)
        found = _gradients(outputs, given, None if v is None else _as_tuple(v), create_graph)
    return _result(outputs, create_graph, not isinstance(result, tuple)), _result(found, create_graph, single)


def jvp(func, inputs, v=None, create_graph=False, strict=False):
    """By two backwards: the gradient is linear in what it is given, and that is differentiated in turn."""
    with torch.enable_grad():
        given = _inputs(_as_tuple(inputs), create_graph)
        result = func(*given)
        outputs = _as_tuple(result)
        zeros = tuple([torch.zeros_like(o, requires_grad=True) for o in outputs])
        first = _gradients(outputs, given, zeros, True)
        found = _gradients(first, zeros, None if v is None else _as_tuple(v), create_graph)
    single = not isinstance(result, tuple)
    return _result(outputs, create_graph, single), _result(found, create_graph, single)


def vhp(func, inputs, v=None, create_graph=False, strict=False):
    single = isinstance(inputs, torch.Tensor)
    with torch.enable_grad():
        given = _inputs(_as_tuple(inputs), create_graph)
        output = func(*given)
        first = _gradients((output,), given, None, True)
        found = _gradients(first, given, None if v is None else _as_tuple(v), create_graph)
    return _result((output,), create_graph, True), _result(found, create_graph, single)


def hvp(func, inputs, v=None, create_graph=False, strict=False):
    return vhp(func, inputs, v, create_graph, strict)
