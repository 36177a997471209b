"""From places in chunks to places in files."""

from __future__ import annotations

from collections.abc import Iterator

from analyzers.domain.lineage import Loc
from analyzers.host.files import body, chunk, module
from analyzers.queries.engine import Database
from analyzers.report import Place
from analyzers.syntax import nodes as n


class Positions:
    """From places in chunks to places in files."""

    def __init__(self, db: Database) -> None:
        self.db = db

    def place(self, loc: Loc) -> Place:
        cut = module(self.db, loc.module)
        return Place(loc.module, cut.to_file(loc.chunk, loc.start), cut.to_file(loc.chunk, loc.end))

    def text(self, loc: Loc) -> str:
        return chunk(self.db, loc.module, loc.chunk).text[loc.start : loc.end].decode("utf-8", "replace")

    def chunk(self, loc: Loc) -> n.Chunk:
        return chunk(self.db, loc.module, loc.chunk)

    def statements(self, path: str) -> Iterator[n.Chunk]:
        return (chunk(self.db, path, reference.key) for reference in body(self.db, path))

    def source(self, path: str) -> bytes:
        return module(self.db, path).text

    def imported_as(self, path: str, dotted: str) -> str | None:
        for there in self.statements(path):
            for statement in there.body:
                if isinstance(statement, n.Import):
                    for alias in statement.names:
                        if alias.name == dotted and (alias.asname or "." not in dotted):
                            return alias.asname or dotted
                elif isinstance(statement, n.ImportFrom) and not statement.level:
                    for alias in statement.names:
                        if f"{statement.module}.{alias.name}" == dotted:
                            return alias.asname or alias.name
        return None
