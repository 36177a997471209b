"""Assignment targets: names, attributes, items, and tuples of them."""

from __future__ import annotations

from collections.abc import Sequence

from analyzers.domain.join import reach_of
from analyzers.domain.lineage import Lineage
from analyzers.domain.objects import DictObj, Env, Instance, ListObj
from analyzers.domain.values import Const, Ref, Tup, Unknown, Value
from analyzers.machine.core.machine import Machine
from analyzers.machine.core.ports import PORTS
from analyzers.machine.core.registries import misused
from analyzers.machine.core.signals import Bound, ItemStored, Named, tell
from analyzers.machine.interpreter.dispatch import evaluate, evaluates, runs
from analyzers.machine.interpreter.names import lookup_env, module_env
from analyzers.machine.objects.attributes import set_attribute
from analyzers.machine.objects.instances import delete_attribute
from analyzers.machine.objects.iteration import stream_of
from analyzers.machine.objects.operators import augmented
from analyzers.machine.objects.subscripts import delete_item, set_item
from analyzers.syntax import nodes as n


def assign(m: Machine, target: n.Expr, value: Value, statement: n.Node | None) -> None:
    """Bind `value`; `statement` is where facts are recorded (None: nowhere)."""
    match target:
        case n.Name(id=name):
            value = _presumed(m, target, value)
            earlier = _held(m, target) if isinstance(statement, n.Assign) else None
            store_name(m, name, value)
            if isinstance(statement, n.Assign):
                tell(m, Bound(name, value, earlier))
            _fact(m, target, statement, value)
        case n.TupleExpr(elts=elts) | n.ListExpr(elts=elts):
            _unpack(m, elts, value, statement)
        case n.Starred(value=inner):
            assign(m, inner, value, statement)
        case n.Attribute(value=owner_node, attr=attr):
            owner = evaluate(m, owner_node)
            m.frame.node = target
            value = _presumed(m, target, value)
            earlier = _held_in(m, owner, attr) if isinstance(statement, n.Assign) else None
            set_attribute(m, owner, attr, value)
            if isinstance(statement, n.Assign):
                m.frame.node = statement
                tell(m, Bound(m.source(target), value, earlier))
            if not isinstance(owner_node, n.Call):
                _fact(m, target, statement, value)
        case n.Subscript(value=owner_node, index=index_node):
            owner = evaluate(m, owner_node)
            index = evaluate(m, index_node)
            m.frame.node = target
            tell(m, ItemStored(target, owner, index, value))
            earlier = m.lineage(owner)
            set_item(m, owner, index, value)
            if m.tensor(owner) is not None:
                tell(m, Bound(m.source(owner_node), owner, earlier))
            if isinstance(m.obj(owner), ListObj | DictObj):
                _fact(m, target, statement, value)


def _held(m: Machine, target: n.Name) -> Lineage | None:
    """The trail of what a name holds that is bound here, if anything: an outer one of that name is another variable."""
    frame = m.frame
    is_local = frame.locals is not None and target.id in frame.locals
    env = frame.env if is_local else lookup_env(m, target.id)
    value = None if env is None else m.variables(env, target.id).vars.get(target.id)
    return None if value is None else m.lineage(value)


def _held_in(m: Machine, owner: Value, attr: str) -> Lineage | None:
    """The trail of what an object's own attribute holds, if anything."""
    found = m.obj(owner)
    held = found.attrs.get(attr) if isinstance(found, Instance) else None
    return None if held is None else m.lineage(held)


def _presumed(m: Machine, target: n.Expr, value: Value) -> Value:
    if not isinstance(value, Unknown) and not m.config.presumes:
        return value
    return PORTS.likely.bound(m, target, value)


def _fact(m: Machine, target: n.Expr, statement: n.Node | None, value: Value) -> None:
    frame = m.frame
    if m.config.probe is not None:
        m.config.probe.bound(m, target, value)
    if statement is None or frame.library or not isinstance(value, Ref | Unknown):
        return
    if isinstance(target, n.Name):
        tell(m, Named(frame, statement, target.id, value))
    elif _one_level(target):
        tell(m, Named(frame, statement, m.source(target), value))


def _one_level(target: n.Expr) -> bool:
    match target:
        case n.Attribute(value=n.Name()):
            return True
        case n.Subscript(value=n.Name()):
            return True
    return False


def store_name(m: Machine, name: str, value: Value) -> None:
    frame = m.frame
    env = frame.env
    if name in frame.globals:
        env = module_env(m)
    elif frame.locals is not None and name not in frame.locals:
        # A nonlocal, or a variable of the comprehension itself.
        found = lookup_env(m, name) if frame.func is not None and name in _nonlocals(m.whole(frame.func)) else None
        env = found if found is not None else env
    m.bind(env, name, value)


