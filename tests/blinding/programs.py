"""The programs that are blinded: all of the project's own that are one file, and random ones of all levels."""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests.blinding.wrap import blinded
from tests.corpus.labels import CORPUS
from tests.differential.generate import LEVELS, generate
from tests.mdtest.snippets import Case
from tests.mdtest.test_mdtest import SNIPPETS

EXAMPLES = Path(__file__).parents[2] / "examples"
MOST_WRAPS = 5
_RANDOM = 0.4
"""The share of random programs."""


@cache
def known() -> tuple[str, ...]:
    """The corpus, the snippets and the examples."""
    files = [*sorted(CORPUS.glob("*/*.py")), *sorted(EXAMPLES.rglob("*.py"))]
    texts = [path.read_text(encoding="utf-8") for path in files]
    return (*texts, *(snippet.text for snippet in SNIPPETS if snippet.cases == (Case(""),) and not snippet.driver))


def pairs(seed: int, count: int, random_share: float = _RANDOM) -> Iterator[tuple[str, str]]:
    """Programs as they are and as they are blinded; the seed of each is `seed` and what follows.

    A new snippet changes which known program a seed stands for; the random ones stay.
    """
    for number in range(seed, seed + count):
        dice = random.Random(number)
        text = generate(number, dice.choice(LEVELS)) if dice.random() < random_share else dice.choice(known())
        hidden = blinded(text, dice, dice.randint(1, MOST_WRAPS))
        if hidden is not None:
            yield text, hidden
