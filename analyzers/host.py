"""The one door: apply a change, take a snapshot, ask for findings, facts and graphs. Says what is memoised.

Whoever asks, an editor or the command line, asks here; no other module knows that results are kept. From an edit to a
finding:

    source -> module -> chunk -> module_run -> function_run -> judged -> findings

`module` cuts a file into chunks, `chunk` lowers one, `module_run` runs a module from its first line, `function_run` a
function that nobody called. Each reads only what it needs: a run reads the chunks that it executes, of a function that
it does not call the `head` alone, and the runs of the modules that it imports. Up to what is `judged` of each run,
places count from the start of a chunk, so text that moves is no change; `found` puts them into the file. `findings`
leaves out what comments silence and what is switched off, by the comments and the choices of the file that a finding
points into.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from threading import RLock
from typing import TYPE_CHECKING, TypeVar

from analyzers.domain.lineage import Loc
from analyzers.domain.values import Func
from analyzers.graph.cards import bound_at, card_at, graph_of_spot, name_at
from analyzers.graph.record import Recording, record_function, record_module
from analyzers.machine.core import ModuleRun
from analyzers.machine.events import Binding
from analyzers.machine.frameworks import DRIVEN
from analyzers.machine.havoc import names_from_outside
from analyzers.machine.later import habits_of
from analyzers.machine.runs import (
    IMPORTED,
    PRESUMED,
    FunctionRun,
    Made,
    later,
    make_instance,
    run_module,
    run_unknown,
    takes_instance,
)
from analyzers.program import imports, prelude
from analyzers.program.disk import read_from_disk
from analyzers.queries.engine import Cancelled, CancelToken, Database, Input, query
from analyzers.queries.origins import Origins
from analyzers.report import Card, Choice, Edit, Fact, Finding, Graph, Place, Sighting
from analyzers.syntax import comments, relevance
from analyzers.syntax import nodes as n
from analyzers.syntax.lower import lower, lower_head
from analyzers.syntax.outline import Outline, outline_of
from analyzers.syntax.parse import parse
from analyzers.syntax.resplit import resplit
from analyzers.syntax.split import Module, split

if TYPE_CHECKING:
    from analyzers.rules.base import Judgement
    from analyzers.rules.suppression import Comments, Use

T = TypeVar("T")

LONE_RETURN = re.compile(rb"\r(?!\n)")

KEPT_MODULES, KEPT_SCRIPTS, KEPT_FUNCTIONS = 400, 60, 1_000
"""Runs whose whole memory is kept, the latest used; an older one that is asked for again runs again."""

KEPT_RECORDINGS, KEPT_FUNCTION_RECORDINGS = 2, 24
"""Runs that are kept with what each name in them came to, for those who point at it."""

KEPT_TREES, KEPT_CHUNKS = 400, 6_000
"""Files whose syntax tree is kept, and chunks that are kept lowered."""

MOST_BLOCKS = 6_500_000
"""Pieces of memory, as CPython counts them, above which hosts had better forget: some 700 MB."""

MOST_TEXT = 4_000_000
"""Bytes of a file beyond which it holds data, more than code: to read it as a program takes long, and more memory than
there may be."""

BUFFER = Input[str, bytes]("buffer")
STAMP = Input[str, int]("stamp")
CHOICES = Input[None, int]("choices")
OUTSIDE = Input[str, str]("outside")
TOGETHER = Input[None, frozenset[str]]("together")


def everything(path: str) -> Choice:
    """Every rule speaks, as loud as it likes."""
    del path
    return Choice()


def nothing_known(dotted: str) -> str:
    """No environment."""
    del dotted
    return "unknown"


@dataclass(frozen=True, slots=True)
class Grounds:
    """What came in from outside on the way to an answer: whoever finds it unchanged need not ask again.

    `files` are the paths that were looked for, whether or not there is a file; `chosen` those whose choices counted.
    `asks_outside` says whether libraries were looked up, `looks_together` whether it counted which files were looked
    at together.
    """

    files: frozenset[str]
    chosen: frozenset[str]
    asks_outside: bool
    looks_together: bool


class World(Database):
    """The database with the way to files, to what is chosen for them and to what lies outside of them, and the numbers
    given to runs."""

    def __init__(
        self, read: Callable[[str], bytes | None], choose: Callable[[str], Choice], look_up: Callable[[str], str]
    ) -> None:
        super().__init__()
        self.read_file = read
        self.choose = choose
        self.look_up = look_up
        self.blocks: dict[tuple[str, bool], int] = {}
        self.cut: dict[str, Module] = {}
        """Files as they were cut last, the latest at the end: an edit is cut by what was before it."""
        self.lowered: dict[tuple[str, str, bytes], n.Chunk] = {}
        """By path, the chunk's key and its text."""
        self.asked: set[str] = set()
        """The files that anybody has looked for."""

    def forget(self) -> None:
        super().forget()
        self.cut.clear()
        self.lowered.clear()
        self.blocks.clear()


