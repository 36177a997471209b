"""An edit runs what it touches and nothing else, and what is shown is what a new host would show."""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from tests.incremental.compare import differences, opened, shown, texts_at

ROOT = Path(__file__).resolve().parents[2]
CORPUS = ROOT / "tests" / "corpus"
EDITED = (
    CORPUS / "a" / "003_forward_under_no_grad_block_broken.py",
    CORPUS / "b" / "032_retrieval_shared_utils_pkg_broken",
    CORPUS / "b" / "126_train_utils_order_pkg_broken",
    CORPUS / "b" / "149_gan_wrong_optimizer_step_broken.py",
    CORPUS / "b" / "165_triplet_accumulator_leaf_broken.py",
)

MODEL = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 3)

    def forward(self, x):
        return self.layer(x)

    def decay(self):
        self.layer.weight.pow(2).sum().backward()


def noise_like(x):
    return torch.randn_like(x).detach()
"""

TRAINING = """\
import torch
from model import Net

net = Net()
loss = net(torch.ones(2, 3)).sum()
loss.backward()
loss.backward()
"""


@pytest.mark.parametrize("path", EDITED, ids=lambda path: path.stem)
def test_an_edited_host_shows_what_a_new_one_does(path: Path) -> None:
    texts = texts_at(path)
    difference = next(differences(texts, 25, seed=len(path.stem)), None)
    assert difference is None, f"{difference.after}\nedited: {difference.edited}\nfresh: {difference.fresh}"


FROM_A_FACTORY = """\
import torch
from factories import build

net = build()
torch.optim.SGD(net.parameters(), lr=0.1)
net(torch.ones(2)).sum().backward()
"""


class Edits:
    """Two files that are open, and the queries that run when one of them is edited."""

    def __init__(self) -> None:
        self.texts = {"/lab/model.py": MODEL, "/lab/training.py": TRAINING}
        self.host = opened(self.texts)
        self.shown = shown(self.host, list(self.texts))

    def __call__(self, path: str, old: str, new: str) -> Counter[str]:
        """How often each query ran for what is shown after an edit."""
        assert old in self.texts[path]
        self.texts[path] = self.texts[path].replace(old, new)
        self.host.set_text(path, self.texts[path])
        self.host.world.log.clear()
        self.shown = shown(self.host, list(self.texts))
        return Counter(name for name, _ in self.host.world.log)


@pytest.fixture
def edit() -> Edits:
    return Edits()


@pytest.fixture
def garbage() -> Iterator[list[object]]:
    """What only the garbage collector would free, once it has looked."""
    gc.collect()
    gc.disable()
    gc.set_debug(gc.DEBUG_SAVEALL)
    yield gc.garbage
    gc.set_debug(0)
    gc.enable()
    gc.garbage.clear()


RUNS = ("module_run", "imported", "function_run", "judged_run")


def test_the_second_backward_is_found(edit: Edits) -> None:
    assert [sighting.finding.code for sighting in edit.shown["/lab/training.py"]] == ["AG102"]


def test_training_is_run_once_more_only_where_a_name_may_stand_for_what_is_not_known(edit: Edits) -> None:
    assert edit("/lab/training.py", ".sum()", ".mean()")["presumed_module_run"] == 0
    assert edit("/lab/training.py", edit.texts["/lab/training.py"], FROM_A_FACTORY)["presumed_module_run"] == 1


def test_a_comment_above_everything_runs_nothing(edit: Edits) -> None:
    ran = edit("/lab/training.py", "import torch\n", "# Trains.\nimport torch\n")
    assert not [name for name in RUNS if ran[name]]
    (sighting,) = edit.shown["/lab/training.py"]
    assert sighting.place.start == edit.texts["/lab/training.py"].index("loss.backward()")


LOOP = """\
import torch

w = torch.ones(2, requires_grad=True)
y = w.exp()
for x in torch.ones(3, 2):
    z = y * x
    z.sum().backward()
