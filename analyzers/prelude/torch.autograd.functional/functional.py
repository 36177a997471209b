import autograd_machine
import torch


def _as_tuple(value):
    return value if isinstance(value, tuple) else tuple(value) if isinstance(value, list) else (value,)


def _inputs(inputs, create_graph):
    """What the function sees: views with a graph to the inputs if a graph is requested, otherwise detached leaves."""
    if create_graph:
        return tuple([t.view_as(t) if t.requires_grad else t.detach().requires_grad_() for t in inputs])
    return tuple([t.detach().requires_grad_() for t in inputs])


def _result(values, create_graph, single):
    if not create_graph:
        values = tuple([v.detach() for v in values])
    return values[0] if single else tuple(values)


def _found(outputs, inputs, grads, create_graph, retain_graph):
    """The gradients; None for an input that was not used."""
    wanted = [o for o in outputs if o.requires_grad]
    given = None if grads is None else [g for o, g in zip(outputs, grads) if o.requires_grad]
    if autograd_machine.surely(len(wanted) == 0):
        return [None for _ in inputs]
    return torch.autograd.grad(wanted, inputs, given, retain_graph, create_graph, allow_unused=True)


def _gradients(outputs, inputs, grads, create_graph, retain_graph=None):
    found = _found(outputs, inputs, grads, create_graph, retain_graph)
    return tuple([torch.zeros_like(i) if autograd_machine.surely(g is None) else g for g, i in zip(found, inputs)])


def _rows(out, given, create_graph):
    """One backward per element of an output."""
    parts = [[] for _ in given]
    for j in range(out.nelement()):
        found = _gradients((out.reshape(-1)[j],), given, None, create_graph, True)
        for part, g in zip(parts, found):
            part.append(g)
    return [torch.stack(part, 0).view(out.size() + i.size()) for part, i in zip(parts, given)]


def jacobian(func, inputs, create_graph=False, strict=False, vectorize=False, strategy="reverse-mode"):
    single = isinstance(inputs, torch.Tensor)
    with torch.enable_grad():
        given = _inputs(_as_tuple(inputs), create_graph)
        result = func(*given)
        rows = [_result(_rows(out, given, create_graph), create_graph, single) for out in _as_tuple(result)]
    return tuple(rows) if isinstance(result, tuple) else rows[0]


def hessian(func, inputs, create_graph=False, strict=False, vectorize=False, outer_jacobian_strategy="reverse-mode"):
    single = isinstance(inputs, torch.Tensor)

    def slope(*given):
        return jacobian(lambda *inner: func(*inner).squeeze(), given, create_graph=True)

    rows = jacobian(slope, _as_tuple(inputs), create_graph=create_graph)
    return rows[0][0] if single else rows


def vjp(func, inputs, v=None, create_graph=False, strict=False):
    single = isinstance(inputs, torch.Tensor)
    with torch.enable_grad():
        given = _inputs(_as_tuple(inputs), create_graph)
        result = func(*given)
        outputs = _as_tuple(result)
        found = _gradients(outputs, given, None if v is None else _as_tuple(v), create_graph)
    return _result(outputs, create_graph, not isinstance(result, tuple)), _result(found, create_graph, single)


def _forward_by_backward(outputs, given, v, create_graph):
    """The gradient is linear in the incoming gradient, and is differentiated with respect to that."""
    zeros = tuple([torch.zeros_like(o, requires_grad=True) for o in outputs])
    first = _gradients(outputs, given, zeros, True)
    return _gradients(first, zeros, None if v is None else _as_tuple(v), create_graph)


def jvp(func, inputs, v=None, create_graph=False, strict=False):
    with torch.enable_grad():
        given = _inputs(_as_tuple(inputs), create_graph)
        result = func(*given)
        outputs = _as_tuple(result)
        found = _forward_by_backward(outputs, given, v, create_graph)
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
    single = isinstance(inputs, torch.Tensor)
    with torch.enable_grad():
        given = _inputs(_as_tuple(inputs), create_graph)
        output = func(*given)
        first = _gradients((output,), given, None, True)
        found = _forward_by_backward(first, given, v, create_graph)
    return _result((output,), create_graph, True), _result(found, create_graph, single)
