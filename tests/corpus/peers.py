"""`python -m tests.corpus.peers [TOOL...]`: other tools, over the corpus; prints the table of docs/comparison.md.

What is counted, for each tool, over the labelled programs:

- *on the line*: faulty programs with at least one finding, of any rule, on a line of the fault. These are the line
  where torch raises, the lines that a person would edit, and for silent harm the lines that are fair to report.
- *told apart*: those of them where a rule that speaks on a line of the fault is silent in the whole fixed twin.
- *right ones with findings*: right programs, fixed twins among them, with at least one finding, of any rule.

Each tool reports all it has: every rule switched on where that can be done, no configuration of this repository. It is
run on a copy, and sees the torch of this interpreter. Programs that are folders are counted as one. Tools that are not
on the PATH are left out.
"""

from __future__ import annotations

import argparse
import contextlib
import datetime
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.corpus.labels import CORPUS, PARTS, Labelled, corpus

REPOSITORY = CORPUS.parents[1]


@dataclass(frozen=True, slots=True)
class Found:
    """A finding of another tool; `path` counts from the copy of the corpus."""

    path: str
    line: int
    rule: str


@dataclass(frozen=True, slots=True)
class Tool:
    """`look` reads all files of a folder; `version` is the command that tells which version that was."""

    name: str
    options: str
    version: tuple[str, ...]
    look: Callable[[Path], list[Found]]


@dataclass(slots=True)
class Count:
    on_the_line: int = 0
    told_apart: int = 0
    right_with_findings: int = 0


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.corpus.peers", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("tool", nargs="*", help="only these")
    names = parser.parse_args().tool
    programs = list(corpus())
    faulty = [program for program in programs if not program.is_right]
    print(f"{datetime.datetime.now(datetime.timezone.utc):%Y-%m-%d}; {len(faulty)} faulty programs", end="")
    print(f", {len(programs) - len(faulty)} right ones\n")
    print("| tool | on the line | told apart | right ones with findings |", "|---|---|---|---|", sep="\n")
    for tool in TOOLS:
        if (not names or tool.name in names) and (number := version(tool)):
            with tempfile.TemporaryDirectory() as folder:
                root = _copied(Path(folder).resolve())
                row = count(programs, tool.look(root))
            what = f"{tool.name} {number}" + (f", `{tool.options}`" if tool.options else "")
            print(f"| {what} | {row.on_the_line} | {row.told_apart} | {row.right_with_findings} |", flush=True)


def count(programs: Sequence[Labelled], found: Sequence[Found]) -> Count:
    """The findings of one tool, against the labels."""
    by_program: dict[str, list[Found]] = {}
    for item in found:
        by_program.setdefault("/".join(Path(item.path).parts[:2]), []).append(item)
    result = Count()
    for program in programs:
        here = by_program.get(_key(program), [])
        if program.is_right:
            result.right_with_findings += bool(here)
            continue
        rules = {item.rule for item in here if (_within(program, item), item.line) in _lines(program)}
        twin = {item.rule for item in by_program.get(_key(program).replace("_broken", "_fixed"), [])}
        result.on_the_line += bool(rules)
        result.told_apart += bool(rules - twin)
    return result


def _key(program: Labelled) -> str:
    return f"{program.part}/{program.path.name}"


def _within(program: Labelled, item: Found) -> str:
    """The file as labels name it: from the folder of the program on."""
    parts = Path(item.path).parts
    return "/".join(parts[2:]) if program.path.is_dir() else parts[-1]


def _lines(program: Labelled) -> set[tuple[str, int]]:
    lines = {*program.causes, *(line for silent in program.silent for line in silent.lines)}
    if program.truth.at is not None:
        lines.add(program.truth.at)
    return {(line.file, line.number) for line in lines}


def _copied(root: Path) -> Path:
    """Programs alone, where no configuration lies above them."""
    for part in PARTS:
        shutil.copytree(CORPUS / part, root / part, ignore=shutil.ignore_patterns("*.json", "__pycache__"))
    return root


def version(tool: Tool) -> str | None:
    with contextlib.suppress(OSError):
        done = subprocess.run(tool.version, cwd=REPOSITORY, capture_output=True, text=True, check=False)
        told = re.search(r"\d+\.\d+[\w.]*", done.stdout)
        return told[0] if told else None
    return None


def _run(*command: str, cwd: Path) -> str:
    """Standard output; an exit code other than 0 says that there are findings."""
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY), "NO_COLOR": "1"}
    done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1) and not done.stdout:
        raise SystemExit(f"{command[0]} ends with {done.returncode}: {done.stderr[-2000:]}")
    return done.stdout


