"""Torch functions that no operator row describes."""

from __future__ import annotations

from collections.abc import Callable

from analyzers.domain.join import reach_of
from analyzers.domain.objects import DictObj, Instance
from analyzers.domain.values import FALSE, NONE, Builtin, Const, Ref, Tup, Unknown, Value
from analyzers.machine.autograd.requires_grad import flag_new
from analyzers.machine.autograd.views import detach
from analyzers.machine.core.arguments import Args
from analyzers.machine.core.calling import call, unknown_call
from analyzers.machine.core.machine import Machine
from analyzers.machine.core.registries import CLASSES, FALLBACKS, ClassModel, answers
from analyzers.machine.core.tables import enter
from analyzers.machine.libraries.torch.factories import (
    as_tensor,
    from_array,
    legacy_tensor,
    parameter,
    tensor_from_data,
)
from analyzers.machine.libraries.torch.tensor_attributes import METHODS, call_tensor_method
from analyzers.machine.libraries.torch.tensors import FLOATING_TYPES, INTEGER_TYPES
from analyzers.machine.objects.attributes import call_method, get_attribute
from analyzers.machine.objects.iteration import stream_of
from analyzers.machine.objects.truth import truth_of
from analyzers.machine.objects.type_tests import is_instance
from analyzers.machine.operators.arguments import DTYPE_NAMES, dtype_of
from analyzers.machine.operators.dispatch import call_torch, sizes_of
from analyzers.machine.operators.opaque import opaque_result
from analyzers.maps import Map
from analyzers.ops.resolve import python_names


@answers("torch.tensor", "torch.scalar_tensor")
def _tensor(m: Machine, args: Args) -> Value:
    return tensor_from_data(m, args)


@answers("torch.as_tensor", "torch.asarray")
def _as_tensor(m: Machine, args: Args) -> Value:
    return as_tensor(m, args)


@answers("torch.from_numpy")
def _from_numpy(m: Machine, args: Args) -> Value:
    return from_array(m, args.get(0, "array"))


@answers("torch.nn.Parameter", "torch.nn.parameter.Parameter")
def _parameter(m: Machine, args: Args) -> Value:
    return parameter(m, args)


@answers("torch.nn.Buffer")
def _buffer(m: Machine, args: Args) -> Value:
    return args.get(0, "data")


@answers("torch.autograd.Variable", "torch.autograd.variable.Variable")
def _variable(m: Machine, args: Args) -> Value:
    """`Variable(t)` is an alias of `t`, or a new leaf if given `requires_grad=True`."""
    value = args.get(0, "data")
    wants = args.get(1, "requires_grad", FALSE)
    tensor = m.tensor(value)
    if tensor is None or not isinstance(value, Ref):
        return m.unknown_tensor(m.lineage(value))
    made = detach(m, value)
    flag_new(m, made, truth_of(m, wants)[0])
    return made


LEGACY = {"Tensor": "float32", **FLOATING_TYPES, **INTEGER_TYPES}


@answers(
    "torch.Tensor", *(f"{owner}.{name}" for owner in ("torch", "torch.cuda") for name in LEGACY if name != "Tensor")
)
def _legacy_tensor(m: Machine, args: Args) -> Value:
    return legacy_tensor(m, args, LEGACY[args.called.rsplit(".", 1)[-1]])


@answers("torch.is_tensor")
def _is_tensor(m: Machine, args: Args) -> Value:
    verdict = is_instance(m, args.get(0, "obj"), Builtin("torch.Tensor"))
    return Unknown("bool") if verdict is None else Const(verdict)


@answers("torch.accelerator.current_accelerator")
def _accelerator(m: Machine, args: Args) -> Value:
    """A device, or None if there is none."""
    return Unknown(None, ("device", m.fresh()))


@answers("torch.device")
def _device(m: Machine, args: Args) -> Value:
    return m.new(Instance("torch.device", Map({"type": args.get(0, "type", Unknown("str"))})))


@answers("torch.Generator")
def _generator(m: Machine, args: Args) -> Value:
    return m.new(Instance("torch.Generator", Map()))


@answers("torch.Size")
def _torch_size(m: Machine, args: Args) -> Value:
    source = stream_of(m, args.get(0, "sizes", Tup(()))).drained(m)
    return Tup(source.items, "torch.Size") if source.rest is None else Unknown("torch.Size")


@answers("torch.manual_seed", "torch.seed", "torch.set_printoptions", "torch.use_deterministic_algorithms",
        "torch.set_num_threads", "torch.cuda.manual_seed_all", "torch.cuda.manual_seed", "torch.save",
        "torch.cuda.empty_cache", "torch.set_float32_matmul_precision", "torch.random.manual_seed")  # fmt: skip
