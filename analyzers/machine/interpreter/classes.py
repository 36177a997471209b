"""Function and class definitions: what `def` and `class` bind."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from analyzers.domain.copies import replace
from analyzers.domain.objects import ClassObj, Env, by_name
from analyzers.domain.values import Const, Func, Ref, Tup, Value
from analyzers.machine.core.arguments import Args
from analyzers.machine.core.machine import Machine
from analyzers.machine.interpreter.calls import call_function, run_statements
from analyzers.machine.interpreter.closures import writes_what_it_is_passed
from analyzers.machine.interpreter.decorators import decorate, decorate_class
from analyzers.machine.interpreter.dispatch import evaluate, runs
from analyzers.machine.interpreter.targets import store_name
from analyzers.machine.objects.classes import find_in_class, linearize
from analyzers.machine.objects.enums import ENUMS, make_members
from analyzers.maps import Map
from analyzers.syntax import nodes as n


def closure(m: Machine, node: n.FunctionHead | n.Lambda, name: str) -> Func:
    frame = m.frame
    defaults = tuple(
        (arg.name, evaluate(m, arg.default))
        for arg in (*node.args.posonly, *node.args.args, *node.args.kwonly)
        if arg.default is not None
    )
    env = frame.env
    owner = None
    scope = m.variables(env, "__class_body__")
    owner_value = scope.vars.get("__class_body__")
    if owner_value is not None:
        # A method closes over the class's enclosing scope, not over the class's own names.
        owner = owner_value.value if isinstance(owner_value, Const) and isinstance(owner_value.value, int) else None
        env = scope.parent or env
    prefix = frame.qualname
    if frame.func is not None and owner is None:
        prefix += ".<locals>"
    qualname = name if prefix in {"", "<module>"} else f"{prefix}.{name}"
    return Func(node, frame.module, frame.chunk, qualname, env, defaults, owner)


@runs(n.FunctionHead, n.FunctionDef)
def define_function(m: Machine, s: n.FunctionHead) -> None:
    func: Value = closure(m, s, s.name)
    known = func
    for decorator in reversed(s.decorators):
        func = decorate(m, evaluate(m, decorator), func)
        if isinstance(func, Func) and func.node is s:
            known = func
    if m.frame.func is None and not m.frame.library and isinstance(known, Func):
        # Known decorators are applied to the function; others are ignored.
        m.record.functions.append(known)
    store_name(m, s.name, func)


@runs(n.ClassDef)
def define_class(m: Machine, s: n.ClassDef) -> None:
    frame = m.frame
    bases = tuple(evaluate(m, b) for b in s.bases)
    keywords = {keyword.arg: evaluate(m, keyword.value) for keyword in s.keywords}
    ident = m.same_on_all_ways(m.loc_of(m.frame, s))
    prefix = frame.qualname
    if frame.func is not None and m.variables(frame.env, "__class_body__").vars.get("__class_body__") is None:
        prefix += ".<locals>"
    qualname = s.name if prefix in {"", "<module>"} else f"{prefix}.{s.name}"
    ancestry, known = linearize(m, ident, bases)
    cls = ClassObj(s.name, qualname, frame.module, bases, ancestry, Map(), known)
    m.st.put(ident, cls)
    body = m.new(
        Env(
            Map({"__qualname__": Const(qualname), "__class_body__": Const(ident)}),
            frame.env,
            frame.module,
        )
    )
    before = (frame.env, frame.qualname, frame.locals)
    frame.env, frame.qualname, frame.locals = body.id, qualname, None
    try:
        _class_body(m, s)
    finally:
        frame.env, frame.qualname, frame.locals = before
    attrs = m.env(body.id).vars
    annotated = attrs.get("__annotations__")
    fields = tuple(
        (str(f.value), attrs.get(str(f.value)), False)
        for f in (annotated.items if isinstance(annotated, Tup) else ())
        if isinstance(f, Const)
    )
    for hidden in ("__class_body__", "__annotations__"):
        if hidden in attrs:
            attrs = attrs.delete(hidden)
    kind = _kind(ancestry)
    plain = known and not s.decorators and not s.keywords and not _lends_its_names(s.body)
    m.st.put(ident, replace(cls, attrs=attrs, fields=fields, kind=kind, plain=plain))
    if not known:
        # A base that nobody sees calls the methods as it likes.
        m.st.writes_out = m.st.writes_out or any(
            writes_what_it_is_passed(m, found) for _, found in by_name(attrs) if isinstance(found, Func)
        )
    if kind == "enum":
        make_members(m, ident, _bound_in(s.body))
    value: Value = Ref(ident)
    _tell_base(m, ident, {name: given for name, given in keywords.items() if name is not None and name != "metaclass"})
    for decorator in reversed(s.decorators):
        value = decorate_class(m, evaluate(m, decorator), value)
    store_name(m, s.name, value)


_LENDERS = frozenset({"exec", "locals", "vars"})


def _lends_its_names(body: Iterable[n.Stmt]) -> bool:
    """Whether a class body hands out the names that it binds, to which others may be added."""
    return any(isinstance(node, n.Name) and node.id in _LENDERS for node in n.walk(body))


def _bound_in(body: Iterable[n.Stmt]) -> Iterator[str]:
    """The names that a class body assigns to, in its order."""
    for statement in body:
        match statement:
            case n.Assign(targets=targets):
                yield from (target.id for target in targets if isinstance(target, n.Name))
            case n.AnnAssign(target=n.Name(id=name)):
                yield name


def _tell_base(m: Machine, cls: int, keywords: dict[str, Value]) -> None:
    """Call `__init_subclass__` of a base that defines it."""
    told = find_in_class(m, cls, "__init_subclass__", after=cls)
    if isinstance(told, Func) and not m.frame.library:
        call_function(m, told, Args([Ref(cls)], keywords))


def _kind(ancestry: tuple[int | str, ...]) -> str:
    if "typing.NamedTuple" in ancestry:
        return "namedtuple"
    if not ENUMS.isdisjoint(ancestry):
        return "enum"
    return "class"


def _class_body(m: Machine, s: n.ClassDef) -> None:
    """A class body runs immediately; if it forks (an `if` on something unknown), its states are joined."""
    run_statements(m, s.body)
