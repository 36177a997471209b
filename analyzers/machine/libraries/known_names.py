"""Library names that stand for constants, and modules whose functions do not affect tensors."""

from __future__ import annotations

import math

from analyzers.domain.copies import replace
from analyzers.domain.join import one_of, reach_of, some
from analyzers.domain.objects import ListObj
from analyzers.domain.values import FALSE, NONE, Builtin, Const, Ref, Unknown, Value
from analyzers.machine.core.arguments import Args
from analyzers.machine.core.calling import unknown_call
from analyzers.machine.core.machine import Machine
from analyzers.machine.core.registries import CONSTANTS, EXPECTING, FALLBACKS, MODELLED, STAR, TRANSPARENT
from analyzers.machine.core.tables import enter
from analyzers.machine.libraries.matplotlib import call_pyplot
from analyzers.machine.operators.arguments import DTYPES

CONSTANTS.update({
    "math.pi": Const(math.pi), "math.e": Const(math.e), "math.inf": Const(math.inf), "math.nan": Unknown("float"),
    "math.tau": Const(math.tau), "torch.pi": Const(math.pi), "torch.e": Const(math.e), "torch.inf": Const(math.inf),
    "torch.nan": Unknown("float"), "numpy.pi": Const(math.pi), "numpy.e": Const(math.e), "numpy.inf": Const(math.inf),
    "numpy.newaxis": NONE, "torch.newaxis": NONE, "typing.TYPE_CHECKING": FALSE, "sys.argv": Unknown(),
    "os.environ": Unknown(), "sys.maxsize": Const((1 << 63) - 1), "torch.__version__": Unknown("str"),
    "os.sep": Const("/"), "sys.version_info": Unknown(), "sys.platform": Unknown("str"), "os.name": Unknown("str"),
})  # fmt: skip

CONSTANTS.update({f"torch.{short}": Builtin(f"torch.{dtype}") for short, dtype in DTYPES.items()})


STAR.update(
    {
        "torch.nn": ("Module", "Linear", "ReLU", "Sequential", "Parameter", "ModuleList", "functional"),
        "math": tuple(name for name in dir(math) if not name.startswith("_")),
    }
)


QUIET = frozenset([
    "print", "logging", "warnings", "time", "os", "sys", "json", "random", "re", "argparse", "pathlib", "datetime",
    "pickle", "glob", "shutil", "matplotlib", "string", "types", "typing", "inspect", "gc", "tempfile", "hashlib",
    "csv", "uuid", "heapq", "bisect", "textwrap", "pprint", "traceback", "signal", "queue", "weakref", "io", "struct",
    "socket", "yaml", "numbers", "fractions", "decimal", "secrets", "platform", "importlib", "threading",
    "multiprocessing", "subprocess", "statistics", "abc", "enum", "unittest", "pytest", "__future__",
    "typing_extensions", "IPython",
])  # fmt: skip
"""Modules whose functions do not affect tensors."""


MODELLED.update(
    {
        "torch", "numpy", "math", "random", "copy", "functools", "itertools", "operator", "collections", "contextlib",
        "dataclasses", "typing", "abc", "enum", "time", "os", "sys", "json", "logging", "warnings", "pathlib", "re",
        "argparse", "pytest", "unittest", "types", "string", "datetime", "pickle", "glob", "shutil", "tqdm",
        "matplotlib", "builtins", "autograd_machine", "__future__", "statistics", "inspect", "gc", "threading",
        "multiprocessing", "subprocess", "tempfile", "hashlib", "csv", "uuid", "heapq", "bisect", "textwrap", "pprint",
        "traceback", "signal", "queue", "weakref", "io", "struct", "socket", "yaml", "typing_extensions", "numbers",
        "fractions", "decimal", "secrets", "platform", "importlib", "IPython", "lightning", "pytorch_lightning",
        "accelerate", "transformers",
    }
)  # fmt: skip


WITHOUT_DOUBT = frozenset({"time", "logging", "warnings"})
"""Those that definitely do not raise."""


def _quiet(m: Machine, rest: str, args: Args) -> Value:
    m.record.imprecisions += args.called.partition(".")[0] not in WITHOUT_DOUBT
    return Unknown(None, m.fresh(), None, reach_of(*args.all()))


def _runs(m: Machine, rest: str, args: Args) -> Value:
    """What runs a function of the program in another thread or process."""
    known = all(isinstance(value, Const | Unknown) for value in args.all())
    return _quiet(m, rest, args) if known else unknown_call(m, Builtin(args.called), args)


def _reorders(m: Machine, rest: str, args: Args) -> Value:
    """What keeps a list in an order: afterwards it holds its items and whatever was passed with it, in any places."""
    target = args.get(0, "a")
    found = m.obj(target)
    if not isinstance(found, ListObj) or not isinstance(target, Ref) or rest not in _IN_PLACE:
        return _quiet(m, rest, args)
    held = (*found.items, *some(found.rest), *args.pos[1:])
    if held:
        m.st.put(target.id, replace(found, items=(), rest=one_of(*held)))
    return one_of(*held) if _IN_PLACE[rest] else NONE


_IN_PLACE = {
    "heapify": False, "heappush": False, "heappop": True, "heappushpop": True, "heapreplace": True, "insort": False,
    "insort_left": False, "insort_right": False,
}  # fmt: skip
"""Functions that change the list they are passed, and whether they return one of its items."""


for _name in QUIET - {"matplotlib", "random", "heapq", "bisect", "threading", "multiprocessing"}:
    enter(FALLBACKS, _name, _quiet)
for _name in ("threading", "multiprocessing"):
    enter(FALLBACKS, _name, _runs)
for _name in ("heapq", "bisect"):
    enter(FALLBACKS, _name, _reorders)


def _tqdm(m: Machine, rest: str, args: Args) -> Value:
    m.record.imprecisions += 1
    return args.get(0, "iterable", Unknown())


def _matplotlib(m: Machine, rest: str, args: Args) -> Value:
    if rest.startswith("pyplot."):
        return call_pyplot(m, rest.removeprefix("pyplot."), args)
    return _quiet(m, rest, args)


enter(FALLBACKS, "tqdm", _tqdm)
enter(FALLBACKS, "matplotlib", _matplotlib)

TRANSPARENT.update({
    "torch.jit.script", "torch.jit.export", "torch.jit.ignore", "torch.jit.unused", "torch.compile",
    "torch.amp.custom_fwd", "torch.amp.custom_bwd", "torch.cuda.amp.custom_fwd", "torch.cuda.amp.custom_bwd",
    "pytest.fixture", "pytest.mark.parametrize", "torch._dynamo.disable", "torch.compiler.disable",
    "torch.no_type_check", "torch.jit.script_if_tracing",
})  # fmt: skip
EXPECTING.add("pytest.raises")
