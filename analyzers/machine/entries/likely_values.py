"""Likely values for names of which only the role is known.

A *presumed* run covers code that a first run knew too little about: a model from a factory, an optimizer passed as an
argument. There a name's role (`analyzers/syntax/roles.py`) stands in for a value: a model is a module with one
parameter, whose output has a graph; an optimizer trains the models that it is named after; a loss has the graph of its
inputs; a data loader yields tensors without a graph. Calls that the machine cannot see are assumed not to affect
tensors. Everything that such a run finds is possible, never certain, and none of its facts are reported.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence

from analyzers.domain.copies import replace
from analyzers.domain.join import reach_of
from analyzers.domain.lineage import BESIDE, Loc
from analyzers.domain.objects import ClassObj, DictObj, Instance, ListObj, Tensor, by_name
from analyzers.domain.values import NONE, Const, Func, Ref, Tup, Unknown, Value
from analyzers.machine.autograd.likely_tensors import PresumedParameters, presumed_loss
from analyzers.machine.autograd.tensors import stands_for_many
from analyzers.machine.autograd.trainables import is_module, weights
from analyzers.machine.core.arguments import Args
from analyzers.machine.core.calling import call
from analyzers.machine.core.library_names import outside_name
from analyzers.machine.core.machine import Machine
from analyzers.machine.core.ports import PORTS, LikelyValues
from analyzers.machine.core.program import says_nothing
from analyzers.machine.core.registries import answers
from analyzers.machine.entries.attached import attached_result
from analyzers.machine.entries.handed_over import run_handed_over
from analyzers.machine.entries.known_makers import OTHERS, made_by
from analyzers.machine.entries.likely_data import (
    Batches,
    is_loaded,
    is_weight,
    made_of_data,
    note_batch,
    note_input,
    note_loaded,
    plain,
    stand_in,
    tensor_for,
    unfreeze,
)
from analyzers.machine.entries.likely_identity import module_of, optimizer_of, passed_on
from analyzers.machine.entries.likely_methods import doubt_frozen, method_of_model, moved_to, note_part, of_batch
from analyzers.machine.entries.likely_models import (
    add_part,
    flag_as_part,
    make_model,
    set_trained,
    stands_in,
    take_over,
    whole_of,
)
from analyzers.machine.entries.likely_outputs import computed_by_one_of
from analyzers.machine.entries.likely_weights import held_for, method_of_held, weight_for
from analyzers.machine.entries.roles import of_self, parts_of, roles_of, roles_of_function
from analyzers.machine.interpreter.linking import library_call
from analyzers.machine.objects.attributes import set_attribute
from analyzers.machine.objects.classes import find_in_class
from analyzers.machine.operators.possible_shapes import has_a_dimension, has_several
from analyzers.maps import Map
from analyzers.syntax import nodes as n
from analyzers.syntax.roles import Role, dotted, same_part


def _presumed(m: Machine, target: n.Expr, value: Value) -> Value:
    """What `target` most likely holds, if `value` is unknown but the uses of the name are informative."""
    if m.frame.library:
        return value
    name = dotted(target)
    is_open = m.config.presumes and bool(name) and _is_undecided_model(m, value)
    is_open = is_open or bool(name and (_is_of_itself(m, name, value) or _is_counted(m, name, value)))
    if not says_nothing(value) and not is_open:
        return value
    if not m.config.presumes:
        if name:
            m.record.unresolved.note(m.frame.module, of_self(m, m.frame.func, m.frame.env), name)
        return value
    if name and _is_counted(m, name, value):
        m.presume(f"`{name}` counts or marks, and has no graph", of_data=True)
        return plain(m)
    role = roles_of(m, m.frame).get(name) if name else None
    if _is_undecided_model(m, value):
        if role is Role.MODEL:
            m.presume(f"`{name}` is a model that learns")
            set_trained(m, value, True)
        return value
    if not says_nothing(value) and role not in _MODELS:
        return value
    if role is None:
        return value
    return _stand_in(m, name, role, value, m.here(), parts_of(m, m.frame.module, m.frame.func, name, m.frame.env))


def _own(m: Machine, node: n.Attribute, owner: Value, value: Unknown) -> Value:
    """A model or an optimizer that others give an object: `self.model` in a base class, or by way of a property."""
    if m.frame.library or not says_nothing(value) or not isinstance(owner, Ref):
        return value
    name = f"self.{node.attr}"
    if not m.config.presumes:
        m.record.unresolved.note(m.frame.module, of_self(m, m.frame.func, m.frame.env), name)
        return value
    if roles_of(m, m.frame).get(name) in {None, Role.LOSS}:
        return value
    likely = _presumed(m, node, value)
    found = m.obj(owner)
    is_property = isinstance(found, Instance) and find_in_class(m, found.cls, node.attr) is not None
    if isinstance(likely, Ref) and not is_property:
        set_attribute(m, owner, node.attr, likely)
    return likely


_COUNTS = re.compile(r"(?:\w+_)?(?:counts?|idx|idxs|ids?|index|indices|len|lens|lengths?|masks?|nums?|sizes?)\d*")


def _is_counted(m: Machine, name: str, value: Value) -> bool:
    """Whether this is what a model returns beside its output that holds integers, by its name: `out, ids = net(x)`."""
    statement, tensor = m.frame.statement, m.tensor(value) if m.config.presumes else None
    if tensor is None or tensor.lineage is None or tensor.is_leaf is not False or not _COUNTS.fullmatch(name):
        return False
    if tensor.lineage.what != BESIDE:
        return False
    return isinstance(statement, n.Assign) and isinstance(statement.targets[0], n.TupleExpr)


def _is_undecided_model(m: Machine, value: Value) -> bool:
    """Whether this is a module of a library of which nothing says whether it learns: it may be a transform."""
    if not stands_in(m, value):
        return False
    tensors = [m.st.find(ident) for ident in weights(m, value)]
    return bool(tensors) and all(isinstance(one, Tensor) and one.requires_grad is None for one in tensors)


def _is_of_itself(m: Machine, name: str, value: Value) -> bool:
    """Whether this is the result of `model = model(settings)`, where a factory had the name before."""
    statement = m.frame.statement
    tensor = m.tensor(value)
    return (
        tensor is not None
        and tensor.presumed
        and isinstance(statement, n.Assign)
        and isinstance(statement.value, n.Call)
        and dotted(statement.value.func) == name
    )


def _presume_arguments(m: Machine, func: Func, env: int) -> None:
    """The same for a function's parameters, once they are bound: models first, because optimizers train them."""
    if func.module.startswith("<") or not isinstance(func.node, n.FunctionHead):
        return
    silent = [name for name, value in by_name(m.env(env).vars) if says_nothing(value) and not _is_nothing(m, value)]
    if not m.config.presumes:
        for name in silent:
            m.record.unresolved.note(func.module, of_self(m, func, env), name)
        return
    roles = roles_of_function(m, func, env)
    places = {
        arg.name: Loc(func.module, func.chunk, arg.start, arg.start + len(arg.name.encode()))
        for arg in (*func.node.args.posonly, *func.node.args.args, *func.node.args.kwonly)
    }
    made_by = {name: default for name, default in func.defaults if name in silent and _makes(m, default)}
    for name, default in made_by.items():
        m.presume(f"`{name}` is its default", places.get(name, m.here()))
        m.bind(env, name, default)
    waiting = [(name, roles[name]) for name in silent if name in roles and name not in made_by]
    for name, role in sorted(waiting, key=lambda entry: entry[1] not in _MODELS):
        parts = parts_of(m, func.module, func, name, env)
        m.bind(env, name, _stand_in(m, name, role, m.env(env).vars[name], places.get(name, m.here()), parts, env))


