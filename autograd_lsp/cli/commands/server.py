"""`autograd-lsp server`: the language server."""

from __future__ import annotations

import argparse

from autograd_lsp.process.exits import CLEAN
from autograd_lsp.server import transport


def run(options: argparse.Namespace) -> int:
    if options.tcp:
        transport.serve_tcp(*options.tcp)
    else:
        transport.serve_stdio()
    return CLEAN
