"""What lies outside the program: torch's Python entry points, and the modules that change no tensor."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

from immutables import Map

from analyzers.domain import truth
from analyzers.domain.join import reach_of
from analyzers.domain.lineage import Cut, Lineage
from analyzers.domain.objects import (
    Array,
    Counter,
    DictObj,
    Edge,
    Env,
    Generator,
    Instance,
    Iterator,
    ListObj,
    SetObj,
    Shape,
    Storage,
    Tensor,
)
from analyzers.domain.values import (
    FALSE,
    NONE,
    TRUE,
    BoundBuiltin,
    Builtin,
    Const,
    Native,
    Partial,
    Ref,
    Tup,
    Unknown,
    Value,
)
from analyzers.machine.calls import Args, call, unknown_call
from analyzers.machine.core import Machine
from analyzers.machine.events import Plain
from analyzers.machine.expressions import truth_of
from analyzers.machine.tensors import bump, inputs_require_grad, refreshed, tensor_at, write_hidden
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

Handler = Callable[[Machine, Args], Value]
NATIVE: dict[str, Handler] = {}


def native(*names: str) -> Callable[[Handler], Handler]:
    def add(handler: Handler) -> Handler:
        for name in names:
            NATIVE[name] = handler
        return handler

    return add


QUIET = frozenset(
    [
        "print",
        "logging",
        "warnings",
        "time",
        "os",
        "sys",
        "json",
        "random",
        "re",
        "argparse",
        "pathlib",
        "datetime",
        "pickle",
        "glob",
        "shutil",
        "matplotlib",
        "string",
        "types",
        "typing",
        "inspect",
        "gc",
        "tempfile",
        "hashlib",
        "csv",
        "uuid",
        "heapq",
        "bisect",
        "textwrap",
        "pprint",
        "traceback",
        "signal",
        "queue",
        "weakref",
        "io",
        "struct",
        "socket",
        "yaml",
        "numbers",
        "fractions",
        "decimal",
        "secrets",
        "platform",
        "importlib",
        "threading",
        "multiprocessing",
        "subprocess",
        "statistics",
        "abc",
        "enum",
        "unittest",
        "pytest",
        "__future__",
        "typing_extensions",
    ]
)
"""Modules whose functions leave tensors as they are."""


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
    m.doubts += top not in {"math", "operator", "random", "time", "logging", "warnings"}
    if top in {"math", "operator"}:
        return _call_math(m, top, rest, args)
    if top == "tqdm":
        return args.get(0, "iterable", Unknown())
    if top == "random":
        return _call_random(m, rest, args)
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
    full = "torch." + rest
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


def _call_math(m: Machine, top: str, rest: str, args: Args) -> Value:
    if top == "operator":
        return _call_operator(m, rest, args)
    values = [a.value if isinstance(a, Const) else None for a in args.pos]
    function = getattr(math, rest, None)
    if function is not None and values and None not in values:
        try:
            from analyzers.machine.methods import lift

            return lift(m, function(*values))
        except (TypeError, ValueError, OverflowError):
            return Unknown("float")
    trail = m.parents(args.pos)
    kind = "int" if rest in {"ceil", "floor", "trunc", "gcd", "comb", "factorial", "isqrt"} else "float"
    if rest.startswith("is"):
        kind = "bool"
    cut: Cut | None = None
    for value in args.pos:
        tensor = m.tensor(value)
        if tensor is not None and isinstance(value, Ref) and refreshed(m, value.id).requires_grad:
            cut = "left-torch"
    lineage = Lineage(rest, m.here(), trail, cut, m.via()) if trail else None
    return Unknown(kind, None, lineage)


OPERATORS = {
    "add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "pow": "**", "matmul": "@",
    "and_": "&", "or_": "|", "xor": "^",
}  # fmt: skip


def _call_operator(m: Machine, rest: str, args: Args) -> Value:
    from analyzers.machine.operators import augmented, binary, compare, unary

    if rest in OPERATORS:
        return binary(m, OPERATORS[rest], args.get(0, "a"), args.get(1, "b"))
    if rest.startswith("i") and rest[1:] in OPERATORS:
        return augmented(m, OPERATORS[rest[1:]], args.get(0, "a"), args.get(1, "b"))
    if rest == "neg":
        return unary(m, "-", args.get(0, "a"))
    if rest in {"eq", "ne", "lt", "le", "gt", "ge"}:
        sign = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}[rest]
        return compare(m, sign, args.get(0, "a"), args.get(1, "b"))
    if rest == "getitem":
        from analyzers.machine.subscripts import get_item

        return get_item(m, args.get(0, "a"), args.get(1, "b"))
    if rest == "setitem":
        from analyzers.machine.subscripts import set_item

        set_item(m, args.get(0, "a"), args.get(1, "b"), args.get(2, "c"))
        return NONE
    if rest == "itemgetter" and len(args.pos) == 1:
        from analyzers.machine.subscripts import get_item

        key = args.pos[0]
        return Native("itemgetter", lambda mm, a: get_item(mm, a.get(0, "obj"), key), key)
    if rest == "attrgetter" and len(args.pos) == 1 and isinstance(args.pos[0], Const):
        from analyzers.machine.attributes import get_attribute

        path = str(args.pos[0].value).split(".")

        def read(mm: Machine, a: Args) -> Value:
            value = a.get(0, "obj")
            for part in path:
                value = get_attribute(mm, value, part)
            return value

        return Native("attrgetter", read, args.pos[0])
    if rest == "methodcaller" and args.pos and isinstance(args.pos[0], Const):
        from analyzers.machine.calls import call_method

        name = str(args.pos[0].value)
        more = Args(args.pos[1:], args.kw, args.open)
        return Native("methodcaller", lambda mm, a: call_method(mm, a.get(0, "obj"), name, more), args.pos[0])
    return Unknown()


def _call_random(m: Machine, rest: str, args: Args) -> Value:
    if rest in {"random", "uniform", "gauss", "normalvariate", "betavariate", "expovariate", "triangular"}:
        return Unknown("float")
    if rest in {"randint", "randrange", "getrandbits"}:
        return Unknown("int")
    if rest in {"seed", "setstate"}:
        return NONE
    if rest == "shuffle":
        found = m.obj(args.get(0, "x"))
        target = args.get(0, "x")
        if isinstance(found, ListObj) and isinstance(target, Ref):
            element = _one_of(found)
            count = len(found.items) if found.rest is None else 0
            m.st.put(target.id, replace(found, items=(element,) * count, rest=None if found.rest is None else element))
        return NONE
    if rest in {"choice", "sample", "choices"}:
        found = m.obj(args.get(0, "population"))
        source = args.get(0, "population")
        if isinstance(source, Tup):
            found = ListObj(source.items)
        if isinstance(found, ListObj):
            element = _one_of(found)
            if rest == "choice":
                return element
            k = args.get(1, "k", Const(1))
            if isinstance(k, Const) and isinstance(k.value, int) and 0 <= k.value <= 64:
                return m.new(ListObj((element,) * k.value))
            return m.new(ListObj((), element))
        return Unknown(None, None, None, reach_of(source))
    return Unknown()


def _one_of(found: ListObj) -> Value:
    values: tuple[Value, ...] = (*found.items, *((found.rest,) if found.rest is not None else ()))
    if values and all(v == values[0] for v in values):
        return values[0]
    return Unknown(None, None, None, reach_of(*values))


# --- torch: grad modes ------------------------------------------------------------------------------------------


@native("torch.no_grad", "torch.enable_grad", "torch.autograd.no_grad", "torch.autograd.enable_grad",
        "torch.autograd.grad_mode.no_grad", "torch.autograd.grad_mode.enable_grad")  # fmt: skip
def _plain_mode(m: Machine, args: Args) -> Value:
    name = _called(m)
    kind = "torch.enable_grad" if name.endswith("enable_grad") else "torch.no_grad"
    made = m.new(Instance(kind, Map()))
    if args.pos:
        from analyzers.machine.classes import decorate

        return decorate(m, made, args.pos[0])
    return made


def _called(m: Machine) -> str:
    from analyzers.syntax import nodes as n

    node = m.frame.node
    if isinstance(node, n.Call):
        func = node.func
        if isinstance(func, n.Attribute):
            return func.attr
        if isinstance(func, n.Name):
            from analyzers.machine.expressions import load_name

            value = load_name(m, func.id)
            return value.name if isinstance(value, Builtin) else func.id
    return ""


@native("torch.inference_mode")
def _inference_mode(m: Machine, args: Args) -> Value:
    mode = args.get(0, "mode", TRUE)
    if mode not in {TRUE, FALSE} and not isinstance(mode, Unknown):
        from analyzers.machine.classes import decorate

        return decorate(m, m.new(Instance("torch.inference_mode", Map())), mode)
    return m.new(Instance("torch.inference_mode", Map({"mode": mode})))


@native("torch.set_grad_enabled", "torch._C._set_grad_enabled", "torch.autograd.set_grad_enabled")
def _set_grad_enabled(m: Machine, args: Args) -> Value:
    mode = args.get(0, "mode")
    before = Tup((Const(m.st.grad) if m.st.grad is not None else Unknown("bool"), Const(m.st.inference)))
    m.st.grad = truth_of(m, mode)[0]
    shown = Const(m.st.grad) if m.st.grad is not None else Unknown("bool")
    return m.new(Instance("torch.set_grad_enabled", Map({"mode": shown, "previous": before})))


@native("torch.is_grad_enabled")
def _is_grad_enabled(m: Machine, args: Args) -> Value:
    return Unknown("bool") if m.st.grad is None else Const(m.st.grad)


@native("torch.is_inference_mode_enabled")
def _is_inference(m: Machine, args: Args) -> Value:
    return Unknown("bool") if m.st.inference is None else Const(m.st.inference)


@native("torch.autograd.graph.saved_tensors_hooks", "torch.autograd.graph.save_on_cpu")
def _saved_hooks(m: Machine, args: Args) -> Value:
    return m.new(Instance("torch.saved_tensors_hooks", Map()))


@native("torch.autocast", "torch.amp.autocast", "torch.cuda.amp.autocast", "torch.cpu.amp.autocast")
def _autocast(m: Machine, args: Args) -> Value:
    return m.new(Instance("torch.autocast", Map()))


@native(
    "torch.autograd.set_detect_anomaly", "torch.autograd.detect_anomaly", "torch.autograd.set_multithreading_enabled"
)
def _anomaly(m: Machine, args: Args) -> Value:
    return m.new(Instance("contextlib.nullcontext", Map()))


# --- torch: making tensors --------------------------------------------------------------------------------------


@native("torch.tensor", "torch.scalar_tensor")
def _tensor(m: Machine, args: Args) -> Value:
    from analyzers.machine.factories import tensor_from_data

    return tensor_from_data(m, args)


@native("torch.as_tensor", "torch.asarray")
def _as_tensor(m: Machine, args: Args) -> Value:
    from analyzers.machine.factories import as_tensor

    return as_tensor(m, args)


@native("torch.from_numpy")
def _from_numpy(m: Machine, args: Args) -> Value:
    from analyzers.machine.factories import from_array

    return from_array(m, args.get(0, "array"))


@native("torch.nn.Parameter", "torch.nn.parameter.Parameter")
def _parameter(m: Machine, args: Args) -> Value:
    from analyzers.machine.factories import parameter

    return parameter(m, args)


@native("torch.nn.Buffer")
def _buffer(m: Machine, args: Args) -> Value:
    return args.get(0, "data")


@native("torch.autograd.Variable", "torch.autograd.variable.Variable")
def _variable(m: Machine, args: Args) -> Value:
    """`Variable(t)` is an alias of `t`, or a leaf of its own where `requires_grad=True` is given."""
    value = args.get(0, "data")
    wants = args.get(1, "requires_grad", FALSE)
    tensor = m.tensor(value)
    if tensor is None or not isinstance(value, Ref):
        return m.unknown_tensor(m.lineage(value))
    from analyzers.machine.flags import flag_new
    from analyzers.machine.tensor_attributes import detach

    made = detach(m, value)
    flag_new(m, made, wants)
    return made


@native(
    "torch.Tensor",
    "torch.FloatTensor",
    "torch.cuda.FloatTensor",
    "torch.DoubleTensor",
    "torch.LongTensor",
    "torch.cuda.LongTensor",
    "torch.IntTensor",
    "torch.BoolTensor",
)
def _legacy_tensor(m: Machine, args: Args) -> Value:
    name = _called(m)
    dtype = {
        "FloatTensor": "float32",
        "DoubleTensor": "float64",
        "LongTensor": "int64",
        "IntTensor": "int32",
        "BoolTensor": "bool",
    }
    kind = dtype.get(name.rsplit(".", 1)[-1], "float32")
    if args.pos and all(isinstance(a, Const) and isinstance(a.value, int) for a in args.pos):
        return m.new_tensor(tuple(m.int_of(a) for a in args.pos), kind, what="Tensor")
    if args.pos and m.tensor(args.pos[0]) is not None:
        return m.unknown_tensor(m.lineage(args.pos[0]))
    from analyzers.machine.factories import data_type

    shape = data_type(m, args.pos[0])[0] if args.pos else (0,)
    return m.new_tensor(shape, kind, what="Tensor", parents=m.parents(args.pos))


@native("torch.is_tensor")
def _is_tensor(m: Machine, args: Args) -> Value:
    from analyzers.machine.builtins import is_instance

    verdict = is_instance(m, args.get(0, "obj"), Builtin("torch.Tensor"))
    return Unknown("bool") if verdict is None else Const(verdict)


@native("torch.device")
def _device(m: Machine, args: Args) -> Value:
    return m.new(Instance("torch.device", Map({"type": args.get(0, "type", Unknown("str"))})))


@native("torch.Generator")
def _generator(m: Machine, args: Args) -> Value:
    return m.new(Instance("torch.Generator", Map()))


@native("torch.Size")
def _torch_size(m: Machine, args: Args) -> Value:
    from analyzers.machine.iteration import stream_of

    source = stream_of(m, args.get(0, "sizes", Tup(()))).drained(m)
    return Tup(source.items, "torch.Size") if source.rest is None else Unknown("torch.Size")


@native("torch.manual_seed", "torch.seed", "torch.set_printoptions", "torch.use_deterministic_algorithms",
        "torch.set_num_threads", "torch.cuda.manual_seed_all", "torch.cuda.manual_seed", "torch.save",
        "torch.cuda.empty_cache", "torch.set_float32_matmul_precision", "torch.random.manual_seed")  # fmt: skip
def _settings(m: Machine, args: Args) -> Value:
    return Unknown()


@native("torch.set_default_dtype")
def _default_dtype(m: Machine, args: Args) -> Value:
    from analyzers.machine.torch_calls import dtype_of

    m.default_dtype = dtype_of(args.get(0, "d")) or m.default_dtype
    return NONE


@native("torch.cuda.is_available", "torch.cuda.is_bf16_supported", "torch.backends.mps.is_available")
def _availability(m: Machine, args: Args) -> Value:
    return Unknown("bool", "cuda")


@native("torch.is_floating_point")
def _is_floating_point(m: Machine, args: Args) -> Value:
    from analyzers.machine.calls import call_method

    return call_method(m, args.get(0, "input"), "is_floating_point", Args())


@native("torch.is_complex")
def _is_complex(m: Machine, args: Args) -> Value:
    from analyzers.machine.calls import call_method

    return call_method(m, args.get(0, "input"), "is_complex", Args())


@native("torch.equal", "torch.allclose", "torch.is_nonzero")
def _verdicts(m: Machine, args: Args) -> Value:
    return Unknown("bool")


@native("torch.numel")
def _numel(m: Machine, args: Args) -> Value:
    from analyzers.machine.calls import call_method

    return call_method(m, args.get(0, "input"), "numel", Args())


# --- torch: autograd --------------------------------------------------------------------------------------------


def _many(m: Machine, value: Value) -> list[Value]:
    from analyzers.machine.tensor_attributes import tensor_list

    return tensor_list(m, value) or []


def _paired(m: Machine, tensors: Sequence[Value], gradients: Value) -> list[tuple[Value, Value]]:
    given = _many(m, gradients)
    return [(t, given[i] if i < len(given) else NONE) for i, t in enumerate(tensors)]


@native("torch.autograd.backward")
def _autograd_backward(m: Machine, args: Args) -> Value:
    from analyzers.machine.backward import run_backward, truth_value

    tensors = _many(m, args.get(0, "tensors"))
    create = truth_value(m, args.get(3, "create_graph", FALSE))
    retain_value = args.get(2, "retain_graph", NONE)
    retain = create if retain_value == NONE else truth_value(m, retain_value)
    inputs = args.kw.get("inputs", NONE)
    name = _argument_source(m)
    run_backward(
        m,
        _paired(m, tensors, args.get(1, "grad_tensors")),
        retain,
        create,
        None if inputs == NONE else _many(m, inputs),
        name,
    )
    return NONE


def _argument_source(m: Machine) -> str:
    from analyzers.syntax import nodes as n

    node = m.user_frame().node
    if isinstance(node, n.Call) and node.args:
        return m.source(node.args[0])
    return m.source(node)


@native("torch.autograd.grad")
def _autograd_grad(m: Machine, args: Args) -> Value:
    from analyzers.machine.backward import differentiate, truth_value

    outputs = _many(m, args.get(0, "outputs"))
    inputs_value = args.get(1, "inputs")
    inputs = _many(m, inputs_value)
    create = truth_value(m, args.get(4, "create_graph", FALSE))
    retain_value = args.get(3, "retain_graph", NONE)
    retain = create if retain_value == NONE else truth_value(m, retain_value)
    materialize = args.kw.get("materialize_grads", FALSE) == TRUE
    allow_value = args.get(5, "allow_unused", NONE)
    if len(args.pos) <= 5 and "allow_unused" in args.kw:
        allow_value = args.kw["allow_unused"]
    allow: truth.Truth = materialize if allow_value == NONE else truth_value(m, allow_value)
    pairs = _paired(m, outputs, args.get(2, "grad_outputs"))
    if "is_grads_batched" in args.kw:
        pairs = [(t, Unknown()) for t, _ in pairs]
    if args.open or any(isinstance(i, Unknown) for i in inputs):
        for value in [*outputs, *inputs]:
            from analyzers.machine.havoc import havoc_value

            havoc_value(m, value)
        return Unknown(None, None, m.trail("grad", m.parents(outputs)), reach_of(*outputs))
    results = differentiate(m, pairs, inputs, retain, create, allow, materialize, _argument_source(m))
    return Tup(tuple(results))


# --- what the prelude asks for ----------------------------------------------------------------------------------


@native("autograd_machine.write")
def _write(m: Machine, args: Args) -> Value:
    target = args.get(0, "t")
    if isinstance(target, Ref) and m.tensor(target) is not None:
        bump(m, target.id, _library_caller(m))
    return NONE


@native("autograd_machine.share_gradient")
def _share_gradient(m: Machine, args: Args) -> Value:
    target = args.get(0, "t")
    tensor = m.tensor(target)
    if tensor is not None and isinstance(target, Ref):
        m.st.put(target.id, replace(tensor, shared_grad=True))
    return NONE


def _library_caller(m: Machine) -> str:
    """The library function that the user's own code called."""
    inner = None
    for frame in reversed(m.frames):
        if not frame.library:
            break
        inner = frame
    return inner.func.node_name if inner is not None and inner.func is not None else "write"


