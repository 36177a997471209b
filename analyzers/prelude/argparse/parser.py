"""The result of parsing a command line: the type of each argument is known, but never its value, unless the run presumes
that none is given."""

import autograd_machine

SUPPRESS = "==SUPPRESS=="
REMAINDER = "..."


class BooleanOptionalAction:
    pass


class ArgumentParser:
    """Argument groups are the parser itself; with subcommands, the result is unknown."""

    def __init__(self, *args, parents=(), argument_default=None, **kwargs):
        self._values = {}
        self._seen_whole = not parents and argument_default is None

    def add_argument(self, *names, action=None, nargs=None, const=None, default=None, type=None, choices=None,
                     required=False, help=None, metavar=None, dest=None, version=None):
        name = _destination(names, dest)
        if not autograd_machine.known(name):
            self._seen_whole = False
        elif action not in ("version", "help"):
            optional = not required and names[0].startswith("-")
            self._values[name] = _value(action, nargs, default, type, optional)

    def add_argument_group(self, *args, **kwargs):
        return self

    def add_mutually_exclusive_group(self, **kwargs):
        return self

    def add_subparsers(self, **kwargs):
        self._seen_whole = False
        return autograd_machine.unknown()

    def set_defaults(self, **kwargs):
        for name in kwargs:
            self._values[name] = autograd_machine.unknown()

    def parse_args(self, args=None, namespace=None):
        autograd_machine.note_defaults()
        return autograd_machine.namespace(self._values, self._seen_whole and namespace is None)

    def parse_known_args(self, args=None, namespace=None):
        return self.parse_args(args, namespace), autograd_machine.unknown()

    parse_intermixed_args = parse_args


def _destination(names, dest):
    if dest is not None:
        return dest
    for name in names:
        if name.startswith("--"):
            return name[2:].replace("-", "_")
    return names[0].lstrip("-").replace("-", "_")


def _value(action, nargs, default, type, optional):
    """Defaults that are not strings are returned unchanged, whatever the type."""
    if autograd_machine.takes_defaults():
        if default is None and action in ("store_true", "store_false"):
            return action == "store_false"
        if default is not None and (type in (None, str) or not isinstance(default, str)):
            return default
    if action in ("store_true", "store_false"):
        return autograd_machine.unknown_bool()
    if action is BooleanOptionalAction and isinstance(default, bool):
        return autograd_machine.unknown_bool()
    if action not in (None, "store"):
        return autograd_machine.unknown()
    kind = str if type is None else type
    if kind is float and isinstance(default, int):
        return autograd_machine.unknown_number() if nargs is None else autograd_machine.unknown()
    fits = isinstance(default, (kind, str)) and (kind is not int or not isinstance(default, bool))
    if (nargs == "+" or isinstance(nargs, int)) and isinstance(default, (list, tuple)):
        if not default or not all(isinstance(item, kind) for item in default):
            return autograd_machine.unknown()
        return autograd_machine.several(_one(kind))
    if nargs is not None or not (fits or (not optional and default is None)):
        return autograd_machine.unknown()
    return _one(kind)


def _one(kind):
    if kind is int:
        return autograd_machine.unknown_int()
    if kind is float:
        return autograd_machine.unknown_float()
    if kind is bool:
        return autograd_machine.unknown_bool()
    if kind is str:
        return autograd_machine.unknown_str()
    return autograd_machine.unknown()
