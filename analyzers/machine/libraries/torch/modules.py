"""`nn.Module` below its Python: tables of parameters, registration, calls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from analyzers.domain.copies import replace
from analyzers.domain.join import one_of, reach_of
from analyzers.domain.lineage import Lineage
from analyzers.domain.objects import DictObj, HeapObject, Instance, ListObj, Tensor
from analyzers.domain.values import NONE, Const, Func, Method, Ref, Tup, Unknown, Value
from analyzers.machine.autograd.likely_tensors import PresumedParameters
from analyzers.machine.autograd.partly_frozen import tell_apart
from analyzers.machine.autograd.trainables import is_module, members, unseen, unseen_attributes
from analyzers.machine.core.arguments import Args
from analyzers.machine.core.calling import call, unknown_call
from analyzers.machine.core.events import OptimizerEscaped, OutputReplaced
from analyzers.machine.core.machine import Machine
from analyzers.machine.core.ports import PORTS
from analyzers.machine.core.program import says_nothing
from analyzers.machine.core.registries import CLASSES, MARKERS, NAMED_METHODS, ClassModel, answers
from analyzers.machine.core.signals import (
    CallBegins,
    CallEnded,
    Loaded,
    OptimizerDid,
    OwnAttributeSet,
    TensorStored,
    tell,
)
from analyzers.machine.core.tables import enter
from analyzers.machine.objects.attributes import call_method
from analyzers.machine.objects.beginnings import beginning
from analyzers.machine.objects.classes import find_in_class
from analyzers.machine.objects.havoc import replaceable, set_by_methods


def parametrization(m: Machine, found: Instance, name: str) -> Value | None:
    """The module that computes a parametrized attribute, at each access."""
    children = m.obj(found.attrs["_modules"]) if "_modules" in found.attrs else None
    if not isinstance(children, DictObj):
        return None
    holder = m.obj(children.items.get(Const("parametrizations"), NONE))
    if not isinstance(holder, Instance) or "_modules" not in holder.attrs:
        return None
    table = m.obj(holder.attrs["_modules"])
    return table.items.get(Const(name)) if isinstance(table, DictObj) else None


def _store_attribute(m: Machine, owner: Ref, found: Instance, name: str, value: Value) -> bool:
    """What `nn.Module` adds to `object.__setattr__`; returns whether nothing else is to be done."""
    parametrized = parametrization(m, found, name)
    if isinstance(parametrized, Ref):
        call_method(m, parametrized, "right_inverse", Args([value]))
        return True
    if "_modules" in found.attrs and "_parameters" in found.attrs and not name.startswith("_modules"):
        tensor = m.tensor(value)
        in_class = find_in_class(m, found.cls, name)
        owned = in_class if isinstance(in_class, Func) and in_class.kind == "property" else None
        if tensor is not None and tensor.parameter:
            if tensor.is_leaf is False:
                raise m.throw("ValueError", "Cannot assign non-leaf Tensor to parameter")
            if owned is not None:
                raise m.throw("KeyError", f"attribute '{name}' already exists")
            register(m, owner, "_parameters", name, value)
            return True
        # Torch registers a module without asking a property; anything else needs one that can be set.
        may_be_module = owned is not None and isinstance(value, Unknown) and value.type is None
        if may_be_module and owned is not None and owned.setter is not None:
            may_be_module = m.choose(2) == 1
        if may_be_module or is_module(m, value):
            register(m, owner, "_modules", name, value)
            return True
        parameters = m.obj(found.attrs["_parameters"])
        if isinstance(parameters, DictObj) and Const(name) in parameters.items:
            if value == NONE:
                register(m, owner, "_parameters", name, value)
                return True
            if tensor is not None and _may_be_parameter(m, tensor) and m.choose(2) == 1:
                register(m, owner, "_parameters", name, value)
                return True
            # Of a module that unknown code was handed, it may have made a parametrized one.
            if not isinstance(value, Unknown) and not found.open:
                raise m.throw("TypeError", "cannot assign")
            return True
        modules = m.obj(found.attrs.get("_modules", NONE))
        if isinstance(modules, DictObj) and Const(name) in modules.items:
            register(m, owner, "_modules", name, value)
            return True
        buffers = m.obj(found.attrs.get("_buffers", NONE))
        if isinstance(buffers, DictObj) and Const(name) in buffers.items:
            register(m, owner, "_buffers", name, value)
            return True
        tell(m, OwnAttributeSet(name, module=True))
        if tensor is not None and isinstance(value, Ref):
            tell(m, TensorStored(found, name, value))
    return False


def _may_be_parameter(m: Machine, tensor: Tensor) -> bool:
    """Whether a tensor is perhaps a parameter itself, and perhaps a copy of one: `Parameter(...).to(device)`."""
    held = [m.st.find(ident) for ident in tensor.aliases]
    return any(isinstance(found, Tensor) and found.parameter for found in held)


def _check_begun(m: Machine, value: Value) -> None:
    """A module whose `__init__` has not been called has no tables to register anything in."""
    tensor = m.tensor(value)
    what = "module" if is_module(m, value) else "parameters" if tensor is not None and tensor.parameter else None
    if what is not None:
        raise m.throw("AttributeError", f"cannot assign {what} before Module.__init__() call")


def register(m: Machine, owner: Ref, table: str, name: str, value: Value) -> None:
    """Put `value` into one of a module's tables, removing the name from any other."""
    found = m.st.get(owner.id)
    assert isinstance(found, Instance)
    if name in found.attrs:
        m.st.put(owner.id, Instance(found.cls, found.attrs.delete(name), found.open))
    for other in ("_parameters", "_buffers", "_modules"):
        holder = found.attrs.get(other)
        registered = m.obj(holder) if holder is not None else None
        if not isinstance(registered, DictObj) or not isinstance(holder, Ref):
            continue
        key = Const(name)
        if other == table:
            order = registered.order if key in registered.items else (*registered.order, key)
            m.st.put(holder.id, replace(registered, items=registered.items.set(key, value), order=order))
        elif key in registered.items:
            left = tuple(k for k in registered.order if k != key)
            m.st.put(holder.id, replace(registered, items=registered.items.delete(key), order=left))