@native("autograd_machine.write_hidden")
def _write_hidden(m: Machine, args: Args) -> Value:
    tensor = m.tensor(args.get(0, "t"))
    if tensor is not None:
        write_hidden(m, tensor.storage, "step")
    return NONE


@native("autograd_machine.update")
def _update(m: Machine, args: Args) -> Value:
    """A write to the first tensor that autograd records, made of all of them in a way that is not known."""
    from analyzers.machine.tensors import Step, check_usable, check_write, edge_to, edges_of, rebase

    ids = [value.id for value in args.pos if isinstance(value, Ref) and m.tensor(value) is not None]
    if not ids:
        return NONE
    name = _library_caller(m)
    step = Step(name, name, {"self": (ids[0],), "other": tuple(ids[1:])}, (), ("self", "other"), "unknown")
    step.requires = inputs_require_grad(m, step)
    check_usable(m, step)
    check_write(m, ids[0], step)
    base = tensor_at(m, ids[0]).base
    edges, base_edge = edges_of(m, step), edge_to(m, base) if base is not None else None
    bump(m, ids[0], name)
    rebase(m, ids[0], step, [], edges, base_edge)
    return NONE


@native("autograd_machine.surely")
def _surely(m: Machine, args: Args) -> Value:
    return Const(truth_of(m, args.get(0, "condition"))[0] is True)