def world_of(db: Database) -> World:
    assert isinstance(db, World)
    return db


@query
def source(db: Database, path: str) -> bytes | None:
    """A file's text: the open buffer, else the disk."""
    if prelude.is_prelude(path):
        return prelude.read(path)
    try:
        return db.read(BUFFER, path)
    except KeyError:
        pass
    with suppress(KeyError):
        db.read(STAMP, path)
    world_of(db).asked.add(path)
    return world_of(db).read_file(path)


@query(eager=1)
def exists(db: Database, path: str) -> bool:
    """Whether there is a file to import."""
    text = source(db, path)
    return text is not None and len(text) <= MOST_TEXT


@query(eager=1)
def is_too_large(db: Database, path: str) -> bool:
    return len(source(db, path) or b"") > MOST_TEXT


@query
def outside_kind(db: Database, dotted: str) -> str:
    """What is known by now of a name of an installed library."""
    with suppress(KeyError):
        return db.read(OUTSIDE, dotted)
    return world_of(db).look_up(dotted)


@query(eager=1)
def moves_search_path(db: Database, path: str) -> bool:
    return b"sys.path" in (source(db, path) or b"")


@query(capacity=KEPT_TREES)
def module(db: Database, path: str) -> Module:
    text = source(db, path) or b""
    if len(text) > MOST_TEXT:
        text = b""
    if b"\r" in text:
        # A lone carriage return ends a line for Python and for editors, but not in the grammar.
        text = LONE_RETURN.sub(b"\n", text)
    kept = world_of(db).cut
    before = kept.pop(path, None)
    if len(kept) >= KEPT_TREES:
        del kept[next(iter(kept))]
    kept[path] = split(text, parse(text)) if before is None else resplit(before, text)
    return kept[path]


@query(eager=1)
def body(db: Database, path: str) -> tuple[n.ChunkRef, ...]:
    return module(db, path).body


@query(eager=1)
def outline(db: Database, path: str) -> Outline:
    return outline_of(module(db, path))


@query(capacity=KEPT_TREES, eager=1)
def texts(db: Database, path: str) -> Mapping[str, bytes]:
    """The text of each chunk of a file."""
    return {key: span.text for key, span in module(db, path).spans.items()}


@query(capacity=KEPT_TREES, eager=1)
def heads(db: Database, path: str) -> Mapping[str, bytes]:
    """The text of each chunk that is a function, up to where its body begins."""
    return {key: span.text[: span.head] for key, span in module(db, path).spans.items() if span.head}


@query(capacity=KEPT_CHUNKS)
def chunk(db: Database, path: str, key: str) -> n.Chunk:
    """One chunk, lowered; the same object as long as its text is the same."""
    text = db.entry(texts, key, path)
    return _lowered(db, (path, key, text), lambda: lower(db.peek(module, path), key))


@query(capacity=KEPT_CHUNKS)
def head(db: Database, path: str, key: str) -> n.Chunk:
    """A chunk as far as its definition needs it: a function without its body, all of anything else."""
    try:
        text = db.entry(heads, key, path)
    except KeyError:
        return chunk(db, path, key)
    return _lowered(db, (path, f"head {key}", text), lambda: lower_head(db.peek(module, path), key))


