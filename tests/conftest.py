"""Options that every test shares."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.support.analyzer import WAYS, Way

if TYPE_CHECKING:
    from playwright.sync_api import Browser


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--analyzer`: through which door the tests ask; `--no-torch`: what `make quick` leaves out."""
    parser.addoption("--analyzer", choices=WAYS, default="host", help="how tests reach the analyzer")
    parser.addoption(
        "--no-torch", action="store_true", help="snippets: the analyzer's side alone, against the comments"
    )


@pytest.fixture(scope="session")
def way(request: pytest.FixtureRequest) -> Way:
    """The door that `--analyzer` names."""
    chosen: Way = request.config.getoption("--analyzer")
    return chosen


@pytest.fixture(scope="session", autouse=True)
def own_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What tests keep on the disk, and what they read there, is not the user's; nor is that of what they start."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        patch.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.mktemp("config")))
        yield


@pytest.fixture(scope="session")
def chromium() -> str:
    from tests.editors.installs import are_wanted
    from tests.editors.tools import find_chromium

    if not are_wanted():
        pytest.skip("`make test-editors` runs the tests in a browser")
    found = find_chromium()
    if found is None:
        pytest.skip("there is no Chromium on the PATH")
    pytest.importorskip("playwright", reason="`make test-editors` installs what drives the browser")
    return found


@pytest.fixture(scope="session")
def browser(chromium: str) -> Iterator[Browser]:
    """One for all tests: what drives it can be started once in a process."""
    from playwright.sync_api import expect, sync_playwright

    from tests.editors.workbench import PATIENCE

    expect.set_options(timeout=PATIENCE * 1000)
    # Chromium has no sandbox for root, and containers have little shared memory.
    switches = ["--no-sandbox", "--disable-dev-shm-usage"]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=switches)
        yield browser
        browser.close()
