"""What Jupyter is told of the server, found by its entry point where both are in one environment.

With jupyterlab-lsp, JupyterLab shows what the server finds. Nothing of Jupyter is imported here.
"""

from __future__ import annotations

import sys
from typing import Any

from autograd_lsp.text.urls import DOCUMENTATION

NAME = "torch-autograd-lsp"
"""JupyterLab asks one server for Python: of those that are ranked alike, the first in the alphabet. Whoever has
Pyright or pylsp keeps it."""

SPECIFICATION = 2
"""The version of what is answered, as jupyter-lsp counts; the one of its entry points is another."""


def language_servers(manager: object) -> dict[str, dict[str, Any]]:
    """By name, the one server. It needs nothing of the `manager` that asks."""
    del manager
    server = {
        "version": SPECIFICATION,
        "argv": [sys.executable, "-m", "autograd_lsp", "server"],
        "languages": ["python"],
        "mime_types": ["text/python", "text/x-ipython"],
        "display_name": "autograd-lsp",
        "urls": {"home": DOCUMENTATION},
        "requires_documents_on_disk": False,
    }
    return {NAME: server}