def _lowered(db: Database, what: tuple[str, str, bytes], make: Callable[[], n.Chunk]) -> n.Chunk:
    kept = world_of(db).lowered
    known = kept.get(what)
    if known is None:
        known = make()
        if len(kept) > KEPT_CHUNKS:
            kept.clear()
        kept[what] = known
    return known


@query
def imports_of(db: Database, path: str) -> tuple[str, ...]:
    """The files of the workspace that a file imports as it is imported itself."""
    found: dict[str, None] = {}
    program = Program(db)
    stack: list[n.Stmt] = []
    for key in outline(db, path).importing:
        stack += chunk(db, path, key).body
    while stack:
        statement = stack.pop()
        match statement:
            case n.Import(names=names):
                wanted = [(alias.name, 0) for alias in names]
            case n.ImportFrom(module=name, names=names, level=level):
                prefix = f"{name}." if name else ""
                wanted = [(name or "", level), *((prefix + alias.name, level) for alias in names)]
            case n.If(test=test, body=inner, orelse=other):
                if not (
                    isinstance(test, n.Name | n.Attribute)
                    and "TYPE_CHECKING" in (getattr(test, "id", ""), getattr(test, "attr", ""))
                ):
                    stack += inner
                stack += other
                continue
            case n.Try(body=inner, handlers=handlers, orelse=other, finalbody=last):
                stack += (*inner, *(s for h in handlers for s in h.body), *other, *last)
                continue
            case n.With(body=inner):
                stack += inner
                continue
            case _:
                continue
        for name_, level_ in wanted:
            target = program.find_import(path, name_, level_)
            if target is not None and target != path:
                found[target] = None
    return tuple(found)


@query
def reach(db: Database, path: str) -> frozenset[str]:
    """The files that importing a file imports, by any number of steps."""
    seen: set[str] = set()
    stack = [path]
    while stack:
        for target in imports_of(db, stack.pop()):
            if target not in seen:
                seen.add(target)
                stack.append(target)
    return frozenset(seen)


def may_import(db: Database, importer: str, path: str) -> bool:
    """Whether `importer` sees what is in `path`. Of files that import each other, each sees only those before it by
    name: a rule that does not depend on where the analysis begins."""
    return path < importer or importer not in reach(db, path)


def _nothing(path: str) -> ModuleRun | None:
    """What an import is worth that leads back to itself."""
    del path
    return None


@query(on_cycle=_nothing, capacity=KEPT_MODULES)
def imported(db: Database, path: str) -> ModuleRun | None:
    """The run of an imported module; None on an import cycle."""
    return run_module(Program(db), path, main=False, limits=IMPORTED)


@query(capacity=KEPT_SCRIPTS)
def module_run(db: Database, path: str) -> ModuleRun:
    """The run of a file as a script."""
    return run_module(Program(db), path, main=True)


@query(capacity=KEPT_SCRIPTS)
def later_run(db: Database, path: str) -> ModuleRun:
    """The run of a file as a script, and what its functions may find of it when somebody calls them."""
    return later(Program(db), module_run(db, path))


@query(capacity=KEPT_FUNCTIONS)
def function_run(db: Database, path: str, index: int) -> FunctionRun:
    run = later_run(db, path)
    func = run.functions[index]
    return run_unknown(Program(db), run, func, made_for(db, path, func))


@query(capacity=KEPT_FUNCTIONS)
def instance(db: Database, path: str, cls: int) -> Made:
    """An instance of a class of the file, made of unknown arguments, for its methods to run on."""
    return make_instance(Program(db), later_run(db, path), cls)


@query(capacity=KEPT_FUNCTIONS)
def presumed_instance(db: Database, path: str, cls: int) -> Made:
    """The same, with what the roles of names say."""
    return make_instance(Program(db), module_run(db, path), cls, presume=True)


def made_for(db: Database, path: str, func: Func, *, presume: bool = False) -> Made | None:
    if not takes_instance(func) or func.owner is None:
        return None
    return presumed_instance(db, path, func.owner) if presume else instance(db, path, func.owner)


