"""Write `docs/features.md`: which options and requests autograd-lsp, ruff, ty and basedpyright have, as each says.

python -m tools.compare_features     # with `ruff`, `ty`, `basedpyright` and `basedpyright-langserver` on the PATH

Options are read from what `--help` prints, requests from what a server answers to `initialize`.
"""

from __future__ import annotations

import datetime
import json
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

PAGE = Path(__file__).resolve().parents[1] / "docs" / "features.md"
OURS = (sys.executable, "-P", "-m", "autograd_lsp")

CHECKS: dict[str, Sequence[str]] = {
    "autograd-lsp": (*OURS, "check", "--help"),
    "ruff": ("ruff", "check", "--help"),
    "ty": ("ty", "check", "--help"),
    "basedpyright": ("basedpyright", "--help"),
}
SERVERS: dict[str, Sequence[str]] = {
    "autograd-lsp": (*OURS, "server"),
    "ruff": ("ruff", "server"),
    "ty": ("ty", "server"),
    "basedpyright": ("basedpyright-langserver", "--stdio"),
}
VERSIONS: dict[str, Sequence[str]] = {
    "autograd-lsp": (*OURS, "--version"),
    **{name: (name, "--version") for name in ("ruff", "ty", "basedpyright")},
}

SAME: dict[str, Mapping[str, str]] = {
    "--baseline": {"basedpyright": "--baselinefile"},
    "--fail-on": {"ty": "--error-on-warning", "basedpyright": "--warnings"},
    "--format": {"basedpyright": "--outputjson"},
    "--jobs": {"basedpyright": "--threads"},
    "--no-config": {"ruff": "--isolated"},
    "--no-respect-gitignore": {"ruff": "--respect-gitignore", "ty": "--respect-ignore-files"},
    "--output-format": {"basedpyright": "--outputjson"},
    "--select": {"ty": "--error"},
    "--show-settings": {"basedpyright": "--verbose"},
    "--statistics": {"basedpyright": "--stats"},
    "--write-baseline": {"ty": "--update-baseline", "basedpyright": "--writebaseline"},
}
"""What does the same under another name."""

REQUESTS = {
    "positionEncoding": "positions in UTF-8 or UTF-32",
    "notebookDocumentSync": "notebookDocument/*",
    "completionProvider": "textDocument/completion",
    "hoverProvider": "textDocument/hover",
    "signatureHelpProvider": "textDocument/signatureHelp",
    "declarationProvider": "textDocument/declaration",
    "definitionProvider": "textDocument/definition",
    "typeDefinitionProvider": "textDocument/typeDefinition",
    "implementationProvider": "textDocument/implementation",
    "referencesProvider": "textDocument/references",
    "documentHighlightProvider": "textDocument/documentHighlight",
    "documentSymbolProvider": "textDocument/documentSymbol",
    "workspaceSymbolProvider": "workspace/symbol",
    "codeActionProvider": "textDocument/codeAction",
    "codeLensProvider": "textDocument/codeLens",
    "documentFormattingProvider": "textDocument/formatting",
    "documentRangeFormattingProvider": "textDocument/rangeFormatting",
    "documentOnTypeFormattingProvider": "textDocument/onTypeFormatting",
    "renameProvider": "textDocument/rename",
    "foldingRangeProvider": "textDocument/foldingRange",
    "selectionRangeProvider": "textDocument/selectionRange",
    "callHierarchyProvider": "textDocument/prepareCallHierarchy",
    "typeHierarchyProvider": "textDocument/prepareTypeHierarchy",
    "semanticTokensProvider": "textDocument/semanticTokens",
    "inlayHintProvider": "textDocument/inlayHint",
    "diagnosticProvider": "textDocument/diagnostic",
    "executeCommandProvider": "workspace/executeCommand",
}
"""By what a server offers in its answer to `initialize`."""