def _is_nothing(m: Machine, value: Value) -> bool:
    """Whether a condition has come out so on this way that an unknown value is None, or false."""
    symbol = value.symbol if isinstance(value, Unknown) else None
    assumed = m.st.assumed
    return symbol is not None and (assumed.get(("is", symbol, NONE)) is True or assumed.get(symbol) is False)


def _makes(m: Machine, value: Value) -> bool:
    """Whether a value is a class or a function, so that what may be passed in its place is one, too."""
    return isinstance(value, Func) or isinstance(m.obj(value), ClassObj)


def _stand_in(
    m: Machine, name: str, role: Role, value: Value, loc: Loc, parts: Sequence[str], env: int | None = None
) -> Value:
    held = _passed_on(m, role, value)
    if held is not None:
        return _around(m, held, value, parts) if role in _MODELS and _is_of_a_class(m) else held
    whole = whole_of(m, value) if role in _MODELS else ()
    if len(whole) > 1:
        return value
    if role in _MODELS:
        m.presume(f"`{name}` is {'a model' if role is Role.NETWORK else 'a model that learns'}", loc)
        model = make_model(m, parts)
        if role is Role.NETWORK:
            set_trained(m, model, None)
        if isinstance(value, Unknown):
            take_over(m, model, value)
            if value.symbol is not None and isinstance(model, Ref):
                m.st.stand_ins = m.st.stand_ins.set(value.symbol, model.id)
        for owner in whole:
            flag_as_part(m, owner, model)
            add_part(m, owner, model)
        return model
    if role is Role.OPTIMIZER:
        return _optimizer(m, name, value, loc, env)
    loss = presumed_loss(m, value)
    if isinstance(loss, Ref):
        m.presume(f"`{name}` is a loss with a graph", loc)
    return loss


