"""Where a fix must not be offered, or not be called safe, and how edits fit into the lines of a file."""

from __future__ import annotations

import ast

import pytest

from analyzers.host import Host
from analyzers.report import Finding, Fix

WEIGHT = "import torch\nw = torch.ones(3, requires_grad=True)\n"


def found(text: str) -> list[Finding]:
    host = Host(read=lambda _: None)
    host.set_text("a.py", text)
    return [finding for finding in host.snapshot().findings("a.py") if finding.code[:3] in {"AG1", "AG2", "AG4"}]


def fixes(text: str) -> tuple[Fix, ...]:
    """The fixes of the one finding."""
    (finding,) = found(text)
    return finding.fixes


def fixed(text: str, number: int = 0) -> str:
    """The text after one fix of the one finding."""
    data = text.encode()
    for edit in sorted(fixes(text)[number].edits, key=lambda e: (e.place.start, e.place.end), reverse=True):
        data = data[: edit.place.start] + edit.text.encode() + data[edit.place.end :]
    ast.parse(data)
    return data.decode()


LOOP = "for x in torch.randn(2, 3):\n    (scale * x).sum().backward()\n"


@pytest.mark.parametrize(
    "built",
    [
        "scale = w.exp()\nprint(scale)\n",
        "scale = w.exp()\nw = w * 1\n",
        "scale = w.exp(); other = 1\n",
        "other = 1; scale = w.exp()\n",
        "scale = kept = w.exp()\n",
        "scale = (torch.ones(3, requires_grad=True) * w).exp()\n",
        "if True:\n    scale = w.exp()\n",
    ],
)
def test_what_is_built_once_stays_where_it_cannot_move(built: str) -> None:
    text = WEIGHT + built + LOOP
    assert [fix.title for fix in fixes(text)] == ["Keep the graph in the first backward (`retain_graph=True`)"]


def test_what_is_built_once_moves_with_all_that_it_is_built_of() -> None:
    text = WEIGHT + "half = w.exp()\nnote = 1\nscale = (half *\n         half)  # why\n" + LOOP
    assert fixed(text) == (
        WEIGHT + "note = 1\nfor x in torch.randn(2, 3):\n    half = w.exp()\n    scale = (half *\n"
        "             half)  # why\n    (scale * x).sum().backward()\n"
    )
    assert fixes(text)[0].safe


def test_what_moves_is_not_safe_where_it_draws_random_numbers() -> None:
    assert not fixes(WEIGHT + "scale = w.exp() * torch.rand(3)\n" + LOOP)[0].safe


def test_a_string_of_several_lines_is_not_indented() -> None:
    text = WEIGHT + 'scale = w.exp() * len("""a\nb""")\n' + LOOP
    assert [fix.title for fix in fixes(text)] == ["Keep the graph in the first backward (`retain_graph=True`)"]


def test_a_loop_on_one_line_has_no_room() -> None:
    text = WEIGHT + "scale = w.exp()\nfor x in torch.randn(2, 3): (scale * x).sum().backward()\n"
    assert [fix.title for fix in fixes(text)] == ["Keep the graph in the first backward (`retain_graph=True`)"]


def test_what_is_computed_behind_a_step_is_only_what_nobody_else_needs() -> None:
    head = "import torch\nnet = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 1))\n"
    head += "opt = torch.optim.SGD(net.parameters(), lr=0.1)\nx = torch.ones(1, 2)\n"
    tail = "first.backward(retain_graph=True)\nopt.step()\nsecond.backward()\n"
    assert fixes(head + "y = net(x)\nfirst = y.sum()\nsecond = y.mean()\n" + tail) == ()


