"""A lens above each backward: how many of the parameters get gradients from it, and which ones do not.

Its command shows the list: as places to go to, where the client has a command for that, else as a message.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from lsprotocol import types

from analyzers.report import Leaf, Reach
from autograd_lsp.process.loading import reaches
from autograd_lsp.server.app import AutogradServer
from autograd_lsp.server.convert import Converter
from autograd_lsp.text.sinks import notice

if TYPE_CHECKING:
    from analyzers.host import Snapshot

SHOW = "autograd-lsp.showReach"
"""The client's command: is given a document, a position in it, and the places of what the lens speaks of. A client that
has it names it in `experimental.commands.commands`."""
TELL = "autograd-lsp.tellReach"
"""Ours: is given a document and a position in it."""

_NAMED = 3
"""Names in a lens; the rest is counted."""
_LISTED = 40
"""Names in a message."""


def register(server: AutogradServer) -> None:
    has_list = SHOW in _commands_of(server.protocol.client_capabilities)

    @server.feature(types.TEXT_DOCUMENT_CODE_LENS)
    async def lenses(params: types.CodeLensParams) -> list[types.CodeLens]:
        uri = params.text_document.uri

        def answer(snapshot: Snapshot, converter: Converter) -> list[types.CodeLens]:
            return [
                types.CodeLens(where, _command(reach, uri, where, converter, has_list=has_list))
                for where, reach in _shown(server, snapshot, converter, uri)
            ]

        return await server.ask_about(uri, answer, [])

    @server.command(TELL)
    async def tell(uri: str, position: types.Position) -> None:
        def answer(snapshot: Snapshot, converter: Converter) -> list[str]:
            shown = _shown(server, snapshot, converter, uri)
            return [_whole(reach) for where, reach in shown if where.start == position]

        nothing: list[str] = []
        known = await server.ask_about(uri, answer, nothing)
        message = notice("\n".join(known)) or "what this reaches is unknown"
        server.window_show_message(types.ShowMessageParams(types.MessageType.Info, f"autograd-lsp: {message}"))


def _shown(
    server: AutogradServer, snapshot: Snapshot, converter: Converter, uri: str
) -> Iterator[tuple[types.Range, Reach]]:
    """The backwards in a document, each at its first line."""
    path = converter.path(uri)
    if not server.display.reach or server.configuration.excludes(path):
        return
    for reach in reaches(snapshot, path):
        if converter.is_in(uri, reach.place):
            where = converter.range(reach.place)
            is_long = where.end.line > where.start.line
            yield types.Range(where.start, where.start if is_long else where.end), reach


def _command(reach: Reach, uri: str, where: types.Range, converter: Converter, *, has_list: bool) -> types.Command:
    if not has_list:
        return types.Command(reach_words(reach), TELL, arguments=[uri, where.start])
    leaves = reach.never or reach.sometimes or (*reach.always, *reach.besides)
    places = dict.fromkeys(leaf.place for leaf in leaves if leaf.place is not None)
    there = [converter.location(place) for place in places]
    return types.Command(reach_words(reach), SHOW, arguments=[uri, where.start, there])


def reach_words(reach: Reach) -> str:
    """`reaches 12 of 14 parameters: not `head.weight`, `head.bias``."""
    always, sometimes, never = len(reach.always), len(reach.sometimes), len(reach.never)
    total = always + sometimes + never
    if not total:
        return f"reaches {_names(reach.besides)}"
    if sometimes:
        words = f"reaches {always} to {always + sometimes} of {total} parameters"
    elif never:
        words = f"reaches {always} of {total} parameters"
    else:
        words = f"reaches all {total} parameters" if total > 1 else f"reaches {_names(reach.always)}"
    if reach.besides:
        words += f" and {_names(reach.besides)}"
    if never:
        words += f": not {_names(_grouped(reach))}"
    elif sometimes:
        words += f": not always {_names(reach.sometimes)}"
    return words


def _whole(reach: Reach) -> str:
    """Every name, line by line."""
    lines = [reach_words(reach)]
    for words, leaves in (
        ("reached", (*reach.always, *reach.besides)),
        ("not always reached", reach.sometimes),
        ("not reached", reach.never),
    ):
        if leaves:
            rest = f", and {len(leaves) - _LISTED} more" if len(leaves) > _LISTED else ""
            lines.append(f"{words}: {', '.join(leaf.name for leaf in leaves[:_LISTED])}{rest}")
    if reach.frozen:
        lines.append(f"frozen: {reach.frozen}")
    return "\n".join(lines)


def _grouped(reach: Reach) -> Sequence[Leaf]:
    """What is not reached; where that is much, parts of which nothing is reached stand for all they hold."""
    if len(reach.never) <= _NAMED:
        return reach.never
    others = [leaf.name for leaf in (*reach.always, *reach.sometimes)]
    found: dict[str, Leaf] = {}
    for leaf in reach.never:
        parts = leaf.name.split(".")
        prefixes = (".".join(parts[:length]) for length in range(1, len(parts)))
        whole = next((one for one in prefixes if not any(other.startswith(f"{one}.") for other in others)), None)
        name = leaf.name if whole is None else f"{whole}.*"
        found.setdefault(name, Leaf(name, leaf.place))
    return list(found.values())


def _names(leaves: Sequence[Leaf]) -> str:
    named = ", ".join(f"`{leaf.name}`" for leaf in leaves[:_NAMED])
    return named if len(leaves) <= _NAMED else f"{named} and {len(leaves) - _NAMED} more"


def _commands_of(capabilities: types.ClientCapabilities) -> Sequence[str]:
    """The commands that a client says it has; what it says beside the protocol comes in any shape."""
    found: Any = capabilities.experimental
    for key in ("commands", "commands"):
        found = found.get(key) if isinstance(found, dict) else getattr(found, key, None)
    return [one for one in found if isinstance(one, str)] if isinstance(found, list | tuple) else []
