"""Hostile checkouts, made by kind and seed, and what must hold whatever they are.

    python -m tests.security.hostile 0 100          # the inputs of seeds 0 to 99, a table by kind

Each input is a folder, a command that is run in it and what that is fed. It holds if no code of the folder has run, the
command ends within `SECONDS` and `MEGABYTES` and prints no traceback, and what it prints holds nothing that a terminal
or a runner would obey. A conversation with the server ends with a question about a sound file, which a fresh server
would answer alike.
"""

from __future__ import annotations

import json
import os
import pickle
import random
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tests.cli.command import BROKEN, REPOSITORY
from tests.security.programs import EXPRESSIONS, LOOPS, STATEMENTS

SECONDS, MEGABYTES = 10.0, 500.0

TRACE = "open({place!r}, 'a').write(__name__ + chr(10))\n"
ANSWER = "`y.add_(1)` modifies in place what `x.exp()` saved"
ESCAPES = (
    "\x1b[2J",
    "\x1b]0;t\x07",
    "\x9b1A",
    "\r",
    "\b",
    "\u202e",
    "\n::error::x",
    "##[group]x",
    "`![x](https://a.b)",
)
OBEYED = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]|##\[|^\s*::", re.MULTILINE)
WORDS = (
    "def", "class", "if", "else:", "for", "while", "try:", "except", "with", "match", "case", "lambda", "return", "x",
    "=", "==", "(", ")", "[", "]", "{", "}", ":", ",", ".", "\n", "\n    ", "\n        ", "'", '"""', "f'", "{x}", "\\",
    "#", "@", "*", "**", "->", "async", "await", "yield", "import", "from", "torch", "1", "0x", "1e", "\t", "\x00", "é",
    "\ufeff", "%", "!", "?", "$", ";", "global", "del", "not", "in", "is", "and", "or", "None", "...",
)  # fmt: skip
LARGE = ("10**9", "10**18", "10**4000", "-10**9", "2**62", "9" * 5000, "1e308", "float('nan')", "'x' * 10**9")
MAKERS = (
    "torch.zeros({n})", "torch.zeros({n}, {n})", "torch.arange({n})", "[0] * {n}", "range({n})", "'x'.ljust({n})",
    "1 << {n}", "pow(3, {n})", "math.factorial({n})", "f'{{1:>{n}}}'", "torch.randn(3).repeat({n})", "bytes({n})",
    "torch.ones(2, 2).expand({n}, 2, 2)", "'%{n}d' % 3", "round(1, {n})", "str({n})", "int('9' * {n})", "hash({n})",
)  # fmt: skip
TAKERS = (
    "{v}", "list({v})", "len({v})", "sum({v})", "{v}.unbind(0)", "{v}.split(1)", "{v}.chunk({n})", "max({v})",
    "[i for i in {v}]", "{v}[::{n}]", "tuple({v}) * {n}", "str({v}) * {n}", "{v} ** {n}", "torch.stack(list({v}))",
    "list(itertools.product({v}, repeat={n}))", "{v}.tolist()", "sorted({v})", "','.join(map(str, {v}))",
    "dict(enumerate({v}))",
)  # fmt: skip


@dataclass(frozen=True)
class Input:
    """`feed` is standard input. A conversation opens a sound file at its end."""

    command: tuple[str, ...]
    feed: bytes = b""
    is_conversation: bool = False


Kind = Callable[[random.Random, Path], Input]


def importable() -> list[str]:
    return sorted({*sys.stdlib_module_names, "rich", "jedi", "parso", "pygls", "lsprotocol", "attrs", "analyzers"})


def planted(dice: random.Random, folder: Path) -> Input:
    """Modules that others import."""
    code = TRACE.format(place=str(folder.parent / "trace"))
    for name in [*dice.sample(importable(), 40), "sitecustomize", "usercustomize", "conftest", "setup"]:
        path = folder / f"{name}.py" if dice.random() < 0.7 else folder / name / "__init__.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text(code)
    (folder / "train.py").write_text(BROKEN)
    return Input(dice.choice([("check",), ("check", "--jobs", "2"), ("facts", "train.py"), ("check", "--fix")]))


