import autograd_machine
import torch


def functional_call(module, parameter_and_buffer_dicts, args=None, kwargs=None, *, tie_weights=True, strict=False):
    """The module runs with the given tensors in place of its own, which are then restored."""
    given = parameter_and_buffer_dicts
    if isinstance(given, (tuple, list)):
        merged = {}
        for part in given:
            merged.update(part)
        given = merged
    old = []
    for path, value in given.items():
        owner, _, name = path.rpartition(".")
        owner = module.get_submodule(owner)
        table = owner._parameters if name in owner._parameters else owner._buffers
        if name not in table:
            if strict:
                raise RuntimeError("Unexpected key(s): " + path)
            continue
        old.append((table, name, table[name]))
        table[name] = value
    args = () if args is None else args if isinstance(args, tuple) else (args,)
    result = module(*args, **({} if kwargs is None else kwargs))
    for table, name, value in old:
        table[name] = value
    return result


def _picked(args, argnums):
    return [args[i] for i in argnums] if isinstance(argnums, tuple) else args[argnums]


def _leaves(value):
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    return [t for v in value for t in _leaves(v)]


def _like(value, tensors):
    """`value` with its tensors, in order, replaced by the next of `tensors`."""
    if isinstance(value, torch.Tensor):
        return next(tensors)
    if isinstance(value, dict):
        return {k: _like(v, tensors) for k, v in value.items()}
    return tuple([_like(v, tensors) for v in value])


def _inside(tensors):
    """What the function sees: nothing outside asks for the gradients of these."""
    return [autograd_machine.inside(t) if t.requires_grad else t.detach().requires_grad_() for t in tensors]


def grad_and_value(func, argnums=0, has_aux=False):
    """Results keep the graph to anything that required grad outside."""

    def wrapped(*args, **kwargs):
        recorded = torch.is_grad_enabled()
        with torch.enable_grad():
            picked = _picked(args, argnums)
            inputs = _inside(_leaves(picked))
            replaced = _like(picked, iter(inputs))
            args = list(args)
            if isinstance(argnums, tuple):
                for i, value in zip(argnums, replaced):
                    args[i] = value
            else:
                args[argnums] = replaced
            result = func(*args, **kwargs)
            value = result[0] if has_aux else result
            if autograd_machine.surely(not value.requires_grad):
                found = [None for _ in inputs]
            else:
                found = torch.autograd.grad(value, inputs, create_graph=True, allow_unused=True)
            found = [torch.zeros_like(i) if g is None else autograd_machine.outside(g, inputs)
                     for g, i in zip(found, inputs)]
            if not recorded:
                found = [g.detach() for g in found]
            found = _like(picked, iter(found))
            value = autograd_machine.outside(value, inputs) if recorded else value.detach()
        return (found, (value, result[1])) if has_aux else (found, value)

    return wrapped


def grad(func, argnums=0, has_aux=False):
    both = grad_and_value(func, argnums, has_aux)

    def wrapped(*args, **kwargs):
        found, value = both(*args, **kwargs)
        return (found, value[1]) if has_aux else found

    return wrapped


def vmap(func, in_dims=0, out_dims=0, randomness="error", *, chunk_size=None):
    """A tensor has no batch dimension inside but does outside, so nothing is claimed about the result."""

    def wrapped(*args, **kwargs):
        return autograd_machine.unknown(func, args, kwargs)

    return wrapped


def _shaped(value, shape):
    """Each tensor behind an unknown operator, with the sizes of the function's result prepended."""
    if isinstance(value, torch.Tensor):
        return autograd_machine.spread(value, shape)
    if isinstance(value, dict):
        return {k: _shaped(v, shape) for k, v in value.items()}
    return tuple([_shaped(v, shape) for v in value])


def jacrev(func, argnums=0, *, has_aux=False, chunk_size=None, _preallocate_and_copy=False):
    """The gradient of the sum determines the graph; a result other than a single tensor is not followed."""

    def wrapped(*args, **kwargs):
        shapes = []

        def summed(*args, **kwargs):
            result = func(*args, **kwargs)
            first = result[0] if has_aux else result
            if not isinstance(first, torch.Tensor):
                return autograd_machine.unknown(first)
            shapes.append(first.shape)
            return (first.sum(), result[1]) if has_aux else first.sum()

        found = grad(summed, argnums, has_aux)(*args, **kwargs)
        if len(shapes) == 0:
            return autograd_machine.unknown(func, args, kwargs)
        return (_shaped(found[0], shapes[0]), found[1]) if has_aux else _shaped(found, shapes[0])

    return wrapped


def jacfwd(func, argnums=0, has_aux=False, *, randomness="error"):
    """In forward mode, a linear function may produce a graph where reverse mode does not."""
    backward = jacrev(func, argnums, has_aux=has_aux)

    def wrapped(*args, **kwargs):
        found = backward(*args, **kwargs)
        first = found[0] if has_aux else found
        if isinstance(first, torch.Tensor) and autograd_machine.surely(first.requires_grad):
            return found
        return autograd_machine.unknown(func, args, kwargs)

    return wrapped


def hessian(func, argnums=0):
    return jacrev(jacrev(func, argnums), argnums)


def vjp(func, *primals, has_aux=False):
    with torch.enable_grad():
        inputs = _inside(_leaves(primals))
        result = func(*_like(primals, iter(inputs)))
    output = result[0] if has_aux else result

    def pull(cotangents):
        with torch.enable_grad():
            found = torch.autograd.grad(output, inputs, cotangents, create_graph=True, allow_unused=True)
            found = [torch.zeros_like(i) if g is None else autograd_machine.outside(g, inputs)
                     for g, i in zip(found, inputs)]
        return _like(primals, iter(found))

    told = autograd_machine.outside(output, inputs) if isinstance(output, torch.Tensor) else output
    return (told, pull, result[1]) if has_aux else (told, pull)


def jvp(func, primals, tangents, *, strict=False, has_aux=False):
    result = func(*primals)
    return result, autograd_machine.unknown(func, primals, tangents)


def functionalize(func, *, remove="mutations"):
    return func


def stack_module_state(models):
    names = [name for name, _ in models[0].named_parameters()]
    stacked = {}
    for name in names:
        stacked[name] = torch.stack([m.get_parameter(name) for m in models]).detach().requires_grad_()
    buffers = {}
    for name, _ in models[0].named_buffers():
        buffers[name] = torch.stack([m.get_buffer(name) for m in models]).detach()
    return stacked, buffers
