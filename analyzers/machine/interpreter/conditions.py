"""`if`, and what a condition reveals about the names in it."""

from __future__ import annotations

from analyzers.domain.copies import replace
from analyzers.domain.objects import Instance
from analyzers.domain.renaming import Rounds
from analyzers.domain.state import UNLIKELY, State
from analyzers.domain.values import NONE, Builtin, Const, Ref, Unknown, Value
from analyzers.machine.core.machine import Machine
from analyzers.machine.core.registries import TYPE_GUARDS, model_of
from analyzers.machine.interpreter.declared import declared
from analyzers.machine.interpreter.dispatch import evaluate, leads, run_block
from analyzers.machine.interpreter.flow import Flow, reduce_states, run_choices
from analyzers.machine.interpreter.names import lookup_env
from analyzers.machine.objects.beginnings import known_start
from analyzers.machine.objects.comparisons import where_filled
from analyzers.machine.objects.truth import truth_of
from analyzers.machine.objects.type_tests import is_instance
from analyzers.syntax import nodes as n
from analyzers.syntax.paths import asked_about, is_elif


def condition(m: Machine, test: n.Expr, state: State) -> tuple[list[State], list[State], Flow]:
    """The states in which `test` holds, those in which it does not, and any other ways out of evaluating it."""
    yes: list[State] = []
    no: list[State] = []
    flow = Flow()
    result: list[bool] = []

    def run() -> None:
        known, symbol = truth_of(m, evaluate(m, test))
        result.append(m.decide(known, symbol))
        if known is None:
            m.guard(test, result[-1])
            if where_filled(symbol) not in {None, result[-1]} and not m.frame.library:
                m.st.taken = m.st.taken.set(m.loc_of(m.frame, test), UNLIKELY)
        refine(m, test, result[-1])

    def finish() -> None:
        (yes if result[-1] else no).append(m.st)

    run_choices(m, test, state, run, finish, flow)
    return yes, no, flow


def refine(m: Machine, test: n.Expr, outcome: bool) -> None:
    """Infer the values of plain names from a condition's outcome: `x is None`, `flag`, `not flag`."""
    match test:
        case n.UnaryOp(op="not", operand=operand):
            refine(m, operand, not outcome)
        case n.BoolOp(op="and", values=values) if outcome:
            for value in values:
                refine(m, value, True)
        case n.BoolOp(op="or", values=values) if not outcome:
            for value in values:
                refine(m, value, False)
        case n.Compare(left=left, ops=(("is" | "is not" | "==" | "!=") as op,), comparators=(n.Constant(value=None),)):
            if outcome == (op in {"is", "=="}):
                _narrow(m, left, NONE)
        case n.Compare(left=left, ops=(("==" | "!=") as op,), comparators=(n.Constant(value=int(known)),)):
            if outcome == (op == "=="):
                _grant(m, left, Const(known))
        case n.Call(func=n.Name() as func, args=(n.Name(id=name), cls)) if outcome:
            if evaluate(m, func) == Builtin("builtins.isinstance"):
                _widen(m, name, cls)
                if isinstance(cls, n.Name | n.Attribute):
                    _declare(m, name, cls)
        case n.Call(func=n.Name() | n.Attribute(value=n.Name()) as func, args=(n.Name(id=name),)) if outcome:
            _declare(m, name, func)
        case n.Name() | n.Attribute():
            _narrow(m, test, Const(outcome) if outcome else None)
            _grant(m, test, Const(outcome))


def _widen(m: Machine, name: str, cls: n.Expr) -> None:
    """If a value of a plain type may be an instance of an unknown class, drop its assumed type."""
    env = lookup_env(m, name)
    old = m.variables(env, name).vars.get(name) if env is not None else None
    if env is not None and isinstance(old, Unknown) and old.type is not None:
        if is_instance(m, old, evaluate(m, cls)) is None:
            m.bind(env, name, replace(old, type=None))


def _declare(m: Machine, name: str, asked: n.Expr) -> None:
    """A name is of the class `asked`, or of that which the function `asked` tests for."""
    env = lookup_env(m, name)
    old = m.variables(env, name).vars.get(name) if env is not None else None
    if env is not None and isinstance(old, Unknown):
        cls = evaluate(m, asked)
        if isinstance(cls, Builtin) and cls.name in TYPE_GUARDS:
            cls = Builtin(TYPE_GUARDS[cls.name])
        known = declared(m, old, cls)
        if known is not old:
            m.bind(env, name, known)


def _grant(m: Machine, asked: n.Expr, value: Value) -> None:
    """What is known of an object once `x.name`, `x.name()` or `len(x.name)` is. What a library asks for its own ends is
    no reason to keep both answers."""
    if m.frame.library:
        return
    match asked:
        case n.Attribute(value=n.Name() as of, attr=attr):
            pass
        case n.Call(func=n.Attribute(value=n.Name() as of, attr=attr), args=()):
            pass
        case n.Call(func=n.Name(id="len"), args=(n.Attribute(value=n.Name() as of, attr=attr),)):
            attr = f"len({attr})"
        case _:
            return
    owner = evaluate(m, of)
    found = m.obj(owner)
    if found is not None and isinstance(owner, Ref):
        model_of(found).grant(m, owner, found, attr, value)


