"""A machine with no host around it: one text is all of its world, and only the rooms that a test imports are there."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence

from analyzers.domain.objects import Env
from analyzers.domain.values import Const
from analyzers.machine.core.machine import Machine
from analyzers.machine.core.places import Frame
from analyzers.machine.core.program import Captured, ModuleRun, Program
from analyzers.maps import Map
from analyzers.syntax import nodes as n
from analyzers.syntax.lower import lower, lower_head
from analyzers.syntax.parse import parse
from analyzers.syntax.roles import Role
from analyzers.syntax.split import split

PATH = "/nowhere/alone.py"

ROOMS = "analyzers.machine."


class OneText:
    """A program of one module; nothing is installed, and no module of torch's is written down."""

    def __init__(self, text: str = "") -> None:
        self.cut = split(text.encode(), parse(text.encode()), is_closed=True)

    def body(self, module: str) -> Sequence[n.Stmt]:
        return self.cut.body

    def chunk(self, module: str, key: str) -> n.Chunk:
        return lower(self.cut, key) if key else n.Chunk("", b"", ())

    def head(self, module: str, key: str) -> n.Chunk:
        return lower_head(self.cut, key) if self.cut.spans[key].head else lower(self.cut, key)

    def captured(self, module: str, key: str) -> Captured:
        return Captured(frozenset(), frozenset(), frozenset(), writes=False, walks=False)

    def attributes_set(self, module: str, key: str) -> frozenset[str]:
        return frozenset()

    def roles_in_methods(self, methods: tuple[tuple[str, str], ...], of_module: bool) -> Mapping[str, Role]:
        return {}

    def habits(self, module: str) -> tuple[frozenset[str], bool]:
        return frozenset(), False

    def find_import(self, module: str, name: str, level: int) -> str | None:
        return None

    def module_name(self, module: str) -> str:
        return "alone"

    def run_module(self, path: str, importer: str | None) -> ModuleRun | None:
        return None

    def library(self, dotted: str) -> tuple[str, str] | None:
        return None

    def outside_kind(self, dotted: str) -> str:
        return "unknown"

    def torch_release(self) -> tuple[int, int] | None:
        return None

    def block(self, path: str, main: bool) -> int:
        return 1


def machine(text: str = "") -> Machine:
    """A machine about to run the first line of `text`."""
    program: Program = OneText(text)
    made = Machine(program, 1)
    made.config.ends_with_failure = True
    env = made.new(Env(Map({"__name__": Const("__main__")}), None, PATH)).id
    start = n.Pass(0, 0)
    made.extent.frames.append(Frame(PATH, "", "<module>", env, None, False, start, start))
    return made


def rooms_loaded() -> list[str]:
    """The rooms of the machine that this process has imported something of."""
    return sorted({name.removeprefix(ROOMS).split(".")[0] for name in sys.modules if name.startswith(ROOMS)})
