"""Names: the scope that binds each, and its value."""

from __future__ import annotations

from analyzers.domain.values import Builtin, Unknown, Value
from analyzers.machine.core.exceptions import PyRaise
from analyzers.machine.core.machine import Machine
from analyzers.machine.interpreter.dispatch import evaluates
from analyzers.machine.interpreter.linking import library_value, resolved
from analyzers.syntax import nodes as n


def lookup_env(m: Machine, name: str) -> int | None:
    """The environment in which `name` is bound, as seen from the current frame."""
    frame = m.frame
    env: int | None = frame.env
    if name in frame.globals:
        env = module_env(m)
    while env is not None:
        found = m.variables(env, name)
        if name in found.vars:
            return env
        env = found.parent
    return None


def module_env(m: Machine) -> int:
    env = m.frame.env
    while True:
        parent = m.variables(env, "").parent
        if parent is None:
            return env
        env = parent


def load_name(m: Machine, name: str) -> Value:
    frame = m.frame
    env: int | None = frame.env
    if name in frame.globals:
        env = module_env(m)
    is_open = False
    outside = frame.func.env if frame.func is not None and frame.locals is not None and name in frame.locals else None
    while env is not None:
        found = m.variables(env, name)
        value = found.vars.get(name)
        if value is not None:
            return resolved(m, value) if isinstance(value, Unknown) else value
        is_open = is_open or found.open
        env = found.parent
        if env is not None and env == outside and not is_open:
            raise PyRaise("UnboundLocalError")
    if name in BUILTIN_NAMES and not (is_open and name in OFTEN_SHADOWED):
        return Builtin("builtins." + name)
    if frame.library:
        shared = m.config.program.library(frame.module + ":" + name)
        if shared is not None:
            return library_value(m, shared)
    m.record.imprecisions += 1
    return Unknown(symbol=("name", frame.module, name))


@evaluates(n.Name)
def _name(m: Machine, node: n.Name) -> Value:
    value = load_name(m, node.id)
    if m.config.probe is not None:
        m.config.probe.read(m, node, value)
    return value


BUILTIN_NAMES = frozenset(
    [
        "abs",
        "all",
        "any",
        "ascii",
        "bin",
        "bool",
        "breakpoint",
        "bytearray",
        "bytes",
        "callable",
        "chr",
        "classmethod",
        "compile",
        "complex",
        "delattr",
        "dict",
        "dir",
        "divmod",
        "enumerate",
        "eval",
        "exec",
        "filter",
        "float",
        "format",
        "frozenset",
        "getattr",
        "globals",
        "hasattr",
        "hash",
        "help",
        "hex",
        "id",
        "input",
        "int",
        "isinstance",
        "issubclass",
        "iter",
        "len",
        "list",
        "locals",
        "map",
        "max",
        "memoryview",
        "min",
        "next",
        "object",
        "oct",
        "open",
        "ord",
        "pow",
        "print",
        "property",
        "range",
        "repr",
        "reversed",
        "reveal_type",
        "reveal",
        "round",
        "set",
        "setattr",
        "slice",
        "sorted",
        "staticmethod",
        "str",
        "sum",
        "super",
        "tuple",
        "type",
        "vars",
        "zip",
        "__import__",
        "ArithmeticError",
        "AssertionError",
        "AttributeError",
        "BaseException",
        "BlockingIOError",
        "BrokenPipeError",
        "BufferError",
        "ConnectionError",
        "DeprecationWarning",
        "EOFError",
        "EnvironmentError",
        "Exception",
        "FileExistsError",
        "FileNotFoundError",
        "FloatingPointError",
        "FutureWarning",
        "GeneratorExit",
        "IOError",
        "ImportError",
        "ImportWarning",
        "IndexError",
        "InterruptedError",
        "KeyError",
        "KeyboardInterrupt",
        "LookupError",
        "MemoryError",
        "ModuleNotFoundError",
        "NameError",
        "NotImplemented",
        "NotImplementedError",
        "OSError",
        "OverflowError",
        "PermissionError",
        "ProcessLookupError",
        "RecursionError",
        "ReferenceError",
        "ResourceWarning",
        "RuntimeError",
        "RuntimeWarning",
        "StopAsyncIteration",
        "StopIteration",
        "SyntaxError",
        "SystemError",
        "SystemExit",
        "TimeoutError",
        "TypeError",
        "UnboundLocalError",
        "UnicodeDecodeError",
        "UnicodeEncodeError",
        "UnicodeError",
        "UserWarning",
        "ValueError",
        "Warning",
        "ZeroDivisionError",
        "__debug__",
        "Ellipsis",
    ]
)

OFTEN_SHADOWED = frozenset(
    {"abs", "all", "any", "bool", "bytes", "compile", "complex", "divmod", "float", "int", "max", "min", "open", "pow"}
    | {"round", "sum"}
)
"""Builtins that the star imports of numpy, torch and the like replace; that some other star import does is not
presumed."""