def _nonlocals(node: n.FunctionDef | n.Lambda) -> frozenset[str]:
    return node.nonlocals if isinstance(node, n.FunctionDef) else frozenset()


def _unpack(m: Machine, elts: tuple[n.Expr, ...], value: Value, statement: n.Node | None) -> None:
    likely = PORTS.likely.items(m, value, len(elts)) if isinstance(value, Unknown) else None
    stream = stream_of(m, value if likely is None else Tup(tuple(likely)), unpack=len(elts)).drained(m)
    star = next((i for i, e in enumerate(elts) if isinstance(e, n.Starred)), None)
    items = list(stream.items)
    if stream.rest is not None:
        while len(items) < len(elts):
            items.append(stream.make(m)())
        items = items[: len(elts)]
        PORTS.likely.unpacked(m, value, items)
    if star is None:
        if len(items) != len(elts):
            words = "not enough values to unpack" if len(items) < len(elts) else "too many values to unpack"
            if not m.record.supposes_counts:
                misused(m, value, "ValueError", words)
            items = [_part_of(value, stream.items)] * len(elts)
        for elt, item in zip(elts, items, strict=True):
            assign(m, elt, item, statement)
        return
    after = len(elts) - star - 1
    if len(items) < len(elts) - 1:
        items = [_part_of(value, stream.items)] * len(elts)
    for elt, item in zip(elts[:star], items, strict=False):
        assign(m, elt, item, statement)
    middle = items[star : len(items) - after]
    assign(m, elts[star], m.new(ListObj(tuple(middle), stream.rest)), statement)
    for elt, item in zip(elts[star + 1 :], items[len(items) - after :], strict=False):
        assign(m, elt, item, statement)


def _part_of(value: Value, items: Sequence[Value]) -> Unknown:
    """What a target may get of a value that has another number of items than there are targets."""
    return Unknown(None, None, None, reach_of(value, *items))


@runs(n.AugAssign)
def augmented_assign(m: Machine, s: n.AugAssign) -> None:
    old = evaluate(m, s.target)
    value = evaluate(m, s.value)
    m.frame.node = s
    earlier = m.lineage(old)
    result = augmented(m, s.op, old, value)
    match s.target:
        case n.Name(id=name):
            store_name(m, name, result)
            tell(m, Bound(name, result, earlier))
            _fact(m, s.target, s, result)
        case n.Attribute(value=owner_node, attr=attr):
            owner = evaluate(m, owner_node)
            m.frame.node = s
            set_attribute(m, owner, attr, result)
            tell(m, Bound(m.source(s.target), result, earlier))
            _fact(m, s.target, s, result)
        case n.Subscript(value=owner_node, index=index_node):
            owner = evaluate(m, owner_node)
            index = evaluate(m, index_node)
            m.frame.node = s
            set_item(m, owner, index, result)
            if isinstance(m.obj(owner), ListObj | DictObj):
                tell(m, Bound(m.source(s.target), result, earlier))
                _fact(m, s.target, s, result)


def note_annotation(m: Machine, s: n.AnnAssign) -> None:
    """Record a class body's annotated fields, from which dataclasses and named tuples are built."""
    if isinstance(s.target, n.Name):
        env = m.env(m.frame.env)
        fields = env.vars.get("__annotations__")
        known = fields if isinstance(fields, Tup) else Tup(())
        m.st.put(
            m.frame.env,
            Env(
                env.vars.set("__annotations__", Tup((*known.items, Const(s.target.id)))),
                env.parent,
                env.module,
                env.open,
            ),
        )


def delete(m: Machine, target: n.Expr) -> None:
    match target:
        case n.Name(id=name):
            env = lookup_env(m, name)
            if env is not None:
                old = m.env(env)
                m.st.put(env, Env(old.vars.delete(name), old.parent, old.module, old.open))
        case n.TupleExpr(elts=elts) | n.ListExpr(elts=elts):
            for elt in elts:
                delete(m, elt)
        case n.Attribute(value=owner_node, attr=attr):
            owner = evaluate(m, owner_node)
            delete_attribute(m, owner, attr)
        case n.Subscript(value=owner_node, index=index_node):
            delete_item(m, evaluate(m, owner_node), evaluate(m, index_node))


@evaluates(n.NamedExpr)
def _named(m: Machine, node: n.NamedExpr) -> Value:
    value = evaluate(m, node.value)
    assign(m, node.target, value, node)
    return value