@query(capacity=KEPT_FUNCTIONS)
def presumed_run(db: Database, path: str, index: int) -> FunctionRun:
    run = module_run(db, path)
    func = run.functions[index]
    return run_unknown(Program(db), run, func, made_for(db, path, func, presume=True), presume=True)


@query(capacity=KEPT_SCRIPTS)
def presumed_module_run(db: Database, path: str) -> ModuleRun:
    return run_module(Program(db), path, main=True, limits=PRESUMED, presume=True)


@query
def presuming(db: Database, path: str) -> tuple[int, ...]:
    """Runs of training code in which values are made up from the roles of names, where nothing tells them: of
    functions by their order, and of the module as `WHOLE`."""
    runs = [WHOLE] if module_run(db, path).trains else []
    runs += [index for index in uncalled(db, path, False) if _may_train(db, path, index)]
    return tuple(index for index in runs if run_of(db, path, index, True).presumed)


WHOLE = -1
"""Stands for the run of a module where others are runs of its functions, by their order."""


def run_of(db: Database, path: str, index: int, presume: bool) -> ModuleRun | FunctionRun:  # noqa: FBT001
    if index == WHOLE:
        return presumed_module_run(db, path) if presume else module_run(db, path)
    return presumed_run(db, path, index) if presume else function_run(db, path, index)


def _may_train(db: Database, path: str, index: int) -> bool:
    """Whether a function runs a backward, or is a part of a class from which a framework does."""
    return function_run(db, path, index).trains or module_run(db, path).functions[index].node_name in DRIVEN


@query
def uncalled(db: Database, path: str, everything: bool) -> tuple[int, ...]:  # noqa: FBT001
    """The functions of a file, by their order, that are run on unknown arguments: those that no other run enters.

    Callers stand below what they call more often than not, so the last function goes first; before all of them go
    constructors, as parts of one can seldom be called again. Unless `everything` is asked for, functions are left out
    of which no run could say anything.
    """
    run = module_run(db, path)
    worth = frozenset() if everything else worth_running(db, path)
    entered = set(run.entered)
    chosen: list[int] = []
    last_first = list(reversed(range(len(run.functions))))
    for index in sorted(last_first, key=lambda i: run.functions[i].node_name != "__init__"):
        func = run.functions[index]
        if func.module != path or (func.module, func.chunk, func.qualname) in entered:
            continue
        if not everything and func.chunk not in worth:
            continue
        chosen.append(index)
        alone = function_run(db, path, index)
        if not alone.out_of_fuel:
            entered |= alone.entered
    return tuple(sorted(chosen))


@query(eager=2)
def words(db: Database, path: str, key: str) -> tuple[bool, frozenset[str]]:
    """Whether a chunk has a word of autograd's, and the names that it uses."""
    nodes = tuple(n.walk(chunk(db, path, key).body))
    return relevance.matters(nodes), relevance.called_names(nodes)


@query(eager=2)
def chunk_habits(db: Database, path: str, key: str) -> tuple[frozenset[str], bool]:
    return habits_of(chunk(db, path, key))


@query(eager=3)
def habits(db: Database, path: str) -> tuple[frozenset[str], bool]:
    """The names that a module's functions declare `global`, and whether any of them freezes tensors."""
    found = [chunk_habits(db, path, key) for key in outline(db, path).keys]
    return frozenset(name for names, _ in found for name in names), any(freezes for _, freezes in found)


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
def captured(db: Database, path: str, key: str) -> tuple[frozenset[str], frozenset[str]]:
    """Of a function that is a chunk: the names of its module's variables that it uses, and those it rebinds."""
    (function,) = chunk(db, path, key).body
    assert isinstance(function, n.FunctionDef)
    used, rebound = names_from_outside(function)
    known = variables(db, path)
    return (used if known is None else used & known), rebound


def _definitions(db: Database, path: str) -> tuple[dict[str, frozenset[str]], set[str]]:
    """The names that a file defines with those that each uses, and the ones that have a word of autograd's."""
    used: dict[str, frozenset[str]] = {}
    direct: set[str] = set()
    for key, name, inner in outline(db, path).definitions:
        matter, names = words(db, path, key)
        used[name] = used.get(name, frozenset()) | names | inner
        if matter:
            direct.add(name)
    return used, direct


