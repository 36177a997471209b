"""Python files that change on the disk behind the editor's back."""

from __future__ import annotations

from collections.abc import Callable

from lsprotocol import types

from autograd_lsp.server.app import AutogradServer


def register(server: AutogradServer, refresh: Callable[[], None]) -> None:
    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def changed(params: types.DidChangeWatchedFilesParams) -> None:
        for event in params.changes:
            server.tell_disk_changed(event.uri)
        refresh()

    @server.feature(types.INITIALIZED)
    def initialized(_: types.InitializedParams) -> None:
        workspace = server.client_capabilities.workspace
        watching = workspace.did_change_watched_files if workspace is not None else None
        if watching is None or not watching.dynamic_registration:
            return
        watchers = types.DidChangeWatchedFilesRegistrationOptions([types.FileSystemWatcher("**/*.py")])
        method = types.WORKSPACE_DID_CHANGE_WATCHED_FILES
        server.client_register_capability(
            types.RegistrationParams([types.Registration("python-files", method, watchers)])
        )