@native("autograd_machine.unknown")
def _unknown(m: Machine, args: Args) -> Value:
    return Unknown(None, m.fresh())


@native("autograd_machine.delayed_error")
def _delayed_error(m: Machine, args: Args) -> Value:
    """The same numbers, behind a node whose backward raises."""
    from analyzers.machine.tensors import Step, make_node

    source = args.get(0, "tensor")
    tensor = m.tensor(source)
    if tensor is None:
        return Unknown()
    result = m.new_tensor(tensor.shape, tensor.dtype, requires_grad=True, parents=m.parents([source]))
    step = Step("error", "error", {}, ("Error",), (), "unimplemented", payload=args.get(1, "message"))
    tensor_at(m, result.id).edge = Edge(make_node(m, step, ()))
    return result


@native("autograd_machine.outside")
def _outside(m: Machine, args: Args) -> Value:
    """A tensor as those see it who do not know the leaves `inputs`: without graph, if it leads nowhere else."""
    from analyzers.machine.iteration import stream_of
    from analyzers.machine.tensors import leaves_behind

    tensor = m.tensor(value := args.get(0, "tensor"))
    if tensor is None or not isinstance(value, Ref):
        return value
    inner = {i.id for i in stream_of(m, args.get(1, "inputs")).items if isinstance(i, Ref)}
    reached = leaves_behind(m, value.id)
    if reached is None or not reached & inner:
        return value
    if reached <= inner:
        return call(m, BoundBuiltin(value, "detach"), Args())
    return opaque_like(m, value, tensor.shape)


