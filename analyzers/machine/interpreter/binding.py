"""Binding the arguments of a call to parameters."""

from __future__ import annotations

from analyzers.domain.objects import DictObj, Env, ListObj
from analyzers.domain.values import Const, Func, Tup, Unknown, Value
from analyzers.machine.core.arguments import Args
from analyzers.machine.core.exceptions import PyRaise
from analyzers.machine.core.machine import Machine
from analyzers.maps import Map


def bind_arguments(m: Machine, func: Func, args: Args) -> int:
    """Create an environment with the parameters bound by Python's rules; what cannot be determined is unknown."""
    parameters = func.node.args
    values: dict[str, Value] = {}
    pos = list(args.pos)
    named = dict(args.kw)
    defaults = dict(func.defaults)
    for parameter in (*parameters.posonly, *parameters.args):
        if pos:
            values[parameter.name] = pos.pop(0)
        elif parameter.name in named:
            values[parameter.name] = named.pop(parameter.name)
        elif args.may_name(parameter.name):
            values[parameter.name] = Unknown(symbol=m.fresh())
        elif parameter.name in defaults:
            values[parameter.name] = defaults[parameter.name]
        else:
            raise PyRaise("TypeError", f"{func.node_name}() missing 1 required positional argument: '{parameter.name}'")
    if parameters.vararg is not None:
        all_given = args.more is not None or not args.open
        rest: Value = Tup(tuple(pos)) if all_given else m.new(ListObj(tuple(pos), args.rest or Unknown()))
        values[parameters.vararg.name] = rest
    elif pos:
        raise PyRaise("TypeError", f"{func.node_name}() takes fewer positional arguments")
    for parameter in parameters.kwonly:
        if parameter.name in named:
            values[parameter.name] = named.pop(parameter.name)
        elif parameter.name in defaults and not args.may_name(parameter.name):
            values[parameter.name] = defaults[parameter.name]
        else:
            values[parameter.name] = Unknown(symbol=m.fresh())
    if parameters.kwarg is not None:
        items = {Const(k): v for k, v in named.items()}
        others = Unknown() if args.open else None
        values[parameters.kwarg.name] = m.new(DictObj(Map(items), tuple(items), others, keys=args.more or None))
    elif named:
        raise PyRaise("TypeError", f"{func.node_name}() got an unexpected keyword argument '{next(iter(named))}'")
    return m.new(Env(Map(values), func.env, func.module)).id
