"""Inlay hints, code lenses and notebook cells in VS Code, as far as the server offers them."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from tests.editors.test_vscode import BROKEN

if TYPE_CHECKING:
    from tests.editors.workbench import Window

ASKED = {
    "notebookDocument": {"synchronization": {}},
    "textDocument": {"inlayHint": {}, "codeLens": {}, "publishDiagnostics": {}},
}

HALF = """import torch
body, head = torch.nn.Linear(3, 2), torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD([*body.parameters(), *head.parameters()], lr=0.1)
loss = body(torch.ones(4, 3)).sum()
loss.backward()
optimizer.step()
"""


@pytest.fixture(scope="module")
def offer() -> dict[str, Any]:
    """What the server says it can do, to a client that knows of it all."""
    params = {"processId": None, "rootUri": None, "capabilities": ASKED}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}).encode()
    command = (sys.executable, "-m", "autograd_lsp", "server", "--stdio")
    message = b"Content-Length: %d\r\n\r\n%b" % (len(body), body)
    # The input ends after the question, and with it the server.
    done = subprocess.run(command, input=message, capture_output=True, check=True, timeout=60)
    answer: dict[str, Any] = json.loads(done.stdout.partition(b"\r\n\r\n")[2])
    capabilities: dict[str, Any] = answer["result"]["capabilities"]
    return capabilities


def needs(capability: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("offered", [capability], indirect=True, ids=[""])


@pytest.fixture
def offered(offer: dict[str, Any], request: pytest.FixtureRequest) -> None:
    if not offer.get(request.param):
        pytest.skip(f"the server does not offer {request.param}")


@needs("inlayHintProvider")
def test_inlay_hints_stand_in_the_line(offered: None, window: Window) -> None:
    window.open("hints.py", BROKEN)
    length = len("".join(BROKEN.split()))
    window.wait_until(lambda: len("".join(window.text("hints.py").split())) > length, "more is painted than is written")
    window.shoot("inlay-hints")


@needs("codeLensProvider")
def test_code_lenses_stand_above_the_line(offered: None, window: Window) -> None:
    window.open("lens.py", HALF)
    lens = window.editor("lens.py").locator(".codelens-decoration a").first
    lens.wait_for()
    assert lens.inner_text().replace("\u00a0", " ") == "reaches 2 of 4 parameters: not `head.weight`, `head.bias`"
    window.shoot("code-lens")


@needs("notebookDocumentSync")
def test_a_fault_in_a_cell_is_underlined(offered: None, window: Window) -> None:
    half = BROKEN.index("y.add_")
    cells = [
        {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": source}
        for source in (BROKEN[:half], BROKEN[half:])
    ]
    notebook = {"cells": cells, "metadata": {"language_info": {"name": "python"}}, "nbformat": 4, "nbformat_minor": 5}
    (window.folder / "cells.ipynb").write_text(json.dumps(notebook), encoding="utf-8")
    entry = window.page.locator(".explorer-folders-view .monaco-list-row", has_text="cells.ipynb")

    def open_notebook() -> None:
        """Before the extension for notebooks is there, it opens as text."""
        window.close_editors()
        entry.dblclick()
        window.page.locator(".notebookOverlay .cell .monaco-editor .view-line").first.wait_for()

    window.insist(open_notebook)
    window.page.locator(".notebookOverlay .squiggly-error").first.wait_for()
    window.shoot("cell")