@native("autograd_machine.spread")
def _spread(m: Machine, args: Args) -> Value:
    """Something computed of a tensor, with more dimensions in front."""
    tensor = m.tensor(value := args.get(0, "tensor"))
    sizes = args.get(1, "shape")
    if tensor is None or not isinstance(value, Ref):
        return value
    if not isinstance(sizes, Tup) or tensor.shape is None:
        return opaque_like(m, value, None)
    return opaque_like(m, value, (*(m.int_of(size) for size in sizes.items), *tensor.shape))


def opaque_like(m: Machine, value: Ref, shape: Shape) -> Ref:
    """Something computed of one tensor in a way that the machine does not follow."""
    result = opaque_result(m, "func", [value])
    made, source = tensor_at(m, result.id), refreshed(m, value.id)
    made.shape, made.dtype = shape, source.dtype
    if source.requires_grad is False:
        made.requires_grad, made.edge = False, None
    return result


@native("autograd_machine.unknown_float")
def _unknown_float(m: Machine, args: Args) -> Value:
    return Unknown("float")


@native("autograd_machine.unknown_int")
def _unknown_int(m: Machine, args: Args) -> Value:
    return Unknown("int")


@native("autograd_machine.unknown_bool")
def _unknown_bool(m: Machine, args: Args) -> Value:
    return Unknown("bool")