def caches(dice: random.Random, folder: Path) -> Input:
    """Entries of a cache that say anything at all."""
    (folder / "train.py").write_text(BROKEN)
    place = folder.parent / "cache"
    subprocess.run(_command(("check",)), cwd=folder, env=_environment(folder), capture_output=True, check=False)
    entries = [path for path in sorted(place.rglob("*")) if path.is_file()]
    evil = pickle.dumps(os.system) + b"(S'touch x'\ntR."
    for path in entries:
        data = path.read_bytes()
        match dice.randrange(4):
            case 0:
                path.write_bytes(dice.randbytes(dice.randrange(200)))
            case 1:
                path.write_bytes(_damaged(dice, data))
            case 2:
                path.write_bytes(evil)
            case 3:
                path.unlink()
                os.mkfifo(path)
    return Input(("check",))


def files(dice: random.Random, folder: Path) -> Input:
    """Names that belong to pipes, folders, links, devices, and bytes that are no text."""
    (folder / "train.py").write_text(BROKEN)
    for name in dice.sample(
        ["a.py", "b.ipynb", ".gitignore", "pyproject.toml", "autograd-lsp.toml", "c.py", "d.pth"], 4
    ):
        path = folder / name
        match dice.randrange(7):
            case 0:
                os.mkfifo(path)
            case 1:
                path.symlink_to("/dev/zero")
            case 2:
                path.mkdir()
            case 3:
                path.symlink_to(name)
            case 4:
                path.write_bytes(dice.randbytes(dice.randrange(3_000)))
            case 5:
                path.write_bytes(
                    b"# coding: %s\nx = 1\n" % dice.choice([b"idna", b"punycode", b"utf-7", b"utf-32", b"x", b"rot13"])
                )
            case 6:
                path.write_bytes(b"x" * dice.choice([10, 10**6, 70 * 10**6]))
    (folder / ".git").mkdir()
    return Input(("check", "--no-cache", *(("--baseline", "a.py") if dice.random() < 0.1 else ())))


def patterns(dice: random.Random, folder: Path) -> Input:
    parts = ("*", "**", "a", "/", "?", "[a-z]", "[!", "]", "\\", "!", "b.py", "***", "[[:alpha:]]")
    lines = ["".join(dice.choices(parts, k=dice.randrange(1, 80))) for _ in range(dice.randrange(1, 40))]
    (folder / "aaa").mkdir()
    (folder / "aaa" / ("a" * 100 + ".py")).write_text(BROKEN)
    (folder / ".git").mkdir()
    (folder / ".gitignore").write_text("\n".join(lines))
    (folder / "autograd-lsp.toml").write_text(f"exclude = {json.dumps(lines)}\n")
    return Input(("check", "--no-cache"))


def constants(dice: random.Random, folder: Path) -> Input:
    lines = ["import torch, math, itertools"]
    for _ in range(dice.randrange(1, 6)):
        made = dice.choice(MAKERS).format(n=dice.choice(LARGE))
        lines.append(f"v = {made}")
        lines += [f"v = {dice.choice(TAKERS).format(v='v', n=dice.choice(LARGE))}" for _ in range(dice.randrange(3))]
    (folder / "train.py").write_text("\n".join(lines) + "\n" + BROKEN)
    return Input(("check", "--no-cache"))


def control_flow(dice: random.Random, folder: Path) -> Input:
    table = dice.choice([STATEMENTS, EXPRESSIONS, LOOPS])
    name = dice.choice(sorted(table))
    (folder / "train.py").write_text(table[name](dice.randrange(10, 20 if table is LOOPS else 120)))
    return Input(("check", "--no-cache"))


def broken_text(dice: random.Random, folder: Path) -> Input:
    match dice.randrange(4):
        case 0:
            text = " ".join(dice.choices(WORDS, k=dice.randrange(1, 4_000)))
        case 1:
            text = " ".join(dice.choices(WORDS, k=dice.randrange(1, 6))) * dice.randrange(1, 3_000)
        case 2:
            opening = dice.choice(
                ["(", "[", "{", "if x:\n", "x = (\n", "def f():\n ", "'''", "lambda: ", "not ", "f'{"]
            )
            text = opening * dice.randrange(1, 5_000)
        case _:
            text = _damaged(dice, BROKEN.encode() * dice.randrange(1, 30)).decode("utf-8", "replace")
    (folder / "train.py").write_bytes(text.encode("utf-8", "replace"))
    return Input(dice.choice([("check", "--no-cache"), ("facts", "train.py"), ("graph", "train.py:1")]))


