"""torch's Python entry points: grad modes, functions that make tensors, and the two ways into backward."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from immutables import Map

from analyzers.domain import truth
from analyzers.domain.join import reach_of
from analyzers.domain.objects import Instance
from analyzers.domain.values import FALSE, NONE, TRUE, Builtin, Const, Ref, Tup, Unknown, Value
from analyzers.machine.calls import Args
from analyzers.machine.core import Machine
from analyzers.machine.expressions import truth_of
from analyzers.machine.natives import called, native
from analyzers.machine.torch_calls import dtype_of

# --- torch: grad modes ------------------------------------------------------------------------------------------


@native("torch.no_grad", "torch.enable_grad", "torch.autograd.no_grad", "torch.autograd.enable_grad",
        "torch.autograd.grad_mode.no_grad", "torch.autograd.grad_mode.enable_grad")  # fmt: skip
def _plain_mode(m: Machine, args: Args) -> Value:
    name = called(m)
    kind = "torch.enable_grad" if name.endswith("enable_grad") else "torch.no_grad"
    made = m.new(Instance(kind, Map()))
    if args.pos:
        from analyzers.machine.classes import decorate

        return decorate(m, made, args.pos[0])
    return made


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


@native("torch.autograd.graph.saved_tensors_hooks")
def _saved_hooks(m: Machine, args: Args) -> Value:
    hooks = {"pack": args.get(0, "pack_hook"), "unpack": args.get(1, "unpack_hook")}
    return m.new(Instance("torch.saved_tensors_hooks", Map(hooks)))


@native("torch.autograd.graph.save_on_cpu")
def _save_on_cpu(m: Machine, args: Args) -> Value:
    return m.new(Instance("torch.saved_tensors_hooks", Map()))


@native("torch.autocast", "torch.amp.autocast", "torch.amp.autocast_mode.autocast")
def _autocast(m: Machine, args: Args) -> Value:
    dtype = args.get(1, "dtype")
    return _casting(m, args.get(0, "device_type"), dtype, args.get(2, "enabled", TRUE))


@native("torch.cuda.amp.autocast", "torch.cpu.amp.autocast")
def _autocast_of_device(m: Machine, args: Args) -> Value:
    return _casting(m, Unknown(), args.get(1, "dtype"), args.get(0, "enabled", TRUE))


def _casting(m: Machine, device: Value, dtype: Value, enabled: Value) -> Value:
    """On another device than the CPU nobody knows whether the tensors are there."""
    casting: str | None = "?"
    if enabled == FALSE:
        casting = None
    elif enabled == TRUE and device == Const("cpu"):
        casting = "bfloat16" if dtype == NONE else dtype_of(dtype) or "?"
    return m.new(Instance("torch.autocast", Map({"casting": Const(casting)})))


@native("torch.is_autocast_enabled", "torch.is_autocast_cpu_enabled")
def _is_autocast_enabled(m: Machine, args: Args) -> Value:
    if m.st.casting == "?" or args.all() not in ([], [Const("cpu")]):
        return Unknown("bool")
    return Const(m.st.casting is not None) if args.pos or called(m).endswith("cpu_enabled") else Unknown("bool")


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
    from analyzers.machine.factories import legacy_tensor

    dtype = {"DoubleTensor": "float64", "LongTensor": "int64", "IntTensor": "int32", "BoolTensor": "bool"}
    return legacy_tensor(m, args, dtype.get(called(m).rsplit(".", 1)[-1], "float32"))


@native("torch.is_tensor")
def _is_tensor(m: Machine, args: Args) -> Value:
    from analyzers.machine.builtins import is_instance

    verdict = is_instance(m, args.get(0, "obj"), Builtin("torch.Tensor"))
    return Unknown("bool") if verdict is None else Const(verdict)


@native("torch.accelerator.current_accelerator")
def _accelerator(m: Machine, args: Args) -> Value:
    """A device, or None where there is none."""
    return Unknown(None, ("device", m.fresh()))


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


PRECISION = {"float64": (52, 1023), "float32": (23, 127), "float16": (10, 15), "bfloat16": (7, 127)}
"""Of a dtype, the bits of its fraction and its largest exponent."""


@native("torch.finfo")
def _finfo(m: Machine, args: Args) -> Value:
    wanted = args.get(0, "type", Builtin("torch." + m.default_dtype))
    fraction, exponent = PRECISION.get(dtype_of(wanted) or "", (None, None))
    numbers: dict[str, Value] = {"bits": Unknown("int"), "resolution": Unknown("float")}
    if fraction is None or exponent is None:
        numbers |= dict.fromkeys(("eps", "max", "min", "tiny", "smallest_normal"), Unknown("float"))
    else:
        eps, tiny = 2.0**-fraction, Const(2.0 ** (1 - exponent))
        largest = (2 - eps) * 2.0**exponent
        numbers |= {"eps": Const(eps), "max": Const(largest), "min": Const(-largest)}
        numbers |= {"tiny": tiny, "smallest_normal": tiny}
    return m.new(Instance("torch.finfo", Map(numbers)))


@native("torch.iinfo")
def _iinfo(m: Machine, args: Args) -> Value:
    name = dtype_of(args.get(0, "type")) or ""
    digits = name.removeprefix("u").removeprefix("int")
    numbers: dict[str, Value] = dict.fromkeys(("bits", "max", "min"), Unknown("int"))
    if digits.isdigit():
        bits, signed = int(digits), not name.startswith("u")
        largest = 2 ** (bits - signed) - 1
        numbers = {"bits": Const(bits), "max": Const(largest), "min": Const(-largest - 1 if signed else 0)}
    return m.new(Instance("torch.iinfo", Map(numbers)))


@native("torch.set_default_dtype")
def _default_dtype(m: Machine, args: Args) -> Value:
    m.default_dtype = dtype_of(args.get(0, "d")) or m.default_dtype
    return NONE


@native("torch.cuda.is_available", "torch.cuda.is_bf16_supported", "torch.backends.mps.is_available")
def _availability(m: Machine, args: Args) -> Value:
    return Unknown("bool", "cuda")


@native("torch.equal", "torch.allclose", "torch.is_nonzero")
def _verdicts(m: Machine, args: Args) -> Value:
    return Unknown("bool")


def _as_method(name: str) -> Callable[[Machine, Args], Value]:
    """A function of torch's that is the method of its first argument."""

    def call_it(m: Machine, args: Args) -> Value:
        from analyzers.machine.calls import call_method

        given = {key: value for key, value in args.kw.items() if key != "input"}
        return call_method(m, args.get(0, "input"), name, Args(args.pos[1:], given))

    return call_it


for _name in (
    "detach", "detach_", "get_device", "is_complex", "is_floating_point", "is_inference", "is_same_size", "numel",
):  # fmt: skip
    native(f"torch.{_name}")(_as_method(_name))


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
