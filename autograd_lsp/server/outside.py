"""What the environment answers, in its own time: the analysis then runs again, where it had asked."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from autograd_lsp.environment import Environment
from autograd_lsp.server.app import AutogradServer


def register(server: AutogradServer, environment: Environment, refresh: Callable[[], None]) -> None:
    """Called on the server's own thread."""
    loop = asyncio.get_running_loop()

    def learn() -> None:
        environment.tell(server.tell_outside_known)
        refresh()

    environment.on_answers = lambda answers: _later(loop, learn)


def _later(loop: asyncio.AbstractEventLoop, call: Callable[[], None]) -> None:
    if not loop.is_closed():
        loop.call_soon_threadsafe(call)