def _relative(path: str, root: Path) -> str:
    return os.path.relpath(root / path, root)


def _ours(root: Path) -> list[Found]:
    told = json.loads(_run(sys.executable, "-m", "autograd_lsp", "check", "--no-cache", "--format", "json", cwd=root))
    return [
        Found(_relative(file["path"], root), item["range"]["start"]["line"], item["code"])
        for file in told["files"]
        for item in file["findings"]
    ]


def _ruff(root: Path) -> list[Found]:
    options = ("--isolated", "--no-cache", "--preview", "--select", "ALL", "--output-format", "json")
    told = json.loads(_run("ruff", "check", *options, ".", cwd=root))
    return [Found(_relative(item["filename"], root), item["location"]["row"], item["code"] or "") for item in told]


def _pylint(root: Path) -> list[Found]:
    hook = f"import sys; sys.path.append({sysconfig.get_path('purelib')!r})"
    options = ("--rcfile=", "--init-hook", hook, "--enable=all", "--output-format=json2", "--recursive=y")
    told = json.loads(_run("pylint", *options, ".", cwd=root))
    return [Found(_relative(item["path"], root), item["line"], item["symbol"]) for item in told["messages"]]


def _torchfix(root: Path) -> list[Found]:
    return list(_in_lines(_run("torchfix", "--select=ALL", ".", cwd=root), r"(.+?):(\d+):\d+: (\w+) ", root))


def _pyright(root: Path) -> list[Found]:
    (root / "pyrightconfig.json").write_text(json.dumps({"typeCheckingMode": "strict"}), encoding="utf-8")
    told = json.loads(_run("pyright", "--outputjson", "--pythonpath", sys.executable, ".", cwd=root))
    return [
        Found(_relative(item["file"], root), item["range"]["start"]["line"] + 1, item.get("rule", item["severity"]))
        for item in told["generalDiagnostics"]
    ]


def _mypy(root: Path) -> list[Found]:
    """Files side by side at once, and each folder by itself: their entries have one name."""
    found: list[Found] = []
    for part in PARTS:
        files = sorted(path.name for path in (root / part).glob("*.py"))
        groups = [
            (root / part, files),
            *((path.parent, ["main.py"]) for path in sorted((root / part).glob("*/main.py"))),
        ]
        for folder, names in groups:
            options = ("--strict", "--config-file=", "--cache-dir", str(root / ".cache"), "--no-error-summary")
            told = _run("mypy", *options, "--python-executable", sys.executable, *names, cwd=folder)
            inner = _in_lines(told, r"(.+?):(\d+): error: .*\[([\w-]+)\]$", folder)
            found += [Found(_relative(str(folder / item.path), root), item.line, item.rule) for item in inner]
    return found


def _ty(root: Path) -> list[Found]:
    told = _run("ty", "check", "--python", sys.executable, "--output-format", "concise", "--exit-zero", ".", cwd=root)
    return list(_in_lines(told, r"(.+?):(\d+):\d+: \w+\[([\w-]+)\]", root))


def _pyrefly(root: Path) -> list[Found]:
    (root / "pyrefly.toml").write_text(f"python-interpreter-path = {json.dumps(sys.executable)}\n", encoding="utf-8")
    told = json.loads(_run("pyrefly", "check", "--output-format", "json", cwd=root))
    return [Found(_relative(item["path"], root), item["line"], item["name"]) for item in told["errors"]]


def _in_lines(told: str, pattern: str, root: Path) -> Iterator[Found]:
    for path, line, rule in re.findall(pattern, told, re.MULTILINE):
        yield Found(_relative(path, root), int(line), rule)


TOOLS = (
    Tool("autograd-lsp", "", (sys.executable, "-m", "autograd_lsp", "--version"), _ours),
    Tool("ruff", "--preview --select ALL", ("ruff", "--version"), _ruff),
    Tool("TorchFix", "--select=ALL", ("torchfix", "--version"), _torchfix),
    Tool("pyright", "typeCheckingMode: strict", ("pyright", "--version"), _pyright),
    Tool("mypy", "--strict", ("mypy", "--version"), _mypy),
    Tool("ty", "", ("ty", "--version"), _ty),
    Tool("pyrefly", "", ("pyrefly", "--version"), _pyrefly),
    Tool("pylint", "--enable=all", ("pylint", "--version"), _pylint),
)


if __name__ == "__main__":
    main()