_PARALLEL = frozenset({"DDP", "DP", "FSDP"})
"""What programs call classes that run a model on several devices, and have no weights of their own."""


def _is_of_a_class(m: Machine) -> bool:
    """Whether the value at hand was made by a class, by its name: `model = Siamese(body)`."""
    statement = m.frame.statement
    call = statement.value if isinstance(statement, n.Assign) else None
    while isinstance(call, n.Call) and isinstance(call.func, n.Attribute) and isinstance(call.func.value, n.Call):
        call = call.func.value
    name = dotted(call.func).rpartition(".")[2] if isinstance(call, n.Call) else ""
    return name[:1].isupper() and name not in _PARALLEL


def _around(m: Machine, held: Ref, value: Value, parts: Sequence[str]) -> Value:
    """A model around another may have weights of its own, that learn or do not."""
    made = make_model(m, parts)
    set_trained(m, made, None)
    add_part(m, made, held)
    if isinstance(value, Unknown) and value.symbol is not None and isinstance(made, Ref):
        m.st.stand_ins = m.st.stand_ins.set(value.symbol, made.id)
    return made


def _passed_on(m: Machine, role: Role, value: Value) -> Ref | None:
    """The model or optimizer that something unknown was made of."""
    if not isinstance(value, Unknown):
        return None
    return module_of(m, value) if role in _MODELS else optimizer_of(m, value) if role is Role.OPTIMIZER else None


_MODELS = (Role.MODEL, Role.NETWORK)


def _made_outside(m: Machine, func: Value, args: Args) -> Value | None:
    """The result of a class or function of an installed library, if its kind is known."""
    itself = module_of(m, func) if isinstance(func, Unknown) else None
    if itself is not None:
        return call(m, itself, args)
    name = outside_name(func)
    made_as = made_by(name) if name is not None else None
    if made_as is None and not isinstance(func, Unknown):
        name = None
    if m.config.presumes and isinstance(func, Unknown):
        computed = (
            method_of_held(m, func, args)
            or method_of_model(m, func, args)
            or of_batch(m, func, args)
            or moved_to(m, func, args)
            or computed_by_one_of(m, func, args)
        )
        if computed is not None:
            return computed
    if name is not None and name.split(".", 1)[0] in sys.stdlib_module_names:
        name = None
    if not m.config.presumes:
        if name is not None:
            m.record.unresolved.calls.add(name)
        return made_of_data(m, func, args)
    if name is not None and made_as is not None:
        return _of_library(m, name, made_as, args)
    match m.config.program.outside_kind(name) if name is not None else "unknown":
        case "module":
            m.presume(f"`{name}` makes a model")
            model = make_model(m)
            set_trained(m, model, None)
            return model
        case "optimizer" if args.pos or "params" in args.kw:
            m.presume(f"`{name}` makes an optimizer over its first argument")
            return library_call(m, "presumed.make_optimizer_over", Args([args.get(0, "params")]))
        case "tensor":
            reach = reach_of(*args.all())
            made = presumed_loss(m, Unknown(None, None, m.trail("?", m.parents(args.all())), reach))
            if not isinstance(made, Ref):
                return made_of_data(m, func, args)
            m.presume(f"`{name}` keeps the graph of its arguments")
            return made
    doubt_frozen(m, func, args)
    return made_of_data(m, func, args) or attached_result(m, func, args)


