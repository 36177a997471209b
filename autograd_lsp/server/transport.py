"""How an editor reaches the server: over the standard streams, or one editor over TCP."""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import sys
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, BinaryIO

from pygls.io_ import StdoutWriter

from autograd_lsp.config import Configuration
from autograd_lsp.environment import Environment, Place
from autograd_lsp.process.loading import host_class
from autograd_lsp.process.memory import collect_seldom
from autograd_lsp.server.app import AutogradServer
from autograd_lsp.server.features import create_server
from autograd_lsp.server.keeping import Keeper
from autograd_lsp.server.partner import PartnerProcess, is_worth_it
from autograd_lsp.server.wire import converse

if TYPE_CHECKING:
    from analyzers.host import Host

logger = logging.getLogger(__name__)


def serve_stdio() -> int:
    """Standard output belongs to the protocol alone: whatever prints from here on prints to standard error."""
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING)
    protocol_output = sys.stdout.buffer
    sys.stdout = sys.stderr
    return serve(_new_server(), sys.stdin.buffer, protocol_output)


def serve_tcp(host: str, port: int) -> int:
    """Until the editor leaves. Where it listens is said on standard error, which matters for port 0."""
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING)
    server = _new_server()
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.create_server((host, port), family=family) as listener:
        print("listening on {}:{}".format(*listener.getsockname()[:2]), file=sys.stderr, flush=True)
        connection, _ = listener.accept()
        threading.Thread(target=_turn_away, args=(listener,), daemon=True).start()
        return serve(server, connection.makefile("rb"), connection.makefile("wb"))


def serve(server: AutogradServer, requests: BinaryIO, answers: BinaryIO) -> int:
    """The exit code of the process, once the editor has left."""
    server.protocol.set_writer(StdoutWriter(answers))
    try:
        return asyncio.run(converse(requests, server.protocol))
    except (BrokenPipeError, KeyboardInterrupt):
        logger.info("the editor has left")
        return 1


def _new_server() -> AutogradServer:
    collect_seldom()
    configuration = Configuration()
    environment = Environment(lambda: _near(server))

    keeper = Keeper(configuration, environment, lambda: [_near(server).folder, *server.folders()])

    def make_host() -> Host:
        host = host_class()(
            choose=configuration.choice,
            look_up=environment.kind,
            torch_release=environment.torch_release,
            recall=keeper.recall,
        )
        if is_worth_it():
            host.share(PartnerProcess(environment.kind, environment.torch_release))
        return host

    server = create_server(make_host, configuration, environment, keeper)
    return server


def _near(server: AutogradServer) -> Place:
    """The workspace, and what is configured for it."""
    root = server.workspace.root_path or next(iter(server.folders()), None) or os.getcwd()
    return Place(root, server.configuration.python(root), server.configuration.torch_version(root))


def _turn_away(listener: socket.socket) -> None:
    """pygls would let a second connection take over the first one's answers."""
    with suppress(OSError):
        while True:
            second, _ = listener.accept()
            logger.warning("an editor is already connected; refusing a second connection")
            second.close()