@query(eager=3)
def names_that_matter(db: Database, path: str) -> frozenset[str]:
    """The functions and classes of a file that reach a word of autograd's within it."""
    used, direct = _definitions(db, path)
    return relevance.reaching(used, direct) & outline(db, path).names


@query(eager=4)
def worth_running(db: Database, path: str) -> frozenset[str]:
    """The chunks of a file's functions that reach a word of autograd's there, or in a file that it imports."""
    used, direct = _definitions(db, path)
    for imported_path in imports_of(db, path):
        direct |= names_that_matter(db, imported_path)
    found = relevance.reaching(used, direct)
    return frozenset(key for key, name, _ in outline(db, path).definitions if name in found)


def runs_of(db: Database, path: str, *, everything: bool = False) -> list[ModuleRun | FunctionRun]:
    indices = uncalled(db, path, everything)
    return [module_run(db, path), *(function_run(db, path, index) for index in indices)]


@query
def judged_run(db: Database, path: str, index: int, presume: bool) -> tuple[Judgement, ...]:  # noqa: FBT001
    from analyzers.rules import judge

    return judge(run_of(db, path, index, presume), Positions(db))


@query
def judged(db: Database, path: str) -> tuple[Judgement, ...]:
    """What the rules make of a file's runs."""
    from analyzers.rules import together

    runs = [judged_run(db, path, index, False) for index in (WHOLE, *uncalled(db, path, False))]
    return together(runs, [judged_run(db, path, index, True) for index in presuming(db, path)])


@query
def found(db: Database, path: str) -> tuple[Finding, ...]:
    """All findings of a file's runs, before anybody silences one."""
    from analyzers.rules import placed

    places = Positions(db)
    return tuple(sorted((placed(j, places) for j in judged(db, path)), key=lambda f: (f.place, f.code)))


@query(eager=1)
def comments_of(db: Database, path: str) -> Comments | None:
    """The directives of a file; None where there are none."""
    cut = module(db, path)
    if not comments.has_directive(cut.text):
        return None
    from analyzers.rules import suppression

    return suppression.comments_of(path, cut)


@query
def uses(db: Database, path: str) -> frozenset[Use]:
    """The directives, of whichever files, that silence findings of one file's runs."""
    from analyzers.rules import suppression

    mine = found(db, path)
    comments = [comments_of(db, there) for there in sorted({finding.place.path for finding in mine})]
    return frozenset(use for text in comments if text is not None for use in suppression.uses(text, mine))


@query
def choice(db: Database, path: str) -> Choice:
    with suppress(KeyError):
        db.read(CHOICES, None)
    return world_of(db).choose(path)


@query
def about_comments(db: Database, path: str) -> tuple[Finding, ...]:
    """Directives that silence nothing, or rules that there are not.

    A directive of an imported file may be there for those who import it: the files that are looked at together are
    asked, once nothing nearer needs it. Nothing is called unused where something was not run.
    """
    text = comments_of(db, path)
    if text is None:
        return ()
    from analyzers.rules import RULES, suppression

    strange = list(suppression.unknown(text, RULES))
    told = [finding for finding in strange if not text.silencing(finding)]
    used, off = uses(db, path) | suppression.uses(text, strange), choice(db, path).off
    runs = (*runs_of(db, path), *(run_of(db, path, index, True) for index in presuming(db, path)))
    is_whole = not module(db, path).holes and not any(run.out_of_fuel for run in runs)
    if is_whole and any(suppression.unused(text, used, RULES, off)):
        for other in sorted(looked_at_together(db) - {path}):
            if path in reach(db, other):
                used |= uses(db, other)
        told += suppression.unused(text, used, RULES, off)
    return tuple(told)


def looked_at_together(db: Database) -> frozenset[str]:
    try:
        return db.read(TOGETHER, None)
    except KeyError:
        return frozenset()


