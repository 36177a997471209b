"""Hints, lenses and tokens are asked for again when something changes that their document does not show.

A client asks anew about a document that its user edits; of what an edit does to other documents it knows nothing.
"""

from __future__ import annotations

import asyncio

from autograd_lsp.server.app import AutogradServer

_PAUSE = 0.5
"""Seconds without a change before the client is asked."""


def register(server: AutogradServer) -> None:
    workspace = server.protocol.client_capabilities.workspace
    hints = workspace.inlay_hint if workspace is not None else None
    lenses = workspace.code_lens if workspace is not None else None
    tokens = workspace.semantic_tokens if workspace is not None else None
    has_tokens = tokens is not None and bool(tokens.refresh_support)
    wanted = [
        *([server.workspace_inlay_hint_refresh] if hints is not None and hints.refresh_support else []),
        *([server.workspace_code_lens_refresh] if lenses is not None and lenses.refresh_support else []),
    ]
    if not wanted and not has_tokens:
        return
    loop = asyncio.get_running_loop()
    later: asyncio.TimerHandle | None = None
    shows_tokens = False

    def refresh() -> None:
        nonlocal shows_tokens
        for ask in wanted:
            ask(None)
        if has_tokens and (server.display.tokens or shows_tokens):
            server.workspace_semantic_tokens_refresh(None)
        shows_tokens = server.display.tokens

    def changed(by_edit: bool) -> None:
        nonlocal later
        if by_edit and len(server.open_paths()) < 2:
            return
        if later is not None:
            later.cancel()
        later = loop.call_later(_PAUSE, refresh)

    server.when_changed.append(changed)
