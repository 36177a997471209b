"""From a tensor to the lines that made it, and that cut, freed or saved what it has.

    h = (x * 2).detach()       (2)
    loss = (h + 1).sum()       (1)
    loss.backward()            `typeDefinition` of `loss`: (1), (2); `definition`: (2)

What a name is bound to is for another server to say, which knows that of every name. So `definition` answers on the
trace of a finding alone, and leaves out what binds the name. The other request leads such a server no further than to
torch's own class: here it is answered of every tensor.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, TypeAlias

from lsprotocol import types

from analyzers.report import Place, Provenance, Sighting
from autograd_lsp.process.loading import bound
from autograd_lsp.server.app import AutogradServer
from autograd_lsp.server.convert import Converter

if TYPE_CHECKING:
    from analyzers.host import Snapshot

_Answer: TypeAlias = list[types.Location] | list[types.LocationLink] | None


def register(server: AutogradServer) -> None:
    text_document = server.protocol.client_capabilities.text_document
    links = text_document is not None and _takes_links(text_document.definition)
    links_to_types = text_document is not None and _takes_links(text_document.type_definition)

    @server.feature(types.TEXT_DOCUMENT_DEFINITION)
    async def definition(params: types.DefinitionParams) -> _Answer:
        uri = params.text_document.uri

        def answer(snapshot: Snapshot, converter: Converter) -> _Answer:
            path, offset = converter.path(uri), converter.offset(uri, params.position)
            if not any(_is_on(sighting, path, offset) for sighting in server.sightings(snapshot, path)):
                return None
            found = snapshot.provenance(path, offset)
            if found is None:
                return None
            return _told(converter, found, _without_binding(snapshot, path, found), links=links)

        return await server.ask_about(uri, answer, None)

    @server.feature(types.TEXT_DOCUMENT_TYPE_DEFINITION)
    async def type_definition(params: types.TypeDefinitionParams) -> _Answer:
        uri = params.text_document.uri

        def answer(snapshot: Snapshot, converter: Converter) -> _Answer:
            found = snapshot.provenance(converter.path(uri), converter.offset(uri, params.position))
            if found is None:
                return None
            made = [] if found.made is None else [found.made]
            return _told(converter, found, dict.fromkeys([*made, *found.changed]), links=links_to_types)

        return await server.ask_about(uri, answer, None)


def _takes_links(
    capabilities: types.DefinitionClientCapabilities | types.TypeDefinitionClientCapabilities | None,
) -> bool:
    return capabilities is not None and bool(capabilities.link_support)


def _is_on(sighting: Sighting, path: str, offset: int) -> bool:
    """Whether a place is on the finding or on its trace."""
    finding = sighting.finding
    places = [sighting.place, finding.place, *(step.place for step in finding.related)]
    if finding.raises is not None:
        places.append(finding.raises.place)
    return any(place.path == path and place.start <= offset <= place.end for place in places)


def _without_binding(snapshot: Snapshot, path: str, found: Provenance) -> Sequence[Place]:
    """Without what lies in a statement that binds the name."""
    key = found.scope, found.name
    statements = [one.fact.place for one in bound(snapshot, path) if (one.fact.scope, one.fact.name) == key]
    return [place for place in found.changed if not any(_is_in(place, statement) for statement in statements)]


def _is_in(place: Place, other: Place) -> bool:
    return place.path == other.path and other.start <= place.start and place.end <= other.end


def _told(converter: Converter, found: Provenance, places: Iterable[Place], *, links: bool) -> _Answer:
    there = [converter.location(place) for place in places]
    if not links:
        return there or None
    name = converter.range(found.place)
    return [types.LocationLink(one.uri, one.range, one.range, origin_selection_range=name) for one in there] or None