@query
def findings(db: Database, path: str) -> tuple[Finding, ...]:
    """What is left of the findings once comments and choices have spoken."""
    if is_too_large(db, path):
        what = f"this file is larger than {MOST_TEXT // 1_000_000} MB: it is not analysed, and what it gives is unknown"
        return (Finding("AG004", "file-too-large", "info", what, Place(path, 0, 0)),)
    loud = [finding for finding in found(db, path) if not is_silenced(db, finding)]
    chosen = (as_chosen(choice(db, f.place.path), f) for f in (*loud, *about_comments(db, path)))
    return tuple(sorted((f for f in chosen if f is not None), key=lambda f: (f.place, f.code)))


@query
def sightings(db: Database, path: str) -> tuple[Sighting, ...]:
    """What one file shows of the findings of its own runs, and of those that are looked at with it and import it."""
    importers = [other for other in sorted(looked_at_together(db) - {path}) if path in reach(db, other)]
    seen: dict[tuple[object, ...], Sighting] = {}
    for finding in (finding for there in (path, *importers) for finding in findings(db, there)):
        place = seen_from(path, finding)
        if place is not None:
            raised = finding.raises and finding.raises.place
            seen.setdefault((finding.code, finding.place, raised, finding.effect), Sighting(finding, place))
    return tuple(sorted(seen.values(), key=lambda sighting: (sighting.place, sighting.finding.code)))


def seen_from(path: str, finding: Finding) -> Place | None:
    """Where a file shows a finding: at the cause, else where torch raises, else at the last step of the trace there."""
    raised = () if finding.raises is None else (finding.raises.place,)
    steps = (step.place for step in reversed(finding.related))
    return next((place for place in (finding.place, *raised, *steps) if place.path == path), None)


def is_silenced(db: Database, finding: Finding) -> bool:
    text = comments_of(db, finding.place.path)
    return text is not None and bool(text.silencing(finding))


def as_chosen(chosen: Choice, finding: Finding) -> Finding | None:
    """None where the rule is off. What the program itself expects to raise stays a remark."""
    if finding.code in chosen.off:
        return None
    expected = finding.raises is not None and finding.raises.expected
    severity = dict(chosen.severities).get(finding.code)
    return finding if severity is None or expected else replace(finding, severity=severity)


@query
def facts(db: Database, path: str) -> tuple[Fact, ...]:
    bindings: dict[tuple[Loc, str], Binding] = {}
    for run in runs_of(db, path, everything=True):
        for binding in run.bindings:
            bindings.setdefault((binding.loc, binding.name), binding)
    places = Positions(db)
    out = [
        Fact(places.place(b.loc), b.scope, b.name, b.requires_grad, b.is_leaf, b.grad_fn, b.shape, b.dtype)
        for b in bindings.values()
    ]
    return tuple(sorted(out, key=lambda f: (f.place, f.name)))


@query(capacity=KEPT_RECORDINGS)
def recorded_module(db: Database, path: str) -> Recording:
    return record_module(Program(db), path)


@query(capacity=KEPT_FUNCTION_RECORDINGS)
def recorded_function(db: Database, path: str, index: int) -> Recording:
    run = later_run(db, path)
    func = run.functions[index]
    return record_function(Program(db), run, func, made_for(db, path, func))


def recorded_at(db: Database, path: str, offset: int) -> Iterator[tuple[Recording, str, int]]:
    """The runs that came by a place, recorded, with the chunk and the place in it: the script's own run first."""
    located = module(db, path).locate(offset)
    if located is None or is_too_large(db, path):
        return
    key, inside = located
    run = module_run(db, path)
    own = [index for index, func in enumerate(run.functions) if (func.module, func.chunk) == (path, key)]
    if not own or _enters(run.entered, path, key):
        yield recorded_module(db, path), key, inside
        return
    callers = [i for i in uncalled(db, path, False) if _enters(function_run(db, path, i).entered, path, key)]
    for index in callers or own:
        yield recorded_function(db, path, index), key, inside


def _enters(entered: Iterable[tuple[str, str, str]], path: str, key: str) -> bool:
    return any((file, chunk) == (path, key) for file, chunk, _ in entered)


