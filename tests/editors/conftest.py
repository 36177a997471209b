"""One workbench and, as long as nothing fails, one window of it; each test brings its own files."""

from __future__ import annotations

import venv
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.editors.tools import REPOSITORY, Tools, find_tools

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from tests.editors.workbench import Window, Workbench

SHOTS = REPOSITORY / "build" / "screenshots"


@pytest.fixture(scope="session")
def tools() -> Tools:
    found = find_tools()
    if isinstance(found, str):
        pytest.skip(found)
    pytest.importorskip("playwright", reason="`make test-editors` installs what drives the browser")
    return found


@pytest.fixture(scope="session")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Python in which nothing is installed: the tests run on what the extension brings."""
    home = tmp_path_factory.mktemp("bare")
    venv.create(home)
    return home / "bin" / "python"


@pytest.fixture(scope="session")
def workbench(tools: Tools, bare: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workbench]:
    from tests.editors.workbench import serve

    with serve(tools, tmp_path_factory.mktemp("home"), bare, "--disable-workspace-trust") as workbench:
        yield workbench


@pytest.fixture(scope="session")
def opened() -> list[Window]:
    """The window that the last test has left, if it has passed."""
    return []


@pytest.fixture
def window(
    workbench: Workbench,
    browser: Browser,
    opened: list[Window],
    tmp_path_factory: pytest.TempPathFactory,
    request: pytest.FixtureRequest,
) -> Iterator[Window]:
    """With no editor open in it. A window is slow to come, so the next test gets it too."""
    from tests.editors.workbench import open_window

    window = opened.pop() if opened else open_window(browser, workbench, tmp_path_factory.mktemp("work"))
    window.shots, window.count = SHOTS / request.node.name, 0
    yield window
    if request.node.stash.get(PASSED, False):
        window.close_editors()
        opened.append(window)
    else:
        window.shoot("failed")
        window.page.context.close()


PASSED = pytest.StashKey[bool]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    report = yield
    if report.when == "call":
        item.stash[PASSED] = report.passed
    return report
