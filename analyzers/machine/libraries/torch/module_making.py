"""What the constructors of `nn`'s modules do natively, as programs make hundreds of layers."""

from __future__ import annotations

from analyzers.domain.objects import DictObj, Instance, ListObj, SetObj
from analyzers.domain.values import FALSE, NONE, TRUE, Const, Ref, Tup, Unknown, Value
from analyzers.machine.autograd.versions import bump
from analyzers.machine.core.arguments import Args
from analyzers.machine.core.machine import Machine
from analyzers.machine.core.naming import library_caller
from analyzers.machine.core.registries import answers
from analyzers.machine.objects.attributes import set_attribute
from analyzers.maps import Map


@answers("autograd_machine.begin")
def _begin(m: Machine, args: Args) -> Value:
    """Give a module its tables: once they exist, parameters, buffers and modules are registered in them."""
    owner = args.get(0, "module")
    found = m.obj(owner)
    tables: dict[str, Value] = {name: m.new(DictObj(Map(), ())) for name in ("_buffers", "_parameters", "_modules")}
    begun = tables | {"training": TRUE, "_hooked": FALSE, "_non_persistent_buffers_set": m.new(SetObj(()))}
    if isinstance(found, Instance) and isinstance(owner, Ref):
        m.st.put(owner.id, Instance(found.cls, found.attrs.update(begun), found.open))
        return NONE
    for name, value in begun.items():
        set_attribute(m, owner, name, value)
    return NONE


@answers("autograd_machine.sizes")
def _sizes(m: Machine, args: Args) -> Value:
    """`n` sizes, from a number or as many; none of them is known if nobody knows which of the two it is."""
    value, count = args.get(0, "value"), args.get(1, "n")
    found = m.obj(value)
    kind = value.type if isinstance(value, Unknown) else ""
    if isinstance(value, Tup) or kind in {"tuple", "torch.Size"}:
        return value
    if isinstance(found, ListObj) or kind == "list":
        return Tup(found.items) if isinstance(found, ListObj) and found.rest is None else Unknown("tuple")
    if kind is None:
        m.record.imprecisions += 1
    assert isinstance(count, Const) and isinstance(count.value, int)
    return Tup((value,) * count.value)


@answers("autograd_machine.initialise")
def _initialise(m: Machine, args: Args) -> Value:
    """Write to a module's own parameters, or to its own buffers."""
    owner, table = m.obj(args.get(0, "module")), args.get(1, "table")
    holder = (
        owner.attrs.get(str(table.value), NONE) if isinstance(owner, Instance) and isinstance(table, Const) else NONE
    )
    held = m.obj(holder)
    for value in held.values if isinstance(held, DictObj) else ():
        if isinstance(value, Ref) and m.tensor(value) is not None:
            bump(m, value.id, library_caller(m))
    return NONE
