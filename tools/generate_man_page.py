"""Write `docs/autograd-lsp.1`, the manual page, from the help of the command line.

python tools/generate_man_page.py            # writes the page
python tools/generate_man_page.py --check    # fails if the committed page is stale
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "autograd-lsp.1"

EXIT_STATUS = {
    "0": "There is nothing to report.",
    "1": "There is something to report.",
    "2": "Bad usage, a file that cannot be read, or an internal error.",
}
FILES = {
    "autograd-lsp.toml": "Settings, for the folder that it lies in and those below.",
    "pyproject.toml": "The same, in its table [tool.autograd-lsp].",
    "~/.cache/autograd-lsp": "Findings and answers that are kept; it may be deleted at any time.",
}
ENVIRONMENT = {
    "VIRTUAL_ENV, CONDA_PREFIX": "The environment in which the programs run, where none is configured.",
    "XDG_CACHE_HOME": "Where caches lie, if not in ~/.cache.",
    "NO_COLOR, FORCE_COLOR": "No colours, or colours also where the output is no terminal.",
}


def page() -> str:
    from autograd_lsp import __version__
    from autograd_lsp.cli import COMMANDS, build_parser

    whole = build_parser()
    [commands] = [action for action in whole._actions if isinstance(action, argparse._SubParsersAction)]
    lines = [
        f'.TH AUTOGRAD\\-LSP 1 "" "autograd\\-lsp {__version__}" "User Commands"',
        ".SH NAME",
        "autograd\\-lsp \\- find PyTorch autograd faults without running the program",
        ".SH SYNOPSIS",
        *(f".br\n.B autograd\\-lsp {name}\n{_usage(commands.choices[name])}" for name in COMMANDS),
        ".br",
        ".B autograd\\-lsp \\-\\-version",
        ".SH DESCRIPTION",
        _escaped(whole.description or ""),
        ".SH COMMANDS",
    ]
    for name in COMMANDS:
        about = COMMANDS[name].about
        lines += [f".SS {name}", _escaped(about[:1].upper() + about[1:])]
        for action in _told(commands.choices[name]):
            lines += [".TP", _head(action), _escaped((action.help or "").strip())]
    for title, rows in (("EXIT STATUS", EXIT_STATUS), ("ENVIRONMENT", ENVIRONMENT), ("FILES", FILES)):
        lines += [f".SH {title}", *(f".TP\n.B {_escaped(name)}\n{_escaped(about)}" for name, about in rows.items())]
    return "\n".join(line for line in lines if line) + "\n"


def _told(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    """What stands by itself first; not the help, which every command has."""
    told = [action for action in parser._actions if not isinstance(action, argparse._HelpAction)]
    yield from sorted(told, key=lambda action: bool(action.option_strings))


def _usage(parser: argparse.ArgumentParser) -> str:
    given = [action for action in _told(parser) if not action.option_strings]
    options = ["[\\fIOPTION\\fR]..."] if len(given) < len([*_told(parser)]) else []
    return " ".join([*options, *map(_given, given)])


def _given(action: argparse.Action) -> str:
    name = f"\\fI{_escaped(_value(action))}\\fR"
    written = name if action.nargs in (None, "+") else f"[{name}]"
    return f"{written}..." if action.nargs in ("+", "*") else written


def _head(action: argparse.Action) -> str:
    value = f"\\fI{_escaped(_value(action))}\\fR" if action.nargs != 0 else ""
    names = ", ".join(f"\\fB{_escaped(name)}\\fR" for name in action.option_strings)
    return f"{names} {value}".strip()


def _value(action: argparse.Action) -> str:
    if action.choices:
        return "|".join(action.choices)
    return action.metavar if isinstance(action.metavar, str) else action.dest.upper()


def _escaped(text: str) -> str:
    """No character of it means something to roff, not even at the beginning of a line."""
    plain = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq").replace("`", "\\(ga")
    return "\n".join(f"\\&{line}" if line.startswith(".") else line for line in plain.splitlines())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    wanted = page()
    if not parser.parse_args().check:
        PAGE.write_text(wanted, encoding="utf-8")
        return 0
    is_current = PAGE.exists() and PAGE.read_text(encoding="utf-8") == wanted
    if not is_current:
        print("docs/autograd-lsp.1 is stale: run tools/generate_man_page.py", file=sys.stderr)
    return 0 if is_current else 1


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    sys.exit(main())
