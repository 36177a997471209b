"""Grad modes: `no_grad`, `inference_mode`, autocast and saved-tensor hooks."""

from __future__ import annotations

from analyzers.domain.objects import Instance
from analyzers.domain.values import FALSE, NONE, TRUE, Const, GradMode, Ref, Tup, Unknown, Value
from analyzers.machine.core.arguments import Args
from analyzers.machine.core.events import GradModeSet
from analyzers.machine.core.machine import Machine
from analyzers.machine.core.registries import CLASSES, MODES, PACKERS, SWITCHES, ClassModel, answers
from analyzers.machine.core.tables import enter
from analyzers.machine.interpreter.decorators import decorate
from analyzers.machine.objects.truth import truth_of
from analyzers.machine.operators.arguments import dtype_of
from analyzers.maps import Map
from analyzers.syntax import nodes as n

MODES.update(
    {
        "torch.no_grad": GradMode(grad=False),
        "torch.enable_grad": GradMode(grad=True),
        "torch.inference_mode": GradMode(grad=False, inference=True),
    }
)

PACKERS.update({"torch.autograd.graph", "torch.autograd.graph.saved_tensors_hooks", "torch.autograd.graph.save_on_cpu"})
SWITCHES.update(MODES)
SWITCHES.update({
    "torch", "torch.autograd", "torch.autograd.grad_mode", "torch.set_grad_enabled", "torch.autograd.set_grad_enabled",
    "torch.autograd.graph", "torch.autocast", "torch.amp", "torch.cuda.amp", "torch.set_autocast_enabled",
})  # fmt: skip


class Manager(ClassModel):
    """A torch context manager that can also be used as a decorator."""

    def call_method(self, m: Machine, owner: Ref, found: Instance, name: str, args: Args) -> Value | None:
        return NONE if name in {"__enter__", "__exit__"} else None

    def call(self, m: Machine, owner: Ref, found: Instance, args: Args) -> Value | None:
        return decorate(m, owner, args.get(0, "func")) if self.mode(m, owner, found) is not None else None


class PlainMode(Manager):
    def __init__(self, given: GradMode) -> None:
        self.given = given

    def mode(self, m: Machine, owner: Ref, found: Instance) -> GradMode | None:
        return self.given


class InferenceMode(Manager):
    def mode(self, m: Machine, owner: Ref, found: Instance) -> GradMode | None:
        own = found.attrs.get("mode")
        if isinstance(own, Const):
            return MODES["torch.inference_mode"] if own.value else GradMode(grad=True, inference=False)
        return MODES["torch.inference_mode"] if own is None else GradMode(grad=None, inference=None)


class SetGradEnabled(Manager):
    def mode(self, m: Machine, owner: Ref, found: Instance) -> GradMode | None:
        own = found.attrs.get("mode")
        return GradMode(grad=bool(own.value) if isinstance(own, Const) else None)


class SavedTensorsHooks(Manager):
    def packing(self, found: Instance) -> tuple[Value | None, Value | None]:
        return found.attrs.get("pack"), found.attrs.get("unpack")


class Autocast(Manager):
    def mode(self, m: Machine, owner: Ref, found: Instance) -> GradMode | None:
        casting = found.attrs.get("casting")
        known = casting.value if isinstance(casting, Const) else "?"
        return GradMode(casting=known if known is None or isinstance(known, str) else "?")


enter(CLASSES, "torch.no_grad", PlainMode(MODES["torch.no_grad"]))
enter(CLASSES, "torch.enable_grad", PlainMode(MODES["torch.enable_grad"]))
enter(CLASSES, "torch.inference_mode", InferenceMode())
enter(CLASSES, "torch.set_grad_enabled", SetGradEnabled())
enter(CLASSES, "torch.autograd.set_grad_enabled", SetGradEnabled())
enter(CLASSES, "torch.autocast", Autocast())
enter(CLASSES, "torch.saved_tensors_hooks", SavedTensorsHooks())


@answers("torch.no_grad", "torch.enable_grad", "torch.autograd.no_grad", "torch.autograd.enable_grad",
        "torch.autograd.grad_mode.no_grad", "torch.autograd.grad_mode.enable_grad")  # fmt: skip
