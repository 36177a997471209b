"""`autograd-lsp server`: the language server."""

from __future__ import annotations

import argparse

from autograd_lsp.server import transport
from autograd_lsp.server.wire import leave


def run(options: argparse.Namespace) -> int:
    """The process ends here: what the server is still doing holds up nothing."""
    leave(transport.serve_tcp(*options.tcp) if options.tcp else transport.serve_stdio())