class Program:
    """The machine's view of the world, through queries, so that what a run reads is known."""

    def __init__(self, db: Database) -> None:
        self.db = db

    def body(self, path: str) -> Sequence[n.Stmt]:
        return body(self.db, path)

    def chunk(self, path: str, key: str) -> n.Chunk:
        self.db.check_cancelled()
        return chunk(self.db, path, key)

    def head(self, path: str, key: str) -> n.Chunk:
        self.db.check_cancelled()
        return chunk(self.db, path, key) if prelude.is_prelude(path) else head(self.db, path, key)

    def captured(self, path: str, key: str) -> tuple[frozenset[str], frozenset[str]]:
        return captured(self.db, path, key)

    def habits(self, path: str) -> tuple[frozenset[str], bool]:
        return habits(self.db, path)

    def find_import(self, path: str, name: str, level: int) -> str | None:
        if prelude.is_prelude(path):
            return None
        moves = moves_search_path(self.db, path)
        return imports.find_import(lambda candidate: exists(self.db, candidate), path, name, level, moves=moves)

    def module_name(self, path: str) -> str:
        name = path.rsplit("/", 1)[-1].removesuffix(".py")
        return path.rsplit("/", 2)[-2] if name == "__init__" and "/" in path else name

    def run_module(self, path: str, importer: str | None) -> ModuleRun | None:
        if importer is None or prelude.is_prelude(path) or may_import(self.db, importer, path):
            return imported(self.db, path)
        return None

    def library(self, dotted: str) -> tuple[str, str] | None:
        return prelude.find(dotted)

    def outside_kind(self, dotted: str) -> str:
        return outside_kind(self.db, dotted)

    def block(self, path: str, main: bool) -> int:
        blocks = world_of(self.db).blocks
        return blocks.setdefault((path, main), len(blocks) + 1)


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


class Snapshot:
    """The answers at one revision. Asking raises `Cancelled` once a newer change waits."""

    def __init__(self, host: Host, token: CancelToken | None = None) -> None:
        self._host = host
        self._token = token

    @contextmanager
    def _held(self) -> Iterator[World]:
        with self._host.lock, self._host.world.snapshot(self._token):
            yield self._host.world

    def ask(self, question: Callable[[World], T]) -> T:
        """What `analyzers.views` makes of the queries here."""
        with self._held() as db:
            return question(db)

    def source(self, path: str) -> bytes | None:
        """A file as the analysis saw it; None if there is none."""
        with self._held() as db:
            return source(db, path)

    def text(self, path: str) -> str:
        """The text that the analysis saw; a byte order mark counts as a character."""
        with self._held() as db:
            return (source(db, path) or b"").decode("utf-8", "surrogateescape")

    def findings(self, path: str) -> tuple[Finding, ...]:
        """What runs that begin in this file find, here or in the files that they call into."""
        with self._held() as db:
            return findings(db, path)

    def sightings(self, path: str) -> tuple[Sighting, ...]:
        """What a file shows: the findings that point into it, and those that come from elsewhere and show there."""
        with self._held() as db:
            return sightings(db, path)

    def grounds(self, path: str) -> Grounds | None:
        """What `findings` of a file rest on; None where a part of the analysis has failed."""
        with self._held() as db:
            findings(db, path)
            try:
                cells = self._host.origins.of((findings, (path,)))
            except KeyError:
                return None
            kinds = {kind for kind, _ in cells}
            files = (str(key[0]) for kind, key in cells if kind is source)
            return Grounds(
                frozenset(file for file in files if not prelude.is_prelude(file)),
                frozenset(str(key[0]) for kind, key in cells if kind is choice),
                outside_kind in kinds,
                TOGETHER in kinds,
            )

    def ignoring(self, finding: Finding) -> Edit | None:
        """The edit that silences a finding by a comment."""
        from analyzers.rules import suppression

        with self._held() as db:
            path = finding.place.path
            return suppression.ignoring(suppression.comments_of(path, module(db, path)), finding)

    def facts(self, path: str) -> tuple[Fact, ...]:
        with self._held() as db:
            return tuple(f for f in facts(db, path) if f.place.path == path)

    def card(self, path: str, offset: int) -> Card | None:
        """What there is to say to a reader who points at `offset`."""
        with self._held() as db:
            places = Positions(db)
            cards = (card_at(recording, key, at, places) for recording, key, at in recorded_at(db, path, offset))
            return next((card for card in cards if card is not None), None)

    def graph(self, path: str, offset: int, name: str | None = None) -> Graph | None:
        """The graph of the tensor named at `offset`, or of `name` as it is on that line."""
        with self._held() as db:
            return graph(db, path, offset, name)