def logs(dice: random.Random, folder: Path) -> Input:
    parts = (
        "Traceback (most recent call last):\n", '  File "train.py", line 5, in <module>\n', "    y.sum().backward()\n",
        "RuntimeError: one of the variables needed for gradient computation has been modified by an inplace ope",
        "ration: [torch.FloatTensor [3]] is at version 1; expected version 0 instead\n", "x" * 5_000, "\x00", "\r",
        "During handling of the above exception, another exception occurred:\n", "│ train.py:3 in f │\n", "❱ 3 x\n",
        "╭── Traceback (most recent call last) ─╮\n", "╰──╯\n", "----> 5 x\n", "E   x\n", "> x\n", "train.py:3: in f\n",
        "RuntimeError      Traceback (most recent call last)\n", "Cell In[3], line 5\n", "\x1b[31m", "\x1b]",
        '  File "/etc/passwd.py", line 1, in f\n', '  File "../../a.py", line 99999999, in f\n', "[rank0]: ",
        *ESCAPES,
    )  # fmt: skip
    (folder / "train.py").write_text(BROKEN)
    text = "".join(dice.choices(parts, k=dice.randrange(1, 30))) * dice.choice([1, 1, 3, 100, 2_000])
    return Input(dice.choice([("why",), ("why", "--all"), ("why", "--json")]), text[:3_000_000].encode())


def sinks(dice: random.Random, folder: Path) -> Input:
    evil = "".join(dice.choices(ESCAPES, k=3)).replace("/", "")
    name = evil.replace("\x00", "") + ".py"
    text = BROKEN.replace("y = x.exp()", f"d = {{{evil!r}: x}}\ny = d[{evil!r}].exp()  # {evil!r}")
    (folder / name).write_text(text, encoding="utf-8")
    if dice.random() < 0.3:
        (folder / "pyproject.toml").write_text(f"[tool.autograd-lsp]\n{json.dumps(evil)} = 1\n")
    return Input(("check", "--no-cache", "--format", dice.choice(["text", "json", "sarif", "gitlab", "junit"])))


def notebooks(dice: random.Random, folder: Path) -> Input:
    cells = [{"cell_type": "code", "source": line} for line in BROKEN.splitlines(keepends=True)]
    for cell in cells:
        if dice.random() < 0.3:
            cell["source"] = dice.choice(
                ["%time x", "!ls", "%%bash\nx", "x?", " y", "'''", None, 3, [[]], {"a": 1}, "%" * 999]
            )
    data = json.dumps(
        {"cells": cells, "metadata": dice.choice([{}, [], None, {"language_info": 3}]), "nbformat": 4}
    ).encode()
    (folder / "learn.ipynb").write_bytes(data if dice.random() < 0.5 else _damaged(dice, data))
    return Input(("check", "--no-cache", *(("--fix",) if dice.random() < 0.3 else ())))


def settings(dice: random.Random, folder: Path) -> Input:
    (folder / "train.py").write_text(BROKEN + "# autograd-lsp: ignore[" + "".join(dice.choices("AG1,] [", k=30)) + "\n")
    values = [
        "1",
        "[]",
        "'x'",
        "{a = 1}",
        "[" * 300 + "]" * 300,
        "['*" + "a*" * 200 + "']",
        "1979-05-27",
        "nan",
        "'" + "x" * 9_999 + "'",
    ]
    keys = ["exclude", "select", "ignore", "severity", "per-file-ignores", "python", "extend", "zz", '"a\\nb"']
    lines = [f"{dice.choice(keys)} = {dice.choice(values)}" for _ in range(dice.randrange(1, 4))]
    text = "[tool.autograd-lsp]\n" + "\n".join(lines)
    data = text.encode() if dice.random() < 0.7 else _damaged(dice, text.encode())
    (folder / "pyproject.toml").write_bytes(data)
    return Input(("check", "--no-cache"))