def _of_library(m: Machine, name: str, made_as: str, args: Args) -> Value:
    """A model as a well-known library makes it, which learns; nobody knows of one of numbers with few bits."""
    m.presume(f"`{name}` makes a model that learns")
    statement = m.frame.statement
    target = statement.targets[0] if isinstance(statement, n.Assign) and not m.frame.library else None
    made_as, _, others = made_as.partition(", ")
    if others and isinstance(target, n.TupleExpr):
        target = target.elts[0]
    known_as = dotted(target) if target is not None else ""
    parts = parts_of(m, m.frame.module, m.frame.func, known_as, m.frame.env) if known_as else ()
    model = make_model(m, parts, made_as)
    m.notebook(PresumedParameters).weighty.update(weights(m, model))
    is_plain = not args.open and not any("quant" in key or key.startswith("load_in") for key in args.kw)
    set_trained(m, model, True if is_plain else None)
    return Tup((model, *(Unknown(None, m.fresh()) for _ in range(OTHERS[others])))) if others else model


def _optimizer(m: Machine, name: str, value: Value, loc: Loc, env: int | None) -> Value:
    # A criterion is a module, too, and has nothing to train.
    models = [(other, model) for other, model in _models_in_reach(m, name, env) if weights(m, model)]
    named = [(other, model) for other, model in models if same_part(name, other)]
    chosen = next((found for found in (named, models) if len(found) == 1), None)
    if chosen is None:
        return value
    [(other, model)] = chosen
    m.presume(f"`{name}` trains `{other}`", loc)
    set_trained(m, model, True)
    return library_call(m, "presumed.make_optimizer", Args([Tup((model,))]))


def _models_in_reach(m: Machine, name: str, env: int | None) -> list[tuple[str, Value]]:
    """The models held by other names near `name`: on the same object, or in the same function."""
    roles = roles_of(m, m.frame)
    found: dict[str, Value] = {}
    holder: Value | None = None
    at: int | None = m.frame.env if env is None else env
    while at is not None:
        scope = m.env(at)
        for other, value in by_name(scope.vars):
            if _is_model(m, value) and (env is not None or roles.get(other) in _MODELS):
                found.setdefault(other, value)
        holder = holder or scope.vars.get("self")
        at = scope.parent
    if name.startswith("self."):
        found = {}
    owner = m.obj(holder) if holder is not None else None
    if isinstance(owner, Instance):
        found.update({f"self.{k}": v for k, v in by_name(_attributes(m, owner)) if _is_model(m, v)})
    return list(found.items())


def _attributes(m: Machine, owner: Instance) -> Map[str, Value]:
    table = m.obj(owner.attrs["_modules"]) if "_modules" in owner.attrs else None
    entries = table.entries if isinstance(table, DictObj) else ()
    modules = {str(k.value): v for k, v in entries if isinstance(k, Const)}
    return owner.attrs.update(modules)


def _is_model(m: Machine, value: Value) -> bool:
    return is_module(m, value) is True


@answers("autograd_machine.stands_for_many")
def _stands_for_many(m: Machine, args: Args) -> Value:
    tensor = m.tensor(args.get(0, "parameter"))
    return Const(tensor is not None and stands_for_many(m, tensor))


def _one_of_many(m: Machine, item: Value) -> Value:
    """What was picked by its place from the parameters of a presumed model is some of them, nobody knows which."""
    if isinstance(item, Tup):
        return replace(item, items=tuple(_one_of_many(m, part) for part in item.items))
    tensor = m.tensor(item)
    if isinstance(item, Ref) and tensor is not None and stands_for_many(m, tensor):
        return Unknown(None, m.fresh(), tensor.lineage, (item.id,))
    return item


