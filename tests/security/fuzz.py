"""A coverage-guided fuzzer over everything that reads what a checkout brings along.

    pip install atheris
    python -m tests.security.fuzz notebooks -max_total_time=600     # one reader, as long as libFuzzer is told

A reader takes any bytes: it raises nothing but what says that they are no notebook, no settings and so on, and takes no
longer than `SECONDS` for each `LENGTH` of them.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import sys
import time
import zlib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from tempfile import gettempdir, mkdtemp

from analyzers.host import Host
from analyzers.report import Finding, Place, Raises, Related
from analyzers.syntax.comments import suppressions
from autograd_lsp.config import ConfigError
from autograd_lsp.config.files import read_file
from autograd_lsp.config.patterns import read_pattern
from autograd_lsp.notebooks.program import NotANotebookError, read_notebook
from autograd_lsp.process.exits import UsageError
from autograd_lsp.reports.baseline import read_baseline
from autograd_lsp.reports.entries import Entry, entry_bytes, read_entry
from autograd_lsp.server.wire import messages
from autograd_lsp.text.sinks import fenced, json_of, notice, printable, prose, xml_of
from autograd_lsp.why.answer import told_in
from tests.cli.command import BROKEN, REPOSITORY

SECONDS, LENGTH = 1.0, 100_000
RECORDED = REPOSITORY / "tests" / "cli" / "tracebacks.json"


def notebooks(data: bytes) -> None:
    with suppress(NotANotebookError):
        read_notebook(data.decode("utf-8", "replace"))


def settings(data: bytes) -> None:
    with suppress(ConfigError):
        read_file(_written(data, "fuzzed.toml"), "/")


def logs(data: bytes) -> None:
    told_in(data.decode("utf-8", "replace"))


def patterns(data: bytes) -> None:
    lines = data.decode("utf-8", "surrogateescape").split("\n")
    read = [pattern for line in lines if (pattern := read_pattern(line)) is not None]
    for path in ("a", "a/b.py", "a" * 200, "/".join("ab" * 20)):
        for pattern in read:
            pattern.matches(path, is_folder=False)


def comments(data: bytes) -> None:
    suppressions(data, lambda _start, _end: True)


def entries(data: bytes) -> None:
    for whole in (data, zlib.compress(data)):
        read_entry(hashlib.sha256(whole).digest() + whole)


def protocol(data: bytes) -> None:
    for message in messages(io.BytesIO(data)):
        if isinstance(message, bytes):
            with suppress(ValueError, RecursionError):
                json.loads(message)


def baselines(data: bytes) -> None:
    with suppress(UsageError):
        read_baseline(_written(data, "fuzzed.json"))


def sinks(data: bytes) -> None:
    text = data.decode("utf-8", "surrogateescape")
    for shown in (printable(text), notice(text), prose(text), fenced(text), xml_of(text)):
        assert "##[" not in shown or shown == fenced(text)
    json.loads(json_of(text))


def programs(data: bytes) -> None:
    host = Host()
    host.set_text("/fuzzed.py", data.decode("utf-8", "replace"))
    host.snapshot().findings("/fuzzed.py")


def _written(data: bytes, name: str) -> str:
    path = Path(gettempdir()) / f"{os.getpid()}-{name}"
    path.write_bytes(data)
    return str(path)


READERS: dict[str, Callable[[bytes], None]] = {
    reader.__name__: reader
    for reader in (notebooks, settings, logs, patterns, comments, entries, protocol, baselines, sinks, programs)
}


def seeds(name: str) -> list[bytes]:
    """Sound texts to start from: without them a fuzzer spends its time on finding the first bracket."""
    cells = [{"cell_type": "code", "source": ["%time x\n", line]} for line in BROKEN.splitlines()]
    entry = {"code": "AG104", "name": "x", "line": "y.add_(1)", "fingerprint": "5b1e"}
    said = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"capabilities": {}}}
    body = json.dumps(said).encode()
    texts: dict[str, list[str]] = {
        "notebooks": [json.dumps({"cells": cells, "metadata": {}, "nbformat": 4})],
        "settings": [
            'exclude = ["a*/**"]\nselect = ["ALL"]\n[per-file-ignores]\n"!a.py" = ["AG104"]\n[severity]\nAG = "info"\n'
        ],
        "logs": [record["log"] for record in json.loads(RECORDED.read_text(encoding="utf-8"))[:20]],
        "patterns": ["a/**/b\n!*.py\n/[!a-c]?/\n[[:alpha:]]\\ \n**"],
        "comments": ["x  # noqa: AG104, E501\n# autograd: ignore-file[AG101]\n# ruff: noqa\n"],
        "baselines": [json.dumps({"version": 1, "files": {"a.py": [entry]}})],
        "sinks": ["`a` ![x](https://a.example) ##[group]\n::error::"],
        "programs": [BROKEN],
    }
    if name == "entries":
        place = Place("a.py", 0, 3)
        raises = Raises(place, "RuntimeError", "one of the variables", True, False, False)
        finding = Finding("AG104", "x", "error", "y changes", place, raises, "grad-none", (Related(place, "here"),))
        return [zlib.decompress(entry_bytes(Entry("a.py", ("a.py",), (), False, False, "00", (finding,)))[32:])]
    if name == "protocol":
        return [b"Content-Length: %d\r\n\r\n%b" % (len(body), body)]
    return [text.encode() for text in texts[name]]


def main() -> None:
    import atheris

    name = sys.argv.pop(1)
    reader = READERS[name]
    folder = Path(mkdtemp(prefix="fuzz-"))
    for number, seed in enumerate(seeds(name)):
        (folder / str(number)).write_bytes(seed)
    sys.argv.append(str(folder))

    def once(data: bytes) -> None:
        began = time.process_time()
        reader(data)
        took = time.process_time() - began
        if took > SECONDS * max(1.0, len(data) / LENGTH):
            raise TimeoutError(f"{took:.1f} s for {len(data)} bytes")

    atheris.instrument_all()
    atheris.Setup(sys.argv, once)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
