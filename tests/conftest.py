"""Options that every test shares."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.analyzer import WAYS, Way


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