INTRODUCTION = """\
# Options and requests, beside other tools

Which options `check` has, and which requests the server answers, beside ruff, ty and basedpyright: as each of them says
in `--help` and in its answer to `initialize`. Written by `python -m tools.compare_features` on {date}, with {versions}.

What a tool has says nothing of what it finds; for that see [how the tool compares](comparison.md).

## Options of check

"""


def options(command: Sequence[str]) -> dict[str, None]:
    """The long options, in the order of the help."""
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    heads = [line for line in shown.splitlines() if re.match(r"\s{2,6}-", line)]
    return dict.fromkeys(name for head in heads for name in re.findall(r"(?<![\w-])--[a-z][\w-]*", head))


def option_rows(found: Mapping[str, Mapping[str, None]]) -> Iterator[list[str]]:
    """One for each option of ours, then one for each other."""
    ours, *others = found
    met: dict[str, set[str]] = {name: set() for name in others}
    for option in found[ours]:
        row = [f"`{option}`", "yes"]
        for name in others:
            theirs = option if option in found[name] else SAME.get(option, {}).get(name, "")
            if theirs in found[name]:
                met[name].add(theirs)
                row.append("yes" if theirs == option else f"`{theirs}`")
            else:
                row.append("")
        yield row
    rest = {option for name in others for option in found[name] if option not in met[name]}
    for option in sorted(rest):
        yield [
            f"`{option}`",
            "",
            *("yes" if option in found[name] and option not in met[name] else "" for name in others),
        ]


CAPABILITIES: dict[str, Any] = {
    "general": {"positionEncodings": ["utf-8", "utf-16"]},
    "notebookDocument": {"synchronization": {}},
    "textDocument": {
        **{name: {} for name in ("completion", "hover", "codeLens", "callHierarchy", "inlayHint", "diagnostic")},
        **{name: {"linkSupport": True} for name in ("definition", "typeDefinition")},
        "codeAction": {"codeActionLiteralSupport": {"codeActionKind": {"valueSet": ["quickfix", "source.fixAll"]}}},
        "semanticTokens": {
            "requests": {"range": True, "full": True},
            **{name: [] for name in ("tokenTypes", "tokenModifiers", "formats")},
        },
    },
}
"""Of a client that can do everything, and wants it offered at once."""


def offered(command: Sequence[str]) -> set[str]:
    """What a server answers to `initialize`."""
    params = {"processId": None, "rootUri": PAGE.parent.as_uri(), "capabilities": CAPABILITIES}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}).encode()
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as server:
        assert server.stdin is not None and server.stdout is not None
        server.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        server.stdin.flush()
        message: dict[str, Any] = {}
        while message.get("id") != 1 or "result" not in message:
            length = 0
            while line := server.stdout.readline().strip():
                if line.lower().startswith(b"content-length:"):
                    length = int(line.partition(b":")[2])
            message = json.loads(server.stdout.read(length))
        server.kill()
    answer: dict[str, Any] = message["result"]["capabilities"]
    named = {name for name in REQUESTS if answer.get(name) not in (None, False)}
    return named - ({"positionEncoding"} if answer.get("positionEncoding") in (None, "utf-16") else set())


def table(head: Sequence[str], rows: Iterator[list[str]]) -> str:
    return "".join("| " + " | ".join(row) + " |\n" for row in [list(head), ["---"] * len(head), *rows])


def main() -> None:
    versions = [
        subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()[0]
        for command in VERSIONS.values()
    ]
    date = datetime.datetime.now(tz=datetime.timezone.utc).date().isoformat()
    requests = {name: offered(command) for name, command in SERVERS.items()}
    rows = (
        [f"`{request}`" if "/" in request else request, *("yes" if name in has else "" for has in requests.values())]
        for name, request in REQUESTS.items()
        if any(name in has for has in requests.values())
    )
    PAGE.write_text(
        INTRODUCTION.format(date=date, versions=", ".join(versions))
        + table(["option", *CHECKS], option_rows({name: options(command) for name, command in CHECKS.items()}))
        + "\n## Requests of the server\n\n"
        + table(["request", *SERVERS], rows),
        encoding="utf-8",
    )


if __name__ == "__main__":
    main()