@pytest.mark.parametrize(
    ("losses", "offered"),
    [
        ("a.backward()\nb.backward()\n", True),
        ("a.backward()\nb = y.pow(3).sum()\nb.backward()\n", True),
        ("a.backward()\na = y.pow(3).sum()\na.backward()\n", False),
        ("a.backward(); b.backward()\n", False),
        ("a.backward()\nprint(w.grad)\nb.backward()\n", False),
        ("a.backward(torch.ones(()))\nb.backward()\n", False),
    ],
)
def test_losses_are_added_up_only_side_by_side(losses: str, offered: bool) -> None:
    text = WEIGHT + "y = w.exp()\na, b = y.sum(), y.pow(2).sum()\n" + losses
    assert ("Run one backward on the sum" in {fix.title for fix in fixes(text)}) == offered


def test_three_losses_become_one_backward() -> None:
    text = WEIGHT + "y = w.exp()\na, b, c = y.sum(), y.mean(), y.prod()\na.backward()\nb.backward()\nc.backward()\n"
    assert fixed(text).endswith("y.prod()\n(a + b + c).backward()\n")


def test_to_keep_the_graph_is_safe_only_where_gradients_are_looked_at() -> None:
    head = WEIGHT + "y = w.exp()\na, b = y.sum(), y.pow(2).sum()\na.backward()\n"
    keep = "Keep the graph in the first backward (`retain_graph=True`)"
    looked = {fix.title: fix.safe for fix in fixes(head + "print(w.grad)\nb.backward()\n")}
    blind = {fix.title: fix.safe for fix in fixes(head + "b.backward()\n")}
    assert (looked[keep], blind[keep]) == (True, False)


def test_a_carried_state_is_detached_and_a_carried_loss_is_not_surely_meant() -> None:
    rnn = "cell = torch.nn.GRUCell(2, 3)\nh = torch.zeros(1, 3)\nfor x in torch.ones(3, 1, 2):\n"
    state = "import torch\n" + rnn + "    h = cell(x, h)\n    loss = h.sum()\n    loss.backward()\n"
    assert fixes(state)[0].safe is True
    assert "    h = h.detach()\n    h = cell(x, h)\n" in fixed(state)
    total = WEIGHT + "total = torch.zeros(())\nfor x in torch.ones(3, 3):\n"
    total += "    total = total + (w * w * x).sum()\n    total.backward()\n"
    assert fixes(total)[0].safe is False


@pytest.mark.parametrize(
    ("scope", "expected"),
    [
        ("with torch.no_grad():\n\tloss = (w * 2).sum()\n", "loss = (w * 2).sum()\n"),
        (
            "with torch.no_grad():\n    a = 1\n    # first\n    loss = (w *\n            2).sum()\n"
            "    # last\n\n    b = 2\n",
            "with torch.no_grad():\n    a = 1\n# first\nloss = (w *\n        2).sum()\n# last\n\nb = 2\n",
        ),
    ],
)
def test_statements_come_out_of_a_scope_with_their_lines(scope: str, expected: str) -> None:
    assert fixed(WEIGHT + scope + "loss.backward()\n") == WEIGHT + expected + "loss.backward()\n"
    windows = (WEIGHT + scope + "loss.backward()\n").replace("\n", "\r\n")
    assert fixed(windows).replace("\r\n", "\n") == WEIGHT + expected + "loss.backward()\n"
    assert "\n" not in fixed(windows).replace("\r\n", "")


@pytest.mark.parametrize(
    "scope",
    [
        "with torch.no_grad():  # why\n    loss = (w * 2).sum()\n",
        "with torch.no_grad(): loss = (w * 2).sum()\n",
        'with torch.no_grad():\n    loss = (w * 2).sum()\n    print("""a\n    b""")\n',
        "with torch.no_grad(), open('f') as f:\n    loss = (w * 2).sum()\n",
        "if True:\n    with torch.no_grad():\n        if True:\n            loss = (w * 2).sum(); a = 1\n    b = 2\n",
    ],
)
def test_a_scope_is_left_alone_or_the_text_still_parses(scope: str) -> None:
    text = WEIGHT + scope + "loss.backward()\n"
    for number in range(len(fixes(text))):
        assert "why" in fixed(text, number) or "why" not in text


