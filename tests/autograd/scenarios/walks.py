"""Backward: roots, freed graphs, named inputs, what fills `.grad`, gradients of gradients, hooks."""

from __future__ import annotations

from tests.autograd.api import Api, Handle
from tests.autograd.scenarios.registry import Scenarios

SCENARIOS = scenario = Scenarios()


@scenario
def roots(api: Api) -> None:
    x = api.tensor(3, grad=True)
    y = api.op("mul", x, 2)
    api.attempt("no graph", lambda: api.backward(api.tensor(3)))
    api.attempt("many elements", lambda: api.backward(y))
    api.attempt("a gradient of other sizes", lambda: api.backward(y, gradient=api.tensor(2)))
    api.attempt("a gradient", lambda: api.backward(y, gradient=api.tensor(3)))
    api.attempt("one element", lambda: api.backward(api.op("mul", api.tensor(1, 1, grad=True), 2)))
    api.attempt("a leaf", lambda: api.backward(api.tensor(1, grad=True)))
    api.attempt("complex", lambda: api.backward(api.tensor(1, grad=True, dtype="complex64")))
    api.see_grad("x", x)


@scenario
def a_graph_is_freed(api: Api) -> None:
    x = api.tensor(3, grad=True)
    for name in ("mul", "add", "exp", "sum", "relu"):
        y = api.op(name, x, x) if name in {"mul", "add"} else api.op(name, x)
        loss = api.op("sum", y)
        api.attempt(f"{name}, kept", lambda loss=loss: api.backward(loss, retain=True))
        api.attempt(name, lambda loss=loss: api.backward(loss))
        api.attempt(f"{name}, again", lambda loss=loss: api.backward(loss))


@scenario
def a_part_is_freed(api: Api) -> None:
    w = api.tensor(3, grad=True)
    shared = api.op("exp", w)
    one, other = api.op("sum", api.op("sin", shared)), api.op("sum", api.op("mul", shared, 2))
    api.backward(one)
    api.attempt("the other loss", lambda: api.backward(other))
    api.attempt("another graph", lambda: api.backward(api.op("sum", api.op("exp", w))))


@scenario
def freed_wins_over_modified(api: Api) -> None:
    h = api.op("mul", api.tensor(3, grad=True), 2)
    loss = api.op("sum", api.op("sin", h))
    api.backward(loss)
    api.op("add_", h, 1)
    api.attempt("both", lambda: api.backward(loss))


@scenario
def what_ran_before_an_error_is_freed(api: Api) -> None:
    w = api.tensor(3, grad=True)
    h = api.op("exp", w)
    g = api.op("sin", h)
    loss = api.op("sum", api.op("exp", g))
    api.op("add_", h, 1)
    api.attempt("modified", lambda: api.backward(loss))
    api.attempt("again", lambda: api.backward(loss))
    api.see_grad("w", w)


@scenario
def gradients_add_up(api: Api) -> None:
    w, v = api.tensor(3, grad=True), api.tensor(3, grad=True)
    frozen, h = api.tensor(3), api.op("mul", w, 2)
    api.see_grad("w", w)
    for _ in range(2):
        api.backward(api.op("sum", api.op("mul", w, frozen)))
        api.see_grad("w", w)
    for name, tensor in {"v": v, "frozen": frozen, "h": h}.items():
        api.see_grad(name, tensor)
    api.backward(api.op("sum", w), api.op("sum", v))
    api.see_grad("v", v)


@scenario
def a_gradient_kept_by_no_leaf(api: Api) -> None:
    w = api.tensor(2, 3, grad=True)
    h = api.op("exp", w)
    api.retain_grad(h)
    api.backward(api.op("sum", h))
    api.see_grad("h", h)
    api.see_grad("w", w)


@scenario
def named_inputs(api: Api) -> None:
    w, v, out = api.tensor(3, grad=True), api.tensor(3, grad=True), api.tensor(3, grad=True)
    loss = api.op("sum", api.op("mul", w, api.op("exp", v)))
    api.backward(loss, inputs=[v], retain=True)
    api.see_grad("w", w)
    api.see_grad("v", v)
    api.attempt("none", lambda: api.backward(loss, inputs=[]))
    api.attempt("without grad", lambda: api.backward(loss, inputs=[api.tensor(3)]))
    api.backward(loss, inputs=[out], retain=True)
    api.see_grad("out", out)
    api.backward(loss, inputs=[w])
    api.attempt("the rest", lambda: api.backward(loss, inputs=[v]))


