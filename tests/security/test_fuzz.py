"""The fuzzer's readers take any bytes; `python -m tests.security.fuzz` looks for more, and for longer."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.security.fuzz import READERS, seeds

WORDS = st.sampled_from(
    b'{ } [ ] " cells source # noqa: autograd: ignore[ ]] ** */ ! ? [a \\ Content-Length: 5 Traceback (most recent '
    b'call last): RuntimeError: ##[ :: ` ](  \x1b[ = "" def if : \n \r \xff'.split(b" ")
)


@pytest.mark.parametrize("name", READERS)
def test_it_takes_what_the_fuzzer_starts_from(name: str) -> None:
    for seed in seeds(name):
        assert seed
        READERS[name](seed)


@pytest.mark.parametrize("name", READERS)
@settings(max_examples=40, deadline=None)
@given(parts=st.lists(WORDS | st.binary(max_size=6), max_size=30))
def test_it_takes_anything(name: str, parts: list[bytes]) -> None:
    READERS[name](b" ".join(parts))
