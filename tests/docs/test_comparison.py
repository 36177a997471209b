"""The table of the page on other tools is of the corpus as it is, and adds up."""

from __future__ import annotations

import re

from tests.corpus.labels import corpus
from tests.corpus.peers import TOOLS, Found, count
from tests.docs.pages import DOCS, read

PAGE = read(DOCS / "comparison.md")
ROWS = re.findall(r"^\| ([\w-]+) [\w.]+[^|]*\| (\d+) \| (\d+) \| (\d+) \|$", PAGE, re.MULTILINE)


def test_the_table_is_of_this_corpus() -> None:
    programs = list(corpus())
    faulty = [program for program in programs if not program.is_right]
    [(_, wrong, right)] = re.findall(
        r"^(\d{4}-\d\d-\d\d); (\d+) faulty programs, (\d+) right ones$", PAGE, re.MULTILINE
    )
    assert (int(wrong), int(right)) == (len(faulty), len(programs) - len(faulty))
    for _, on_the_line, told_apart, flagged in ROWS:
        assert int(told_apart) <= int(on_the_line) <= int(wrong)
        assert int(flagged) <= int(right)


def test_the_tools_are_those_that_are_measured() -> None:
    names = [name for name, *_ in ROWS]
    assert names[0] == "autograd-lsp" and set(names) <= {tool.name for tool in TOOLS} and len(names) > 4


def test_a_finding_counts_on_a_line_of_the_fault_and_by_what_the_twin_lacks() -> None:
    programs = [program for program in corpus(("a",)) if "003_forward_under_no_grad_block" in program.name]
    broken = next(program for program in programs if not program.is_right)
    assert broken.truth.at is not None
    line, path = broken.truth.at.number, f"a/{broken.path.name}"
    hit, elsewhere = Found(path, line, "X1"), Found(path, 1, "X1")
    same = Found(path.replace("_broken", "_fixed"), 1, "X1")
    counts = [count(programs, found) for found in ([], [elsewhere], [hit], [hit, same])]
    assert [one.on_the_line for one in counts] == [0, 0, 1, 1]
    assert [one.told_apart for one in counts] == [0, 0, 1, 0]
    assert [one.right_with_findings for one in counts] == [0, 0, 0, 1]