def members(m: Machine, module: Value, table: str) -> list[tuple[str, Value]]:
    """The parameters, buffers or modules below a module, each once, by dotted name."""
    out: list[tuple[str, Value]] = []
    seen: set[Value] = set()
    visited: set[int] = set()

    def walk(value: Value, prefix: str) -> None:
        found = m.obj(value)
        if not isinstance(value, Ref) or value.id in visited or not isinstance(found, Instance):
            return
        visited.add(value.id)
        if table == "_modules":
            out.append((prefix.rstrip("."), value))
        else:
            own = m.obj(found.attrs[table]) if table in found.attrs else None
            if isinstance(own, DictObj):
                for key in own.order:
                    item = own.items[key]
                    if item != NONE and item not in seen and isinstance(key, Const):
                        seen.add(item)
                        out.append((f"{prefix}{key.value}", item))
        children = m.obj(found.attrs["_modules"]) if "_modules" in found.attrs else None
        if isinstance(children, DictObj):
            for key in children.order:
                if isinstance(key, Const):
                    walk(children.items[key], f"{prefix}{key.value}.")

    walk(module, "")
    return out


def _is_open(m: Machine, module: Value) -> bool:
    """Whether a module may have members that the machine does not know."""
    for _, value in members(m, module, "_modules"):
        found = m.obj(value)
        if not isinstance(found, Instance):
            return True
        for table in ("_modules", "_parameters"):
            own = m.obj(found.attrs[table]) if table in found.attrs else None
            if not isinstance(own, DictObj) or own.rest is not None:
                return True
            if any(isinstance(v, Unknown) for v in own.items.values()):
                return True
        own_class = m.st.get(found.cls) if isinstance(found.cls, int) else None
        if not getattr(own_class, "known", False):
            return True
    return not members(m, module, "_modules")


