"""The typist of the soak knows the text that its changes lead to, as the server does."""

from __future__ import annotations

import random

from lsprotocol import types

from benchmarks.client import Document
from benchmarks.soak import Typist
from tests.support.texts import edited

TEXT = "import torch\n\n\ndef f(x):\n    y = x * 2\n    # größer\n    return y.sum()\n"


def test_the_lines_are_those_that_a_server_comes_to() -> None:
    typist, text = Typist(Document("file:///soak.py", TEXT), random.Random(7)), TEXT
    for _ in range(500):
        change = typist.change()
        where = change["range"]
        start, end = (types.Position(**where[side]) for side in ("start", "end"))
        text = edited(text, types.Range(start, end), change["text"], "utf-16")
        assert text.split("\n") == typist.lines
    assert text != TEXT