def graph(db: Database, path: str, offset: int, name: str | None) -> Graph | None:
    """Of what is bound to `name` on the line, the last; else of what it is when it is read there last."""
    places = Positions(db)
    offsets = [offset] if name is None else _last_first(source(db, path) or b"", offset, name.encode())
    recorded = [found for at in offsets for found in recorded_at(db, path, at)]
    for get in (name_at,) if name is None else (bound_at, name_at):
        for recording, key, inside in recorded:
            spot = get(recording, key, inside)
            found = None if spot is None else graph_of_spot(recording, spot, places)
            if found is not None and name in {None, found.name}:
                return found
    return None


def _last_first(text: bytes, offset: int, name: bytes) -> list[int]:
    """Where `name` stands on the line of `offset`."""
    start, end = text.rfind(b"\n", 0, offset) + 1, text.find(b"\n", offset)
    found: list[int] = []
    at = text.find(name, start) if name else -1
    while 0 <= at < (len(text) if end < 0 else end):
        found.append(at)
        at = text.find(name, at + 1)
    return found[::-1]


class Host:
    """Open buffers and files, and what is known of them."""

    def __init__(
        self,
        read: Callable[[str], bytes | None] = read_from_disk,
        choose: Callable[[str], Choice] = everything,
        look_up: Callable[[str], str] = nothing_known,
    ) -> None:
        """`choose` says what is reported of a file; `choices_changed` that it may say something else now.

        `look_up` says at once what is known of a name outside the workspace, by its kind; `outside_known` more of it.
        """
        self.world = World(read, choose, look_up)
        self.lock = RLock()
        self.stamps = 0
        self.origins = Origins(self.world, (source, choice, outside_kind, TOGETHER))

    def set_text(self, path: str, text: str) -> None:
        """An open buffer: it counts instead of the file until `close`."""
        self.world.set(BUFFER, path, text.encode("utf-8", "surrogateescape"))

    def close(self, path: str) -> None:
        self.world.remove(BUFFER, path)

    def file_changed(self, path: str) -> None:
        """The file on disk is new, changed or gone; or the folder, with all that lies in it."""
        self.stamps += 1
        below = path.rstrip("/") + "/"
        for changed in [path, *(asked for asked in tuple(self.world.asked) if asked.startswith(below))]:
            self.world.set(STAMP, changed, self.stamps)

    def choices_changed(self) -> None:
        self.stamps += 1
        self.world.set(CHOICES, None, self.stamps)

    def outside_known(self, kinds: Mapping[str, str]) -> None:
        """Kinds of names outside the workspace, where they are other than what was known."""
        for dotted, kind in kinds.items():
            self.world.set(OUTSIDE, dotted, kind)

    def look_at_together(self, paths: Iterable[str]) -> None:
        """The files that somebody looks at: a comment that one of them needs is not unused in another."""
        self.world.set(TOGETHER, None, frozenset(paths))

    def forget_if_large(self, processes: int = 1) -> bool:
        """Drop all that is known once it takes more than its share of memory; what is asked for again runs again."""
        if sys.getallocatedblocks() * processes < MOST_BLOCKS:
            return False
        with self.lock:
            self.world.forget()
        return True

    def snapshot(self, token: CancelToken | None = None) -> Snapshot:
        return Snapshot(self, token)


__all__ = ["CancelToken", "Cancelled", "Choice", "Grounds", "Host", "Snapshot"]
