"""The measurement of hovers points where names are, and asks a real server; no time is looked at."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.hover.latency import line, measure_all, names
from tests.lsp.editor import BROKEN


def test_names_are_found_in_the_units_of_the_protocol() -> None:
    assert list(names("s = '😀'; y = s\n")) == [(0, 0), (0, 10), (0, 14)]


async def test_the_first_hover_over_a_tensor_is_told_apart(tmp_path: Path) -> None:
    program = tmp_path / "train.py"
    program.write_text(BROKEN, encoding="utf-8")
    [measured] = await measure_all([program])
    # The names are torch, which is no tensor, x twice, and y three times.
    assert (len(measured.first), len(measured.later), measured.silent) == (1, 4, 1)


@pytest.mark.parametrize(("taken", "said"), [([], "hovers: 0"), ([1.0, 3.0], "hovers: 2, median 2.0 ms, p95")])
def test_the_line_of_figures(taken: list[float], said: str) -> None:
    assert line("hovers", taken).startswith(said)
