"""Call hierarchy: who called a function, and what it called, in the runs of the analyzer.

    class Net(nn.Module):
        def forward(self, x):       called by the module, in the line below; calls `helper`
            return helper(x)
    loss = Net()(batch)

So a call through a module, a hook or a decorator is a call of what runs, and a call that never ran is none. It is off
unless the user wants it, as VS Code asks one server alone, and another one reads all calls that are written.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, TypeVar

from lsprotocol import types

from analyzers.report import Call, Place, Routine
from autograd_lsp.config.display import Display
from autograd_lsp.server.app import AutogradServer
from autograd_lsp.server.convert import Converter
from autograd_lsp.server.switches import follow

if TYPE_CHECKING:
    from analyzers.host import Snapshot

T = TypeVar("T")

_START = types.Position(0, 0)


def register(server: AutogradServer) -> None:
    text_document = server.protocol.client_capabilities.text_document
    declared = text_document.call_hierarchy if text_document is not None else None
    if declared is None:
        return
    if not declared.dynamic_registration:
        _serve(server)
        return

    def is_on(display: Display) -> bool:
        # pygls offers from the start whatever has a handler by then.
        if display.calls and types.TEXT_DOCUMENT_PREPARE_CALL_HIERARCHY not in server.protocol.fm.features:
            _serve(server)
        return display.calls

    options = types.CallHierarchyRegistrationOptions()
    follow(server, is_on, types.TEXT_DOCUMENT_PREPARE_CALL_HIERARCHY, options)


def _serve(server: AutogradServer) -> None:
    @server.feature(types.TEXT_DOCUMENT_PREPARE_CALL_HIERARCHY)
    async def prepare(params: types.CallHierarchyPrepareParams) -> list[types.CallHierarchyItem] | None:
        uri = params.text_document.uri

        def find(calls: Iterable[Call], converter: Converter) -> list[types.CallHierarchyItem]:
            routine = _named_at(calls, converter.path(uri), converter.offset(uri, params.position))
            return [] if routine is None else [_item(routine, converter, routine.name)]

        return await _ask(server, uri, find)

    @server.feature(types.CALL_HIERARCHY_INCOMING_CALLS)
    async def incoming(params: types.CallHierarchyIncomingCallsParams) -> list[types.CallHierarchyIncomingCall] | None:
        item = params.item

        def find(calls: Iterable[Call], converter: Converter) -> list[types.CallHierarchyIncomingCall]:
            callers: dict[tuple[Routine, str], list[Place]] = {}
            for call in calls:
                if _is(call.callee, item, converter):
                    callers.setdefault((call.caller, converter.uri_at(call.place)), []).append(call.place)
            return [
                types.CallHierarchyIncomingCall(_item(caller, converter, places[-1]), _ranges(converter, places))
                for (caller, _), places in callers.items()
            ]

        return await _ask(server, item.uri, find)

    @server.feature(types.CALL_HIERARCHY_OUTGOING_CALLS)
    async def outgoing(params: types.CallHierarchyOutgoingCallsParams) -> list[types.CallHierarchyOutgoingCall] | None:
        item = params.item

        def find(calls: Iterable[Call], converter: Converter) -> list[types.CallHierarchyOutgoingCall]:
            callees: dict[Routine, list[Place]] = {}
            for call in calls:
                if _is(call.caller, item, converter) and converter.is_in(item.uri, call.place):
                    callees.setdefault(call.callee, []).append(call.place)
            return [
                types.CallHierarchyOutgoingCall(_item(callee, converter, callee.name), _ranges(converter, places))
                for callee, places in callees.items()
            ]

        return await _ask(server, item.uri, find)


async def _ask(
    server: AutogradServer, uri: str, find: Callable[[Iterable[Call], Converter], list[T]]
) -> list[T] | None:
    def answer(snapshot: Snapshot, converter: Converter) -> list[T] | None:
        path = converter.path(uri)
        if not server.display.calls or server.configuration.excludes(path):
            return None
        return find(snapshot.calls(path), converter) or None

    return await server.ask_about(uri, answer, None)


def _named_at(calls: Iterable[Call], path: str, offset: int) -> Routine | None:
    """What the narrowest name at a place is that of: a function where it is defined, or where it was called."""
    named: list[tuple[Place, Routine]] = []
    for call in calls:
        named.append((call.place, call.callee))
        named += [(one.name, one) for one in (call.callee, call.caller) if one.name is not None]
    here = [(place, one) for place, one in named if place.path == path and place.start <= offset <= place.end]
    return min(here, key=lambda found: found[0].end - found[0].start, default=(None, None))[1]


def _is(routine: Routine, item: types.CallHierarchyItem, converter: Converter) -> bool:
    """Whether an item, which the client has kept over edits, is that of a routine."""
    return routine.path == converter.path(item.uri) and routine.qualname == item.name


def _item(routine: Routine, converter: Converter, shown: Place | None) -> types.CallHierarchyItem:
    """Of a module, or a cell, there is as much as leads to what is `shown` of it."""
    detail = os.path.basename(routine.path)
    if routine.place is None or routine.name is None:
        uri = converter.uri(routine.path) if shown is None else converter.uri_at(shown)
        end = _START if shown is None else converter.range(shown).end
        start = types.Range(_START, _START)
        return types.CallHierarchyItem(
            routine.qualname, types.SymbolKind.Module, uri, types.Range(_START, end), start, detail=detail
        )
    kind = types.SymbolKind.Method if routine.is_method else types.SymbolKind.Function
    where, name = converter.range(routine.place), converter.range(routine.name)
    return types.CallHierarchyItem(routine.qualname, kind, converter.uri_at(routine.place), where, name, detail=detail)


def _ranges(converter: Converter, places: Iterable[Place]) -> list[types.Range]:
    return [converter.range(place) for place in places]