def _settings(m: Machine, args: Args) -> Value:
    return Unknown()


PRECISION = {"float64": (52, 1023), "float32": (23, 127), "float16": (10, 15), "bfloat16": (7, 127)}
"""For each dtype, the number of fraction bits and the largest exponent."""


@answers("torch.finfo")
def _finfo(m: Machine, args: Args) -> Value:
    wanted = args.get(0, "type", Builtin("torch." + m.indexes.default_dtype))
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


@answers("torch.iinfo")
def _iinfo(m: Machine, args: Args) -> Value:
    name = dtype_of(args.get(0, "type")) or ""
    digits = name.removeprefix("u").removeprefix("int")
    numbers: dict[str, Value] = dict.fromkeys(("bits", "max", "min"), Unknown("int"))
    if digits.isdigit():
        bits, signed = int(digits), not name.startswith("u")
        largest = 2 ** (bits - signed) - 1
        numbers = {"bits": Const(bits), "max": Const(largest), "min": Const(-largest - 1 if signed else 0)}
    return m.new(Instance("torch.iinfo", Map(numbers)))


@answers("torch.set_default_dtype")
def _default_dtype(m: Machine, args: Args) -> Value:
    m.indexes.default_dtype = dtype_of(args.get(0, "d")) or m.indexes.default_dtype
    return NONE


@answers("torch.cuda.is_available", "torch.cuda.is_bf16_supported", "torch.backends.mps.is_available")
def _availability(m: Machine, args: Args) -> Value:
    return Unknown("bool", "cuda")


@answers("torch.equal", "torch.allclose", "torch.is_nonzero")
def _verdicts(m: Machine, args: Args) -> Value:
    return Unknown("bool")


def _as_method(name: str) -> Callable[[Machine, Args], Value]:
    """A torch function that calls the method of its first argument."""

    def call_it(m: Machine, args: Args) -> Value:
        given = {key: value for key, value in args.kw.items() if key != "input"}
        return call_method(m, args.get(0, "input"), name, Args(args.pos[1:], given))

    return call_it


for _name in (
    "detach", "detach_", "get_device", "is_complex", "is_floating_point", "is_inference", "is_same_size", "numel",
):  # fmt: skip
    answers(f"torch.{_name}")(_as_method(_name))


def _call_torch_name(m: Machine, rest: str, args: Args) -> Value:
    name = "torch." + rest
    if rest.startswith("ops.aten."):
        return call_torch(m, "aten." + rest[9:], args.pos, args.kw)
    if rest.startswith("Tensor."):
        method = rest[7:]
        if args.pos:
            return call(m, get_attribute(m, args.pos[0], method), Args(args.pos[1:], args.kw, args.open))
    if rest.startswith("nn.functional.") and name not in python_names():
        rest = "_C._nn." + rest[14:] if f"torch._C._nn.{rest[14:]}" in python_names() else rest[14:]
    if rest in DTYPE_NAMES:
        return Unknown()
    full = "torch." + rest
    owner = args.get(0, "input")
    if rest in METHODS and full in python_names() and isinstance(owner, Ref) and m.tensor(owner) is not None:
        others = {key: value for key, value in args.kw.items() if key != "input"}
        return call_tensor_method(m, owner, rest, Args(args.pos[1:], others, args.open, starred=args.starred))
    if args.open and full in python_names():
        if (sizes := sizes_of(m, full, args)) is not None:
            return call_torch(m, full, sizes, args.kw)
        return opaque_result(m, rest, args.all())
    if full in python_names():
        return call_torch(m, full, args.pos, args.kw)
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


class Device(ClassModel):
    """`torch.device`, `torch.Generator` and similar classes, which hold no tensors."""

    def call_method(self, m: Machine, owner: Ref, found: Instance, name: str, args: Args) -> Value | None:
        return owner if name in {"manual_seed", "with_traceback"} else Unknown()


class Info(ClassModel):
    """`torch.finfo` and `torch.iinfo`."""

    def call_method(self, m: Machine, owner: Ref, found: Instance, name: str, args: Args) -> Value | None:
        return NONE if name in {"__enter__", "__exit__"} else None


enter(CLASSES, "torch.device", Device())
enter(CLASSES, "torch.Generator", Device())
enter(CLASSES, "torch.finfo", Info())
enter(CLASSES, "torch.iinfo", Info())


enter(FALLBACKS, "torch", _call_torch_name)
