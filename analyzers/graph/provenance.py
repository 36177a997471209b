"""Where the tensor came from that a name gives: the step that made it, and those that cut, saved or freed what it has.

h = (x * 2).detach()       of `loss`: cut here
loss = (h + 1).sum()       made here
loss.backward()
"""

from __future__ import annotations

from analyzers.domain.values import Ref
from analyzers.graph.build import Places, graph_of
from analyzers.graph.cards import name_at
from analyzers.graph.keepers import keepers
from analyzers.graph.names import names_at
from analyzers.graph.record import Recording
from analyzers.machine.autograd.graph import refreshed
from analyzers.report import Provenance


def provenance_at(recording: Recording, chunk: str, offset: int, places: Places) -> Provenance | None:
    """Of the tensor at a place in a chunk; None where there is none."""
    spot = name_at(recording, chunk, offset)
    if spot is None or spot.moment is None:
        return None
    with recording.at(spot, spot.moment) as m:
        value = spot.moment.value
        if m.tensor(value) is None or not isinstance(value, Ref):
            return None
        place, name, names = places.place(m.loc_of(m.frame, spot.node)), m.source(spot.node), names_at(m)
        graph = graph_of(m, value.id, name, places, names)
        tensor = refreshed(m, value.id)
        root = graph.nodes[0]
        # A cut further up ended the graph of an operand, and not that of this tensor.
        mine = {edge.target for edge in graph.edges if edge.source == root.id}
        cut = [node.place for node in graph.nodes if node.kind == "cut" and node.id in mine]
        freed = [node.freed_at for node in graph.nodes if node.freed]
        saved = [one.place for one in keepers(m, value.id, tensor, names, places, at_version=False)]
    return Provenance(
        name,
        spot.scope,
        place,
        root.place,
        tuple(dict.fromkeys(one for one in (*cut, *freed, *saved) if one is not None)),
    )
