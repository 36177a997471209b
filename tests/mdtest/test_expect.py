"""How the comments of a snippet are read."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.mdtest.expect import Raise, Report, allows, expectations, without_expectations
from tests.mdtest.snippets import Case, in_markdown

TEXT = """\
x = f("# error: [no]")  # a remark
y = x  # error: [rule-a]  # raises when flag=True: RuntimeError "say: \\"so\\""
reveal(y)  # revealed: leaf=True shape=(2, ?) grad_fn=A|none
"""


def test_comments_are_read_and_strings_are_not() -> None:
    found = expectations(TEXT)
    assert found.reports == (Report(2, "error", "rule-a"),)
    assert found.raises == (Raise(2, "RuntimeError", 'say: \\"so\\"', Case("flag=True")),)
    assert found.revealed[0].fields == {"is_leaf": "True", "shape": "(2, ?)", "grad_fn": "A|none"}


def test_a_comment_that_means_to_expect_and_does_not_is_refused() -> None:
    with pytest.raises(ValueError, match="cannot read"):
        expectations("y = 1  # error: saved-tensor-modified\n")


def test_expectations_can_be_taken_off() -> None:
    assert without_expectations('x = 1  # keep\ny = 2  # error: [a]  # raises: E "m"\n') == "x = 1  # keep\ny = 2\n"


@pytest.mark.parametrize(
    ("said", "value", "allowed"),
    [
        ("(2,?)", (2, 7), True),
        ("(2,?)", (3, 7), False),
        ("()", (), True),
        ("A|none", "none", True),
        ("A|none", "B", False),
        ("True", True, True),
        ("?", False, True),
    ],
)
def test_a_concrete_value_is_allowed_or_not(said: str, value: object, allowed: bool) -> None:
    assert allows(said, value) == allowed


def test_fences_carry_cases_and_fixes(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text('# One\n```python cases="n=1, m=2; n=2"\na\n```\n```python fixed\nb\n```\n```text\nc\n```\n')
    broken, fixed = in_markdown(page)
    assert (broken.heading, broken.line, broken.text) == ("One", 3, "a\n")
    assert [case.names for case in broken.cases] == [{"n": "1", "m": "2"}, {"n": "2"}]
    assert broken.cases[0].satisfies(Case("m=2"))
    assert (fixed.fixes, fixed.broken) == (1, broken)
