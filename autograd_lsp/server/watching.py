"""Python files, configurations and baselines that change on the disk behind the editor's back, and folders it moves.

Of a folder that is renamed or deleted, a watcher of files hears nothing: editors tell of it as a file operation.
"""

from __future__ import annotations

import os
from collections.abc import Callable

from lsprotocol import types

from autograd_lsp.config import FILES
from autograd_lsp.server.app import AutogradServer
from autograd_lsp.server.documents import path_of
from autograd_lsp.server.settings import is_configuration


def register(server: AutogradServer, refresh: Callable[[], None]) -> Callable[[], None]:
    """The result asks the client to watch, once it has heard that the server is ready."""

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def changed(params: types.DidChangeWatchedFilesParams) -> None:
        for event in params.changes:
            if is_configuration(event.uri) or path_of(event.uri) in server.known.files:
                server.tell_configuration_changed()
            else:
                server.tell_disk_changed(event.uri)
        refresh()

    folders = types.FileOperationPattern("**/*", matches=types.FileOperationPatternKind.Folder)
    moved = types.FileOperationRegistrationOptions([types.FileOperationFilter(folders, scheme="file")])

    @server.feature(types.WORKSPACE_DID_RENAME_FILES, moved)
    def renamed(params: types.RenameFilesParams) -> None:
        for file in params.files:
            server.tell_disk_changed(file.old_uri)
            server.tell_disk_changed(file.new_uri)
        refresh()

    @server.feature(types.WORKSPACE_DID_DELETE_FILES, moved)
    def deleted(params: types.DeleteFilesParams) -> None:
        for file in params.files:
            server.tell_disk_changed(file.uri)
        refresh()

    def watch() -> None:
        workspace = server.client_capabilities.workspace
        watching = workspace.did_change_watched_files if workspace is not None else None
        if watching is None or not watching.dynamic_registration:
            return
        baselines = {server.configuration.baseline(folder) for folder in server.folders()} - {None}
        names = [*FILES, *sorted(os.path.basename(str(path)) for path in baselines)]
        patterns = ["**/*.py", *(f"**/{name}" for name in names)]
        watchers = types.DidChangeWatchedFilesRegistrationOptions([types.FileSystemWatcher(one) for one in patterns])
        method = types.WORKSPACE_DID_CHANGE_WATCHED_FILES
        server.client_register_capability(
            types.RegistrationParams([types.Registration("python-files", method, watchers)])
        )

    return watch
