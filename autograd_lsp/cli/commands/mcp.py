"""`autograd-lsp mcp`: the commands as tools for coding agents, over the Model Context Protocol on stdio.

The package `mcp` speaks the protocol, and keeps standard output for it alone. What an agent reads to choose among the
tools, and to understand their answers, is in their docstrings and in the descriptions of their arguments.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeVar

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ToolAnnotations
from pydantic import Field

from autograd_lsp import __version__
from autograd_lsp.cli import agents
from autograd_lsp.cli.agents import Bounds
from autograd_lsp.cli.commands import rule as rule_command
from autograd_lsp.config import ConfigError
from autograd_lsp.files.sources import UnreadableError
from autograd_lsp.process.exits import CLEAN, UsageError

_INSTRUCTIONS = """\
Finds faults of PyTorch autograd in Python programs and notebooks, without running them and without torch: what
backward() will raise, gradients that go nowhere, training steps out of order, graphs that are kept in memory.
Call `check` after writing or changing code that trains; `why` with the traceback when torch has raised; `facts` or
`graph` to see what a tensor is. Lines and columns count from 1. Nothing is written: the `fixes` of a finding are edits
for you to make, alternatives, best first.
"""

Path = Annotated[str | None, Field(description="A Python file or notebook, relative to the root. Not with `program`.")]
Program = Annotated[str | None, Field(description="The text of a Python program, in the place of a path.")]
Name = Annotated[
    str | None,
    Field(description="The path that `program` would have, relative to the root: imports are looked up from there."),
]
Line = Annotated[int, Field(ge=1)]

T = TypeVar("T")


@dataclass
class Findings:
    version: int
    summary: str
    files: list[dict[str, Any]]
    left_out: int


@dataclass
class Facts:
    version: int
    files: list[dict[str, Any]]
    left_out: int


@dataclass
class Graph:
    graph: str


@dataclass
class Rules:
    rules: list[dict[str, str]]


def run(options: argparse.Namespace) -> int:
    root = os.path.realpath(options.root)
    try:
        os.chdir(root)
    except OSError as error:
        raise UsageError(f"{options.root}: {error.strerror or error}") from error
    server = MCPServer("autograd-lsp", instructions=_INSTRUCTIONS, version=__version__, log_level="ERROR")
    hints = ToolAnnotations(read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False)
    tools = _Tools(Bounds(root, options.read_anywhere))
    for tool in (tools.check, tools.facts, tools.why, tools.graph, tools.rule):
        server.add_tool(tool, description=" ".join((tool.__doc__ or "").split()), annotations=hints)
    server.run("stdio")
    return CLEAN


@dataclass(frozen=True)
class _Tools:
    bounds: Bounds

    def check(
        self,
        paths: Annotated[
            list[str] | None, Field(description="Files or folders, relative to the root. Not with `program`.")
        ] = None,
        program: Program = None,
        name: Name = None,
        select: Annotated[
            list[str] | None, Field(description="Only these rules: codes (AG104), names, or prefixes (AG1).")
        ] = None,
        ignore: Annotated[list[str] | None, Field(description="Not these rules.")] = None,
    ) -> Findings:
        """Find faults of PyTorch autograd in files, folders or the text of a program, without running anything.

        Each finding has `code`, `name`, `severity`, `message`, `range` (what to edit), `raises` (where torch raises,
        and what; null for silent harm), `related`, `assumes` and `fixes`. An `error` raises in every run that gets
        there; a `warning` may raise, or harms training in silence; `info` is waste. `backwards` lists the calls of
        backward() that could not be followed to the end: where there are some, no findings says little. Files about
        which there is nothing to say are not listed; `left_out` counts the findings beyond those that are.
        """
        return _told(lambda: Findings(**agents.findings(self.bounds, paths or (), program, name, select, ignore)))

    def facts(
        self,
        path: Path = None,
        line: Annotated[Line | None, Field(description="Only what this line binds.")] = None,
        program: Program = None,
        name: Name = None,
    ) -> Facts:
        """Tell what is known of each tensor that a program binds, right after the line that binds it: requires_grad,
        is_leaf, grad_fn, shape and dtype.

        null means that it is not known; anything else holds in every run. `unknown` lists names of which nothing is
        known, and `since` where. `left_out` counts the facts beyond those that are listed: ask for one line.
        """
        return _told(lambda: Facts(**agents.facts(self.bounds, path, program, name, line)))

    def why(
        self,
        traceback: Annotated[str, Field(description="The traceback, or a log in which it stands.")],
        program: Annotated[
            str | None, Field(description="The script or notebook that was run, if the traceback does not lead to it.")
        ] = None,
    ) -> dict[str, Any]:
        """Explain an exception that PyTorch's autograd has raised, from its traceback and the program's files.

        `cause` is the line that caused it, which is seldom the one that raised; `trace` leads from there to the
        exception; `fixes` are edits; `certainty` is `certain` or `likely`, and `others` are less likely causes. With
        `found` false, `said` tells what the text is about instead.
        """
        return _told(lambda: agents.why(self.bounds, traceback, program))

    def graph(
        self,
        line: Annotated[Line, Field(description="The line at which to look.")],
        path: Path = None,
        tensor: Annotated[
            str | None, Field(description="A name on that line; default: the tensor it is about.")
        ] = None,
        format: Annotated[Literal["text", "mermaid", "dot"], Field(description="How it is written.")] = "text",
        program: Program = None,
    ) -> Graph:
        """Show the autograd graph behind a tensor at one line: its nodes down to the leaves, what each of them has
        saved for backward, and what of that was freed or modified since."""
        return _told(lambda: Graph(agents.graph(self.bounds, path, program, line, tensor, format)))

    def rule(
        self,
        rule: Annotated[str | None, Field(description="A code (AG104) or a name; without it, all are listed.")] = None,
    ) -> Rules:
        """Explain a rule: what it reports and what it does not, with programs that show the fault and the fix. Without
        a rule, list the codes, names and summaries of all."""
        return _told(lambda: Rules(_rules(rule)))


def _rules(word: str | None) -> list[dict[str, str]]:
    pages = [rule_command.as_json(rule) for rule in rule_command.named(word)]
    return pages if word is not None else [{key: page[key] for key in ("code", "name", "summary")} for page in pages]


def _told(work: Callable[[], T]) -> T:
    """What is wrong with a question is for the agent to read; any other exception is a defect of ours."""
    try:
        return agents.answered(work)
    except (UsageError, UnreadableError, ConfigError) as error:
        raise ToolError(str(error)) from error