def _plain_mode(m: Machine, args: Args) -> Value:
    name = args.called
    kind = "torch.enable_grad" if name.endswith("enable_grad") else "torch.no_grad"
    made = m.new(Instance(kind, Map()))
    if args.pos:
        return decorate(m, made, args.pos[0])
    return made


@answers("torch.inference_mode")
def _inference_mode(m: Machine, args: Args) -> Value:
    mode = args.get(0, "mode", TRUE)
    if mode not in {TRUE, FALSE} and not isinstance(mode, Unknown):
        return decorate(m, m.new(Instance("torch.inference_mode", Map())), mode)
    return m.new(Instance("torch.inference_mode", Map({"mode": mode})))


@answers("torch.set_grad_enabled", "torch._C._set_grad_enabled", "torch.autograd.set_grad_enabled")
def _set_grad_enabled(m: Machine, args: Args) -> Value:
    mode = args.get(0, "mode")
    before = Tup((Const(m.st.grad) if m.st.grad is not None else Unknown("bool"), Const(m.st.inference)))
    m.st.grad = truth_of(m, mode)[0]
    if not m.frame.library and isinstance(m.frame.statement, n.ExprStmt):
        m.note(GradModeSet(m.site(), m.st.grad))
    shown = Const(m.st.grad) if m.st.grad is not None else Unknown("bool")
    return m.new(Instance("torch.set_grad_enabled", Map({"mode": shown, "previous": before})))


@answers("torch.is_grad_enabled")
def _is_grad_enabled(m: Machine, args: Args) -> Value:
    return Unknown("bool") if m.st.grad is None else Const(m.st.grad)


@answers("torch.is_inference_mode_enabled")
def _is_inference(m: Machine, args: Args) -> Value:
    return Unknown("bool") if m.st.inference is None else Const(m.st.inference)


@answers("torch.autograd.graph.saved_tensors_hooks")
def _saved_hooks(m: Machine, args: Args) -> Value:
    hooks = {"pack": args.get(0, "pack_hook"), "unpack": args.get(1, "unpack_hook")}
    return m.new(Instance("torch.saved_tensors_hooks", Map(hooks)))


@answers("torch.autograd.graph.save_on_cpu")
def _save_on_cpu(m: Machine, args: Args) -> Value:
    return m.new(Instance("torch.saved_tensors_hooks", Map()))


@answers("torch.autocast", "torch.amp.autocast", "torch.amp.autocast_mode.autocast")
def _autocast(m: Machine, args: Args) -> Value:
    dtype = args.get(1, "dtype")
    return _casting(m, args.get(0, "device_type"), dtype, args.get(2, "enabled", TRUE))


@answers("torch.cuda.amp.autocast", "torch.cpu.amp.autocast")
def _autocast_of_device(m: Machine, args: Args) -> Value:
    return _casting(m, Unknown(), args.get(1, "dtype"), args.get(0, "enabled", TRUE))


def _casting(m: Machine, device: Value, dtype: Value, enabled: Value) -> Value:
    """For a device other than the CPU, it is unknown whether the tensors are on it."""
    casting: str | None = "?"
    if enabled == FALSE:
        casting = None
    elif enabled == TRUE and device == Const("cpu"):
        casting = "bfloat16" if dtype == NONE else dtype_of(dtype) or "?"
    return m.new(Instance("torch.autocast", Map({"casting": Const(casting)})))


@answers("torch.is_autocast_enabled", "torch.is_autocast_cpu_enabled")
def _is_autocast_enabled(m: Machine, args: Args) -> Value:
    if m.st.casting == "?" or args.all() not in ([], [Const("cpu")]):
        return Unknown("bool")
    return Const(m.st.casting is not None) if args.pos or args.called.endswith("cpu_enabled") else Unknown("bool")


@answers(
    "torch.autograd.set_detect_anomaly", "torch.autograd.detect_anomaly", "torch.autograd.set_multithreading_enabled"
)
def _anomaly(m: Machine, args: Args) -> Value:
    return m.new(Instance("contextlib.nullcontext", Map()))