"""
SAYING_NOTHING = ["    # Trains.\n", "\n", "    \n", "    half = (\n", "    half = z.\n"]


@pytest.mark.parametrize("line", SAYING_NOTHING)
def test_what_says_nothing_in_a_loop_or_a_method_runs_nothing(edit: Edits, line: str) -> None:
    edit("/lab/training.py", edit.texts["/lab/training.py"], LOOP)
    before = [sighting.finding.message for sighting in edit.shown["/lab/training.py"]]
    ran = edit("/lab/training.py", "    z.sum()", f"{line}    z.sum()")
    ran += edit("/lab/model.py", "        return self.layer(x)", f"    {line}        return self.layer(x)")
    assert not [name for name in RUNS if ran[name]]
    (sighting,) = (shown for shown in edit.shown["/lab/training.py"] if shown.finding.code != "AG005")
    assert sighting.finding.raises is not None
    assert sighting.finding.raises.place.start == edit.texts["/lab/training.py"].index("z.sum()")
    assert [sighting.finding.message] == before


def test_an_edit_that_is_taken_back_runs_nothing(edit: Edits) -> None:
    before = edit.shown
    for typed in ("n", "na", "nam", "name", "name ", "name =", "name = 1"):
        edit("/lab/training.py", "loss.backward()\nloss", f"loss.backward()\n{typed}\nloss")
        ran = edit("/lab/training.py", f"loss.backward()\n{typed}\nloss", "loss.backward()\nloss")
        assert not [name for name in RUNS if ran[name]]
        assert edit.shown == before


def codes(edit: Edits) -> list[str]:
    return [sighting.finding.code for path in edit.texts for sighting in edit.shown[path]]


def test_a_name_that_is_typed_letter_by_letter_runs_nothing_before_it_is_one(edit: Edits) -> None:
    """But once where what the statement binds is read below it."""
    line, before = "    loss = loss + weight", codes(edit)
    whole = "def train(weight):\n    loss = torch.relu(weight).sum()\n    loss.backward()\n"
    edit("/lab/training.py", "loss.backward()\nloss", f"{whole}loss.backward()\nloss")
    typed = [line[: len(line) - rest] for rest in range(len("eight"), 0, -1)]
    assert edit("/lab/training.py", whole, f"{whole}{typed[0]}\n")["function_run"] == 1
    for was, now in pairwise(f"{whole}{one}\n" for one in typed):
        ran = edit("/lab/training.py", was, now)
        assert not [name for name in RUNS if ran[name]]
        assert codes(edit) == before
    assert edit("/lab/training.py", f"{typed[-1]}\n", f"{line}\n")["function_run"] == 1


@pytest.mark.parametrize(("path", "expected"), [("/lab/tries.py", ["AG101"]), ("/lab/tries.ipynb", [])])
def test_a_name_that_nothing_binds_may_come_from_the_session_of_a_notebook(path: str, expected: list[str]) -> None:
    text = "import torch\nx = torch.ones(3)\nfor _ in range(2):\n    prepare(x)\nx.sum().backward()\n"
    assert [sighting.finding.code for sighting in shown(opened({path: text}), [path])[path]] == expected


def test_the_body_of_a_method_that_nobody_calls_runs_that_method(edit: Edits) -> None:
    """It is judged on an object that anybody may have changed, and on one as its `__init__` left it."""
    ran = edit("/lab/model.py", "weight.pow(2)", "weight.pow(4)")
    assert [ran[name] for name in RUNS] == [0, 0, 1, 2]
    assert ran["presumed_run"] == 1
    assert ran["chunk"] == 1


def test_a_method_that_is_called_runs_its_callers(edit: Edits) -> None:
    ran = edit("/lab/model.py", "return self.layer(x)", "return self.layer(x).exp()")
    assert ran["imported"] == 0
    assert ran["module_run"] == 1


OUTER = """\
from torch import nn
from model import Net


