"""Names of libraries that mean a constant, and modules whose functions change no tensor."""

from __future__ import annotations

import math

from analyzers.domain.objects import Instance
from analyzers.domain.values import FALSE, NONE, Const, Ref, Unknown, Value
from analyzers.machine.core.arguments import Args
from analyzers.machine.core.calling import unknown_call
from analyzers.machine.core.machine import Machine
from analyzers.machine.libraries.matplotlib import AXES, FIGURE, call_axes, call_figure
from analyzers.machine.libraries.torch.function_context import context_method

CONSTANTS: dict[str, Value] = {
    "math.pi": Const(math.pi), "math.e": Const(math.e), "math.inf": Const(math.inf), "math.nan": Unknown("float"),
    "math.tau": Const(math.tau), "torch.pi": Const(math.pi), "torch.e": Const(math.e), "torch.inf": Const(math.inf),
    "torch.nan": Unknown("float"), "numpy.pi": Const(math.pi), "numpy.e": Const(math.e), "numpy.inf": Const(math.inf),
    "numpy.newaxis": NONE, "torch.newaxis": NONE, "typing.TYPE_CHECKING": FALSE, "sys.argv": Unknown(),
    "os.environ": Unknown(), "sys.maxsize": Const((1 << 63) - 1), "torch.__version__": Unknown("str"),
    "os.sep": Const("/"), "sys.version_info": Unknown(), "sys.platform": Unknown("str"), "os.name": Unknown("str"),
}  # fmt: skip


STAR: dict[str, tuple[str, ...]] = {
    "torch.nn": ("Module", "Linear", "ReLU", "Sequential", "Parameter", "ModuleList", "functional"),
    "math": tuple(name for name in dir(math) if not name.startswith("_")),
}


QUIET = frozenset([
    "print", "logging", "warnings", "time", "os", "sys", "json", "random", "re", "argparse", "pathlib", "datetime",
    "pickle", "glob", "shutil", "matplotlib", "string", "types", "typing", "inspect", "gc", "tempfile", "hashlib",
    "csv", "uuid", "heapq", "bisect", "textwrap", "pprint", "traceback", "signal", "queue", "weakref", "io", "struct",
    "socket", "yaml", "numbers", "fractions", "decimal", "secrets", "platform", "importlib", "threading",
    "multiprocessing", "subprocess", "statistics", "abc", "enum", "unittest", "pytest", "__future__",
    "typing_extensions", "IPython",
])  # fmt: skip
"""Modules whose functions leave tensors as they are."""


def call_instance_method(m: Machine, receiver: Value, found: Instance, name: str, args: Args) -> Value:
    """A method of an object whose class lies outside."""
    if found.cls == "torch.autograd.FunctionCtx" and isinstance(receiver, Ref):
        return context_method(m, receiver, found, name, args)
    if found.cls in {AXES, FIGURE}:
        return call_axes(m, name, args) if found.cls == AXES else call_figure(m, name)
    if isinstance(found.cls, str) and (
        found.cls.startswith("builtins.") or found.cls in {"torch.device", "torch.Generator"}
    ):
        return receiver if name in {"manual_seed", "with_traceback"} else Unknown()
    if isinstance(found.cls, str) and found.cls.startswith("torch.") and name in {"__enter__", "__exit__"}:
        return NONE
    return unknown_call(m, receiver, args)


MODELLED = frozenset(
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
"""Top-level modules that change nothing of the program's tensors except where the machine says how."""
