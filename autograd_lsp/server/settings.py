"""The configuration as the editor's user sees it: the same files as on the command line, and the client's settings
over them.

The settings are those in the section `autograd-lsp`, by the keys of the files; the client's other settings of that name
are not ours to judge. Patterns start from the root of the workspace; where it has several folders, each may have
settings of its own, and its patterns start there.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from lsprotocol import types
from pygls.uris import to_fs_path

from autograd_lsp.config import FILES, ConfigError, Layer, read_layer
from autograd_lsp.config.display import Display, read_display
from autograd_lsp.server.app import AutogradServer
from autograd_lsp.server.documents import path_of

SECTION = "autograd-lsp"

logger = logging.getLogger(__name__)


def register(server: AutogradServer, refresh: Callable[[], None]) -> Callable[[], Awaitable[None]]:
    """The result asks the client for its settings, once it has heard that the server is ready."""

    def use(settings: object, by_folder: Mapping[str, object]) -> None:
        over, display = _layer(server, settings, server.workspace.root_path or ""), _display(server, settings)
        over_in = {folder: _layer(server, inner, folder) for folder, inner in by_folder.items()}
        configuration = server.configuration
        if (over, over_in) != (configuration.over, configuration.over_in):
            configuration.over, configuration.over_in = over, over_in
            server.tell_configuration_changed()
            refresh()
        if display != server.display:
            server.display = display
            server.tell_display_changed()

    async def ask() -> None:
        folders = {folder.uri: path for folder in server.workspace.folders.values() if (path := to_fs_path(folder.uri))}
        scopes = [None, *(folders if len(folders) > 1 else [])]
        wanted = types.ConfigurationParams([types.ConfigurationItem(scope, SECTION) for scope in scopes])
        try:
            answer = await server.workspace_configuration_async(wanted)
        except Exception:
            logger.exception("the client does not provide its settings")
            return
        by_folder = {folders[uri]: inner for uri, inner in zip(scopes[1:], answer[1:], strict=False) if uri is not None}
        use(answer[0] if answer else None, by_folder)

    @server.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)
    async def changed(params: types.DidChangeConfigurationParams) -> None:
        if _answers(server):
            await ask()
        elif isinstance(params.settings, dict):
            use(params.settings.get(SECTION), {})

    @server.feature(types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)
    async def folders_changed(_: types.DidChangeWorkspaceFoldersParams) -> None:
        server.tell_configuration_changed()
        refresh()
        if _answers(server):
            await ask()

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


def _layer(server: AutogradServer, settings: Any, root: str) -> Layer:
    try:
        layer = read_layer(settings if isinstance(settings, dict) else {}, f"{SECTION}.", root, strict=False)
    except ConfigError as error:
        server.tell_bad_configuration(error)
        return Layer()
    return Layer() if layer == Layer(root=root) else layer


def _display(server: AutogradServer, settings: Any) -> Display:
    try:
        return read_display(settings if isinstance(settings, dict) else {}, f"{SECTION}.")
    except ConfigError as error:
        server.tell_bad_configuration(error)
        return Display()