def test_writes_to_leaves_go_under_no_grad_together() -> None:
    text = "import torch\ndef f():\n\tw = torch.ones(3, requires_grad=True)\n"
    text += "\tw[0] = 1\n\tw[1] = (\n\t\t2)  # two\n\tx = 1\nf()\n"
    assert "\twith torch.no_grad():\n\t\tw[0] = 1\n\t\tw[1] = (\n\t\t\t2)  # two\n\tx = 1\n" in fixed(text)


@pytest.mark.parametrize("line", ["a = 1; w[0] = 1\n", "w[0] = 1; a = 1\n", "if True: w[0] = 1\n"])
def test_a_write_that_shares_its_line_stays(line: str) -> None:
    assert fixes(WEIGHT + line) == ()


def test_without_an_import_of_torch_there_is_no_scope_to_write() -> None:
    assert fixes("from torch import ones\nw = ones(3, requires_grad=True)\nw[0] = 1\n") == ()
    text = "from torch import no_grad, ones\nw = ones(3, requires_grad=True)\nw[0] = 1\n"
    assert fixed(text).endswith("with no_grad():\n    w[0] = 1\n")


def test_what_a_loop_hands_out_is_written_by_index_or_not_at_all() -> None:
    head = "import torch\nh = torch.ones(2, 3, requires_grad=True) * 1\n"
    assert fixed(head + "i = 0\nfor row in h:\n    row += 1\n").endswith("for i in range(len(h)):\n    h[i] += 1\n")
    assert fixes(head + "for row in h:\n    row += 1\n    print(row)\n") == ()
    assert fixes(head + "for row in h * 2:\n    row += 1\n") == ()


def test_the_old_tensor_keeps_a_name_that_is_free() -> None:
    text = WEIGHT + "z = w * 2\nold_z = 1\nz[1:] = z[1:] * z[:2].exp()\nz.sum().backward()\n"
    assert fixes(text) == ()


def test_a_key_of_a_dict_is_given_another_tensor_and_that_is_not_surely_right() -> None:
    text = WEIGHT + "d = {'y': w.exp()}\nd['y'] += 1\nd['y'].sum().backward()\n"
    assert "d['y'] = d['y'] + 1\n" in fixed(text)
    assert not fixes(text)[0].safe


def test_a_name_that_another_holds_is_no_safe_place_to_rebind() -> None:
    text = WEIGHT + "y = w.exp()\nz = y\ny.add_(1)\n(y + z).sum().backward()\n"
    assert not any(fix.safe for fix in fixes(text))


def test_a_decorator_goes_with_its_line_and_not_safely() -> None:
    text = "import torch\nclass Net(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
    text += "        self.fc = torch.nn.Linear(2, 1)\n    @torch.no_grad()\n    def forward(self, x):\n"
    text += "        return self.fc(x)\nNet()(torch.ones(1, 2)).sum().backward()\n"
    assert fixed(text) == text.replace("    @torch.no_grad()\n", "")
    assert not fixes(text)[0].safe


def test_a_leaf_is_made_of_the_result() -> None:
    for before, after in (
        ("torch.ones(3, requires_grad=True) * 2", "(torch.ones(3) * 2).requires_grad_()"),
        ("torch.ones(3, requires_grad=True).double()", "torch.ones(3).double().requires_grad_()"),
    ):
        text = f"import torch\nw = {before}\nw.sum().backward()\nprint(w.grad)\n"
        assert fixed(text) == text.replace(before, after)


def test_parts_of_a_tuple_are_detached_and_not_the_tuple() -> None:
    text = WEIGHT + "kept = []\nfor k in range(3):\n    y = w * 2\n    y.sum().backward()\n    kept.append((k, y))\n"
    assert fixed(text).endswith("kept.append((k, y.detach()))\n")