ANY_NAME = "<any>"
"""What a stand-in calls its parameter, which stands for many: `named_parameters` gives it any number of times."""

PERHAPS_HOOKED = Unknown(None, "hooked")
"""Whether unknown code hooked a module: a single symbol for all modules, as unseen hooks may also do nothing."""


def _marked(m: Machine, func: Func, result: Value, args: Args) -> Value:
    """The result of a distribution's method, with that method as the last step of its trail."""
    found = m.tensor(result)
    if found is not None and isinstance(result, Ref) and func.module.startswith("<") and found.lineage is not None:
        parents = (found.lineage, *m.parents(args.pos))
        trail = Lineage(func.node_name, m.here(), parents, None, m.via(), found.lineage.attached)
        m.st.put(result.id, replace(found, lineage=trail))
    return result


def is_layer(m: Machine, found: Instance) -> bool:
    """Whether a module is one of the library's own, without parts that the program may have created."""
    parts = m.obj(found.attrs["_modules"]) if "_modules" in found.attrs else None
    return m.st.is_library(found) and isinstance(parts, DictObj) and not parts.items and parts.rest is None


def _named(m: Machine, args: Args, table: str) -> Value:
    module = args.get(0, "module")
    found = members(m, module, table)
    many = [Tup((beginning(m, name.removesuffix(ANY_NAME)), value)) for name, value in found if name.endswith(ANY_NAME)]
    pairs = [Tup((Const(name), value)) for name, value in found if not name.endswith(ANY_NAME)]
    if many:
        return m.new(ListObj((*pairs, *many), many[0]))
    more = _more(m, module)
    return _listed(m, pairs, None if more is None else Tup((Unknown("str"), more)))


@answers("autograd_machine.named_parameters")
def _named_parameters(m: Machine, args: Args) -> Value:
    return _named(m, args, "_parameters")


@answers("autograd_machine.tell_apart")
def _tell_apart(m: Machine, args: Args) -> Value:
    """The program lists the parameters of a module: of a presumed one, those that are frozen and those that learn."""
    tell_apart(m, args.get(0, "module"))
    return NONE


@answers("autograd_machine.parameters")
def _parameters(m: Machine, args: Args) -> Value:
    module = args.get(0, "module")
    own = [value for _, value in members(m, module, "_parameters")]
    if m.frame.qualname == "Module.parameters" and not m.extent.frames[-2].library:
        idents = reach_of(*own)
        if m.test(_are_presumed, idents):
            m.effect(_weigh, idents)  # whoever asks a module alone for its parameters knows that it has some
    return _listed(m, own, _more(m, module))


def _are_presumed(m: Machine, idents: tuple[int, ...]) -> bool:
    return m.notebook(PresumedParameters, told=True).made.issuperset(idents)


def _weigh(m: Machine, idents: tuple[int, ...]) -> None:
    m.notebook(PresumedParameters, told=True).weighty.update(idents)


