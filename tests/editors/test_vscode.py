"""What a user of VS Code sees: squiggle, Problems, hover, quick fix, status, and advice where there is no server."""

from __future__ import annotations

import re
import sys
import venv
from pathlib import Path
from typing import TYPE_CHECKING

from autograd_lsp import __version__
from autograd_lsp.text.urls import rule_page

if TYPE_CHECKING:
    from tests.editors.workbench import Window

BROKEN = """\
import torch

x = torch.ones(3, requires_grad=True)
y = x.exp()
y.add_(1)
y.sum().backward()
"""
CHOSEN = "select => select.selectedOptions[0]?.textContent"
FIXED = BROKEN.replace("y.add_(1)", "y = y.add(1)")


def test_a_fault_is_underlined_listed_explained_and_fixed(window: Window) -> None:
    page, file = window.page, "fault.py"
    window.open(file, BROKEN)
    squiggle = window.editor(file).locator(".squiggly-error")
    squiggle.first.wait_for()
    window.shoot("squiggle")

    page.keyboard.press("Control+Shift+M")
    # The files of other tests are listed too.
    wanted = page.get_by_placeholder(re.compile(r"^Filter.*\*\*"))
    wanted.fill(file)
    files = page.locator(".markers-panel .monaco-list-row[aria-level='1']")
    window.wait_until(lambda: [file in name for name in files.all_inner_texts()] == [True], f"only {file} is listed")
    row = page.locator(".markers-panel .monaco-list-row", has_text="AG104").first
    row.wait_for()
    assert {"autograd-lsp", "AG104"} <= set(row.inner_text().split("\n"))
    assert rule_page("saved-tensor-modified") in row.inner_html()
    page.locator(".markers-panel .monaco-list-row", has_text="saved its result here").wait_for()
    window.shoot("problems")

    assert "ExpBackward0" in window.hover(file, "y", 6, "requires_grad")
    window.shoot("hover")

    fix = page.locator(".action-widget .monaco-list-row", has_text="out-of-place")

    def open_fixes() -> None:
        window.put_cursor(file, "add_", 5)
        window.end_hover()
        page.keyboard.press("Control+.")
        fix.first.wait_for()

    window.insist(open_fixes)
    window.shoot("quick-fix-offered")
    fix.first.click()
    squiggle.first.wait_for(state="detached")
    page.locator(".markers-panel .monaco-list-row", has_text=file).first.wait_for(state="detached")
    window.shoot("quick-fix-applied")
    wanted.fill("")
    window.put_cursor(file, "x", 3)
    page.keyboard.press("Control+S")
    window.wait_until(lambda: (window.folder / file).read_text(encoding="utf-8") == FIXED, "the fixed file is saved")


def test_the_status_item_names_version_and_interpreter(window: Window) -> None:
    page, file = window.page, "status.py"
    window.open(file, BROKEN)
    window.wait_for_server(file)
    state = page.locator(".hover-language-status", has_text=f"autograd-lsp {__version__}").first

    def look() -> None:
        page.locator("#status\\.languageStatus").hover()
        state.wait_for()

    window.insist(look)
    assert sys.executable in state.inner_text()
    window.shoot("status")
    state.get_by_text("Show Output").click()
    channel = page.locator(".part.panel select.monaco-select-box").first
    window.wait_until(lambda: channel.evaluate(CHOSEN) == "autograd-lsp", "the output of autograd-lsp is shown")
    window.shoot("output")


def test_an_interpreter_without_the_server_is_told_with_a_way_on(window: Window, tmp_path: Path) -> None:
    venv.create(tmp_path / "bare")
    bare = tmp_path / "bare.sh"
    # Isolated, so that not even PYTHONPATH leads to the package.
    bare.write_text(f'#!/bin/sh\nexec "{tmp_path}/bare/bin/python" -I "$@"\n', encoding="utf-8")
    bare.chmod(0o755)
    window.open("bare.py", BROKEN)
    window.wait_for_server("bare.py")
    window.set(**{"autograd-lsp.interpreter": str(bare)})
    toast = window.page.locator(".notifications-toasts .notification-list-item")
    message = toast.filter(has_text=f"autograd-lsp is not installed for {bare}")
    message.wait_for()
    window.shoot("not-installed")
    message.get_by_role("button", name="Copy Install Command").click()
    copied = toast.filter(has_text=f"{bare} -m pip install autograd-lsp")
    copied.wait_for()
    window.shoot("install-command")

    # The interpreter of before, and the server is back.
    window.editor("bare.py").locator(".squiggly-error").first.wait_for(state="detached")
    window.set()
    copied.get_by_role("button", name="Restart Server").click()
    window.wait_for_server("bare.py")
    window.shoot("running")
