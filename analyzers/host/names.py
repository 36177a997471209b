"""What the names in chunks reveal before anything runs: which chunks use autograd, and which variables they use."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from analyzers.host.files import chunk, imports_of, outline
from analyzers.machine.core.program import Captured
from analyzers.machine.entries.entry_state import habits_of
from analyzers.machine.interpreter.captured import captured_by
from analyzers.queries.engine import Database, query
from analyzers.syntax import nodes as n
from analyzers.syntax import relevance
from analyzers.syntax.roles import Role, roles_in


@query(eager=2)
def words(db: Database, path: str, key: str) -> tuple[bool, bool, frozenset[str]]:
    """Whether a chunk has a word of autograd's, whether it may write tensors in place, and the names that it uses."""
    nodes = tuple(n.walk(chunk(db, path, key).body))
    return relevance.matters(nodes), relevance.writes(nodes), relevance.called_names(nodes)


@query(eager=2)
def chunk_habits(db: Database, path: str, key: str) -> tuple[frozenset[str], bool]:
    return habits_of(chunk(db, path, key))


@query(eager=3)
def habits(db: Database, path: str) -> tuple[frozenset[str], bool]:
    """The names that a module's functions declare `global`, and whether any of them freezes tensors."""
    found = [chunk_habits(db, path, key) for key in outline(db, path).keys]
    return frozenset(name for names, _ in found for name in names), any(freezes for _, freezes in found)


_OTHER_FRAMEWORKS = frozenset(
    {"jax", "jittor", "keras", "megengine", "mindspore", "mxnet", "oneflow", "paddle", "tensorflow", "tinygrad"}
)


@query(eager=2)
def is_of_another_framework(db: Database, path: str) -> bool:
    """Whether a file imports a framework that is not torch, and not torch: it may have a `backward()` of its own."""
    nodes = [node for key in outline(db, path).importing for node in n.walk(chunk(db, path, key).body)]
    names = [alias.name for node in nodes if isinstance(node, n.Import) for alias in node.names]
    names += [node.module or "" for node in nodes if isinstance(node, n.ImportFrom) and not node.level]
    imported = {name.partition(".")[0] for name in names}
    return "torch" not in imported and not imported.isdisjoint(_OTHER_FRAMEWORKS)


@query(eager=2)
def mentioned(db: Database, path: str, key: str) -> frozenset[str] | None:
    """The names in a statement of a module, among them all that it binds; None where it may bind any."""
    nodes = list(n.walk(chunk(db, path, key).body))
    if any(isinstance(node, n.ImportFrom) and any(alias.name == "*" for alias in node.names) for node in nodes):
        return None
    imported_names = (a for node in nodes if isinstance(node, n.Import | n.ImportFrom) for a in node.names)
    bound = {a.asname or a.name.split(".")[0] for a in imported_names}
    return frozenset(bound | {node.id for node in nodes if isinstance(node, n.Name)})


@query(eager=3)
def variables(db: Database, path: str) -> frozenset[str] | None:
    """The names that a module's statements mention, definitions left out; None where there may be any."""
    found: set[str] = set()
    for key in outline(db, path).statements:
        names = mentioned(db, path, key)
        if names is None:
            return None
        found |= names
    return frozenset(found)


@query(eager=4)
def captured(db: Database, path: str, key: str) -> Captured:
    """What a function that is a chunk may do when others call it; of its module it names variables only."""
    (function,) = chunk(db, path, key).body
    assert isinstance(function, n.FunctionDef)
    found = captured_by(function)
    known = variables(db, path)
    if known is None:
        return found
    used = frozenset(path for path in found.used if path.partition(".")[0] in known)
    return found._replace(used=used, bare=found.bare & known)


@query
def attributes_set(db: Database, path: str, key: str) -> frozenset[str]:
    """The attributes that a function that is a chunk sets: seldom does an edit of its body change that."""
    return n.attributes_set(chunk(db, path, key).body)


@query
def roles_in_methods(db: Database, methods: tuple[tuple[str, str], ...], of_module: bool) -> Mapping[str, Role]:
    """The roles of the attributes of an object, as its methods use them."""
    functions = [function for path, key in methods for function in chunk(db, path, key).body]
    return roles_in(functions, of_module=of_module)


@query(eager=2)
def defined(db: Database, path: str) -> frozenset[str]:
    """The names of the functions and classes of a file, those within classes among them."""
    return frozenset([name for _, name, _ in outline(db, path).definitions])


@query(eager=3)
def calls(db: Database, path: str, key: str) -> tuple[bool, bool, frozenset[str]]:
    """Whether a chunk has a word of autograd's, whether it may write tensors in place, and the definitions of its file
    that it uses: seldom does an edit change that."""
    matter, writes, names = words(db, path, key)
    return matter, writes, names & defined(db, path)


class _Definitions(NamedTuple):
    used: dict[str, frozenset[str]]
    """The names that a file defines with those that each uses."""
    direct: set[str]
    """Those that have a word of autograd's."""
    writing: set[str]
    """Those that may write tensors in place."""


def _definitions(db: Database, path: str) -> _Definitions:
    found = _Definitions({}, set(), set())
    for key, name, inner in outline(db, path).definitions:
        matter, writes, names = calls(db, path, key)
        found.used[name] = found.used.get(name, frozenset()) | names | inner
        if matter:
            found.direct.add(name)
        if writes:
            found.writing.add(name)
    return found


@query(eager=4)
def names_that_matter(db: Database, path: str) -> frozenset[str]:
    """The functions and classes of a file that reach a word of autograd's within it."""
    used, direct, _ = _definitions(db, path)
    return relevance.reaching(used, direct) & outline(db, path).names


@query(eager=5)
def imported_that_matter(db: Database, path: str) -> frozenset[str]:
    """The same of the files that a file imports."""
    return frozenset().union(*[names_that_matter(db, imported) for imported in imports_of(db, path)])


@query(eager=6)
def calls_out(db: Database, path: str, key: str) -> bool:
    """Whether a chunk uses what reaches a word of autograd's in a file that is imported."""
    return not imported_that_matter(db, path).isdisjoint(words(db, path, key)[2])


@query(eager=7)
def worth_running(db: Database, path: str) -> frozenset[str]:
    """The chunks of a file's functions that reach a word of autograd's there, or in a file that it imports, and those
    of modules that write in place."""
    used, direct, writing = _definitions(db, path)
    definitions = outline(db, path).definitions
    if outside := imported_that_matter(db, path):
        direct |= outside
        direct.update(name for key, name, _ in definitions if calls_out(db, path, key))
    found = relevance.reaching(used, direct)
    if not relevance.reaching(used, writing).isdisjoint({"forward", "__init__"}):
        found |= {"forward"}
    return frozenset(key for key, name, _ in definitions if name in found)
