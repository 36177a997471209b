"""Requests that the user switches on: a client that can be told later is offered them while they are on.

To any other client they are offered from the start, as its settings come too late, and answered with nothing while they
are off.
"""

from __future__ import annotations

from collections.abc import Callable

from lsprotocol import types

from autograd_lsp.config.display import Display
from autograd_lsp.server.app import AutogradServer


def follow(
    server: AutogradServer,
    is_on: Callable[[Display], bool],
    method: str,
    options: types.CallHierarchyRegistrationOptions | types.SemanticTokensRegistrationOptions,
) -> None:
    """Offer the requests that `method` stands for, and withdraw them, as the user wants."""
    is_offered = False

    def changed(by_edit: bool) -> None:
        nonlocal is_offered
        if by_edit or is_on(server.display) == is_offered:
            return
        is_offered = is_on(server.display)
        if is_offered:
            offer = types.RegistrationParams([types.Registration(method, method, options)])
            server.client_register_capability(offer)
        else:
            server.client_unregister_capability(types.UnregistrationParams([types.Unregistration(method, method)]))

    server.when_changed.append(changed)
