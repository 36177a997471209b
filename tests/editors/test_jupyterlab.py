"""What a user of JupyterLab sees: the server is found where it is installed, and speaks of the cells of notebooks."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from autograd_lsp.jupyter import NAME
from tests.editors.conftest import SHOTS
from tests.editors.pages import snippets
from tests.editors.tools import find_jupyter

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

CELLS = (
    "%matplotlib inline\nimport torch\n\nx = torch.ones(3, requires_grad=True)\ny = x.exp()",
    "# the second cell\ny.add_(1)\ny.sum().backward()",
    "nobody_knows",
)
OURS = ["`y.add_(1)` modifies in place what `x.exp()` saved for backward", "AG104", "Error", "autograd-lsp", "2", "1:0"]
THEIRS = ["undefined name 'nobody_knows'", "", "Error", "pyflakes", "3", "0:0"]
RANKED, BOTH = snippets("JupyterLab", "json", "more-editors.md")
PATIENCE = 60_000
"""Milliseconds."""

Open = Callable[..., "Page"]


@pytest.fixture(scope="module")
def programs() -> Path:
    found = find_jupyter()
    if isinstance(found, str):
        pytest.skip(found)
    return found


@pytest.fixture
def open_notebook(programs: Path, browser: Browser, tmp_path: Path) -> Iterator[Open]:
    """JupyterLab with the notebook and these files of its configuration, in a window."""
    from tests.editors.workbench import free_port, wait_until

    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "fault.ipynb").write_text(json.dumps(notebook()), encoding="utf-8")
    variables = {name: value for name, value in os.environ.items() if not name.startswith(("JUPYTER", "PYTHON"))}
    variables |= {"HOME": str(tmp_path), "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}
    started: list[subprocess.Popen[bytes]] = []

    def open_it(**files: str) -> Page:
        for name, text in files.items():
            path = tmp_path / ".jupyter" / PLACES[name]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        port = free_port()
        command = (
            "jupyter-lab",
            "--no-browser",
            "--allow-root",
            f"--ServerApp.port={port}",
            "--IdentityProvider.token=",
        )
        with (tmp_path / "log").open("wb") as log:
            started.append(
                subprocess.Popen(
                    [str(programs / command[0]), *command[1:]],
                    cwd=tmp_path / "work",
                    env=variables,
                    stdout=log,
                    stderr=log,
                )
            )
        wait_until(lambda: is_up(port) or started[-1].poll() is not None, "JupyterLab answers")
        assert started[-1].poll() is None, (tmp_path / "log").read_text(encoding="utf-8")
        page = browser.new_context(viewport={"width": 1400, "height": 850}).new_page()
        page.set_default_timeout(PATIENCE)
        page.goto(f"http://127.0.0.1:{port}/lab/tree/fault.ipynb")
        return page

    yield open_it
    for process in started:
        process.terminate()
        process.wait(timeout=PATIENCE / 1000)


PLACES = {
    "server": "jupyter_server_config.json",
    "settings": "lab/user-settings/@jupyter-lsp/jupyterlab-lsp/plugin.jupyterlab-settings",
    "theme": "lab/user-settings/@jupyterlab/apputils-extension/themes.jupyterlab-settings",
    "news": "lab/user-settings/@jupyterlab/apputils-extension/notification.jupyterlab-settings",
}
"""The files of JupyterLab's configuration."""
NO_NEWS = json.dumps({"fetchNews": "false", "checkForUpdates": False})


def notebook() -> dict[str, Any]:
    cells = [
        {
            "cell_type": "code",
            "id": f"cell-{number}",
            "metadata": {},
            "execution_count": None,
            "outputs": [],
            "source": text,
        }
        for number, text in enumerate(CELLS)
    ]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}


def is_up(port: int) -> bool:
    from urllib.request import urlopen

    try:
        with urlopen(f"http://127.0.0.1:{port}/api", timeout=5) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


def underlined(page: Page, cell: int) -> str:
    found = page.locator(".jp-Cell").nth(cell - 1).locator(".cm-lintRange-error")
    found.first.wait_for()
    return "".join(found.all_inner_texts())


def listed(page: Page, message: str) -> list[list[str]]:
    """What the diagnostics panel shows, once a message is there."""
    page.keyboard.press("Control+Shift+C")
    page.locator(".lm-CommandPalette-input").fill("Show diagnostics panel")
    page.locator(".lm-CommandPalette-item", has_text="Show diagnostics panel").first.click()
    rows = page.locator(".lsp-diagnostics-listing tbody tr")
    rows.filter(has_text=message).first.wait_for()
    return [[cell.strip() for cell in row.split("\t")] for row in rows.all_inner_texts()]


@pytest.mark.parametrize("theme", ["Light", "Dark"])
def test_a_fault_is_underlined_and_listed(open_notebook: Open, theme: str) -> None:
    colours = json.dumps({"theme": f"JupyterLab {theme}"})
    page = open_notebook(settings=RANKED, theme=colours, news=NO_NEWS)
    assert underlined(page, 2) == "y.add_(1)"
    page.keyboard.down("Control")
    page.locator(".jp-Cell").nth(1).get_by_text("backward").hover()
    page.locator(".lsp-hover", has_text="backward").wait_for()
    page.screenshot(path=SHOTS / "jupyterlab" / f"{theme.lower()}-hover.png")
    page.keyboard.up("Control")
    assert listed(page, OURS[0]) == [OURS]
    page.screenshot(path=SHOTS / "jupyterlab" / f"{theme.lower()}.png")


def test_another_server_for_python_stays(open_notebook: Open) -> None:
    page = open_notebook(news=NO_NEWS)
    assert underlined(page, 3) == "nobody_knows"
    rows = listed(page, THEIRS[0])
    assert THEIRS in rows and OURS not in rows


def test_one_program_speaks_for_two_servers(open_notebook: Open) -> None:
    page = open_notebook(server=BOTH, news=NO_NEWS)
    assert underlined(page, 2) == "y.add_(1)"
    rows = listed(page, OURS[0])
    assert OURS in rows and THEIRS in rows


def test_jupyter_lsp_takes_what_it_is_told(programs: Path) -> None:
    told = subprocess.run([str(programs / "python"), "-c", ASK], capture_output=True, text=True, check=True).stdout
    assert json.loads(told) == {"names": [NAME], "faults": []}


ASK = """
import json
from importlib.metadata import entry_points
from jupyter_lsp.constants import EP_SPEC_V1
from jupyter_lsp.schema import LANGUAGE_SERVER_SPEC_MAP
[ours] = [one for one in entry_points(group=EP_SPEC_V1) if one.dist.name == "autograd-lsp"]
told = ours.load()(None)
print(json.dumps({"names": list(told), "faults": [str(one) for one in LANGUAGE_SERVER_SPEC_MAP.iter_errors(told)]}))
"""