@scenario
def gradients_as_results(api: Api) -> None:
    x, out = api.tensor(3, grad=True), api.tensor(3, grad=True)
    loss = api.op("sum", api.op("exp", x))
    (found,) = api.grad([loss], [x], retain=True)
    api.see("found", found)
    api.see_grad("x", x)
    api.attempt("unused", lambda: api.grad([loss], [out], retain=True))
    api.see_missing("allowed", api.grad([loss], [out], retain=True, unused=True)[0])
    api.see("made", api.grad([loss], [out], retain=True, materialize=True)[0])
    api.attempt("without grad", lambda: api.grad([loss], [api.tensor(3)]))
    api.attempt("last", lambda: api.grad([loss], [x]))
    api.attempt("freed", lambda: api.grad([loss], [x]))


@scenario
def only_what_ran_is_freed(api: Api) -> None:
    w = api.tensor(3, grad=True)
    h = api.op("exp", w)
    loss = api.op("sum", api.op("sin", h))
    api.grad([loss], [h])
    api.attempt("below", lambda: api.backward(api.op("sum", h), retain=True))
    api.attempt("above", lambda: api.grad([loss], [w]))


@scenario
def gradients_of_gradients(api: Api) -> None:
    x = api.tensor(3, grad=True)
    for name in ("exp", "sin", "relu", "neg", "sigmoid", "square"):
        loss = api.op("sum", api.op(name, x) if name != "square" else api.op("mul", x, x))
        (first,) = api.grad([loss], [x], create=True)
        api.see(name, first)
        api.see_graph(name, first)
        api.attempt(name, lambda first=first: api.grad([api.op("sum", first)], [x]))


@scenario
def a_backward_with_a_graph_of_its_own(api: Api) -> None:
    x = api.tensor(3, grad=True)
    loss = api.op("sum", api.op("mul", x, x))
    api.backward(loss, create=True)
    api.see_grad("x", x)
    api.attempt("again", lambda: api.backward(loss))
    api.see_grad("x", x)


@scenario
def what_has_no_second_derivative(api: Api) -> None:
    x = api.tensor(2, 3, grad=True)
    found = api.op("torch.histc", api.op("mul", x, 2))
    api.see("histc", found)
    median = api.op("torch.mode", x)[0]
    api.see_graph("mode", median)
    api.attempt("mode", lambda: api.backward(api.op("sum", median)))


@scenario
def hooks_see_gradients_and_change_them(api: Api) -> None:
    seen: list[str] = []
    w = api.tensor(3, grad=True)
    h = api.op("exp", w)

    def first(gradient: Handle) -> Handle:
        seen.append("first")
        api.see("given", gradient)
        return api.op("mul", gradient, 2)

    def second(gradient: Handle) -> Handle:
        seen.append("second")

    api.hook(h, first)
    api.hook(h, second)
    api.hook(w, second)
    api.hook_after(w, lambda leaf: api.see_grad("after", leaf))
    api.backward(api.op("sum", h))
    api.log.append(["order", list(seen)])
    api.see_grad("w", w)


@scenario
def a_hook_of_other_sizes(api: Api) -> None:
    w = api.tensor(3, grad=True)
    api.hook(w, lambda gradient: api.op("sum", gradient))
    api.attempt("backward", lambda: api.backward(api.op("sum", api.op("exp", w))))


@scenario
def hooks_on_saved_tensors(api: Api) -> None:
    calls: list[str] = []

    def pack(tensor: Handle) -> Handle:
        calls.append("pack")
        return api.op("clone", tensor)

    def unpack(kept: Handle) -> Handle:
        calls.append("unpack")
        return kept

    w = api.tensor(3, grad=True)
    h = api.op("mul", w, 2)
    with api.packing(pack, unpack):
        y = api.op("sin", h)
    api.log.append(["packed", list(calls)])
    api.op("add_", h, 1)
    api.attempt("written", lambda: api.backward(api.op("sum", y)))
    api.log.append(["unpacked", list(calls)])
