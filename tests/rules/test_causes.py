"""The cause that a finding names, where one exception has several, and what is none of them."""

from __future__ import annotations

import pytest

from analyzers.host import Host

NETS = "import torch\nnet, head = torch.nn.Linear(3, 3), torch.nn.Linear(3, 1)\n"


def message(text: str, codes: str = "AG1 AG2") -> str:
    """That of the one finding about what raises, or goes wrong in silence."""
    host = Host(read=lambda _: None)
    host.set_text("a.py", text)
    (finding,) = [one for one in host.snapshot().findings("a.py") if one.code.startswith(tuple(codes.split()))]
    return finding.message


@pytest.mark.parametrize(
    ("before", "cause"),
    [
        ("", "no backward has filled it"),
        ("head(torch.ones(2, 3)).sum().backward()\n", "`head(torch.ones(2, 3)).sum().backward()` does not reach"),
        ("head(net(torch.ones(2, 3)).detach()).sum().backward()\n", "cuts the graph"),
        ("net.requires_grad_(False)\nhead(net(torch.ones(2, 3))).sum().backward()\n", "does not require grad"),
        ("net(torch.ones(2, 3)).sum().backward()\nnet.zero_grad()\n", "`net.zero_grad()` sets `net.weight.grad` to"),
        (
            "net(torch.ones(2, 3)).sum().backward()\nnet.weight.grad = None\n",
            "`net.weight.grad = None` sets `net.weight.grad",
        ),
    ],
)
def test_why_a_gradient_is_none(before: str, cause: str) -> None:
    assert cause in message(f"{NETS}{before}net.weight.grad.norm()\n")


def test_a_copy_without_graph_gets_no_gradient() -> None:
    cut = "kept = net(torch.ones(2, 3)).detach()\nhead(kept).sum().backward()\nkept.grad.norm()\n"
    assert message(NETS + cut).startswith("`net(torch.ones(2, 3)).detach()` cuts the graph")


def test_a_gradient_that_was_used_is_cleared() -> None:
    step = "loss.backward()\nwith torch.no_grad():\n    w -= w.grad\nw.grad = None\nw.grad.norm()\n"
    text = f"import torch\nw = torch.ones(3, requires_grad=True)\nloss = w.sum()\n{step}"
    assert "it was cleared after `loss.backward()`" in message(text)


def test_the_optimizer_that_cleared_it_is_named() -> None:
    text = (
        f"{NETS}own = torch.optim.SGD(net.parameters(), lr=0.1)\nother = torch.optim.SGD(head.parameters(), lr=0.1)\n"
        "head(net(torch.ones(2, 3))).sum().backward()\nown.step()\nother.step()\nown.zero_grad()\nother.zero_grad()\n"
        "net.weight.grad.norm()\n"
    )
    assert "`own.zero_grad()`" in message(text)


STEPS = "for step in range(3):\n    (net(torch.ones(2, 3)) * {}).sum().backward()\n"


def test_what_is_computed_once_is_not_carried() -> None:
    """A layer's own loop, or one that is over, is not the loop in which backward runs."""
    built = "deep = torch.nn.Sequential(net, torch.nn.Tanh())\nonce = deep(torch.ones(2, 3))\n"
    assert "is computed once" in message(NETS + built + STEPS.format("once"))
    rolled = "kept = torch.ones(3)\nfor x in torch.ones(4, 3):\n    kept = torch.tanh(net(kept))\n"
    assert "is computed once" in message(NETS + rolled + STEPS.format("kept"))
    carried = "h = torch.zeros(3)\nfor x in torch.ones(4, 3):\n    h = torch.tanh(net(h))\n    h.sum().backward()\n"
    assert "of an earlier iteration" in message(NETS + carried)


def test_what_is_drawn_and_looked_up_need_be_no_log_probability() -> None:
    resampled = "import torch\nw = torch.ones(2, requires_grad=True)\np = w[0] * torch.randn(9)\n"
    drawn = "p = p[torch.multinomial(torch.ones(9), 9)]\n(w[1] * p).sum().backward()\n"
    host = Host(read=lambda _: None)
    host.set_text("a.py", resampled + drawn)
    assert not host.snapshot().findings("a.py")
    host.set_text("a.py", resampled + drawn.replace("p[", "torch.log_softmax(p, 0)["))
    assert [finding.code for finding in host.snapshot().findings("a.py")] == ["AG208"]


