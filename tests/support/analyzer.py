"""The one adapter to the analyzer: files in, findings and claims by line out.

Tests know nothing else of the analyzer's door. There are three ways in: `host` (in this process), `cli` (the commands'
JSON, as a script would read it) and `silent`, which says nothing and is the base line of every score.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

from analyzers.report import CALLED

Way: TypeAlias = Literal["host", "cli", "silent"]
WAYS: tuple[Way, ...] = get_args(Way)

_REPOSITORY = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True)
class Line:
    """A line (from 1) of a file, relative to the program's root."""

    file: str
    number: int


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace the characters from `start` to `end` of `file` by `text`."""

    file: str
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Raises:
    """What a finding says that torch raises, and where."""

    at: Line
    exception: str
    message: str
    certain: bool
    caught: bool
    expected: bool
    iteration: int = 1


@dataclass(frozen=True, slots=True)
class Finding:
    """A finding, by line; `fixes` are the edits of each fix, best first, and `safe` says which of them are.

    `calls` are those of the related lines that call what raises.
    """

    code: str
    name: str
    severity: str
    message: str
    at: Line
    raises: Raises | None
    effect: str | None
    related: tuple[Line, ...]
    fixes: tuple[tuple[Edit, ...], ...]
    safe: tuple[bool, ...] = ()
    calls: tuple[Line, ...] = ()


@dataclass(frozen=True, slots=True)
class Claim:
    """What is said of one binding; None claims nothing."""

    at: Line
    scope: str
    name: str
    requires_grad: bool | None
    is_leaf: bool | None
    grad_fn: tuple[str, ...] | None
    shape: tuple[int | None, ...] | None
    dtype: str | None


@dataclass(frozen=True, slots=True)
class Analysis:
    """All that the analyzer says of one program."""

    findings: tuple[Finding, ...] = ()
    claims: tuple[Claim, ...] = ()


@dataclass(frozen=True, slots=True)
class Sources:
    """The text of each file of a program, by its path relative to `root`; `on_disk` when `root` holds just these."""

    root: Path
    texts: Mapping[str, str]
    on_disk: bool = field(default=True)

    @classmethod
    def at(cls, path: Path) -> Sources:
        """One file, or every Python file of a folder."""
        if path.is_dir():
            files = sorted(path.rglob("*.py"))
            return cls(path, {file.relative_to(path).as_posix(): file.read_text(encoding="utf-8") for file in files})
        return cls(path.parent, {path.name: path.read_text(encoding="utf-8")})

    @classmethod
    def of_text(cls, text: str) -> Sources:
        """A program that no disk holds."""
        return cls(Path("/nowhere"), {"program.py": text}, on_disk=False)

    def edited(self, edits: Iterable[Edit]) -> Mapping[str, str]:
        """The texts after some edits."""
        texts = dict(self.texts)
        for edit in sorted(edits, key=lambda edit: (edit.start, edit.end), reverse=True):
            text = texts[edit.file]
            texts[edit.file] = text[: edit.start] + edit.text + text[edit.end :]
        return texts

    def relative(self, path: str) -> str:
        """`path` below `root`; itself where it lies elsewhere."""
        return Path(path).relative_to(self.root).as_posix() if Path(path).is_relative_to(self.root) else path


def analyze(sources: Sources, way: Way = "host") -> Analysis:
    """What the analyzer says of the program."""
    match way:
        case "host":
            return _by_host(sources)
        case "cli":
            return _by_cli(sources)
        case "silent":
            return Analysis()


def analyze_or_tell(sources: Sources, way: Way = "host", seconds: int = 60) -> Analysis | str:
    """`analyze`, for scores: where it crashes or takes too long, a line that says so."""

    def stop(*_: object) -> None:
        raise TimeoutError(f"more than {seconds} s")

    before = signal.signal(signal.SIGALRM, stop)
    try:
        signal.alarm(seconds)
        analysis = analyze(sources, way)
        signal.alarm(0)
        return analysis
    except Exception as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        return f"{type(error).__name__}: {error} ({Path(last.filename).name}:{last.lineno})"
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def findings(path: Path, text: str) -> tuple[Finding, ...]:
    """What is found in the file at `path`, were this its text; other files are read from the disk."""
    from analyzers.host import Host

    host = Host()
    host.set_text(str(path), text)
    snapshot = host.snapshot()
    found = snapshot.findings(str(path))
    raised = [finding.raises.place for finding in found if finding.raises]
    related = [step.place for finding in found for step in finding.related]
    edited = [edit.place for finding in found for fix in finding.fixes for edit in fix.edits]
    files = {place.path for place in (*(finding.place for finding in found), *raised, *related, *edited)}
    sources = Sources(path.parent, {})
    lines = _Lines(Sources(path.parent, {sources.relative(file): snapshot.text(file) for file in files}))
    return tuple(_finding(lines, finding) for finding in found)


def _by_host(sources: Sources) -> Analysis:
    from analyzers.host import Host

    host = Host()
    paths = [str(sources.root / file) for file in sources.texts]
    for path, text in zip(paths, sources.texts.values(), strict=True):
        host.set_text(path, text)
    snapshot = host.snapshot()
    lines = _Lines(sources)
    return Analysis(
        tuple(_finding(lines, finding) for path in paths for finding in snapshot.findings(path)),
        tuple(_claim(lines, fact) for path in paths for fact in snapshot.facts(path)),
    )


class _Lines:
    """Turns the analyzer's places, which count bytes, into lines and characters."""

    def __init__(self, sources: Sources) -> None:
        self.sources = sources
        self.bytes = {file: text.encode() for file, text in sources.texts.items()}

    def line(self, place: Any) -> Line:
        file = self.sources.relative(place.path)
        return Line(file, self.bytes.get(file, b"").count(b"\n", 0, place.start) + 1)

    def edit(self, edit: Any) -> Edit:
        file = self.sources.relative(edit.place.path)
        text = self.bytes[file]
        start, end = (len(text[:offset].decode()) for offset in (edit.place.start, edit.place.end))
        return Edit(file, start, end, edit.text)


