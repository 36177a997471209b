"""Inlay hints, code lenses, notebook cells, settings, and findings of files that are not open, in VS Code."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tests.editors.test_vscode import BROKEN

if TYPE_CHECKING:
    from tests.editors.workbench import Window

HALF = """import torch
body, head = torch.nn.Linear(3, 2), torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD([*body.parameters(), *head.parameters()], lr=0.1)
loss = body(torch.ones(4, 3)).sum()
loss.backward()
optimizer.step()
"""


def test_inlay_hints_stand_in_the_line(window: Window) -> None:
    window.open("hints.py", BROKEN)
    window.wait_until(lambda: "y: ExpBackward0 = x.exp()" in window.text("hints.py"), "the hint is painted")
    window.shoot("inlay-hints")


def test_a_code_lens_stands_above_the_line_and_opens_a_list(window: Window) -> None:
    window.open("lens.py", HALF)
    lens = window.editor("lens.py").locator(".codelens-decoration a").first
    lens.wait_for()
    assert lens.inner_text().replace("\u00a0", " ") == "reaches 2 of 4 parameters: not `head.weight`, `head.bias`"
    window.shoot("code-lens")

    listed = window.page.locator(".reference-zone-widget .ref-tree .monaco-list-row")

    def open_list() -> None:
        lens.click()
        listed.first.wait_for()

    window.insist(open_list)
    assert "torch.nn.Linear(2, 1)" in " ".join(listed.all_inner_texts()).replace("\u00a0", " ")
    window.shoot("list")


def test_a_file_that_is_not_open_is_among_the_problems(window: Window) -> None:
    (window.folder / "closed.py").write_text(BROKEN, encoding="utf-8")
    window.open("open.py", "import torch\n")
    window.page.keyboard.press("Control+Shift+M")
    window.page.locator(".markers-panel .monaco-list-row", has_text="closed.py").first.wait_for()
    window.shoot("problems")


def test_a_setting_holds_at_once(window: Window) -> None:
    window.open("ignored.py", BROKEN)
    squiggle = window.editor("ignored.py").locator(".squiggly-error").first
    squiggle.wait_for()
    window.set(**{"autograd-lsp.ignore": ["AG104"]})
    squiggle.wait_for(state="detached")
    window.set()
    squiggle.wait_for()


def test_a_fault_in_a_cell_is_underlined(window: Window) -> None:
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
