"""Ways of giving an object an attribute that its class does not show: nobody may take it for absent."""

from __future__ import annotations

from pathlib import Path
from textwrap import indent

import pytest

from tests.support.analyzer import findings

CUT = """\
import functools

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
}

CLASSES = {
    "a method that answers for all": """\
class Net(Base):
    def __getattr__(self, name):
        return functools.partial(prepare, self) if name == "prepare" else super().__getattr__(name)
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
    "from outside": """\
class Net(Base):
    pass

for name in ["pre" + "pare"]:
    setattr(Net, name, prepare)
""",
}

PROGRAMS = {
    **{
        way: "class Net(Base):\n    def __init__(self):\n        super().__init__()\n" + indent(line, " " * 8) + "\n"
        for way, line in WAYS.items()
    },
    **CLASSES,
}


@pytest.mark.parametrize("way", PROGRAMS)
def test_what_an_object_was_given_in_any_way_is_there(way: str, tmp_path: Path) -> None:
    text = CUT + PROGRAMS[way] + "\nnet = Net()\n" + TWICE
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
