"""What a user of VS Code sees: squiggle, Problems, hover, quick fix, status, and advice where there is no server."""

from __future__ import annotations

import re
import sys
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


def test_the_status_item_names_version_interpreter_and_server(window: Window, bare: Path) -> None:
    page, file = window.page, "status.py"
    window.open(file, BROKEN)
    window.wait_for_server(file)
    state = page.locator(".hover-language-status", has_text=f"autograd-lsp {__version__}").first

    def look() -> None:
        page.locator("#status\\.languageStatus").hover()
        state.wait_for()

    window.insist(look)
    assert f"the extension's, on {bare}" in state.inner_text()
    window.shoot("status")
    state.get_by_text("Show Output").click()
    channel = page.locator(".part.panel select.monaco-select-box").first
    window.wait_until(lambda: channel.evaluate(CHOSEN) == "autograd-lsp", "the output of autograd-lsp is shown")
    window.shoot("output")


def test_a_server_that_is_installed_is_taken_where_a_setting_says_so(window: Window, bare: Path) -> None:
    window.open("own.py", BROKEN)
    window.wait_for_server("own.py")
    assert window.debug_information()["command"]["source"] == "bundled"
    # Where there is none, the extension's is better than nothing.
    for python, source in ((sys.executable, "environment"), (str(bare), "bundled")):
        settings = {"autograd-lsp.interpreter": python, "autograd-lsp.importStrategy": "fromEnvironment"}
        window.editor("own.py").locator(".squiggly-error").first.wait_for()
        window.set(**settings)
        wanted = {"program": python, "source": source}
        window.wait_until(lambda w=wanted: w.items() <= command_of(window).items(), f"{python} runs")  # type: ignore[misc]
    window.wait_for_server("own.py")


def command_of(window: Window) -> dict[str, object]:
    """Nothing while a server is being started."""
    command: dict[str, object] = window.debug_information().get("command") or {}
    return command


def test_an_interpreter_that_is_not_there_is_told_with_a_way_on(window: Window, tmp_path: Path) -> None:
    window.open("gone.py", BROKEN)
    window.wait_for_server("gone.py")
    window.set(**{"autograd-lsp.interpreter": str(tmp_path / "gone")})
    toast = window.page.locator(".notifications-toasts .notification-list-item")
    message = toast.filter(has_text=f"there is no Python at {tmp_path / 'gone'}")
    message.wait_for()
    window.shoot("no-interpreter")
    message.get_by_role("button", name="Select Interpreter").click()
    window.page.locator(".quick-input-widget:visible", has_text="The Python that runs autograd-lsp").wait_for()
    window.page.keyboard.press("Escape")

    # The interpreter of before, and the server is back.
    window.editor("gone.py").locator(".squiggly-error").first.wait_for(state="detached")
    window.set()
    window.wait_for_server("gone.py")


def test_fix_all_mends_what_can_be_mended_safely(window: Window) -> None:
    window.open("all.py", BROKEN)
    window.wait_for_server("all.py")
    window.put_cursor("all.py", "x", 3)
    window.run_command("Fix All Safe Faults")
    window.editor("all.py").locator(".squiggly-error").first.wait_for(state="detached")
    window.page.keyboard.press("Control+S")
    saved = window.folder / "all.py"
    window.wait_until(lambda: saved.read_text(encoding="utf-8") == FIXED, "the fixed file is saved")
