"""The tables of the pages hold what the server serves, what tests show of it, and what the VS Code client offers."""

from __future__ import annotations

import pytest

from tests.editors.served import COLUMNS, PUSHED, TESTED, functions, served
from tests.project.settings import SETTINGS, of_the_server
from tests.project.tables import DOCS, PICTURE, TABLES, parts, picture


@pytest.mark.parametrize("name", TABLES)
def test_the_page_has_the_table(name: str) -> None:
    assert parts((DOCS / name).read_text(encoding="utf-8"))[1] == TABLES[name](), "`make update` creates it"


def test_the_picture_is_the_one_that_is_drawn_now() -> None:
    assert PICTURE.read_text(encoding="utf-8") == picture(), "`make update` draws it"


def test_the_table_has_what_the_server_registers() -> None:
    assert TESTED.keys() - {PUSHED} == served()


@pytest.mark.parametrize("method", TESTED)
def test_each_has_a_test_and_the_tests_are_there(method: str) -> None:
    assert TESTED[method], "nothing shows that it is served"
    assert TESTED[method].keys() <= set(COLUMNS)
    for test in TESTED[method].values():
        file, _, name = test.partition("::")
        assert name in functions(file), test


def test_the_settings_of_the_server_are_offered_with_its_defaults() -> None:
    assert {name: SETTINGS[name]["default"] for name in of_the_server()} == of_the_server()