@answers("autograd_machine.presume_trained")
def _presume_trained(m: Machine, args: Args) -> Value:
    """What an optimizer is given learns, where nothing says whether it does."""
    given = m.obj(args.get(0, "parameters"))
    for item in given.items if m.config.presumes and isinstance(given, ListObj) else ():
        tensor = m.tensor(item)
        if isinstance(item, Ref) and tensor is not None and tensor.requires_grad is None and tensor.edge is None:
            m.st.put(item.id, replace(tensor, requires_grad=True))
    return NONE


def _is_loader(m: Machine) -> bool:
    """Whether the loop at hand is one over batches, by the name of what it goes over."""
    statement = m.frame.statement
    text = m.source(statement.iter).lower() if isinstance(statement, n.For) else ""
    return "loader" in text or "batches" in text


class ByRole(LikelyValues):
    def bound(self, m: Machine, target: n.Expr, value: Value) -> Value:
        return _presumed(m, target, value)

    def own(self, m: Machine, node: n.Attribute, owner: Value, value: Unknown) -> Value:
        return _own(m, node, owner, value)

    def arguments(self, m: Machine, func: Func, env: int) -> None:
        _presume_arguments(m, func, env)

    def tensor(self, m: Machine, value: Unknown, *, keeps: bool) -> Value | None:
        return weight_for(m, value) or held_for(m, value) or tensor_for(m, value, keeps=keeps)

    def given_to_module(self, m: Machine, value: Unknown) -> None:
        note_input(m, value)

    def has_several(self, m: Machine, ident: int) -> bool:
        return has_several(m, ident, m.notebook(Batches).tensors)

    def learns(self, m: Machine, value: Value) -> bool:
        tensor = m.tensor(value)
        return _is_model(m, value) if tensor is None else tensor.requires_grad is True and tensor.is_leaf is True

    def loaded(self, m: Machine, item: Unknown, made_of: Sequence[Value]) -> None:
        note_loaded(m, item)
        batches = m.notebook(Batches).tensors
        if all(isinstance(one, Ref) and has_a_dimension(m, one.id, batches) for one in made_of):
            note_batch(m, None, [item])

    def iterated(self, m: Machine, value: Unknown, item: Unknown) -> None:
        if not note_part(m, value, item):
            note_loaded(m, item)
            if _is_loader(m) or value.symbol in m.notebook(Batches).listings:
                note_batch(m, None, [item])

    def unpacked(self, m: Machine, value: Value, items: Sequence[Value]) -> None:
        if isinstance(value, Unknown) and is_loaded(m, value.symbol):
            for item in items:
                note_loaded(m, item)
            note_batch(m, value, items)
        # Any of them may be any of what the call was passed.
        given = m.passed_to(value.symbol) if isinstance(value, Unknown) else ()
        for item in items:
            if given and isinstance(item, Unknown) and item.symbol is not None:
                m.indexes.passed.setdefault(item.symbol, given)

    def stand_in(self, m: Machine, value: Value) -> Value | None:
        return (weight_for(m, value) if isinstance(value, Unknown) else None) or stand_in(m, value)

    def part_of_gradient(self, m: Machine) -> Value | None:
        return plain(m) if m.config.presumes else None

    def items(self, m: Machine, value: Unknown, count: int) -> list[Value] | None:
        return passed_on(m, value, count)

    def replaced(self, m: Machine, owner: Ref, value: Value) -> None:
        if m.config.presumes and says_nothing(value) and stands_in(m, owner):
            unfreeze(m, owner)

    def part_set(self, m: Machine, owner: Value, value: Value) -> None:
        if isinstance(owner, Unknown) and is_weight(owner.symbol) and m.st.grad is not False and not m.frame.library:
            m.record.trains = True  # who writes to a weight has to know what a gradient would be of
        whole = whole_of(m, owner) if m.config.presumes and is_module(m, value) else ()
        if len(whole) == 1 and isinstance(value, Ref) and value != whole[0]:
            add_part(m, whole[0], value)

    def picked(self, m: Machine, items: tuple[Value, ...]) -> tuple[Value, ...]:
        return tuple(_one_of_many(m, item) for item in items) if m.config.presumes else items

    def handed_over(self, m: Machine, args: Args) -> Args:
        return run_handed_over(m, args)

    def called(self, m: Machine, func: Value, args: Args) -> Value | None:
        return _made_outside(m, func, args)


PORTS.likely = ByRole()
