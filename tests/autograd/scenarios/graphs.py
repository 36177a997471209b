"""How results join the graph: flags, modes, views, what leaves the graph again."""

from __future__ import annotations

from tests.autograd.api import Api
from tests.autograd.scenarios.registry import Scenarios

SCENARIOS = scenario = Scenarios()


@scenario
def a_result_requires_what_an_operand_does(api: Api) -> None:
    x, w = api.tensor(3), api.tensor(3, grad=True)
    y = api.op("mul", x, w)
    for name, tensor in {"x": x, "w": w, "y": y, "x + x": api.op("add", x, x)}.items():
        api.see(name, tensor)
        api.see_graph(name, tensor)


@scenario
def the_graph_of_a_small_network(api: Api) -> None:
    x, w, b = api.tensor(2, 3), api.tensor(4, 3, grad=True), api.tensor(4, grad=True)
    h = api.op("torch.nn.functional.linear", x, w, b)
    y = api.op("sum", api.op("add", api.op("torch.relu", h), api.op("mul", h, h)))
    api.see("h", h)
    api.see_graph("y", y)


@scenario
def several_results_of_one_node(api: Api) -> None:
    x = api.tensor(4, 3, grad=True)
    values, places = api.op("max", x, 1)
    api.see("values", values)
    api.see("places", places)
    pieces = api.op("unbind", x)
    api.see("last", pieces[3])
    api.see_graph("stacked", api.op("torch.stack", list(pieces)))


@scenario
def integers_and_comparisons_end_the_graph(api: Api) -> None:
    x = api.tensor(3, grad=True)
    for name in ("argmax", "gt", "round", "sign"):
        api.see(name, api.op(name, x, 0) if name == "gt" else api.op(name, x))
    api.see("long", api.op("to", x, api.dtype("int64")))


@scenario
def grad_mode_decides_who_joins(api: Api) -> None:
    w = api.tensor(3, grad=True)
    with api.mode(False):
        y = api.op("mul", w, 2)
        api.see("y", y)
        with api.mode(True):
            api.see("again", api.op("mul", w, 2))
        api.see("view", api.item(w, 0))
        api.op("add_", w, 1)
    api.see("w", w)
    api.attempt("backward", lambda: api.backward(api.op("sum", y)))


@scenario
def inference_tensors(api: Api) -> None:
    w = api.tensor(3, grad=True)
    with api.mode(False, inference=True):
        t = api.op("mul", w, 2)
        api.op("add_", t, 1)
    api.see("t", t)
    api.see("sum", api.op("add", t, w))
    api.attempt("clone", lambda: api.op("add_", api.op("clone", t), 1))
    api.see("slice", api.item(t, slice(0, 2)))
    api.attempt("saved", lambda: api.op("mul", t, w))
    api.attempt("written", lambda: api.op("add_", t, 1))
    api.attempt("flag", lambda: api.flag(t, True))


@scenario
def detach_and_data(api: Api) -> None:
    y = api.op("exp", api.tensor(3, grad=True))
    for name, cut in {"detach": api.detach(y), "data": api.data(y)}.items():
        api.see(name, cut)
        api.see_same(name, cut, y)
    api.see_same("view", api.item(y, slice(0, 2)), y)
    api.see_same("clone", api.op("clone", y), y)


@scenario
def views_share_the_counter(api: Api) -> None:
    x = api.op("mul", api.tensor(2, 6, grad=True), 1)
    made = {
        "view": api.op("view", x, 12),
        "row": api.item(x, 1),
        "column": api.item(x, (slice(None), 0)),
        "turned": api.op("t", x),
        "wider": api.op("unsqueeze", x, 0),
        "narrow": api.op("narrow", x, 1, 2, 3),
        "expanded": api.op("expand", x, 4, 2, 6),
        "reshaped": api.op("reshape", x, (3, 4)),
    }
    api.op("add_", x, 1)
    for name, view in made.items():
        api.see(name, view)
        api.see_graph(name, view)
        api.see_same(name, view, x)


@scenario
def a_cast_that_changes_nothing_is_the_tensor_itself(api: Api) -> None:
    x = api.tensor(3, grad=True)
    for name, cast in {
        "wider": api.op("to", x, api.dtype("float64")),
        "to": api.op("to", x, api.dtype("float32")),
        "copied": api.op("to", x, api.dtype("float32"), copy=True),
        "contiguous": api.op("contiguous", x),
        "as": api.op("type_as", x, api.tensor(1, dtype="float64")),
    }.items():
        api.see(name, cast)
        api.see_same(name, cast, x)


@scenario
def flags_of_leaves(api: Api) -> None:
    x = api.tensor(3)
    api.flag(x, True)
    api.see("on", x)
    api.flag(x, False)
    api.see("off", x)
    api.attempt("integer", lambda: api.flag(api.tensor(3, dtype="int64"), True))
    api.attempt("integer, by the method", lambda: api.flag(api.tensor(3, dtype="int64"), True, method=True))


@scenario
def flags_of_results(api: Api) -> None:
    y = api.op("mul", api.tensor(3, grad=True), 2)
    api.attempt("off", lambda: api.flag(y, False))
    api.attempt("on", lambda: api.flag(y, True))
    api.attempt("on, by the method", lambda: api.flag(y, True, method=True))
    free = api.op("mul", api.tensor(3), 2)
    api.flag(free, True)
    api.see("free", free)


@scenario
def a_factory_sets_the_flag(api: Api) -> None:
    api.see("zeros", api.op("torch.zeros", 2, 3, requires_grad=True))
    api.see("ones_like", api.op("torch.ones_like", api.tensor(3, grad=True)))
    api.attempt("integers", lambda: api.op("torch.zeros", 2, dtype=api.dtype("int64"), requires_grad=True))


@scenario
def a_leaf_that_is_a_view(api: Api) -> None:
    x = api.op("view", api.tensor(6), 2, 3)
    api.flag(x, True)
    api.see("x", x)
    with api.mode(False):
        api.see("row", api.item(x, 0))
    api.see("row", api.item(x, 0))
    api.attempt("written", lambda: api.op("add_", x, 1))