def _narrow(m: Machine, target: n.Expr, value: Value | None) -> None:
    match target:
        case n.Name(id=name):
            env = lookup_env(m, name)
            if env is None:
                return
            old = m.variables(env, name).vars.get(name)
            if isinstance(old, Unknown) and value is not None and (value is NONE or _plain_flag(old)):
                m.bind(env, name, value)
        case n.Attribute(value=n.Name() as owner, attr=attr) if value is not None:
            holder = evaluate(m, owner)
            found = m.obj(holder)
            if isinstance(found, Instance) and isinstance(holder, Ref):
                old = found.attrs.get(attr)
                if isinstance(old, Unknown) and (value is NONE or _plain_flag(old)):
                    m.st.put(holder.id, Instance(found.cls, found.attrs.set(attr, value), found.open))


def _plain_flag(value: Unknown) -> bool:
    """A flag without a symbol. One with a symbol is remembered by that; binding its name too would only keep states
    apart."""
    return value.type == "bool" and value.symbol is None


def _is_of_a_name(m: Machine, s: n.If) -> bool:
    """Whether a condition asks how a name begins, which holds for all that have a name of the kind."""
    names = (node.id for node in n.walk([s.test]) if isinstance(node, n.Name))
    for name in names:
        env = lookup_env(m, name)
        if env is not None and known_start(m.variables(env, name).vars[name]):
            return True
    return False


def _is_left_at_once(m: Machine, s: n.If) -> bool:
    """Whether a function returns at once for one number that it may be passed: `if task == 1: return x`."""
    func = m.frame.func.node if m.frame.func is not None else None
    match s:
        case n.If(
            test=n.Compare(left=n.Name(id=name), ops=("==",), comparators=(n.Constant(value=int()),)),
            body=(n.Return(),),
        ):
            given = (*func.args.posonly, *func.args.args, *func.args.kwonly) if func is not None else ()
            return any(parameter.name == name for parameter in given)
    return False


def note_picking(m: Machine) -> None:
    """What the current round of a loop does it does to some of those that the loop goes over. A loop that counts, such
    as one over epochs, goes over nothing."""
    loop = m.extent.loops[-1] if m.config.presumes and m.extent.loops else None
    if not isinstance(loop, n.For):
        return
    if not any(isinstance(part, n.Name) and part.id == "range" for part in n.walk((loop.iter,))):
        m.effect(_pick, Rounds(tuple(m.extent.iterations)))


def _pick(m: Machine, rounds: Rounds) -> None:
    m.extent.picking.add(rounds.of)


def _is_one_of_several(s: n.If) -> bool:
    """Whether a condition is the first of three or more that tell the cases of one name apart, and no case trains: each
    makes what the others make, in its own way."""
    subject, cases = asked_about(s.test), [s]
    while is_elif(cases[-1].orelse) and isinstance(following := cases[-1].orelse[0], n.If):
        cases.append(following)
    same = subject is not None and all(asked_about(case.test) == subject for case in cases)
    return same and len(cases) > 2 and not n.mentions([s], "backward")


@leads(n.If)
def _if(m: Machine, s: n.If, state: State) -> Flow:
    before = m.extent.told_apart
    subject = asked_about(s.test) if before is not None or is_elif(s.orelse) else None
    is_last = not s.orelse and before is not None and before[0] is s and before[1] == subject
    yes, no, flow = condition(m, s.test, state)
    if yes and no and m.config.takes_defaults and _is_one_of_several(s):
        m.presume(f"{m.source(s.test)} is true")
        no = []
    if not m.frame.library and ((yes and no) or not _is_of_a_name(m, s)):
        note_picking(m)
    if is_last and not m.frame.library:
        for left in no:
            left.taken = left.taken.set(m.loc_of(m.frame, s), UNLIKELY)
    if yes and no and not m.frame.library and _is_left_at_once(m, s):
        for case in yes:
            case.taken = case.taken.set(m.loc_of(m.frame, s), UNLIKELY)
    # Statements in a branch are visits of their own; the `if` itself has already completed by then.
    for branch, states in ((s.body, yes), (s.orelse, no)):
        if states:
            asks = branch is s.orelse and is_elif(branch)
            m.extent.told_apart = (branch[0], subject) if asks and subject is not None else None
            # `elif a and b` is left in two ways: the states would double with each.
            step = run_block(m, branch, reduce_states(m, states) if len(states) > 1 else states)
            flow.normal += step.normal
            flow.take_exits(step)
    m.extent.told_apart = before
    m.frame.statement = s
    return flow
