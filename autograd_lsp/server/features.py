"""The server with all its features. Most depend on what the client can do, so they register while it initializes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from lsprotocol import types

from autograd_lsp.config import Configuration
from autograd_lsp.environment import Environment
from autograd_lsp.server import keeping, outside, publishing, refreshing, settings, watching
from autograd_lsp.server.app import AutogradServer
from autograd_lsp.server.keeping import Keeper
from autograd_lsp.server.requests import (
    call_hierarchy,
    code_actions,
    code_lens,
    completion,
    definition,
    graph,
    highlights,
    hover,
    inlay_hints,
    semantic_tokens,
    status,
)
from autograd_lsp.server.wire import end_with

if TYPE_CHECKING:
    from analyzers.host import Host


def create_server(
    make_host: Callable[[], Host],
    configuration: Configuration,
    environment: Environment | None = None,
    keeper: Keeper | None = None,
) -> AutogradServer:
    """`configuration`, `environment` and `keeper` are those that the host asks."""
    server = AutogradServer(make_host, configuration)

    @server.feature(types.INITIALIZE)
    def initialize(params: types.InitializeParams) -> None:
        server.use_own_documents(params)
        end_with(params.process_id)
        hover.register(server)
        code_actions.register(server)
        completion.register(server)
        definition.register(server)
        graph.register(server)
        code_lens.register(server)
        inlay_hints.register(server)
        highlights.register(server)
        semantic_tokens.register(server)
        call_hierarchy.register(server)
        status.register(server, environment)
        refreshing.register(server)
        if keeper is not None:
            keeping.register(server, keeper)
        refresh = publishing.register(server)
        if environment is not None:
            outside.register(server, environment, refresh)
        watch = watching.register(server, refresh)
        ask_for_settings = settings.register(server, refresh)

        @server.feature(types.INITIALIZED)
        async def initialized(_: types.InitializedParams) -> None:
            server.prepare()
            watch()
            await ask_for_settings()

    return server