def baselines(dice: random.Random, folder: Path) -> Input:
    (folder / "train.py").write_text(BROKEN)
    sound = json.dumps({"version": 1, "files": {"train.py": [{"code": "AG104", "fingerprint": "x"}]}}).encode()
    data = dice.choice([_damaged(dice, sound), b"[" * 100_000, b"{}", b"null", b'{"version": 1, "files": [3]}'])
    (folder / "known.json").write_bytes(data)
    return Input(("check", "--no-cache", "--baseline", "known.json"))


def links(dice: random.Random, folder: Path) -> Input:
    """What `--fix` would write through."""
    outside = folder.parent / "outside.py"
    outside.write_text(BROKEN)
    (folder / "a.py").symlink_to(outside)
    (folder / "b.py").symlink_to("a.py")
    (folder / "train.py").write_text(BROKEN)
    if dice.random() < 0.5:
        (folder / "c").symlink_to(folder.parent, target_is_directory=True)
    return Input(("check", "--no-cache", dice.choice(["--fix", "--diff"]), "."))


def protocol(dice: random.Random, folder: Path) -> Input:
    """A conversation of which only the beginning and the end are sound."""
    uri = (folder / "train.py").as_uri()
    (folder / "train.py").write_text(BROKEN)
    said: list[bytes] = [_message("initialize", {"processId": None, "capabilities": {}, "rootUri": folder.as_uri()}, 1)]
    said.append(_message("initialized", {}))
    methods = (
        "textDocument/hover", "textDocument/codeAction", "textDocument/didChange", "autograd/graph", "x/y",
        "textDocument/diagnostic", "workspace/didChangeConfiguration", "$/cancelRequest", "textDocument/didOpen",
        "notebookDocument/didOpen", "workspace/executeCommand", "textDocument/inlayHint", "initialize",
    )  # fmt: skip
    document = {"uri": uri}
    shapes: tuple[object, ...] = (
        None, [], {}, 3, {"textDocument": document}, {"settings": [[[]]]}, {"id": 1},
        {"textDocument": {"uri": "x:" + "y" * 999}, "position": 3},
        {"textDocument": {**document, "version": -1, "languageId": "x", "text": 3}},
        {"textDocument": {**document, "version": 5}, "contentChanges": [{"range": {"start": {"line": -1}}}]},
        {"textDocument": document, "position": {"line": 10**12, "character": -5}},
    )  # fmt: skip
    lengths = (b"abc", b"4", b"-1", b"99999999999", b"0x10", b"")
    bodies = (b"null", b"{[}}", b"[[[[", b"\xff\xfe\n ", b"\r\n\r\n")
    for number in range(dice.randrange(1, 30)):
        match dice.randrange(3):
            case 0:
                said.append(b"Content-Length: %b\r\n\r\n%b" % (dice.choice(lengths), dice.choice(bodies)[:4]))
            case 1:
                said.append(_message(dice.choice(methods), dice.choice(shapes), number + 100))
            case _:
                said.append(_message(dice.choice(methods), dice.choice(shapes)))
    opened = {"uri": (folder / "sound.py").as_uri(), "languageId": "python", "version": 1, "text": BROKEN}
    said.append(_message("textDocument/didOpen", {"textDocument": opened}))
    return Input(("server",), b"".join(said), is_conversation=True)


KINDS: dict[str, Kind] = {
    kind.__name__.replace("_", " "): kind
    for kind in (planted, caches, files, patterns, constants, control_flow, broken_text, logs, sinks, notebooks,
                 settings, baselines, links, protocol)
}  # fmt: skip


def failure(kind: str, seed: int) -> str | None:
    """What does not hold of one input."""
    with tempfile.TemporaryDirectory(prefix="hostile-") as scratch:
        folder = Path(scratch).resolve() / "project"
        folder.mkdir()
        made = KINDS[kind](random.Random(f"{kind} {seed}"), folder)
        ended = _run(made, folder)
        return f"takes longer than {SECONDS:g} s" if ended is None else complaint(made, ended, folder)


@dataclass(frozen=True)
class Ended:
    code: int
    out: str
    told: str
    megabytes: float


