"""Grad modes: `no_grad`, `inference_mode`, autocast and hooks on saved tensors."""

from __future__ import annotations

from immutables import Map

from analyzers.domain.objects import Instance
from analyzers.domain.values import FALSE, NONE, TRUE, Const, GradMode, Tup, Unknown, Value
from analyzers.machine.core.arguments import Args
from analyzers.machine.core.machine import Machine
from analyzers.machine.core.registries import called, native
from analyzers.machine.interpreter.decorators import decorate
from analyzers.machine.objects.truth import truth_of
from analyzers.machine.operators.arguments import dtype_of

MODES: dict[str, GradMode] = {
    "torch.no_grad": GradMode(grad=False),
    "torch.enable_grad": GradMode(grad=True),
    "torch.inference_mode": GradMode(grad=False, inference=True),
}
"""The grad modes that a manager's class alone decides."""


def mode_of(m: Machine, manager: Value) -> GradMode | None:
    """The grad mode that a manager stands for."""
    found = m.obj(manager)
    if isinstance(found, Instance) and isinstance(found.cls, str):
        own = found.attrs.get("mode")
        if found.cls == "torch.inference_mode":
            if isinstance(own, Const):
                return MODES[found.cls] if own.value else GradMode(grad=True, inference=False)
            return MODES[found.cls] if own is None else GradMode(grad=None, inference=None)
        if found.cls in {"torch.set_grad_enabled", "torch.autograd.set_grad_enabled"}:
            return GradMode(grad=bool(own.value) if isinstance(own, Const) else None)
        if found.cls == "torch.autocast":
            casting = found.attrs.get("casting")
            known = casting.value if isinstance(casting, Const) else "?"
            return GradMode(casting=known if known is None or isinstance(known, str) else "?")
        return MODES.get(found.cls)
    return None


@native("torch.no_grad", "torch.enable_grad", "torch.autograd.no_grad", "torch.autograd.enable_grad",
        "torch.autograd.grad_mode.no_grad", "torch.autograd.grad_mode.enable_grad")  # fmt: skip
def _plain_mode(m: Machine, args: Args) -> Value:
    name = called(m)
    kind = "torch.enable_grad" if name.endswith("enable_grad") else "torch.no_grad"
    made = m.new(Instance(kind, Map()))
    if args.pos:
        return decorate(m, made, args.pos[0])
    return made


@native("torch.inference_mode")
def _inference_mode(m: Machine, args: Args) -> Value:
    mode = args.get(0, "mode", TRUE)
    if mode not in {TRUE, FALSE} and not isinstance(mode, Unknown):
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
