"""What a hover says of a spot in a program."""

from __future__ import annotations

from tests.hover.pointing import card_of, said


def test_a_tensor_with_the_graph_above_it_and_its_lines() -> None:
    assert said("""
import torch
x = torch.ones(3, requires_grad=True)
y = x.exp()
^
""") == [
        "y: tensor",
        "requires_grad=True, is_leaf=False, grad_fn=ExpBackward0, shape=[3], dtype=float32, version=0, grad mode on",
        "- ExpBackward0 saved it as result at version 0 (line 4)",
        "y [line 4]  requires_grad=True",
        "└─ ExpBackward0 [line 4]  saves result",
        "   └─ x [line 3]  leaf",
    ]


def test_who_needs_what_was_written() -> None:
    lines = said("""
import torch
x = torch.ones(3, requires_grad=True)
y = x.exp()
y.add_(1)
y.sum()
^
""")
    assert "- ExpBackward0 saved it as result at version 0: modified since, so its backward raises (line 4)" in lines


def test_the_line_that_freed_a_part_of_the_graph() -> None:
    lines = said("""
import torch
x = torch.ones(3, requires_grad=True)
y = x.exp()
y.sum().backward()
z = y * 2
^
""")
    assert "- part of its graph was freed here (line 5)" in lines
    assert "   └─ ExpBackward0 [line 4]  saves result, freed by line 5" in lines


def test_where_a_branch_was_cut_from_the_graph() -> None:
    lines = said("""
import torch
x = torch.ones(3, requires_grad=True)
h = (x * 2).detach()
y = x * h
^
""")
    assert "   └─ detach [line 4]  gradient stops here" in lines


def test_what_differs_from_visit_to_visit_is_not_claimed() -> None:
    lines = said("""
import torch
def double(t):
    return t * 2
#          ^
double(torch.ones(3))
double(torch.ones(3, requires_grad=True))
""")
    assert "differs from visit to visit: requires_grad" in lines
    assert not any("requires_grad=" in word for word in lines[1].split(", "))


def test_rounds_of_a_loop_are_one_with_what_holds_in_all_of_them() -> None:
    lines = said("""
import torch
h = torch.zeros(2)
for n in range(1000):
    h = torch.cat([h, h])
    ^
""")
    assert "shape=[?]" in lines[1]
    assert "dtype=float32" in lines[1]


def test_a_target_is_what_it_holds_after_the_statement() -> None:
    assert (
        "version=1"
        in said("""
import torch
x = torch.ones(3)
x += 1
^
""")[1]
    )


def test_a_module_with_what_trains_it() -> None:
    lines = said("""
import torch
net = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.Linear(2, 1))
net[0].requires_grad_(False)
opt = torch.optim.SGD([net[1].weight], lr=0.1)
net.train()
^
""")
    assert lines[0] == "net: module"
    assert "- parameters: 4, of which 2 require grad" in lines
    assert "- frozen: 0.weight, 0.bias" in lines
    assert "- in no optimizer: 1.bias" in lines
    assert "- in the optimizer of line 5: 1.weight" in lines
    assert "- 0.weight [2, 3]" in lines


def test_nothing_is_said_of_optimizers_where_there_may_be_others() -> None:
    lines = said("""
import torch
net = torch.nn.Linear(3, 2)
^
""")
    assert "- parameters: 2, of which 2 require grad" in lines
    assert not any("optimizer" in line for line in lines)


def test_what_backward_does_not_reach_of_the_optimizer() -> None:
    lines = said("""
import torch
body, head = torch.nn.Linear(3, 2), torch.nn.Linear(2, 1)
opt = torch.optim.SGD([*body.parameters(), *head.parameters()], lr=0.1)
loss = body(torch.ones(1, 3)).sum()
loss.backward()
#    ^
""")
    assert "- fills .grad of body.weight, body.bias" in lines
    assert "- does not reach head.weight, head.bias, which the optimizer of line 4 holds" in lines


def test_what_a_backward_frees() -> None:
    card = card_of("""
import torch
x = torch.ones(3, requires_grad=True)
y = x.exp().sum()
y.backward()
# ^
""")
    assert card is not None
    assert [change.subjects for change in card.changes if change.kind == "freed"] == [("ExpBackward0",)]


def test_a_backward_that_keeps_its_graph_frees_nothing() -> None:
    card = card_of("""
import torch
x = torch.ones(3, requires_grad=True)
y = x.exp().sum()
y.backward(retain_graph=True)
# ^
""")
    assert card is not None
    assert {change.kind for change in card.changes} == {"gradient"}


def test_gradients_that_are_given_and_not_added() -> None:
    lines = said("""
import torch
x = torch.ones(3, requires_grad=True)
v = torch.ones(3, requires_grad=True)
torch.autograd.grad(x.exp().sum(), [x, v], allow_unused=True)
#              ^
""")
    assert "- frees what ExpBackward0 saved" in lines
    assert "- gives 2 gradients" in lines
    assert "- does not reach input 1: its gradient is None" in lines
    assert not any(".grad of" in line for line in lines)


def test_a_call_that_never_returns() -> None:
    lines = said("""
import torch
x = torch.ones(3, requires_grad=True)
y = x.exp().sum()
y.backward()
y.backward()
# ^
""")
    assert "- does not return" in lines
    assert any("freed by line 5" in line for line in lines)


def test_detach_shares_memory() -> None:
    lines = said("""
import torch
x = torch.ones(3, requires_grad=True)
d = x.detach()
#     ^
""")
    assert lines[0] == "x.detach(): tensor"
    assert "requires_grad=False" in lines[1]
    assert "- shares its memory with x" in lines


def test_a_block_without_gradients_and_what_it_cut() -> None:
    text = """
import torch
w = torch.ones(3, requires_grad=True)
with torch.no_grad():
    #      ^
    y = w * 2
    n = torch.ones(3)
"""
    assert said(text.replace("    #      ^", "#          ^"))[1:] == ["grad mode off", "- y has no graph (line 5)"]


def test_a_function_that_nobody_calls() -> None:
    lines = said("""
import torch
def loss_of(x):
    w = torch.ones(3, requires_grad=True)
    return (w * x).sum()
    #       ^
""")
    assert lines[0] == "w: tensor"
    assert "requires_grad=True" in lines[1]


def test_what_is_not_known_is_not_said() -> None:
    assert (
        said("""
import torch
def f(x):
    return x
    #      ^
""")
        == []
    )


def test_nothing_is_said_of_what_is_no_tensor() -> None:
    assert (
        said("""
import torch
n = 3
^
""")
        == []
    )


UNKNOWN = """
from away import make, settings
model = make()
%s
out = model(1)
out.loss.backward()
"""


def test_since_where_what_a_backward_needs_is_unknown() -> None:
    assert said(UNKNOWN % "" + "print(out)\n      ^\n") == [
        "out: unknown",
        "- nothing is known of it since make() (line 3)",
    ]


def test_what_is_unknown_and_no_backward_needs_is_passed_over() -> None:
    assert said(UNKNOWN % "chosen = settings()" + "print(chosen)\n      ^\n") == []