def test_missing_gradients_are_none_and_safe_only_where_numbers_were_given() -> None:
    text = "import torch\nclass F(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x, k):\n"
    text += "        return x * 2\n    @staticmethod\n    def backward(ctx, g):\n        return (g * 2,)\n"
    text += "x = torch.ones(3, requires_grad=True)\n"
    number, tensor = text + "F.apply(x, 2).sum().backward()\n", text + "F.apply(x, x * 1).sum().backward()\n"
    assert "return (g * 2, None,)" in fixed(number)
    assert (fixes(number)[0].safe, fixes(tensor)[0].safe) == (True, False)


DECAY = "with torch.no_grad():\n    for p in (w,):\n        p.mul_(0.9)\n"
SQUARE = WEIGHT + "loss = w.pow(2).sum()\n"


@pytest.mark.parametrize(
    ("between", "safe"),
    [
        ("loss.backward()\nw.grad = None\n", True),
        ("note = 1\nloss.backward()\nw.grad = None\n", False),
        # Nothing comes behind the backward, or what is written is asked for on the way to it.
        ("loss.backward()\n", None),
        ("print(w)\nloss.backward()\nw.grad = None\n", None),
        ("(loss * 2).backward()\nw.grad = None\n", None),
        ("loss = loss + w.sum()\nloss.backward()\nw.grad = None\n", None),
    ],
)
def test_a_write_goes_behind_the_backward_that_it_comes_too_early_for(between: str, safe: bool | None) -> None:
    offered = [fix.safe for fix in fixes(SQUARE + DECAY + between) if fix.title == "Write after the backward"]
    assert offered == ([] if safe is None else [safe])


def test_a_write_behind_the_backward_keeps_its_lines_and_comments() -> None:
    text = SQUARE + DECAY + "loss.backward()  # why\nw.grad = None\n"
    assert fixed(text) == SQUARE + "loss.backward()  # why\n" + DECAY + "w.grad = None\n"
    within = WEIGHT + "for _ in range(2):\n    loss = w.pow(2).sum()\n{}    w.grad = None\n"
    decay, back = "    w.data.mul_(1)\n    w.detach().mul_(0.9)  # shrink\n", "    loss.backward()\n"
    first, second = decay.splitlines(keepends=True)
    assert fixed(within.format(decay + back)) == within.format(first + back + second)


def test_the_newer_norm_is_called_where_it_is_plain_how() -> None:
    head, copied = "import copy\nimport torch\n", "copy.deepcopy(torch.nn.Sequential(layer))\n"
    by_path = head + "layer = torch.nn.utils.weight_norm(torch.nn.Linear(3, 2))\n" + copied
    assert fixed(by_path) == by_path.replace("utils.", "utils.parametrizations.")
    assert [fix.safe for fix in fixes(by_path)] == [False]
    both = (
        head + "from torch.nn.utils import weight_norm, clip_grad_norm_\nlayer = weight_norm(torch.nn.Linear(3, 2))\n"
    )
    assert fixes(both + copied) == ()
    own = "def weight_norm(layer):\n    layer.scale = layer.weight * 2\n    return layer\n"
    imported = head + "from torch.nn.utils import weight_norm\n" + own + "layer = weight_norm(torch.nn.Linear(3, 2))\n"
    assert fixes(imported + copied) == ()


def test_a_view_gets_memory_of_its_own_where_all_writes_go_to_it() -> None:
    text = "import torch\na = torch.zeros(4)\nw = a[:2].requires_grad_()\nv = a[2:]\nu = a[3:]\n"
    text += "loss = w.square().sum()\n{}loss.backward()\n"
    one = text.format("v[0] = 1.0\nv[1] = 2.0\n")
    assert [fix.title for fix in fixes(one)] == ["Give `v` its own memory (`clone()`)"]
    assert not fixes(one)[0].safe
    assert fixes(text.format("v[0] = 1.0\nu[0] = 2.0\n")) == ()


COLLECTING = "losses = []\nfor x in torch.randn(2, 3):\n    loss = (w.exp() * x).sum()\n    losses.append(loss)\n"


