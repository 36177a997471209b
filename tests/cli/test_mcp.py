"""`autograd-lsp mcp`, asked by the client of the package that it is built with: its answers, errors, and bounds."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from autograd_lsp.cli import agents
from tests.cli.command import BROKEN, FIXED, REPOSITORY, check_json, run
from tests.docs.shown import TRACEBACK

mcp = pytest.importorskip("mcp.client", reason="needs the package mcp, of the extra `mcp`")
stdio = pytest.importorskip("mcp.client.stdio")

PAGE = (REPOSITORY / "docs" / "integrations.md").read_text(encoding="utf-8")
IMPORTING = "import torch\nfrom model import cost\ncost(torch.ones(3, requires_grad=True)).backward()\n"
MODEL = "def cost(x):\n    y = x.exp()\n    y.add_(1)\n    return y.sum()\n"


class Agent:
    def __init__(self, client: Any) -> None:
        self.client = client

    async def ask(self, tool: str, **arguments: Any) -> Any:
        """The structured answer; the text says the same."""
        result = await self.client.call_tool(tool, arguments)
        assert not result.is_error, result.content
        assert json.loads(result.content[0].text) == result.structured_content
        return result.structured_content

    async def refused(self, tool: str, **arguments: Any) -> str:
        result = await self.client.call_tool(tool, arguments)
        assert result.is_error
        return str(result.content[0].text).removeprefix(f"Error executing tool {tool}: ")


@asynccontextmanager
async def agent(folder: Path, *options: str, cwd: Path | None = None) -> AsyncIterator[Agent]:
    parameters = stdio.StdioServerParameters(
        command=sys.executable,
        args=["-m", "autograd_lsp", "mcp", *options],
        cwd=cwd or folder,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
    )
    async with mcp.Client(stdio.stdio_client(parameters)) as client:
        yield Agent(client)


async def test_the_tools_say_what_they_take_and_that_they_only_read(tmp_path: Path) -> None:
    async with agent(tmp_path) as one:
        tools = {tool.name: tool for tool in (await one.client.list_tools()).tools}
    assert sorted(tools) == ["check", "facts", "graph", "rule", "why"]
    for tool in tools.values():
        assert tool.description and tool.annotations.read_only_hint and tool.output_schema["type"] == "object"
        assert not tool.annotations.destructive_hint
    taken = {name: {*tool.input_schema["properties"]} for name, tool in tools.items()}
    assert taken["check"] == {"paths", "program", "name", "select", "ignore"}
    assert tools["why"].input_schema["required"] == ["traceback"]
    for tool in tools.values():
        assert all("description" in field for field in tool.input_schema["properties"].values()), tool.name


CONFIGURATIONS = [json.loads(block) for block in re.findall(r"```json\n([\s\S]*?)```", PAGE)]


@pytest.mark.parametrize("configuration", CONFIGURATIONS)
async def test_the_configurations_of_the_page_start_it(tmp_path: Path, configuration: dict[str, Any]) -> None:
    [servers] = configuration.values()
    started = servers["autograd-lsp"]
    arguments = [word.replace("${workspaceFolder}", str(tmp_path)) for word in started["args"]]
    assert (started["command"], arguments[0]) == ("autograd-lsp", "mcp")
    async with agent(tmp_path, *arguments[1:]) as one:
        rows = re.findall(r"^\| `(\w+)` \| [^|]+ \| [^|]+ \|$", PAGE, re.MULTILINE)
        assert {tool.name for tool in (await one.client.list_tools()).tools} <= {*rows}
    assert f"{agents.MOST_FINDINGS} findings or {agents.MOST_FACTS} facts" in PAGE


async def test_files_are_checked_as_by_the_command(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(BROKEN)
    (tmp_path / "fine.py").write_text(FIXED)
    _, document = check_json("train.py", cwd=tmp_path)
    async with agent(tmp_path) as one:
        told = await one.ask("check", paths=["."])
        assert [file["findings"] for file in told["files"]] == [document["files"][0]["findings"]] and told["files"]
        assert told["left_out"] == 0
        assert told["summary"] == "1 finding in 2 files: 1 error"
        assert (await one.ask("check", paths=["train.py"], ignore=["AG104"]))["files"] == []
        assert (await one.ask("check", paths=["train.py"], select=["AG1"]))["summary"].endswith(": 1 error")


async def test_a_text_is_checked_where_it_would_lie(tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "model.py").write_text(MODEL)
    async with agent(tmp_path) as one:
        told = await one.ask("check", program=IMPORTING, name="parts/train.py")
        assert [file["path"] for file in told["files"]] == [os.path.join("parts", "model.py")]
        assert (await one.ask("check", program=IMPORTING))["summary"] == "0 findings in 1 file"
    assert sorted(os.listdir(tmp_path)) == ["parts"]


async def test_facts_and_graphs(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(BROKEN)
    async with agent(tmp_path) as one:
        told = await one.ask("facts", path="train.py", line=3)
        [fact] = told["files"][0]["facts"]
        assert (fact["name"], fact["grad_fn"], fact["shape"]) == ("y", ["ExpBackward0"], [3])
        assert told == await one.ask("facts", program=BROKEN, name="train.py", line=3)
        assert len((await one.ask("facts", program=BROKEN))["files"][0]["facts"]) > 1
        drawn = (await one.ask("graph", path="train.py", line=4))["graph"]
        assert drawn + "\n" == run("graph", "train.py:4", cwd=tmp_path).stdout
        assert drawn == (await one.ask("graph", program=BROKEN, line=4))["graph"]
        mermaid = await one.ask("graph", program=BROKEN, line=4, tensor="y", format="mermaid")
        assert mermaid["graph"].startswith(("flowchart", "graph"))


async def test_why_and_rules(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("\n" * 37 + BROKEN)
    async with agent(tmp_path) as one:
        told = await one.ask("why", traceback=TRACEBACK.format(path="/elsewhere/train.py"))
        assert (told["found"], told["code"], told["certainty"], told["cause"]["line"]) == (True, "AG104", "certain", 41)
        told = await one.ask("why", traceback="all went well")
        assert told == {"version": 1, "found": False, "said": "no traceback in the text"}
        [page] = (await one.ask("rule", rule="saved-tensor-modified"))["rules"]
        assert page["code"] == "AG104" and "## Reported" in page["page"]
        listed = (await one.ask("rule"))["rules"]
        assert len(listed) > 30 and all({*row} == {"code", "name", "summary"} for row in listed)


async def test_a_wrong_question_is_answered_with_what_is_wrong(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(BROKEN)
    (tmp_path / "bytes.py").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "book.ipynb").write_text("{}")
    async with agent(tmp_path) as one:
        assert await one.refused("check") == "give either a path or the text of a program"
        assert (
            await one.refused("check", paths=["train.py"], program="") == "give either a path or the text of a program"
        )
        assert (await one.refused("check", paths=["absent.py"])).startswith("absent.py: no such file or folder")
        assert "did you mean `AG104`?" in await one.refused("rule", rule="AG1x04")
        assert "there is no rule" in await one.refused("check", program="", select=["nothing"])
        assert await one.refused("graph", path="train.py", line=99) == "train.py has 6 lines"
        assert await one.refused("graph", path="train.py", line=1) == "nothing is known about a tensor at train.py:1"
        assert await one.refused("graph", path=".", line=1) == ". is a folder"
        assert "notebook" in await one.refused("graph", path="book.ipynb", line=1)
        assert (await one.refused("facts", path="bytes.py")).startswith("bytes.py: cannot read this file")
        assert "greater than or equal to 1" in await one.refused("facts", path="train.py", line=0)
        assert (await one.ask("check", paths=["train.py"]))["summary"] == "1 finding in 1 file: 1 error"


async def test_nothing_outside_of_the_root_is_read(tmp_path: Path) -> None:
    """Not by its path, through a link, by an import, as a program, or where a traceback leads."""
    root, other = tmp_path / "root", tmp_path / "other"
    root.mkdir()
    other.mkdir()
    (other / "secret.py").write_text(BROKEN)
    (other / "model.py").write_text(MODEL)
    (root / "link.py").symlink_to(other / "secret.py")
    (root / "model.py").symlink_to(other / "model.py")
    (root / "train.py").write_text(IMPORTING)
    traceback = TRACEBACK.replace("42", "5").format(path=other / "secret.py")
    async with agent(root, "--root", str(root), cwd=other) as one:
        for path in ("../other/secret.py", str(other / "secret.py"), "link.py", "../other", "\0"):
            assert "lies outside of" in await one.refused("check", paths=[path])
            assert "lies outside of" in await one.refused("facts", path=path)
            assert "lies outside of" in await one.refused("graph", path=path, line=3)
            assert "lies outside of" in await one.refused("why", traceback=traceback, program=path)
            assert "lies outside of" in await one.refused("check", program="", name=path)
        assert (await one.ask("check", paths=["."]))["summary"] == "0 findings in 1 file"
        assert (await one.ask("why", traceback=traceback))["cause"] is None
    async with agent(root, "--read-anywhere") as one:
        assert (await one.ask("check", paths=["."]))["summary"] == "2 findings in 3 files: 2 errors"
        assert (await one.ask("why", traceback=traceback))["cause"]["line"] == 4


async def test_a_long_answer_ends_and_says_so(tmp_path: Path) -> None:
    step = "    x = torch.ones(3, requires_grad=True)\n    y = x.exp()\n    y.add_(1)\n    y.sum().backward()\n"
    many = "import torch\n" + "".join(f"def f{n}():\n{step}" for n in range(60))
    tensors = "import torch\n" + "".join(f"x{n} = torch.ones(3)\n" for n in range(210))
    async with agent(tmp_path) as one:
        told = await one.ask("check", program=many)
        assert (len(told["files"][0]["findings"]), told["left_out"]) == (25, 35)
        told = await one.ask("facts", program=tensors)
        assert (len(told["files"][0]["facts"]), told["left_out"]) == (200, 10)


def test_standard_output_is_for_the_protocol_alone(tmp_path: Path) -> None:
    """And the server ends with its input."""
    (tmp_path / "train.py").write_text(BROKEN)
    client = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "0"}}
    asked = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": client},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "check", "arguments": {"paths": ["."]}}},
    ]
    process = subprocess.Popen(
        [sys.executable, "-m", "autograd_lsp", "mcp"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdin is not None and process.stdout is not None
    process.stdin.write(b"".join(json.dumps(message).encode() + b"\n" for message in asked))
    process.stdin.flush()
    answers = [json.loads(process.stdout.readline()) for _ in range(2)]
    rest, complaints = process.communicate(timeout=60)
    assert [answer["id"] for answer in answers] == [1, 2]
    assert answers[1]["result"]["structuredContent"]["summary"] == "1 finding in 1 file: 1 error"
    assert (process.returncode, rest, complaints) == (0, b"", b"")


def test_a_root_that_is_not_there_is_bad_usage(tmp_path: Path) -> None:
    done = run("mcp", "--root", "absent", cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", "autograd-lsp: absent: No such file or directory\n")