def _run(made: Input, folder: Path) -> Ended | None:
    """None where it does not end in time. A conversation ends once the sound file's diagnostics have come."""
    out, told = folder.parent / "out", folder.parent / "told"
    with out.open("wb") as stdout, told.open("wb") as stderr:
        process = subprocess.Popen(
            _command(made.command), cwd=folder, env=_environment(folder), stdin=subprocess.PIPE, stdout=stdout,
            stderr=stderr,
        )  # fmt: skip
    assert process.stdin is not None
    with suppress(BrokenPipeError):
        process.stdin.write(made.feed)
        process.stdin.flush()
    if not made.is_conversation:
        with suppress(BrokenPipeError):
            process.stdin.close()
    until = time.monotonic() + SECONDS
    peak = 0.0
    while process.poll() is None:
        peak = max(peak, _peak(process.pid))
        if made.is_conversation and ANSWER.encode() in out.read_bytes():
            process.kill()
        elif time.monotonic() > until:
            process.kill()
            process.wait()
            return None
        time.sleep(0.01)
    texts = (path.read_bytes().decode("utf-8", "replace") for path in (out, told))
    return Ended(process.returncode, *texts, peak)


def _peak(process: int) -> float:
    """Megabytes that a process has taken at most, where Linux tells that."""
    try:
        found = re.search(r"^VmHWM:\s+(\d+) kB", Path(f"/proc/{process}/status").read_text(), re.MULTILINE)
    except OSError:
        return 0.0
    return int(found[1]) / 1024 if found is not None else 0.0


def complaint(made: Input, ended: Ended, folder: Path) -> str | None:
    outside, trace = folder.parent / "outside.py", folder.parent / "trace"
    if trace.exists():
        return f"ran {trace.read_text().split()[0]}"
    if outside.exists() and outside.read_text() != BROKEN:
        return "wrote through a link"
    if ended.megabytes > MEGABYTES:
        return f"takes {ended.megabytes:.0f} MB"
    if made.is_conversation:
        return None if ANSWER in ended.out else "the server does not answer any more"
    if "Traceback" in ended.told:
        return ended.told.strip().splitlines()[-1]
    if ended.code not in (0, 1, 2):
        return f"ends with {ended.code}"
    obeyed = OBEYED.search(ended.out + ended.told)
    return None if obeyed is None else f"prints {obeyed[0]!r}"


def _message(method: str, params: object, number: int | None = None) -> bytes:
    content = {"jsonrpc": "2.0", "method": method, "params": params, **({} if number is None else {"id": number})}
    body = json.dumps(content).encode()
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


def _damaged(dice: random.Random, data: bytes) -> bytes:
    result = bytearray(data)
    for _ in range(dice.randrange(1, 10)):
        at = dice.randrange(len(result) + 1)
        match dice.randrange(3):
            case 0:
                del result[at : at + dice.randrange(20)]
            case 1:
                result[at:at] = dice.randbytes(dice.randrange(1, 6))
            case 2:
                result[at:at] = result[: dice.randrange(200)] * dice.randrange(3)
    return bytes(result)


def _command(arguments: tuple[str, ...]) -> list[str]:
    start = f"import sys; sys.path[:0] = [{str(REPOSITORY)!r}]; from autograd_lsp.cli import main; sys.exit(main())"
    return [sys.executable, "-I", "-c", start, *arguments]


def _environment(folder: Path) -> dict[str, str]:
    kept = {
        name: value for name, value in os.environ.items() if name not in {"PYTHONPATH", "VIRTUAL_ENV", "GITHUB_ACTIONS"}
    }
    return {**kept, "XDG_CACHE_HOME": str(folder.parent / "cache"), "PYTHONIOENCODING": "utf-8"}


def inputs(first: int, last: int) -> Iterator[tuple[str, int]]:
    """Each seed is of one kind, the kinds by turns."""
    names = list(KINDS)
    return ((names[seed % len(names)], seed) for seed in range(first, last))


def main() -> int:
    first, last = map(int, sys.argv[1:3])
    tried: Counter[str] = Counter()
    failed: Counter[str] = Counter()
    for kind, seed in inputs(first, last):
        tried[kind] += 1
        told = failure(kind, seed)
        if told is not None:
            failed[kind] += 1
            print(f"{kind} {seed}: {told}", flush=True)
    for kind in KINDS:
        print(f"| {kind} | {tried[kind]} | {failed[kind]} |")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
