"""The attributes that a piece of code sets: by assignments of all kinds, however their targets are nested."""

from __future__ import annotations

import pytest

from analyzers.syntax.lower import lower
from analyzers.syntax.nodes import attributes_set
from analyzers.syntax.parse import parse
from analyzers.syntax.split import split

SET = {
    "self.a = other.b.c": {"a"},
    "self.a, (self.b, [c, *self.d]) = x": {"a", "b", "d"},
    "a = self.b = c.d = x": {"b", "d"},
    "self.a += 1": {"a"},
    "self.a: int = 1": {"a"},
    "for self.a in x: self.b.c = 1": {"a", "c"},
    "for i, self.a in x: pass": {"a"},
    "with x.b as self.a: pass": {"a"},
    "with x as (self.a, b): pass": {"a"},
    "def f():\n    def g():\n        self.a = 1": {"a"},
    "self.a[0] = self.b.append(1)": set(),
    "del self.a": set(),
}


@pytest.mark.parametrize("text", SET)
def test_the_targets_of(text: str) -> None:
    module = split(text.encode(), parse(text.encode()), is_closed=False)
    assert attributes_set(part for key in module.spans for part in lower(module, key).body) == SET[text]
