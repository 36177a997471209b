"""How an editor reaches the server: over the standard streams, or one editor over TCP."""

from __future__ import annotations

import asyncio
import logging
import os
import sys
import threading
from typing import TYPE_CHECKING

from pygls.io_ import run_async

from autograd_lsp.config import Configuration
from autograd_lsp.environment import Environment
from autograd_lsp.process.loading import host_class
from autograd_lsp.process.memory import collect_seldom
from autograd_lsp.server.app import AutogradServer
from autograd_lsp.server.features import create_server

if TYPE_CHECKING:
    from analyzers.host import Host

logger = logging.getLogger(__name__)


def serve_stdio() -> None:
    """Standard output belongs to the protocol alone: whatever prints from here on prints to standard error."""
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING)
    protocol_output = sys.stdout.buffer
    sys.stdout = sys.stderr
    _new_server().start_io(stdout=protocol_output)


def serve_tcp(host: str, port: int) -> None:
    """Until the editor leaves. Where it listens is said on standard error, which matters for port 0."""
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING)
    server = _new_server()
    try:
        asyncio.run(_serve_one(server, host, port))
    except (KeyboardInterrupt, SystemExit):
        logger.info("the editor has left")


def _new_server() -> AutogradServer:
    collect_seldom()
    configuration = Configuration()
    environment = Environment(lambda: _near(server))

    def make_host() -> Host:
        return host_class()(choose=configuration.choice, look_up=environment.kind)

    server = create_server(make_host, configuration, environment)
    return server


def _near(server: AutogradServer) -> tuple[str | None, str]:
    """The interpreter that is configured for the workspace, and the workspace."""
    root = server.workspace.root_path or next(iter(server.folders()), None) or os.getcwd()
    return server.configuration.python(root), root


async def _serve_one(server: AutogradServer, host: str, port: int) -> None:
    """pygls would let a second connection take over the first one's answers; here it is turned away."""
    left = asyncio.Event()
    occupied = False

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal occupied
        if occupied:
            logger.warning("an editor is already connected; refusing a second connection")
            writer.close()
            return
        occupied = True
        server.protocol.set_writer(writer)
        try:
            await run_async(
                stop_event=threading.Event(),
                reader=reader,
                protocol=server.protocol,
                logger=logger,
                error_handler=server.report_server_error,
            )
        finally:
            left.set()

    listener = await asyncio.start_server(connected, host, port)
    async with listener:
        for socket in listener.sockets:
            print("listening on {}:{}".format(*socket.getsockname()[:2]), file=sys.stderr, flush=True)
        await left.wait()