def _listed(m: Machine, found: Sequence[Value], more: Value | None) -> Value:
    """Members that were found, and others that stand anywhere among them."""
    return m.new(ListObj(tuple(found) if more is None else (more, *found), more))


def _more(m: Machine, module: Value) -> Unknown | None:
    """What stands for the members beside those that were found, None if there are none."""
    return unseen(m, module) or unseen_attributes(m, module)


@answers("autograd_machine.once")
def _once(m: Machine, args: Args) -> Value:
    """The members of a list, each object once."""
    found = m.obj(args.get(0, "members"))
    assert isinstance(found, ListObj)
    return m.new(replace(found, items=tuple(dict.fromkeys(found.items))))


@answers("autograd_machine.named_buffers")
def _named_buffers(m: Machine, args: Args) -> Value:
    return _named(m, args, "_buffers")


@answers("autograd_machine.named_modules")
def _named_modules(m: Machine, args: Args) -> Value:
    return _named(m, args, "_modules")


@answers("autograd_machine.follow")
def _follow(m: Machine, args: Args) -> Value:
    tell(m, Loaded(args.get(0, "target"), args.get(1, "source")))
    return NONE


@answers("autograd_machine.note_replaced")
def _note_replaced(m: Machine, args: Args) -> Value:
    hook = args.get(0, "hook")
    func = hook.func if isinstance(hook, Method) else hook
    if isinstance(func, Func):
        m.note(OutputReplaced(m.site(), m.place_of(func), m.lineage(args.get(1, "result"))))
    return NONE


@answers(
    "autograd_machine.note_optimizer",
    "autograd_machine.note_scale",
    "autograd_machine.note_unscale",
    "autograd_machine.note_scaled_step",
    "autograd_machine.note_step",
    "autograd_machine.note_zero",
    "autograd_machine.note_clip",
    "autograd_machine.note_scheduler",
)
def _note(m: Machine, args: Args) -> Value:
    tell(m, OptimizerDid(args.called.rpartition(".")[2], args.get(0, "what")))
    return NONE


def watched(m: Machine, begins: CallBegins, run: Callable[[], Value]) -> Value:
    """The result of a call that observers watch."""
    tell(m, begins)
    try:
        result = run()
    except BaseException:
        tell(m, CallEnded(None))
        raise
    tell(m, CallEnded(result))
    return result


def _call_module(m: Machine, func: Ref, found: Instance, args: Args) -> Value:
    """A module without hooks is called like `Module.__call__` in the prelude."""
    called = find_in_class(m, found.cls, "__call__")
    is_plain = isinstance(called, Func) and called.qualname == "Module.__call__" and called.module.startswith("<")
    name = "forward" if is_plain and found.attrs.get("_hooked") == Const(False) else "__call__"
    if is_plain and isinstance(found.attrs.get("_hooked"), Unknown) and is_layer(m, found):
        # It may have been hooked out of sight: the result may differ from what its own `forward` returns.
        return unknown_call(m, func, args)
    if m.frame.library or "_modules" not in found.attrs:
        return call_method(m, func, name, args)
    return watched(m, CallBegins(func.id), lambda: call_method(m, func, name, args))


TABLES = ("_parameters", "_buffers", "_modules")

RARE = frozenset({"T_destination", "call_super_init", "dump_patches", "ipu", "mtia"})
"""Attributes of `torch.nn.Module` that the prelude has not."""


