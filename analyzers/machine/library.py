"""What lies outside the program: to whom a call of a dotted name goes, and the modules that change no tensor."""

from __future__ import annotations

import math

from analyzers.domain.join import reach_of
from analyzers.domain.objects import DictObj, Instance
from analyzers.domain.values import FALSE, NONE, Builtin, Const, Ref, Unknown, Value
from analyzers.machine import (
    copies,
    frameworks,
    in_bulk,
    namespaces,
    plotting,
    prelude_calls,
    presumed,
    standard,
    torch_entries,
)
from analyzers.machine.calls import Args, call, unknown_call
from analyzers.machine.core import Machine
from analyzers.machine.natives import NATIVE
from analyzers.machine.torch_calls import DTYPE_NAMES, call_torch, opaque_result
from analyzers.ops.resolve import python_names

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


HANDWRITTEN = (copies, frameworks, in_bulk, namespaces, prelude_calls, presumed, standard, torch_entries)
"""Modules whose functions enter the table `NATIVE` when they are imported."""


def is_native(dotted: str) -> bool:
    return dotted in NATIVE


def call_library(m: Machine, name: str, args: Args) -> Value:
    handler = NATIVE.get(name)
    if handler is not None:
        return handler(m, args)
    top, _, rest = name.partition(".")
    if top == "builtins":
        from analyzers.machine.builtins import call_builtin

        return call_builtin(m, rest, args)
    if top == "torch":
        return _call_torch_name(m, name, rest, args)
    if top == "numpy":
        from analyzers.machine.numpy_calls import call_numpy

        return call_numpy(m, name, args)
    if name.startswith("matplotlib.pyplot."):
        return plotting.call_pyplot(m, name.removeprefix("matplotlib.pyplot."), args)
    m.doubts += top not in {"math", "operator", "random", "time", "logging", "warnings"}
    if top in {"math", "operator"}:
        return standard.call_math(m, top, rest, args)
    if top == "tqdm":
        return args.get(0, "iterable", Unknown())
    if top == "random":
        return standard.call_random(m, rest, args)
    if top in QUIET:
        return Unknown(None, None, None, reach_of(*args.all()))
    return unknown_call(m, Builtin(name), args)


def _call_torch_name(m: Machine, name: str, rest: str, args: Args) -> Value:
    if rest.startswith("ops.aten."):
        return call_torch(m, "aten." + rest[9:], args.pos, args.kw)
    if rest.startswith("Tensor."):
        method = rest[7:]
        if args.pos:
            from analyzers.machine.attributes import get_attribute

            return call(m, get_attribute(m, args.pos[0], method), Args(args.pos[1:], args.kw, args.open))
    if rest.startswith("nn.functional.") and name not in python_names():
        rest = "_C._nn." + rest[14:] if f"torch._C._nn.{rest[14:]}" in python_names() else rest[14:]
    if rest in DTYPE_NAMES:
        return Unknown()
    from analyzers.machine.tensor_attributes import METHODS, call_tensor_method

    full = "torch." + rest
    owner = args.get(0, "input")
    if rest in METHODS and full in python_names() and isinstance(owner, Ref) and m.tensor(owner) is not None:
        others = {key: value for key, value in args.kw.items() if key != "input"}
        return call_tensor_method(m, owner, rest, Args(args.pos[1:], others, args.open))
    if args.open and full in python_names():
        return opaque_result(m, rest, args.all())
    if full in python_names():
        return call_torch(m, full, args.pos, args.kw)
    m.unmodelled[full] = m.unmodelled.get(full, 0) + 1
    if rest.startswith(("cuda.", "backends.", "manual_seed", "random.", "distributed.", "jit.", "save", "set_",
                        "profiler.",
                        "onnx.", "hub.", "version.", "multiprocessing.", "mps.", "xpu.")):  # fmt: skip
        if rest.startswith("distributed."):
            return unknown_call(m, Builtin(name), args)
        return Unknown()
    if rest[:1].isupper() or any(isinstance(m.obj(a), Instance | DictObj) for a in args.all()):
        return unknown_call(m, Builtin(name), args)
    if "." in rest and rest.split(".", 1)[0] not in {"linalg", "special", "fft", "nn", "signal", "functional"}:
        return unknown_call(m, Builtin(name), args)
    opaque_result(m, rest, args.all())
    return Unknown(None, None, m.trail(rest, m.parents(args.all())), reach_of(*args.all()))


def call_instance_method(m: Machine, receiver: Value, found: Instance, name: str, args: Args) -> Value:
    """A method of an object whose class lies outside."""
    if found.cls == "torch.autograd.FunctionCtx" and isinstance(receiver, Ref):
        from analyzers.machine.custom import context_method

        return context_method(m, receiver, found, name, args)
    if found.cls in {plotting.AXES, plotting.FIGURE}:
        return plotting.call_axes(m, name, args) if found.cls == plotting.AXES else plotting.call_figure(m, name)
    if isinstance(found.cls, str) and (
        found.cls.startswith("builtins.") or found.cls in {"torch.device", "torch.Generator"}
    ):
        return receiver if name in {"manual_seed", "with_traceback"} else Unknown()
    if isinstance(found.cls, str) and found.cls.startswith("torch.") and name in {"__enter__", "__exit__"}:
        return NONE
    return unknown_call(m, receiver, args)