class Outer(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Net()

    def forward(self, x):
        return self.inner(x).detach()

    def weight(self):
        return self.inner.layer.weight.detach()
"""


def test_what_a_method_computes_makes_no_object_anew() -> None:
    """The objects that functions are run on know of methods which attributes they set, and no more."""
    texts = {"/lab/model.py": MODEL, "/lab/outer.py": OUTER}
    host = opened(texts)
    shown(host, list(texts))
    host.set_text("/lab/model.py", MODEL.replace("return self.layer(x)", "return self.layer(x).exp()"))
    host.world.log.clear()
    shown(host, list(texts))
    ran = Counter((name, arguments[0]) for name, arguments in host.world.log if name in {"instance", "function_run"})
    assert ran == {("function_run", "/lab/outer.py"): 1}


def test_another_head_is_another_definition(edit: Edits) -> None:
    ran = edit("/lab/model.py", "def noise_like(x):", "def noise_like(x, scale=1):")
    assert ran["imported"] == 1


def test_half_a_line_runs_its_function_alone(edit: Edits) -> None:
    ran = edit("/lab/model.py", "return torch.randn_like(x).detach()", "return torch.randn_like(x).")
    assert ran["module_run"] == ran["imported"] == 0
    assert [sighting.finding.code for sighting in edit.shown["/lab/training.py"]] == ["AG102"]


def test_what_is_worth_running_is_asked_again_only_for_names_that_are_defined(edit: Edits) -> None:
    assert edit("/lab/model.py", "randn_like(x)", "randn_like(y)")["worth_running"] == 0
    assert edit("/lab/model.py", "randn_like(y)", "randn_like(Net())")["worth_running"] == 1


def test_a_host_that_forgets_says_the_same(edit: Edits, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not edit.host.forget_if_large()
    monkeypatch.setattr("analyzers.host.MOST_BLOCKS", 0)
    assert edit.host.forget_if_large()
    edit.host.world.log.clear()
    assert shown(edit.host, list(edit.texts)) == edit.shown
    assert "module_run" in [name for name, _ in edit.host.world.log]


def test_a_host_that_drops_what_it_used_longest_ago_says_the_same(edit: Edits, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not edit.host.shrink_if_large()
    monkeypatch.setattr(edit.host, "forget_if_large", lambda: False)
    monkeypatch.setattr("analyzers.host.MOST_BLOCKS", 0)
    assert edit.host.shrink_if_large()
    edit("/lab/training.py", "loss.backward()\nloss.backward()", "loss.backward()")
    assert not edit.shown["/lab/training.py"]
    assert edit("/lab/model.py", "return self.layer(x)", "return self.layer(x).detach()")["imported"]
    assert edit.shown == shown(opened(edit.texts), list(edit.texts))


def test_a_text_that_comes_back_shows_what_it_did(edit: Edits) -> None:
    before = edit.shown
    edit("/lab/training.py", "loss.backward()\nloss.backward()", "loss.backward()")
    assert not edit.shown["/lab/training.py"]
    edit("/lab/training.py", "loss.backward()", "loss.backward()\nloss.backward()")
    assert edit.shown == before


def test_a_key_runs_no_import_again_however_much_another_file_imports() -> None:
    """Neither does it where the syntax trees of the modules are gone by then."""
    training = "import torch\nfrom model import later\nw = torch.ones(2, requires_grad=True)\ny = w.exp()\n"
    parts = {f"/lab/parts/part_{n}.py": f"def scale_{n}(x):\n    return x.exp()\n" for n in range(600)}
    package = "".join(f"from parts.part_{n} import scale_{n}\n" for n in range(600))
    texts = {
        "/lab/model.py": "def later(x):\n    x.sum().backward()\n",
        "/lab/train.py": training,
        "/lab/other.py": "import parts\n",
        "/lab/parts/__init__.py": package,
    }
    host = opened({**texts, **parts})
    assert shown(host, ["/lab/train.py", "/lab/other.py"]) == {"/lab/train.py": (), "/lab/other.py": ()}
    host.world.log.clear()
    host.set_text("/lab/train.py", training + "y.add_(1)\nlater(y)\n")
    assert len(shown(host, ["/lab/train.py"])["/lab/train.py"]) == 1
    assert [key for name, key in host.world.log if name == "imported"] == []


def test_files_of_a_package_that_import_it_do_not_run_each_other() -> None:
    """Each of them leads to all others by way of the package; what it does not use of them is not its concern."""
    texts = {
        "/lab/nets/__init__.py": "from nets.large import Large\nfrom nets.small import Small\n",
        "/lab/nets/large.py": "import nets\n\n\ndef large(x):\n    return x\n",
        "/lab/nets/small.py": "import nets\n\n\ndef small(x):\n    return x\n",
        "/lab/training.py": "import nets\nimport torch\n",
    }
    host = opened(texts)
    host.snapshot().sightings("/lab/training.py")
    host.world.log.clear()
    host.set_text("/lab/nets/large.py", texts["/lab/nets/large.py"].replace("(x)", "(y)"))
    host.snapshot().sightings("/lab/training.py")
    assert [key for name, key in host.world.log if name == "imported"] == [("/lab/nets/large.py",)]


RAISING = """\
import torch


def pick(x):
    if x.dim() > 2:
        raise ValueError("too many")
    return [y for row in x if row.dim() for y in row]


class Late:
    def __enter__(self):
        return self

    def __exit__(self, *raised):
        raise KeyError("late")


def close(file):
    try:
        with Late():
            pick(torch.ones(2, 3))
        pick()
    except (KeyError, TypeError):
        return {y: pick(y) for y in file}


close([torch.ones(2)])
pick(torch.ones(2), 3)


def pieces(x):
    yield from (y for y in x)
    raise RuntimeError


first = next(pieces(torch.ones(2)))
"""


def test_what_an_edit_replaces_is_freed_at_once(edit: Edits, garbage: list[object]) -> None:
    """A server would otherwise grow for as long as somebody types."""
    edit("/lab/training.py", TRAINING, RAISING)
    edit("/lab/training.py", "too many", "too much")
    edit("/lab/training.py", RAISING.replace("too many", "too much"), TRAINING)
    gc.collect()
    assert not [thing for thing in garbage if type(thing).__module__.startswith("analyzers.")]