def _finding(lines: _Lines, finding: Any) -> Finding:
    raises = finding.raises
    return Finding(
        code=finding.code,
        name=finding.name,
        severity=finding.severity,
        message=finding.message,
        at=lines.line(finding.place),
        raises=raises
        and Raises(
            lines.line(raises.place),
            raises.exception,
            raises.message,
            raises.certain,
            raises.caught,
            raises.expected,
            raises.iteration,
        ),
        effect=finding.effect,
        related=tuple(lines.line(related.place) for related in finding.related),
        fixes=tuple(tuple(lines.edit(edit) for edit in fix.edits) for fix in finding.fixes),
        safe=tuple(fix.safe for fix in finding.fixes),
        calls=tuple(lines.line(related.place) for related in finding.related if related.message == CALLED),
    )


def _claim(lines: _Lines, fact: Any) -> Claim:
    return Claim(
        at=lines.line(fact.place),
        scope=fact.scope,
        name=fact.name,
        requires_grad=fact.requires_grad,
        is_leaf=fact.is_leaf,
        grad_fn=fact.grad_fn,
        shape=fact.shape,
        dtype=fact.dtype,
    )


def _by_cli(sources: Sources) -> Analysis:
    if sources.on_disk:
        return _commands(sources, [sources.root / file for file in sources.texts])
    with tempfile.TemporaryDirectory() as folder:
        copy = Sources(Path(folder).resolve(), sources.texts)
        paths = [copy.root / file for file in copy.texts]
        for path, text in zip(paths, copy.texts.values(), strict=True):
            path.write_text(text, encoding="utf-8")
        return _commands(copy, paths)


def _commands(sources: Sources, paths: list[Path]) -> Analysis:
    findings = tuple(
        _json_finding(sources, file["path"], item)
        for file in _command("check", sources, paths)
        for item in file["findings"]
    )
    claims = tuple(
        _json_claim(sources, file["path"], item) for file in _command("facts", sources, paths) for item in file["facts"]
    )
    return Analysis(findings, claims)


def _command(name: str, sources: Sources, paths: list[Path]) -> list[dict[str, Any]]:
    command = [sys.executable, "-m", "autograd_lsp", name, "--format", "json", *map(str, paths)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=_REPOSITORY, check=False)
    if done.returncode not in (0, 1):
        raise RuntimeError(f"{name} of {sources.root} left with {done.returncode}: {done.stderr.strip()}")
    files: list[dict[str, Any]] = json.loads(done.stdout)["files"]
    return files


def _json_finding(sources: Sources, path: str, item: dict[str, Any]) -> Finding:
    def line(path: str, number: int) -> Line:
        return Line(sources.relative(str((_REPOSITORY / path).resolve())), number)

    def edit(data: dict[str, Any]) -> Edit:
        file = line(data["path"], 1).file
        start, end = (
            _offset(sources.texts[file], position["line"], position["column"]) for position in data["range"].values()
        )
        return Edit(file, start, end, data["text"])

    raises = item["raises"]
    return Finding(
        code=item["code"],
        name=item["name"],
        severity=item["severity"],
        message=item["message"],
        at=line(path, item["range"]["start"]["line"]),
        raises=raises
        and Raises(
            line(raises["path"], raises["line"]),
            *(raises[key] for key in ("exception", "message", "certain", "caught", "expected", "iteration")),
        ),
        effect=item["effect"],
        related=tuple(line(related["path"], related["line"]) for related in item["related"]),
        fixes=tuple(tuple(edit(data) for data in fix["edits"]) for fix in item["fixes"]),
        safe=tuple(fix["safe"] for fix in item["fixes"]),
        calls=tuple(line(at["path"], at["line"]) for at in item["related"] if at["message"] == CALLED),
    )


def _json_claim(sources: Sources, path: str, item: dict[str, Any]) -> Claim:
    return Claim(
        at=Line(sources.relative(str((_REPOSITORY / path).resolve())), item["line"]),
        scope=item["scope"],
        name=item["name"],
        requires_grad=item["requires_grad"],
        is_leaf=item["is_leaf"],
        grad_fn=None if item["grad_fn"] is None else tuple(item["grad_fn"]),
        shape=None if item["shape"] is None else tuple(item["shape"]),
        dtype=item["dtype"],
    )


def _offset(text: str, line: int, column: int) -> int:
    return sum(map(len, text.splitlines(keepends=True)[: line - 1])) + column - 1
