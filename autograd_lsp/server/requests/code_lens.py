"""A lens above each backward: how many of the parameters get gradients from it, and which ones do not; or what is not
known, where that is why nothing is said of them.

Its command shows the list: as places to go to, where the client has a command for that, else as a message.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lsprotocol import types

from analyzers.report import Backward, Leaf, Place, Reach
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


@dataclass(frozen=True, slots=True)
class _Lens:
    """`whole` is all there is to say, `places` are where it leads."""

    where: types.Range
    title: str
    whole: str
    places: tuple[Place, ...]


def register(server: AutogradServer) -> None:
    has_list = SHOW in _commands_of(server.protocol.client_capabilities)

    @server.feature(types.TEXT_DOCUMENT_CODE_LENS)
    async def lenses(params: types.CodeLensParams) -> list[types.CodeLens]:
        uri = params.text_document.uri

        def answer(snapshot: Snapshot, converter: Converter) -> list[types.CodeLens]:
            return [
                types.CodeLens(lens.where, _command(lens, uri, converter, has_list=has_list))
                for lens in _shown(server, snapshot, converter, uri)
            ]

        return await server.ask_about(uri, answer, [])

    @server.command(TELL)
    async def tell(uri: str, position: types.Position) -> None:
        def answer(snapshot: Snapshot, converter: Converter) -> list[str]:
            shown = _shown(server, snapshot, converter, uri)
            return [lens.whole for lens in shown if lens.where.start == position]

        nothing: list[str] = []
        known = await server.ask_about(uri, answer, nothing)
        message = notice("\n".join(known)) or "what this reaches is unknown"
        server.window_show_message(types.ShowMessageParams(types.MessageType.Info, f"autograd-lsp: {message}"))


def _shown(server: AutogradServer, snapshot: Snapshot, converter: Converter, uri: str) -> Iterator[_Lens]:
    """The backwards in a document, each at its first line."""
    path = converter.path(uri)
    if not server.display.reach or server.configuration.excludes(path):
        return
    told = set()
    for reach in reaches(snapshot, path):
        if converter.is_in(uri, reach.place):
            told.add(reach.place)
            leaves = reach.never or reach.sometimes or (*reach.always, *reach.besides)
            places = dict.fromkeys(leaf.place for leaf in leaves if leaf.place is not None)
            yield _Lens(_first_line(converter, reach.place), reach_words(reach), _whole(reach), tuple(places))
    for backward in snapshot.backwards(path):
        is_here = backward.place.path == path and converter.is_in(uri, backward.place)
        if backward.about and is_here and backward.place not in told:
            words = grasp_words(backward)
            places = {} if backward.since is None else {backward.since: None}
            yield _Lens(_first_line(converter, backward.place), words, words, tuple(places))


def _first_line(converter: Converter, place: Place) -> types.Range:
    where = converter.range(place)
    return types.Range(where.start, where.start if where.end.line > where.start.line else where.end)


def _command(lens: _Lens, uri: str, converter: Converter, *, has_list: bool) -> types.Command:
    if not has_list:
        return types.Command(lens.title, TELL, arguments=[uri, lens.where.start])
    there = [converter.location(place) for place in lens.places]
    return types.Command(lens.title, SHOW, arguments=[uri, lens.where.start, there])


def grasp_words(backward: Backward) -> str:
    """`in part: presumed that `net` is a model`, `not followed: `model` is not known`."""
    return f"{'not followed' if backward.grasp == 'lost' else backward.grasp}: {backward.about}"


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
