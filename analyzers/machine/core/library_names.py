"""Names that lie outside the program: what they mean, and who answers a call of one."""

from __future__ import annotations

from analyzers.domain.join import reach_of
from analyzers.domain.values import Builtin, Unknown, Value
from analyzers.machine.core.arguments import Args
from analyzers.machine.core.machine import Machine
from analyzers.machine.core.registries import NATIVE


def outside(m: Machine, dotted: str) -> Value:
    """A name outside the workspace: modelled, or unknown."""
    from analyzers.machine.interpreter.linking import library_value
    from analyzers.machine.libraries.known_names import CONSTANTS, MODELLED

    place = m.program.library(dotted) if not is_native(dotted) else None
    if place is not None:
        return library_value(m, place)
    if dotted.split(".", 1)[0] in MODELLED:
        constant = CONSTANTS.get(dotted)
        return constant if constant is not None else Builtin(dotted)
    return Unknown(symbol=("import", dotted))


def m_star(name: str) -> list[tuple[str, str]]:
    """What a star import of a modelled module binds, where that is known."""
    from analyzers.machine.libraries.known_names import STAR

    return [(f"{name}.{symbol}", symbol) for symbol in STAR.get(name, ())]


def is_native(dotted: str) -> bool:
    return dotted in NATIVE


def call_library(m: Machine, name: str, args: Args) -> Value:
    from analyzers.machine.core.calling import unknown_call
    from analyzers.machine.libraries.known_names import QUIET
    from analyzers.machine.libraries.matplotlib import call_pyplot
    from analyzers.machine.libraries.numpy.functions import call_numpy
    from analyzers.machine.libraries.python.builtin_functions import call_builtin
    from analyzers.machine.libraries.python.standard import call_math, call_random
    from analyzers.machine.libraries.torch.functions import call_torch_name

    handler = NATIVE.get(name)
    if handler is not None:
        return handler(m, args)
    top, _, rest = name.partition(".")
    if top == "builtins":
        return call_builtin(m, rest, args)
    if top == "torch":
        return call_torch_name(m, name, rest, args)
    if top == "numpy":
        return call_numpy(m, name, args)
    if name.startswith("matplotlib.pyplot."):
        return call_pyplot(m, name.removeprefix("matplotlib.pyplot."), args)
    m.doubts += top not in {"math", "operator", "random", "time", "logging", "warnings"}
    if top in {"math", "operator"}:
        return call_math(m, top, rest, args)
    if top == "tqdm":
        return args.get(0, "iterable", Unknown())
    if top == "random":
        return call_random(m, rest, args)
    if top in QUIET:
        return Unknown(None, None, None, reach_of(*args.all()))
    return unknown_call(m, Builtin(name), args)
