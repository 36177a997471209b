"""Ways of giving an object an attribute that its class does not show: nobody may take it for absent."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from pathlib import Path
from textwrap import indent
from types import ModuleType

import pytest
import torch

from tests.support.analyzer import findings

CUT = """\
import copy
import functools

import library
import torch

def cut(layer, given, made):
    return made.detach().requires_grad_()

def prepare(net):
    net.first.register_forward_hook(cut)

class Base(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = torch.nn.Linear(3, 3)

"""

TWICE = """
net.prepare()
loss = net.first(torch.ones(2, 3)).sum()
loss.backward()
loss.backward()
"""

WAYS = {
    "setattr": "setattr(self, '_'.join(['prepare']), functools.partial(prepare, self))",
    "the dict of the object": "self.__dict__.update({'prepare': functools.partial(prepare, self)})",
    "its variables": "vars(self)['prepare'] = functools.partial(prepare, self)",
    "object's own method": "object.__setattr__(self, 'pre' + 'pare', functools.partial(prepare, self))",
    "code in a string": "exec('self.prepare = functools.partial(prepare, self)')",
    "a method of its base": "super().__setattr__('_'.join(['prepare']), functools.partial(prepare, self))",
}

CLASSES = {
    "a method that answers for all": """\
class Net(Base):
    def __getattr__(self, name):
        return functools.partial(prepare, self) if name == "prepare" else super().__getattr__(name)
""",
    "a method that answers before all": """\
class Net(Base):
    def __getattribute__(self, name):
        return functools.partial(prepare, self) if name == "prepare" else super().__getattribute__(name)
""",
    "a method of a library that answers for all": """\
class Net(Base):
    __getattr__ = library.answers(prepare)
""",
    "a decorator of a library": """\
@library.ready(prepare)
class Net(Base):
    pass
""",
    "a decorator": """\
def ready(cls):
    for name in ["pre" + "pare"]:
        setattr(cls, name, prepare)
    return cls

@ready
class Net(Base):
    pass
""",
    "a metaclass": """\
class Kind(type):
    def __new__(kind, name, bases, space):
        return super().__new__(kind, name, bases, {**space, "prepare": prepare})

class Net(Base, metaclass=Kind):
    pass
""",
    "names of its body": """\
class Net(Base):
    locals()["pre" + "pare"] = prepare
""",
    "a descriptor": """\
class Named:
    def __set_name__(self, owner, name):
        setattr(owner, name[:7], prepare)

class Net(Base):
    prepare_ = Named()
""",
    "a way of its own of being copied": """\
def made():
    net = Net()
    vars(net)["prepare"] = functools.partial(prepare, net)
    return net

class Net(Base):
    def __reduce__(self):
        return made, ()

net = copy.deepcopy(Net())
""",
    "from outside": """\
class Net(Base):
    pass

for name in ["pre" + "pare"]:
    setattr(Net, name, prepare)
""",
}

FROM_OUTSIDE = {
    "setattr": 'setattr(net, "_".join(["prepare"]), functools.partial(prepare, net))',
    "the dict of the object": 'net.__dict__.update({"prepare": functools.partial(prepare, net)})',
    "its variables": 'vars(net)["prepare"] = functools.partial(prepare, net)',
    "another dict": 'net.__dict__ = {**net.__dict__, "prepare": functools.partial(prepare, net)}',
    "object's own method": 'object.__setattr__(net, "pre" + "pare", functools.partial(prepare, net))',
    "object's own method, by its name": 'object.__setattr__(net, "prepare", functools.partial(prepare, net))',
    "another class": 'net.__class__ = type("Other", (Net,), {"prepare": prepare})',
    "another base": 'Net.__bases__ = (type("Other", (Base,), {"prepare": prepare}),)',
    "the class": 'setattr(Net, "_".join(["prepare"]), prepare)',
    "type's own method": 'type.__setattr__(Net, "pre" + "pare", prepare)',
    "a method that nobody names": """\
def ready(self):
    self.prepare = functools.partial(prepare, self)

Net.ready = ready
getattr(net, library.name)()
""",
    "a method handed over": """\
def ready(self):
    self.prepare = functools.partial(prepare, self)

Net.ready = ready
library.runs(net.ready)
""",
    "code in a string": 'exec("net.prepare = functools.partial(prepare, net)")',
    "code in a string, in a function": (
        'def given():\n    exec("net.prepare = functools.partial(prepare, net)")\n\ngiven()'
    ),
}
"""Ways from outside the class, of whose text nothing is to be seen in it."""

PROGRAMS = {
    **{
        way: "class Net(Base):\n    def __init__(self):\n        super().__init__()\n" + indent(line, " " * 8) + "\n"
        for way, line in WAYS.items()
    },
    **CLASSES,
    **{
        f"{way}, from outside": f"class Net(Base):\n    pass\n\nnet = Net()\n{line}\n"
        for way, line in FROM_OUTSIDE.items()
    },
}


@pytest.fixture(autouse=True)
def _library(monkeypatch: pytest.MonkeyPatch) -> None:
    """What programs import and nobody but torch ever sees."""

    def answers(prepare: Callable[..., object]) -> Callable[[object, str], object]:
        def answer(net: torch.nn.Module, name: str) -> object:
            return functools.partial(prepare, net) if name == "prepare" else torch.nn.Module.__getattr__(net, name)

        return answer

    def ready(prepare: Callable[..., object]) -> Callable[[type], type]:
        return lambda cls: type(cls.__name__, (cls,), {"prepare": prepare})

    def equip(net: torch.nn.Module) -> None:
        net.add_adapter = lambda rank: setattr(net, "first", torch.nn.Linear(3, rank))

    library = ModuleType("library")
    vars(library).update(
        answers=answers,
        ready=ready,
        equip=equip,
        name="ready",
        called="prepare",
        runs=lambda run: run(),
        loader=[torch.ones(2, 3)] * 2,
    )
    monkeypatch.setitem(sys.modules, "library", library)


@pytest.mark.parametrize("way", PROGRAMS)
def test_what_an_object_was_given_in_any_way_is_there(way: str, tmp_path: Path) -> None:
    made = "" if "\nnet = " in PROGRAMS[way] else "\nnet = Net()\n"
    text = CUT + PROGRAMS[way] + made + TWICE
    exec(compile(text, way, "exec"), {"__name__": "__main__"})  # it runs to its end: the hook has cut the graph
    assert [found.severity for found in findings(tmp_path / "program.py", text) if found.severity == "error"] == []


def test_what_nothing_gives_an_object_does_nothing_to_it(tmp_path: Path) -> None:
    text = (
        CUT
        + "net = Base()\ntry:\n    net.prepare()\nexcept AttributeError:\n    pass\n"
        + TWICE.replace("net.prepare()\n", "")
    )
    with pytest.raises(RuntimeError, match="a second time"):
        exec(compile(text, "absent", "exec"), {"__name__": "__main__"})
    assert [found.severity for found in findings(tmp_path / "program.py", text)] == ["error"]


def test_what_a_module_holds_by_a_name_that_nobody_knows_is_there(tmp_path: Path) -> None:
    text = (
        CUT
        + """\
base = Base()

class Preparing(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.held = [base]

    def forward(self):
        prepare(self.held[0])

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.add_module(library.called, Preparing())

net = Net()
"""
        + TWICE.replace("net.first", "base.first")
    )
    exec(compile(text, "named", "exec"), {"__name__": "__main__"})
    assert [found.severity for found in findings(tmp_path / "program.py", text) if found.severity == "error"] == []


def test_what_calls_itself_too_often_may_have_given_anything(tmp_path: Path) -> None:
    text = (
        CUT
        + """\
def ready(net):
    net.prepare = functools.partial(prepare, net)

def down(n):
    return down(n - 1) if n else ready(net)

class Net(Base):
    pass

net = Net()
down(300)
"""
        + TWICE
    )
    exec(compile(text, "deep", "exec"), {"__name__": "__main__"})
    assert [found.severity for found in findings(tmp_path / "program.py", text) if found.severity == "error"] == []


LENT = """\
import library
import torch

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = torch.nn.Linear(3, 1)
        library.equip(self)

    def forward(self, x):
        return self.first(x)

net = Net()
net.requires_grad_(False)
net.add_adapter(1)
optimizer = torch.optim.SGD([p for p in net.parameters() if p.requires_grad], lr=0.1)
for x in library.loader:
    optimizer.zero_grad()
    net(x).sum().backward()
    optimizer.step()
"""


def test_what_unknown_code_had_may_have_been_given_what_learns(tmp_path: Path) -> None:
    exec(compile(LENT, "lent", "exec"), {"__name__": "__main__"})
    assert [found.code for found in findings(tmp_path / "program.py", LENT)] == []


def test_what_nothing_gave_a_model_makes_nothing_learn(tmp_path: Path) -> None:
    text = LENT.replace("        library.equip(self)\n", "")
    assert "AG101" in [found.code for found in findings(tmp_path / "program.py", text)]
