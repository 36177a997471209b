"""What a user of marimo sees: its pylsp asks flake8, which has our plugin, about all cells as one program."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.editors.conftest import SHOTS
from tests.editors.pages import snippets
from tests.editors.tools import find_jupyter

if TYPE_CHECKING:
    from playwright.sync_api import Browser

NOTEBOOK = """\
import marimo

app = marimo.App()


@app.cell
def _():
    import torch

    x = torch.ones(3, requires_grad=True)
    y = x.exp()
    return (y,)


@app.cell
def _(y):
    y.add_(1)
    y.sum().backward()
    return


if __name__ == "__main__":
    app.run()
"""
PATIENCE = 60_000
"""Milliseconds."""


def test_a_fault_is_underlined_in_its_cell(browser: Browser, tmp_path: Path) -> None:
    from tests.editors.workbench import free_port, is_up, wait_until

    programs = find_jupyter()
    if isinstance(programs, str):
        pytest.skip(programs)
    [settings] = snippets("marimo", "toml", "more-editors.md")
    for name, text in (("home/.config/marimo/marimo.toml", settings), ("work/fault.py", NOTEBOOK)):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    variables = {name: value for name, value in os.environ.items() if not name.startswith(("XDG_", "PYTHON"))}
    variables |= {"HOME": str(tmp_path / "home"), "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}
    address = f"127.0.0.1:{free_port()}"
    switches = ("--headless", "--no-token", "--skip-update-check", "--port", address.partition(":")[2])
    with (tmp_path / "log").open("wb") as log:
        marimo = subprocess.Popen(
            [str(programs / "marimo"), "edit", "fault.py", *switches],
            cwd=tmp_path / "work",
            env=variables,
            stdout=log,
            stderr=log,
        )
    try:
        wait_until(lambda: is_up(address) or marimo.poll() is not None, "marimo answers")
        assert marimo.poll() is None, (tmp_path / "log").read_text(encoding="utf-8")
        page = browser.new_context(viewport={"width": 1400, "height": 850}).new_page()
        page.set_default_timeout(PATIENCE)
        page.goto(f"http://{address}/")
        fault = page.locator(".cm-lintRange", has_text="y.add_(1)")
        fault.first.hover()
        page.locator(".cm-diagnostic", has_text="AG104").first.wait_for()
        page.screenshot(path=SHOTS / "marimo" / "fault.png")
    finally:
        marimo.terminate()
        marimo.wait(timeout=PATIENCE / 1000)