def _holds_unknown(m: Machine, module: Value) -> bool:
    """Whether an attribute of a module, or of one below it, may be a module that the machine does not know."""
    for _, value in members(m, module, "_modules"):
        found = m.obj(value)
        if isinstance(found, Instance) and any(isinstance(v, Unknown) and v.type is None for v in found.attrs.values()):
            return True
    return False


def _named(m: Machine, args: Args, table: str) -> Value:
    module = args.get(0, "module")
    pairs = tuple(Tup((Const(name), value)) for name, value in members(m, module, table))
    is_open = _is_open(m, module) or (not pairs and _holds_unknown(m, module))
    rest = Tup((Unknown("str"), Unknown())) if is_open else None
    return m.new(ListObj(pairs, rest))


@native("autograd_machine.named_parameters")
def _named_parameters(m: Machine, args: Args) -> Value:
    return _named(m, args, "_parameters")


@native("autograd_machine.named_buffers")
def _named_buffers(m: Machine, args: Args) -> Value:
    return _named(m, args, "_buffers")


@native("autograd_machine.named_modules")
def _named_modules(m: Machine, args: Args) -> Value:
    return _named(m, args, "_modules")


@native(
    "autograd_machine.note_step",
    "autograd_machine.note_zero",
    "autograd_machine.note_clip",
    "autograd_machine.note_scheduler",
)
def _note(m: Machine, args: Args) -> Value:
    from analyzers.machine.training import note

    note(m, _called(m), args.get(0, "what"))
    return NONE


# --- copies -----------------------------------------------------------------------------------------------------


@native("copy.deepcopy", "autograd_machine.deepcopy")
def _deepcopy(m: Machine, args: Args) -> Value:
    memo: dict[int, Ref] = {}

    def copy(value: Value) -> Value:
        match value:
            case Tup(items=items):
                return replace(value, items=tuple(copy(i) for i in items))
            case Ref(id=ident):
                if ident in memo:
                    return memo[ident]
                return copy_object(value)
            case Unknown(reach=reach):
                return Unknown(value.type, None, value.lineage, reach)
        return value

    def copy_object(value: Ref) -> Value:
        found = m.st.get(value.id)
        match found:
            case Tensor():
                return copy_tensor(value, refreshed(m, value.id))
            case ListObj():
                made = m.new(found)
                memo[value.id] = made
                rest = copy(found.rest) if found.rest is not None else None
                m.st.put(made.id, replace(found, items=tuple(copy(i) for i in found.items), rest=rest))
                return made
            case DictObj():
                made = m.new(found)
                memo[value.id] = made
                items = Map({k: copy(v) for k, v in found.items.items()})
                rest = copy(found.rest) if found.rest is not None else None
                m.st.put(made.id, replace(found, items=items, rest=rest))
                return made
            case Instance():
                made = m.new(found)
                memo[value.id] = made
                attrs = Map({k: copy(v) for k, v in found.attrs.items()})
                m.st.put(made.id, Instance(found.cls, attrs, found.open))
                return made
            case SetObj():
                return m.new(replace(found, items=tuple(copy(i) for i in found.items)))
        return value

    def copy_tensor(value: Ref, tensor: Tensor) -> Value:
        if tensor.is_leaf is False:
            raise m.throw(
                "RuntimeError",
                "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol",
                Plain("deepcopy", tensor.lineage),
            )  # fmt: skip
        storage, counter = m.fresh(), m.fresh()
        m.st.put(storage, Storage())
        m.st.put(counter, Counter())
        trail = Lineage("deepcopy", m.here(), (tensor.lineage,) if tensor.lineage else (), None, m.via())
        grad = copy(tensor.grad) if isinstance(tensor.grad, Ref) else tensor.grad
        made = m.new(
            replace(
                tensor,
                storage=storage,
                counter=counter,
                base=None,
                creation="default",
                lineage=trail,
                grad=grad,
                aliases=(),
            )
        )
        memo[value.id] = made
        return made

    return copy(args.get(0, "x"))


@native("copy.copy")
def _copy(m: Machine, args: Args) -> Value:
    value = args.get(0, "x")
    found = m.obj(value)
    if isinstance(found, Tensor) and isinstance(value, Ref):
        tensor = refreshed(m, value.id)
        cut: Cut | None = "leaf-copy" if tensor.requires_grad and tensor.is_leaf is False else None
        trail = Lineage("copy", m.here(), (tensor.lineage,) if tensor.lineage else (), cut, m.via())
        counter = m.fresh()
        m.st.put(counter, Counter())
        return m.new(
            replace(tensor, counter=counter, edge=None, base=None, creation="default", lineage=trail, grad=NONE)
        )
    if found is None or isinstance(found, Generator | Iterator | Array):
        return value
    if isinstance(found, Instance | ListObj | DictObj | SetObj | Env):
        return m.new(found)
    return value


