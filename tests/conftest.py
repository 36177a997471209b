"""Options that every test shares."""

from __future__ import annotations

import pytest

from tests.support.analyzer import WAYS, Way


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--analyzer`: through which door the tests ask."""
    parser.addoption("--analyzer", choices=WAYS, default="host", help="how tests reach the analyzer")


@pytest.fixture(scope="session")
def way(request: pytest.FixtureRequest) -> Way:
    """The door that `--analyzer` names."""
    chosen: Way = request.config.getoption("--analyzer")
    return chosen