def test_a_list_that_is_never_emptied_is_emptied_after_backward() -> None:
    text = WEIGHT + COLLECTING + "    torch.stack(losses).sum().backward()\n"
    assert fixed(text) == text + "    losses.clear()\n"


def test_a_list_of_an_object_is_emptied_in_another_method() -> None:
    text = (
        WEIGHT + "class Trainer:\n"
        "    def __init__(self):\n        self.losses = []\n"
        "    def look(self, x):\n        self.losses.append((w.exp() * x).sum())\n"
        "    def learn(self):\n        sum(self.losses).backward()\n"
        "trainer = Trainer()\nfor x in torch.randn(2, 3):\n    trainer.look(x)\n    trainer.learn()\n"
    )
    assert "sum(self.losses).backward()\n        self.losses.clear()\n" in fixed(text)


def clearing(text: str) -> list[Fix]:
    return [fix for fix in fixes(text) if any("clear" in edit.text for edit in fix.edits)]


@pytest.mark.parametrize("taken", ["losses.pop(0)", "del losses[:-2]", "losses = losses[-2:]"])
def test_a_list_that_keeps_the_last_few_is_not_emptied(taken: str) -> None:
    text = WEIGHT + COLLECTING + f"    torch.stack(losses).sum().backward()\n    if len(losses) > 4:\n        {taken}\n"
    assert not clearing(text)


def test_a_list_that_goes_by_another_name_there_is_not_emptied() -> None:
    text = (
        WEIGHT + "losses = []\n"
        "def learn(kept):\n    sum(kept).backward()\n"
        "def look(losses, x):\n    losses.append((w.exp() * x).sum())\n"
        "for x in torch.randn(2, 3):\n    look(losses, x)\n    learn(losses)\n"
    )
    assert not clearing(text)


def test_a_list_is_found_around_the_call_that_computes() -> None:
    text = (
        WEIGHT + "def cost(x):\n    return (w.exp() * x).sum()\n"
        "losses = []\n"
        "for x in torch.randn(2, 3):\n    losses.append(cost(x))\n    sum(losses).backward()\n"
    )
    assert fixed(text) == text + "    losses.clear()\n"


STEP = "for _ in range(3):\n    (w * w).sum().backward()\n    w = w - (0.1 * w.grad)\n"


def test_a_step_becomes_a_write_and_the_gradient_is_zeroed_once() -> None:
    written = "    with torch.no_grad():\n        w -= (0.1 * w.grad)\n"
    before = WEIGHT + STEP.rpartition("    w = ")[0]
    assert fixed(WEIGHT + STEP) == before + written + "    w.grad = None\n"
    assert fixed(WEIGHT + STEP + "    w.grad.zero_()\n") == before + written + "    w.grad.zero_()\n"


def test_a_result_that_is_no_step_keeps_its_gradient() -> None:
    text = WEIGHT + STEP.replace("w = w - (0.1 * w.grad)", "w = w * 0.9\n    w.grad.sum()")
    assert "retain_grad" in fixed(text)


def test_a_list_that_is_kept_for_the_record_is_left_alone() -> None:
    text = (
        WEIGHT + "h, losses = torch.zeros(3), []\nfor x in torch.randn(2, 3):\n    h = torch.tanh(h * w + x)\n"
        "    loss = h.sum()\n    losses.append(loss)\n    loss.backward()\n"
    )
    assert "    h = h.detach()\n" in fixed(
        text.replace("h, losses = torch.zeros(3), []", "h = torch.zeros(3)\nlosses = []")
    )


def test_a_class_is_not_moved() -> None:
    decay = "".join(f"    {line}" for line in DECAY.splitlines(keepends=True))
    loose = SQUARE + f"if True:\n{decay}    pass\nloss.backward()\nx = 1\n"
    tied = SQUARE + f"class Net:\n{decay}    def f(self):\n        pass\nloss.backward()\nx = 1\n"
    moving = "Write after the backward"
    assert moving in [fix.title for fix in fixes(loose)]
    assert moving not in [fix.title for fix in fixes(tied)]
