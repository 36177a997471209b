"""The cause of a fault is learnt by hovering where torch raises."""

from __future__ import annotations

import pytest

from tests.corpus.labels import corpus
from tests.hover.causes import tells_cause, told
from tests.lsp.editor import editing
from tests.support.analyzer import Line

HERE = Line("main.py", 7)


def test_a_card_without_a_finding_tells_nothing() -> None:
    assert not [*told("**`y`**: tensor\n\n- line 3: it was detached\n", HERE)]


def test_the_lines_are_those_of_the_trace_with_their_files() -> None:
    card = "**error AG104** saved-tensor-modified: ...\n\n- line 3: the cause\n- net.py line 12: `exp` saved it\n"
    assert [*told(card, HERE)] == [HERE, Line("main.py", 3), Line("net.py", 12)]


@pytest.mark.parametrize(("name", "expected"), [("003_", True), ("009_", False)])
async def test_who_points_at_the_line_learns_it(name: str, expected: bool) -> None:
    [program] = [one for one in corpus(("a",), (name,)) if one.causes]
    async with editing() as editor:
        assert await tells_cause(editor, program) is expected
