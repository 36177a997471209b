"""The configuration as the editor's user sees it: the same files as on the command line, and the client's settings
over them.

The settings are those in the section `autograd-lsp`, by the keys of the files; the client's other settings of that name
are not ours to judge. Patterns start from the root of the workspace.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import Any

from lsprotocol import types

from autograd_lsp.config import FILES, ConfigError, Layer, read_layer
from autograd_lsp.server.app import AutogradServer
from autograd_lsp.server.documents import path_of

SECTION = "autograd-lsp"

logger = logging.getLogger(__name__)


def register(server: AutogradServer, refresh: Callable[[], None]) -> Callable[[], Awaitable[None]]:
    """The result asks the client for its settings, once it has heard that the server is ready."""

    def use(settings: object) -> None:
        layer = _layer(server, settings)
        if layer != server.configuration.over:
            server.configuration.over = layer
            server.tell_configuration_changed()
            refresh()

    async def ask() -> None:
        wanted = types.ConfigurationParams([types.ConfigurationItem(section=SECTION)])
        try:
            answer = await server.workspace_configuration_async(wanted)
        except Exception:
            logger.exception("the client does not tell its settings")
            return
        use(answer[0] if answer else None)

    @server.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)
    async def changed(params: types.DidChangeConfigurationParams) -> None:
        if _answers(server):
            await ask()
        elif isinstance(params.settings, dict):
            use(params.settings.get(SECTION))

    async def start() -> None:
        if not _answers(server):
            return
        workspace = server.client_capabilities.workspace
        changing = workspace.did_change_configuration if workspace is not None else None
        if changing is not None and changing.dynamic_registration:
            options = types.DidChangeConfigurationRegistrationOptions(section=SECTION)
            method = types.WORKSPACE_DID_CHANGE_CONFIGURATION
            server.client_register_capability(
                types.RegistrationParams([types.Registration("settings", method, options)])
            )
        await ask()

    return start


def is_configuration(uri: str) -> bool:
    return path_of(uri).replace("\\", "/").rpartition("/")[2] in FILES


def _answers(server: AutogradServer) -> bool:
    workspace = server.client_capabilities.workspace
    return bool(workspace is not None and workspace.configuration)


def _layer(server: AutogradServer, settings: Any) -> Layer:
    root = server.workspace.root_path or ""
    try:
        layer = read_layer(settings if isinstance(settings, dict) else {}, f"{SECTION}.", root, strict=False)
    except ConfigError as error:
        server.tell_bad_configuration(error)
        return Layer()
    return Layer() if layer == Layer(root=root) else layer