# --- functools, itertools, collections, contextlib, dataclasses -------------------------------------------------


@native("functools.partial", "functools.partialmethod")
def _partial(m: Machine, args: Args) -> Value:
    if not args.pos:
        return Unknown()
    return Partial(args.pos[0], tuple(args.pos[1:]), tuple(args.kw.items()))


@native("functools.reduce")
def _reduce(m: Machine, args: Args) -> Value:
    from analyzers.machine.iteration import stream_of

    func = args.get(0, "function")
    source = stream_of(m, args.get(1, "iterable")).drained(m)
    items = list(source.items)
    if source.rest is not None:
        items += [source.make(m)(), source.make(m)()]
    if len(args.pos) > 2:
        items.insert(0, args.pos[2])
    if not items:
        return Unknown()
    total = items[0]
    for item in items[1:]:
        total = call(m, func, Args([total, item]))
    return total


@native("functools.wraps", "functools.lru_cache", "functools.cache", "torch.compile", "torch.jit.script",
        "torch.jit.trace",
        "functools.update_wrapper", "torch.compiler.disable", "torch._dynamo.disable")  # fmt: skip
def _transparent(m: Machine, args: Args) -> Value:
    from analyzers.domain.values import Func, Method

    name = _called(m)
    first = args.pos[0] if args.pos else None
    if name not in {"wraps"} and first is not None and (isinstance(first, Func | Method | Ref)):
        return first
    return m.new(Instance("transparent", Map()))


@native("itertools.chain")
def _chain(m: Machine, args: Args) -> Value:
    from analyzers.machine.iteration import stream_of

    items: list[Value] = []
    rest: Value | None = Unknown() if args.open else None
    for value in args.pos:
        source = stream_of(m, value).drained(m)
        items += source.items
        if source.rest is not None:
            rest = source.rest if rest is None else Unknown(None, None, None, reach_of(rest, source.rest))
    return m.new(Iterator(NONE, 0, tuple(items), rest))


@native("itertools.chain.from_iterable")
def _chain_from(m: Machine, args: Args) -> Value:
    from analyzers.machine.iteration import stream_of

    source = stream_of(m, args.get(0, "iterables")).drained(m)
    return _chain(m, Args(list(source.items), {}, source.rest is not None))


@native("itertools.repeat", "itertools.cycle")
def _repeat(m: Machine, args: Args) -> Value:
    from analyzers.machine.iteration import stream_of

    value = args.get(0, "object")
    if _called(m).endswith("cycle"):
        source = stream_of(m, value).drained(m)
        again = source.rest if source.rest is not None else (source.items[0] if source.items else Unknown())
        if source.rest is None and len(source.items) > 1:
            again = Unknown(None, None, None, reach_of(*source.items))
        return m.new(Iterator(NONE, 0, source.items * 2, again))
    times = args.get(1, "times")
    if isinstance(times, Const) and isinstance(times.value, int) and times.value <= 64:
        return m.new(Iterator(NONE, 0, (value,) * times.value, None))
    return m.new(Iterator(NONE, 0, (), value))


@native("itertools.count")
def _count(m: Machine, args: Args) -> Value:
    start = args.get(0, "start", Const(0))
    step = args.get(1, "step", Const(1))
    if isinstance(start, Const) and isinstance(step, Const):
        first = tuple(Const(start.value + i * step.value) for i in range(4))  # type: ignore[operator]
        return m.new(Iterator(NONE, 0, first, Unknown("int")))
    return m.new(Iterator(NONE, 0, (), Unknown("int")))


@native("itertools.product", "itertools.combinations", "itertools.permutations", "itertools.islice",
        "itertools.accumulate", "itertools.pairwise", "itertools.zip_longest", "itertools.starmap",
        "itertools.groupby", "itertools.takewhile")  # fmt: skip
def _itertools(m: Machine, args: Args) -> Value:
    import itertools

    from analyzers.machine.iteration import stream_of

    name = _called(m).rsplit(".", 1)[-1]
    if (name == "product" and not args.kw) or name in {"pairwise", "combinations", "permutations"}:
        sources = [stream_of(m, a).drained(m) for a in (args.pos if name == "product" else args.pos[:1])]
        if all(s.rest is None for s in sources):
            extra = (
                [a.value for a in args.pos[1:] if isinstance(a, Const)]
                if name in {"combinations", "permutations"}
                else []
            )
            if name == "combinations" and not extra:
                return Unknown(None, None, None, reach_of(*args.pos))
            made = getattr(itertools, name)(*(s.items for s in sources), *extra)
            return m.new(Iterator(NONE, 0, tuple(Tup(t) for t in itertools.islice(made, 64)), None))
    if name == "islice" and args.pos:
        source = stream_of(m, args.pos[0]).drained(m)
        if len(args.pos) == 2 and isinstance(args.pos[1], Const) and isinstance(args.pos[1].value, int):
            count = args.pos[1].value
            taken = source.items[:count]
            if len(taken) < count and source.rest is not None and count <= 64:
                taken = (*taken, *(source.make(m)() for _ in range(count - len(taken))))
            return m.new(Iterator(NONE, 0, taken, None))
    if name == "starmap" and len(args.pos) == 2:
        source = stream_of(m, args.pos[1]).drained(m)
        rows = tuple(
            call(m, args.pos[0], Args(list(i.items))) if isinstance(i, Tup) else Unknown() for i in source.items
        )
        return m.new(Iterator(NONE, 0, rows, None if source.rest is None else Unknown()))
    return Unknown(None, None, None, reach_of(*args.pos))


