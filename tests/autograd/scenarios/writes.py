"""In-place writes: who may be written, what a write does to versions and to the graph, and which views become stale."""

from __future__ import annotations

from tests.autograd.api import Api
from tests.autograd.scenarios.registry import Scenarios

SCENARIOS = scenario = Scenarios()


@scenario
def every_write_counts(api: Api) -> None:
    x = api.tensor(2, 2)
    view, cut, other = api.item(x, 0), api.detach(x), api.data(x)
    api.op("add_", x, 1)
    api.op("zero_", view)
    api.op("t_", x)
    api.op("copy_", cut, api.tensor(2, 2))
    api.op("fill_", other, 2)
    api.op("masked_fill_", x, api.op("gt", x, 0), 1)
    for name, tensor in {"x": x, "view": view, "cut": cut, "other": other}.items():
        api.see(name, tensor)


@scenario
def leaves_are_not_written(api: Api) -> None:
    w = api.tensor(3, grad=True)
    api.attempt("the leaf", lambda: api.op("mul_", w, 2))
    api.attempt("a view of it", lambda: api.op("mul_", api.item(w, slice(0, 2)), 2))
    api.attempt("an item of it", lambda: api.set_item(w, 0, 1.0))
    with api.mode(False):
        api.op("mul_", w, 2)
        api.set_item(w, 0, 1.0)
    api.op("mul_", api.detach(w), 2)
    api.op("mul_", api.data(w), 2)
    api.see("w", w)


@scenario
def a_write_joins_the_graph(api: Api) -> None:
    x, w = api.tensor(3), api.tensor(3, grad=True)
    api.op("add_", x, w)
    api.see("x", x)
    api.see_graph("x", x)
    api.op("mul_", x, 2)
    api.see_graph("x", x)
    api.op("zero_", x)
    api.see_graph("x", x)
    api.backward(api.op("sum", x))
    api.see_grad("w", w)


@scenario
def a_write_through_a_view(api: Api) -> None:
    base, w = api.tensor(4), api.tensor(2, grad=True)
    before, written = api.item(base, slice(2, 4)), api.item(base, slice(0, 2))
    api.op("mul_", written, w)
    for name, tensor in {"base": base, "written": written, "before": before}.items():
        api.see(name, tensor)
        api.see_graph(name, tensor)
    api.backward(api.op("sum", base))
    api.attempt("again", lambda: api.backward(api.op("sum", base)))


@scenario
def an_item_is_set(api: Api) -> None:
    h, w = api.op("mul", api.tensor(3, 2, grad=True), 1), api.tensor(2, grad=True)
    api.set_item(h, 0, w)
    api.see_graph("a row", h)
    api.set_item(h, (slice(None), 1), 0.0)
    api.see_graph("a column", h)
    api.set_item(h, slice(None), w)
    api.see_graph("all", h)
    api.set_item(h, api.op("gt", h, 0), 1.0)
    api.see_graph("a mask", h)
    api.set_item(h, [0, 1], w)
    api.see("h", h)
    api.backward(api.op("sum", h))
    api.see_grad("w", w)


@scenario
def an_operand_is_written_after_it_was_saved(api: Api) -> None:
    x = api.tensor(3, grad=True)
    for place in ("operand", "result", "detached", "data"):
        h = api.op("mul", x, 2)
        y = api.op("exp", api.op("sin", h))
        written = {"operand": h, "result": y, "detached": api.detach(h), "data": api.data(h)}[place]
        api.op("add_", written, 1)
        api.attempt(place, lambda y=y: api.backward(api.op("sum", y)))


@scenario
def a_write_before_the_save_is_no_harm(api: Api) -> None:
    y = api.op("mul", api.tensor(3, grad=True), 2)
    api.op("add_", y, 1)
    z = api.op("pow", y, 2)
    api.attempt("before", lambda: api.backward(api.op("sum", z), retain=True))
    api.op("add_", y, 1)
    api.attempt("after", lambda: api.backward(api.op("sum", z)))


@scenario
def a_view_of_what_was_saved(api: Api) -> None:
    w, base = api.tensor(2, grad=True), api.tensor(4, 2)
    y = api.op("mul", w, api.item(base, 0))
    api.set_item(base, 3, 2.0)
    api.attempt("another row", lambda: api.backward(api.op("sum", y)))


@scenario
def its_own_operand(api: Api) -> None:
    for name in ("mul_", "exp_", "sin_", "relu_", "pow_"):
        y = api.op("mul", api.tensor(3, grad=True), 2)
        first = (y, y) if name == "mul_" else (y, 2) if name == "pow_" else (y,)
        api.op(name, *first)
        api.attempt(name, lambda y=y: api.backward(api.op("sum", y)))
        y = api.op("exp", api.op("mul", api.tensor(3, grad=True), 2))
        again = (y, y) if name == "mul_" else (y, 2) if name == "pow_" else (y,)
        api.op(name, *again)
        api.attempt(f"exp and {name}", lambda y=y: api.backward(api.op("sum", y)))


@scenario
def pieces_are_not_written(api: Api) -> None:
    for name in ("chunk", "split", "unbind", "tensor_split"):
        h = api.op("mul", api.tensor(4, 2, grad=True), 2)
        pieces = api.op(name, h) if name == "unbind" else api.op(name, h, 2)
        api.attempt(name, lambda pieces=pieces: api.op("mul_", pieces[1], 2))
        with api.mode(False):
            api.op("mul_", pieces[0], 2)
        api.attempt(f"{name}, used", lambda pieces=pieces: api.op("mul", pieces[1], 2))


@scenario
def a_view_made_without_grad_becomes_stale(api: Api) -> None:
    w = api.tensor(4, grad=True)
    with api.mode(False):
        view = api.item(w, slice(0, 2))
    api.see("view", view)
    api.attempt("used", lambda: api.op("mul", view, 2))
    api.attempt("written", lambda: api.op("mul_", view, 2))
    with api.mode(False):
        api.op("add_", w, 1)
        api.attempt("used without grad", lambda: api.op("mul", view, 2))
    api.attempt("used", lambda: api.op("mul", view, 2))
    api.attempt("backward", lambda: api.backward(api.op("sum", view)))


@scenario
def elements_that_share_memory(api: Api) -> None:
    wide = api.op("expand", api.tensor(3, 1), 3, 4)
    api.attempt("added to", lambda: api.op("add_", wide, 1))
    api.attempt("zeroed", lambda: api.op("zero_", wide))
    api.attempt("a column", lambda: api.op("add_", api.item(wide, (slice(None), 0)), 1))
