"""Two inputs of each hostile kind; `python -m tests.security.hostile` makes more. What does not hold is seen."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.security.hostile import ANSWER, KINDS, MEGABYTES, Ended, Input, complaint, failure

CHECK, SERVER = Input(("check",)), Input(("server",), is_conversation=True)


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("kind", KINDS)
def test_it_holds(kind: str, seed: int) -> None:
    assert failure(kind, seed) is None


@pytest.mark.parametrize(
    ("made", "ended", "said"),
    [
        (CHECK, Ended(1, "a finding\n", "", 90), None),
        (CHECK, Ended(1, "\x1b[2J", "", 90), "prints"),
        (CHECK, Ended(1, "a\n  ::error::b", "", 90), "prints"),
        (CHECK, Ended(1, "", "a ##[group]b", 90), "prints"),
        (CHECK, Ended(2, "", "Traceback (most recent call last):\nKeyError: 1\n", 90), "KeyError: 1"),
        (CHECK, Ended(-9, "", "", 90), "ends with -9"),
        (CHECK, Ended(0, "", "", MEGABYTES + 1), "takes 501 MB"),
        (SERVER, Ended(-9, ANSWER, "", 90), None),
        (SERVER, Ended(-9, "", "", 90), "the server does not answer"),
    ],
)
def test_what_does_not_hold_is_seen(made: Input, ended: Ended, said: str | None, tmp_path: Path) -> None:
    told = complaint(made, ended, tmp_path / "project")
    assert told is None if said is None else (told or "").startswith(said)


@pytest.mark.parametrize(("name", "said"), [("trace", "ran x"), ("outside.py", "wrote through a link")])
def test_what_was_done_is_seen(name: str, said: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text("x\n")
    assert complaint(CHECK, Ended(0, "", "", 90), tmp_path / "project") == said
