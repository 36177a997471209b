"""`backward()` and `torch.autograd`: decodes the arguments and calls the engine."""

from __future__ import annotations

from collections.abc import Sequence

from analyzers.domain import truth
from analyzers.domain.join import reach_of
from analyzers.domain.values import FALSE, NONE, Ref, Tup, Unknown, Value
from analyzers.machine.autograd.backward import run_backward
from analyzers.machine.autograd.grad import differentiate
from analyzers.machine.core.arguments import Args
from analyzers.machine.core.havoc import havoc_value
from analyzers.machine.core.machine import Machine
from analyzers.machine.core.naming import argument_name, subject_name
from analyzers.machine.core.registries import answers
from analyzers.machine.libraries.torch.tensor_attributes import method
from analyzers.machine.objects.iteration import stream_of
from analyzers.machine.objects.truth import truth_of


def truth_value(m: Machine, value: Value) -> truth.Truth:
    return truth_of(m, value)[0]


def _many(m: Machine, value: Value) -> list[Value]:
    return tensor_list(m, value) or []


def _paired(m: Machine, tensors: Sequence[Value], gradients: Value) -> list[tuple[Value, Value]]:
    given = _many(m, gradients)
    return [(t, given[i] if i < len(given) else NONE) for i, t in enumerate(tensors)]


@answers("torch.autograd.backward")
def _autograd_backward(m: Machine, args: Args) -> Value:
    tensors = _many(m, args.get(0, "tensors"))
    create = truth_value(m, args.get(3, "create_graph", FALSE))
    retain_value = args.get(2, "retain_graph", NONE)
    retain = create if retain_value == NONE else truth_value(m, retain_value)
    inputs = args.kw.get("inputs", NONE)
    name = argument_name(m)
    run_backward(
        m,
        _paired(m, tensors, args.get(1, "grad_tensors")),
        retain,
        create,
        None if inputs == NONE else _many(m, inputs),
        name,
    )
    return NONE


@answers("torch.autograd.grad")
def _autograd_grad(m: Machine, args: Args) -> Value:
    m.record.trains = True
    outputs = _many(m, args.get(0, "outputs"))
    inputs_value = args.get(1, "inputs")
    inputs = _many(m, inputs_value)
    create = truth_value(m, args.get(4, "create_graph", FALSE))
    retain_value = args.get(3, "retain_graph", NONE)
    retain = create if retain_value == NONE else truth_value(m, retain_value)
    fills = truth_value(m, args.kw.get("materialize_grads", FALSE))
    materialize = fills is True
    allow_value = args.get(5, "allow_unused", NONE)
    if len(args.pos) <= 5 and "allow_unused" in args.kw:
        allow_value = args.kw["allow_unused"]
    allow: truth.Truth = fills if allow_value == NONE else truth_value(m, allow_value)
    pairs = _paired(m, outputs, args.get(2, "grad_outputs"))
    if "is_grads_batched" in args.kw:
        pairs = [(t, Unknown()) for t, _ in pairs]
    seen = [i for i in inputs if not isinstance(i, Unknown)]
    if args.open or len(seen) < len(inputs):
        if m.config.presumes and seen and not args.open:
            # Whatever else is asked for, what is known has to be in the graph.
            differentiate(m, pairs, seen, retain, create, allow, materialize, argument_name(m))
        for value in [*outputs, *inputs]:
            havoc_value(m, value)
        return Unknown(None, None, m.trail("grad", m.parents(outputs)), reach_of(*outputs))
    results = differentiate(m, pairs, inputs, retain, create, allow, materialize, argument_name(m))
    return Tup(tuple(results))


BACKWARD = ("gradient", "retain_graph", "create_graph", "inputs")
"""The parameters of `Tensor.backward`."""


@method("backward")
def _backward(m: Machine, owner: Ref, args: Args) -> Value:
    unknown = next((name for name in args.kw if name not in BACKWARD), None)
    if unknown is not None:
        raise m.throw("TypeError", f"Tensor.backward() got an unexpected keyword argument '{unknown}'")
    gradient = args.get(0, "gradient")
    create_value = args.get(2, "create_graph", FALSE)
    retain_value = args.get(1, "retain_graph", NONE)
    create = truth_value(m, create_value)
    retain = create if retain_value == NONE else truth_value(m, retain_value)
    inputs_value = args.get(3, "inputs")
    run_backward(m, [(owner, gradient)], retain, create, tensor_list(m, inputs_value), subject_name(m, owner))
    return NONE


def tensor_list(m: Machine, value: Value) -> list[Value] | None:
    """The tensors of an argument that is one, or a sequence of them; None if there is none."""
    if value == NONE:
        return None
    if m.tensor(value) is not None:
        return [value]
    stream = stream_of(m, value).drained(m)
    return [*stream.items, *((stream.rest,) if stream.rest is not None else ())]