class ModuleModel(ClassModel):
    """An instance whose tables were created by `Module.__init__`."""

    left_alone = True

    def get_attribute(self, m: Machine, owner: Ref, found: Instance, name: str) -> Value | None:
        parametrized = parametrization(m, found, name)
        if parametrized is not None:
            return call(m, parametrized, Args())
        for table in TABLES:
            holder = found.attrs.get(table)
            registered = m.obj(holder) if holder is not None else None
            value = registered.items.get(Const(name)) if isinstance(registered, DictObj) else None
            if value is not None:
                return value
        return None

    def store(self, m: Machine, owner: Ref, found: Instance, name: str, value: Value) -> bool:
        PORTS.likely.replaced(m, owner, value)
        return _store_attribute(m, owner, found, name, value)

    def store_perhaps(self, m: Machine, found: Instance, name: str | None, value: Value) -> None:
        of_any_kind = says_nothing(value) and not m.config.presumes
        if m.tensor(value) is None and not of_any_kind and not any(is_module(m, Ref(i)) for i in reach_of(value)):
            return
        table = found.attrs.get("_modules" if m.tensor(value) is None else "_parameters", NONE)
        held = m.obj(table)
        if not isinstance(held, DictObj) or not isinstance(table, Ref):
            return
        # Under a name of its own it is one of the parts; what replaces parts, whichever it is, is a tensor.
        replaced = [(key, old) for key, old in held.entries if key == Const(name) or (name is None and m.tensor(old))]
        items = held.items.update({key: one_of(old, value) for key, old in replaced})
        is_known = name is not None and bool(replaced)
        rest = held.rest if is_known else value if held.rest is None else one_of(value, held.rest)
        m.st.put(table.id, replace(held, items=items, rest=rest))

    def delete(self, m: Machine, owner: Ref, found: Instance, name: str) -> None:
        for table in TABLES:
            holder = found.attrs.get(table)
            registered = m.obj(holder) if holder is not None else None
            if isinstance(registered, DictObj) and isinstance(holder, Ref) and Const(name) in registered.items:
                order = tuple(k for k in registered.order if k != Const(name))
                m.st.put(holder.id, replace(registered, items=registered.items.delete(Const(name)), order=order))

    def call(self, m: Machine, owner: Ref, found: Instance, args: Args) -> Value:
        if m.config.presumes and m.st.is_library(found):
            named = {name: _likely(m, value) for name, value in args.kw.items()}
            args = Args([_likely(m, value) for value in args.pos], named, args.open)
        elif m.config.presumes:
            for value in args.all():
                if isinstance(value, Unknown):
                    PORTS.likely.given_to_module(m, value)
        result = _call_module(m, owner, found, args)
        if any(says_nothing(value) for value in args.all()) and _hangs_on_input(m, result):
            m.record.unresolved.data = True
        return result

    def holds(self, name: str) -> bool:
        return name in TABLES

    def may_fill(self, m: Machine, found: Instance, name: str) -> bool:
        """`nn.ModuleList()` and the like."""
        return name != "_buffers" and find_in_class(m, found.cls, "__len__") is not None

    def doubted(self, m: Machine, ident: int, found: Instance) -> dict[str, Value] | None:
        attrs = found.attrs
        if "_modules" not in attrs or "_parameters" not in attrs:
            return None
        flag = isinstance(attrs.get("training"), Const)
        changed: dict[str, Value] = {"training": Unknown("bool")} if flag else {}
        if not m.st.is_library(found):
            by_methods = set_by_methods(m, found.cls)
            settings = [k for k in attrs if k in by_methods or _is_setting(attrs[k])]
            changed |= {k: v for k, v in replaceable(m, attrs).items() if k in settings}
        if "_hooked" in attrs:
            is_told = m.config.presumes or attrs["_hooked"] == Const(value=True)
            changed["_hooked"] = attrs["_hooked"] if is_told else PERHAPS_HOOKED
        return changed


def _hangs_on_input(m: Machine, result: Value) -> bool:
    """Whether a module's result has a graph if its input has one."""
    tensor = m.tensor(result)
    return tensor is not None and tensor.requires_grad is None


def _likely(m: Machine, value: Value) -> Value:
    likely = PORTS.likely.tensor(m, value, keeps=True) if isinstance(value, Unknown) else None
    return value if likely is None else likely


def _is_setting(value: Value) -> bool:
    """Whether an attribute is of a kind that programs change: a flag, None, an unregistered tensor."""
    return not isinstance(value, Const) or value.value is None or isinstance(value.value, bool)


def _knows_its_names(table: HeapObject | None) -> bool:
    if not isinstance(table, DictObj) or table.rest is not None:
        return False
    return all(isinstance(name, Const) for name, _ in table.entries)


class BareModule(ClassModel):
    """`nn.Module`, for what inherits from it, whether its `__init__` has called `Module.__init__` yet or not."""

    def lacks(self, m: Machine, found: Instance, name: str) -> bool:
        return name not in RARE and all(_knows_its_names(m.obj(found.attrs.get(table, NONE))) for table in TABLES)

    def check_store(self, m: Machine, owner: Ref, found: Instance, name: str, value: Value) -> None:
        _check_begun(m, value)


class OptimizerModel(ClassModel):
    """An instance whose groups were created by `Optimizer.__init__`."""

    left_alone = True

    def doubted(self, m: Machine, ident: int, found: Instance) -> dict[str, Value] | None:
        m.note(OptimizerEscaped(m.site(), ident))
        return None


MODULE: Final = ModuleModel()
enter(CLASSES, "torch.nn.Module", BareModule())
for _table in TABLES:
    enter(MARKERS, _table, MODULE)
enter(MARKERS, "param_groups", OptimizerModel())
enter(NAMED_METHODS, "sample", _marked)
enter(NAMED_METHODS, "log_prob", _marked)
