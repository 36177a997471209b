"""A finding says what it rests on that nothing in the program says."""

from __future__ import annotations

from analyzers.host import Host
from analyzers.report import Finding

A = "/lab/a.py"

TRAIN = """\
def train(net, batches, optimizer, criterion):
    net.train()
    for x, y in batches:
        loss = criterion(net(x), y)
        loss.backward()
        optimizer.step()
"""

KNOWN = """\
import torch
net = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for x in torch.ones(5, 3, 2):
    loss = net(x).mean()
    loss.backward()
    optimizer.step()
"""

HELPERS = """\
def score(critic, batch):
    critic.eval()
    return critic(batch)


"""


TWO_WAYS = """\
import sys
import torch

def train(fast, rounds):
    y = torch.ones(3, requires_grad=True).exp()
    if rounds > 9:
        return
    if fast:
        y.add_(1)
    y.sum().backward()

train(sys.argv[1] == "fast", len(sys.argv))
"""


def found(text: str, code: str = "AG301") -> list[Finding]:
    host = Host()
    host.set_text(A, text)
    return [finding for finding in host.snapshot().findings(A) if finding.code == code]


def assumed(text: str, code: str = "AG301") -> list[tuple[str, str]]:
    """What stands where something is assumed, and what that is."""
    [finding] = found(text, code)
    return [(text[step.place.start : step.place.end], step.message) for step in finding.assumes]


def test_what_stands_for_names_is_said_where_they_are() -> None:
    assert assumed(TRAIN) == [
        ("net", "`net` is a model that learns"),
        ("optimizer", "`optimizer` trains `net`"),
        ("criterion(net(x), y)", "`loss` is a loss with a graph"),
    ]


def test_what_another_function_assumes_is_not_said() -> None:
    assert [message for _, message in assumed(HELPERS + TRAIN)] == [message for _, message in assumed(TRAIN)]


def test_what_is_known_rests_on_nothing() -> None:
    assert assumed(KNOWN) == []


def test_what_the_program_says_settles_it() -> None:
    settled = TRAIN.replace("criterion(net(x), y)", "(net(x) - y).pow(2).mean()")
    assert [message for _, message in assumed(settled)] == ["`net` is a model that learns", "`optimizer` trains `net`"]


def test_the_condition_that_leads_to_the_fault_is_said() -> None:
    assert assumed(TWO_WAYS, "AG104") == [("fast", "`fast` is true")]


def test_a_condition_that_both_ways_share_is_not_said() -> None:
    """What returned early is not there to be counted: whoever reaches the line has passed it."""
    unguarded = TWO_WAYS.replace("    if rounds > 9:\n        return\n", "")
    assert assumed(TWO_WAYS, "AG104") == assumed(unguarded, "AG104")


def test_a_fault_on_all_ways_assumes_nothing() -> None:
    always = TWO_WAYS.replace("    if fast:\n        y.add_(1)", "    if fast:\n        print()\n    y.add_(1)")
    [finding] = found(always, "AG104")
    assert (finding.severity, finding.assumes) == ("error", ())


def test_the_way_that_leaves_a_fault_out_is_told_as_false() -> None:
    turned = TWO_WAYS.replace("if fast:\n        y.add_(1)", "if fast:\n        print()\n    else:\n        y.add_(1)")
    assert assumed(turned, "AG104") == [("fast", "`fast` is false")]


def test_another_reason_that_may_come_first_leaves_open_what_torch_says() -> None:
    """Torch refuses the product first if `outside.same(y)` is `y`: what it saved was written. It raises either way."""
    text = """\
import outside
import torch
y = torch.ones(3, requires_grad=True).exp()
y.sum().backward()
y *= outside.same({})
y.mean().backward()
"""
    for factor, said in (("y", ""), ("2", ": Trying to backward through the graph a second time")):
        (finding,) = found(text.format(factor), "AG102")
        assert finding.severity == "error"
        assert finding.raises is not None
        assert finding.raises.said.startswith(said)
        assert bool(finding.raises.said) is bool(said)


def test_what_only_one_overload_saves_takes_certainty() -> None:
    """`lerp` by a number saves nothing; a power saves its base, whatever the exponent is."""
    text = """\
import outside
import torch
y = {}.sum()
y.backward()
y.backward()
"""
    one = "torch.lerp(torch.zeros(3), torch.ones(3, requires_grad=True), outside.same(0.3))"
    other = "(torch.ones(3, requires_grad=True) ** outside.same(2))"
    assert [each.severity for each in found(text.format(one), "AG102")] == ["warning"]
    assert [each.severity for each in found(text.format(other), "AG102")] == ["error"]