@pytest.mark.parametrize("asked", ["slope = torch.autograd.grad(loss, w)[0]", "loss.backward()\nslope = w.grad"])
def test_a_gradient_has_no_graph_unless_one_is_asked_for(asked: str) -> None:
    text = (
        f"import torch\nw = torch.ones(3, requires_grad=True)\nloss = w.exp().sum()\n{asked}\nslope.sum().backward()\n"
    )
    assert "because `create_graph` is not set" in message(text)


def test_a_copy_that_learns_in_place_of_the_model_is_named() -> None:
    trained = f"{NETS}opt = torch.optim.SGD(net.parameters(), lr=0.1)\nused = {{}}\nfor step in range(3):\n"
    trained += "    opt.zero_grad()\n    used(torch.ones(2, 3)).sum().backward()\n    opt.step()\n"
    told = message("import copy\n" + trained.format("copy.deepcopy(net)"), "AG203")
    assert told.endswith("reaches none of its parameters, only a copy of them")
    assert message(trained.format("head")).endswith("reaches none of its parameters")


def related(text: str) -> list[str]:
    host = Host(read=lambda _: None)
    host.set_text("a.py", text)
    return [step.message for finding in host.snapshot().findings("a.py") for step in finding.related]


SAMPLED = "dist = torch.distributions.Categorical(logits=net(torch.ones(3)))\naction = dist.sample()\n"


def test_what_is_sampled_is_no_cause_beside_a_cut_that_somebody_made() -> None:
    made = "loss = torch.tensor(dist.log_prob(action).item()) * action\nloss.backward()\n"
    assert "has no derivative" not in " ".join(related(NETS + SAMPLED + made))
    assert "`dist.log_prob(action).item()` turns a tensor" in message(NETS + SAMPLED + made)
    assert "`dist.sample()` has no derivative" in message(f"{NETS}{SAMPLED}action.float().backward()\n")


def test_where_two_parameters_came_to_share_memory_is_told() -> None:
    text = (
        f"{NETS}other = torch.nn.Linear(3, 3)\nwith torch.no_grad():\n    other.weight.data = net.weight.data\n"
        "    other.weight.requires_grad_(False)\n    other.weight.copy_(net.weight)\n"
    )
    assert "`other.weight` and `net.weight` are the same memory" in message(text)
    assert "nothing is copied here: the memory is shared" in related(text)


def test_a_derivative_of_a_gradient_without_graph_is_named() -> None:
    text = "x = torch.ones(1, requires_grad=True)\ny = (x**3).sum()\n"
    text += "for k in range(2):\n    (y,) = torch.autograd.grad(y, x)\n"
    assert message(NETS + text).endswith("so its result has no graph for the next derivative")


def advice(text: str, code: str) -> str:
    host = Host(read=lambda _: None)
    host.set_text("a.py", text)
    (finding,) = [finding for finding in host.snapshot().findings("a.py") if finding.code == code]
    return finding.advice


def test_what_to_run_again_after_a_step_is_named() -> None:
    text = f"{NETS}opt = torch.optim.SGD([*net.parameters(), *head.parameters()], lr=0.1)\ndef step(x):\n"
    text += (
        "    out = head(net(x))\n    out.sum().backward(retain_graph=True)\n    opt.step()\n    out.mean().backward()\n"
    )
    assert advice(f"{text}step(torch.ones(2, 3))\n", "AG104") == "Run `head(net(x))` again after the step"


@pytest.mark.parametrize(
    ("cut", "instead"),
    [
        ("(out > 0).float()", ": from `torch.sigmoid(x)` instead of `x > 0`, for example"),
        ("out.argmax(1).float()", ": from `softmax` instead of `argmax`, for example"),
        ("torch.isfinite(out).float()", ""),
    ],
)
def test_what_has_a_derivative_is_named_for_what_has_none(cut: str, instead: str) -> None:
    text = f"{NETS}out = net(torch.ones(2, 3))\n({cut}).sum().backward()\n"
    assert advice(text, "AG101") == f"Compute the loss from what has a derivative{instead}"


def test_of_several_new_parameters_one_is_shown_and_the_optimizer_that_does_not_know_them() -> None:
    text = f"{NETS}net = torch.nn.Sequential(net)\nopt = torch.optim.SGD(net.parameters(), lr=0.1)\n"
    text += "net.append(torch.nn.Linear(3, 3))\nnet(torch.ones(2, 3)).sum().backward()\nopt.step()\n"
    assert related(text)[:2] == ["one of them is created here", "the optimizer is created here"]
    assert related(text.replace("3, 3))", "3, 3, bias=False))"))[:1] == ["the parameter is created here"]
