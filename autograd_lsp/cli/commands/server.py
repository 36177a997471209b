"""`autograd-lsp server`: the language server."""

from __future__ import annotations

import argparse
from typing import Any

from autograd_lsp.process.exits import CLEAN


def add(commands: Any) -> None:
    parser: argparse.ArgumentParser = commands.add_parser("server", help="run the language server", description=__doc__)
    transport = parser.add_mutually_exclusive_group()
    transport.add_argument("--stdio", action="store_true", help="speak over standard input and output (the default)")
    transport.add_argument("--tcp", metavar="HOST:PORT", type=_address, help="wait there for one editor")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    from autograd_lsp.server import transport

    if options.tcp:
        transport.serve_tcp(*options.tcp)
    else:
        transport.serve_stdio()
    return CLEAN


def _address(text: str) -> tuple[str, int]:
    host, colon, port = text.rpartition(":")
    if not colon or not port.isdigit() or int(port) > 65535:
        raise argparse.ArgumentTypeError(f"`{text}` is not HOST:PORT")
    return host.strip("[]") or "127.0.0.1", int(port)