@native("collections.deque")
def _deque(m: Machine, args: Args) -> Value:
    from analyzers.machine.iteration import stream_of

    limit = m.int_of(args.get(1, "maxlen"))
    source = stream_of(m, args.pos[0]).drained(m) if args.pos else None
    items = source.items if source is not None else ()
    return m.new(
        ListObj(items[-limit:] if limit else items, source.rest if source is not None else None, "deque", limit)
    )


@native("collections.OrderedDict", "collections.Counter")
def _ordered_dict(m: Machine, args: Args) -> Value:
    from analyzers.machine.builtins import call_builtin

    if _called(m).endswith("Counter"):
        return m.new(DictObj(Map(), (), Unknown("int")))
    return call_builtin(m, "dict", args)


@native("collections.defaultdict")
def _defaultdict(m: Machine, args: Args) -> Value:
    factory = args.get(0, "default_factory")
    return m.new(DictObj(Map(), (), None, "defaultdict", None if factory == NONE else factory))


@native("collections.namedtuple", "typing.NamedTuple")
def _namedtuple(m: Machine, args: Args) -> Value:
    from analyzers.domain.objects import ClassObj

    fields = args.get(1, "field_names")
    name = args.get(0, "typename")
    names: list[str] = []
    if isinstance(fields, Const) and isinstance(fields.value, str):
        names = fields.value.replace(",", " ").split()
    else:
        from analyzers.machine.iteration import stream_of

        for item in stream_of(m, fields).drained(m).items:
            inner = item.items[0] if isinstance(item, Tup) and item.items else item
            if isinstance(inner, Const):
                names.append(str(inner.value))
    ident = m.fresh()
    title = str(name.value) if isinstance(name, Const) else "tuple"
    m.st.put(
        ident,
        ClassObj(
            title,
            title,
            m.frame.module,
            (),
            (ident,),
            Map(),
            True,
            tuple((n, None, False) for n in names),
            "namedtuple",
        ),
    )
    return Ref(ident)


@native("contextlib.nullcontext")
def _nullcontext(m: Machine, args: Args) -> Value:
    return m.new(Instance("contextlib.nullcontext", Map({"value": args.get(0, "enter_result")})))


@native("contextlib.suppress")
def _suppress(m: Machine, args: Args) -> Value:
    return m.new(Instance("contextlib.suppress", Map()))


@native("pytest.raises", "pytest.warns", "unittest.TestCase.assertRaises")
def _expecting(m: Machine, args: Args) -> Value:
    if _called(m).endswith("warns"):
        return m.new(Instance("contextlib.nullcontext", Map()))
    return m.new(Instance("pytest.raises", Map()))


@native("dataclasses.dataclass")
def _dataclass(m: Machine, args: Args) -> Value:
    if args.pos and isinstance(args.pos[0], Ref):
        from analyzers.machine.classes import decorate_class

        return decorate_class(m, Builtin("dataclasses.dataclass"), args.pos[0])
    return m.new(Instance("dataclasses.dataclass", Map()))


@native("dataclasses.field")
def _field(m: Machine, args: Args) -> Value:
    return m.new(Instance("dataclasses.field", Map(args.kw)))


@native("dataclasses.replace")
def _dataclass_replace(m: Machine, args: Args) -> Value:
    found = m.obj(args.get(0, "obj"))
    if isinstance(found, Instance):
        return m.new(Instance(found.cls, found.attrs.update(args.kw), found.open))
    return Unknown()


@native("typing.cast")
def _cast(m: Machine, args: Args) -> Value:
    return args.get(1, "val")


@native("typing.TypeVar", "typing.NewType", "typing.ParamSpec")
def _typing(m: Machine, args: Args) -> Value:
    return Unknown()


@native("sys.exit", "os._exit")
def _exit(m: Machine, args: Args) -> Value:
    from analyzers.machine.core import PyRaise

    raise PyRaise("SystemExit")


def call_instance_method(m: Machine, receiver: Value, found: Instance, name: str, args: Args) -> Value:
    """A method of an object whose class lies outside."""
    if found.cls == "torch.autograd.FunctionCtx" and isinstance(receiver, Ref):
        from analyzers.machine.custom import context_method

        return context_method(m, receiver, found, name, args)
    if isinstance(found.cls, str) and (
        found.cls.startswith("builtins.") or found.cls in {"torch.device", "torch.Generator"}
    ):
        return receiver if name in {"manual_seed", "with_traceback"} else Unknown()
    if isinstance(found.cls, str) and found.cls.startswith("torch.") and name in {"__enter__", "__exit__"}:
        return NONE
    return unknown_call(m, receiver, args)


__all__ = ["CONSTANTS", "STAR", "BoundBuiltin", "call_library", "tensor_at"]
