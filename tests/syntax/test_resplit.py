"""A module that is cut again after each edit is what it is when it is cut afresh, and keeps what no edit touched."""

from __future__ import annotations

import random
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analyzers.syntax import expressions, nodes, resplit, statements
from analyzers.syntax.lower import lower
from analyzers.syntax.parse import parse
from analyzers.syntax.resplit import changed
from analyzers.syntax.split import Module, split

FILES = [Path(module.__file__).read_bytes() for module in (expressions, statements, nodes, resplit)]
SMALL = b'''"""Doc
at the margin
"""
import torch

SIZES = [
1,
2,
]


@dataclass
# why
@other(
    1,
)
class Net(Base):
    """D."""
    size = 3

    def f(self):
        return {"a": self.size}

    def f(self, y):
        """
at the margin
"""
        return f"{y:>{3}}"

    class Inner:
        def g(self): return 1


x = 1; y = 2
x = 1
x = 1
# a comment
if x:
    y = """
def h(): pass
""" + \'\'\'
more\'\'\'
# another
else:
    y = x + \\
        2

def f(x):
    try:
        return x.a
    except A:
        pass
    finally:
        del x

async def g():
    async with a as b: await c
for a in b: pass
else: pass
def f(): pass

# the end'''
HARD = [
    SMALL,
    SMALL.replace(b"\n", b"\r\n"),
    b"\xef\xbb\xbf" + SMALL.removesuffix(b"\n\n# the end"),
    SMALL.replace(b"    ", b"\t"),
    "é = '😀'\n\nclass Ñ:\n    def ƒ(self): '😀'\n\n".encode() + SMALL,
    b"x = 1\n\f\ndef f():\n    pass\n\fclass A: pass\n",
    b"<<<<<<< HEAD\nx = 1\n=======\nx = 2\n>>>>>>> other\n" + SMALL,
    b"match x:\n    case 1: pass\n    case {'a': b}:\n        pass\nprint >>f, 1\n" + SMALL,
    b"   x = 1\ny = 2\n",
    b"# only\n# comments\n",
    b"x = 1",
    b"",
]
TOKENS = [
    *(bytes([byte]) for byte in b"()[]{}:,.='\"\\\n\t #@*;x0\r\f\x00"),
    *b'""" \'\'\' \\\n \n\n else: else try: finally: async x. -> not f"{x } print import del lambda: 0.'.split(b" "),
    *[b"    ", b"@a(\n)\n", b"def f():\n    pass\n", b"class A:\n", b"if x:\n", b"x = 1\n", b"\r\n", b"\n)", b"x: "],
    *[
        b'"""\nat the margin\n"""\n',
        b"y = f(\na,\nb)\n",
        b"# why \\\n",
        b"    def g(self): pass\n",
        b"=======\n",
        b"\xff",
    ],
    "😀".encode(),
]


def assert_same(new: Module, lowering: random.Random) -> None:
    fresh = split(new.text, parse(new.text))
    assert new == fresh
    assert (new.mended, new.holes) == (fresh.mended, fresh.holes)
    assert list(new.spans) == list(fresh.spans) and list(new.order) == list(fresh.order)
    for key in lowering.sample([*fresh.spans], min(4, len(fresh.spans))):
        assert lower(new, key) == lower(fresh, key)


def edited(text: bytes, rng: random.Random) -> Iterator[bytes]:
    """A text as it is typed into, cut from, pasted into, moved about in, and taken back."""
    before, typed, at = [text], b"", 0
    while True:
        if typed:
            text, typed, at = text[:at] + typed[:1] + text[at:], typed[1:], at + 1
        else:
            at = rng.randrange(len(text) + 1)
            if rng.random() < 0.4:
                at = text.rfind(b"\n", 0, at) + 1
            end = min(len(text), at + rng.choice([1, 1, 5, 30, 200]))
            lines = text.splitlines(keepends=True)
            low = rng.randrange(len(lines) + 1)
            high = low + rng.randrange(1, 6)
            match rng.randrange(6):
                case 0 | 1:
                    typed = rng.choice(TOKENS)
                case 2:
                    text = text[:at] + text[end:]
                case 3:
                    text = text[:at] + rng.choice(TOKENS) + text[at:]
                case 4:
                    block, rest = lines[low:high], lines[:low] + lines[high:]
                    to = rng.randrange(len(rest) + 1)
                    text = b"".join([*rest[:to], *block, *rest[to:]])
                case _:
                    text = before.pop()
                    before = before or [text]
        at = min(at, len(text))
        before.append(text)
        yield text


def follow(text: bytes, seed: int, steps: int) -> None:
    rng = random.Random(seed)
    module = split(text, parse(text))
    for _, after in zip(range(steps), edited(text, rng), strict=False):
        module = resplit.resplit(module, after)
        assert module.text == after
        assert_same(module, rng)


@pytest.mark.parametrize("seed", range(40))
def test_small_texts(seed: int) -> None:
    follow(HARD[seed % len(HARD)], seed, 40)


@pytest.mark.parametrize("seed", range(4))
def test_files(seed: int) -> None:
    follow(FILES[seed], seed, 40)


def test_files_of_torch() -> None:
    spec = find_spec("torch")
    assert spec is not None and spec.origin is not None
    paths = sorted(Path(spec.origin).parent.glob("nn/*.py"))
    for seed, path in enumerate(random.Random(0).sample(paths, 6)):
        follow(path.read_bytes(), seed, 12)


@settings(max_examples=150, deadline=None)
@given(
    st.sampled_from(HARD),
    st.lists(
        st.tuples(st.integers(0, 2_000), st.integers(0, 12), st.sampled_from(TOKENS) | st.binary(max_size=4)),
        min_size=1,
        max_size=5,
    ),
)
def test_any_edits(text: bytes, edits: list[tuple[int, int, bytes]]) -> None:
    module = split(text, parse(text))
    for at, length, inserted in edits:
        text = text[:at] + inserted + text[at + length :]
        module = resplit.resplit(module, text)
        assert_same(module, random.Random(0))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        # A decorator takes in what stands below it, and a bracket what closes it.
        (b"x =\n@(\n)\ndef f(): pass", b"x = 1\n@(\n)\ndef f(): pass"),
        (b"@\ndef\ndef f(): pass", b"@\\\ndef\ndef f(): pass"),
        (b"x = f(\na,\nb\n", b"x = f(\na,\nb\n)\n"),
        (b"x = f(\na,\n)\ny = (", b"x = f(\na,\n)\ny = ()"),
        # The grammar reads over a newline.
        (b"x\ny = 2\n", b"x:\ny = 2\n"),
        (b"f,\nb)=(())", b"f,\nb=(())"),
        (b"h\ndef f():x\n q=(())()\nt", b"h\ndef f():x,\n q=(())()\nt"),
        (b"async\nx\ndef f(): pass\n", b"async\ndef f(): pass\n"),
        (b"class A:\n\\ def f(): pass", b"class A:\n\\\n def f(): pass"),
        (b";\nif z: \\\n", b"\nif z: \\\n"),
        (b"=\ndef f(): pass", b"=\n#\\\ndef f(): pass"),
        # It lets strings go on there too.
        (b'\n"""', b'"\n"""'),
        (b'(""(("{e)\ndef f():\nv}")))', b'(""(("{e:)\ndef f():\nv}")))'),
        # A clause that is blanked is no hole.
        (b"class A:\nelse w\ni (1,\n2)", b"class A:\nelse w\ni(1,\n2)"),
        (b"y\n\xef\xbb\xbf{", b'y\n\xef\xbb\xbf""""""\n{'),
        (b")\n if s:", b")) )\n if s:"),
        # A clause is broken in itself, and the file is not.
        (b']\nif x:"""\n"""+r\nelse:', b'\nif x:"""\n"""+r\nelse:'),
    ],
)
def test_statements_that_meet(before: bytes, after: bytes) -> None:
    for one, other in ((before, after), (after, before)):
        assert_same(resplit.resplit(split(one, parse(one)), other), random.Random(0))


PLAIN = b'''"""Doc
at the margin
"""
import torch


class Net(Base):
    """D."""
    size = 3

    def f(self):
        return self.size

    @property
    def g(self):
        return 1


# why
def f(x):
    """Doc."""
    if x:
        return x.a
    return g(x)


def g(x):
    return x


net = Net()
'''
TYPED = [b"x", b"(", b'"', b"'", b"x.", b"y = [", b"if x", b'y = "', b"    ", b"# why", b"def", b"@", b"]", b"1 +"]


@pytest.mark.parametrize("line", [b"return self.size", b"if x:\n", b"return g(x)", b"return x\n"])
@pytest.mark.parametrize("typed", TYPED)
def test_typing_cuts_the_statement_around_it_alone(typed: bytes, line: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    at = PLAIN.index(line)
    before = split(PLAIN, parse(PLAIN))
    monkeypatch.setattr(resplit, "split", None)
    other = resplit.resplit(before, PLAIN[:at] + typed + PLAIN[at:])
    again = resplit.resplit(other, PLAIN)
    assert again == before
    around, _ = before.locate(at) or ("", 0)
    for module in (other, again):
        for key, span in before.spans.items():
            if key.partition(".")[0] != around.partition(".")[0]:
                assert module.spans[key] is span
            elif key != around:
                assert module.spans[key].text is span.text


READS = b"import torch\n\n\ndef f(x):\n    x = nix(x)\n    return x\n\n\ndef g(x):\n    return x\n\n\n# the end\n"


@pytest.mark.parametrize("at", [0, READS.index(b"def g"), READS.index(b"return x\n\n\n#"), len(READS)])
@pytest.mark.parametrize("inserted", [b"nix = 1\n", b"# nix\n", b"globals()\n", b"from os import *\n", b"nixon\n"])
def test_a_name_that_begins_or_ceases_to_be_bound_elsewhere(at: int, inserted: bytes) -> None:
    text = READS[:at] + inserted + READS[at:]
    before, after = split(READS, parse(READS)), split(text, parse(text))
    assert b"nix" not in before.spans["f"].text
    assert (b"nix" in after.spans["f"].text) is (inserted != b"nixon\n")
    assert resplit.resplit(before, text) == after
    assert resplit.resplit(after, READS) == before


HALF = b"def f(x):\n    new = nix(x)\n    return x\n\n\ndef g(x):\n    return x\n"


@pytest.mark.parametrize("at", [0, HALF.index(b"def g"), HALF.rindex(b"return"), len(HALF)])
@pytest.mark.parametrize(("inserted", "is_bound"), [(b"new\n", True), (b"# new\n", True), (b"news\n", False)])
def test_a_name_that_begins_or_ceases_to_be_read_elsewhere(at: int, inserted: bytes, is_bound: bool) -> None:
    text = HALF[:at] + inserted + HALF[at:]
    before, after = split(HALF, parse(HALF)), split(text, parse(text))
    assert b"new" not in before.spans["f"].text
    assert (b"    new =\n" in after.spans["f"].text) is is_bound
    assert resplit.resplit(before, text) == after
    assert resplit.resplit(after, HALF) == before


def test_chunks_below_count_anew() -> None:
    text = b"def f(): pass\nclass A:\n    def g(self): pass\n\nclass A:\n    def g(self): pass\n    x = 1\n\ny = 1\n"
    before = split(text, parse(text))
    after = resplit.resplit(before, b"class A: pass\n" + text)
    assert [*after.order] == ["A", "f", "A#2", "A#3", *[*before.order][3:]]
    assert after.spans["A#3"].text == b"class A:\n-> A#3.g\nx = 1"
    assert after.chunks[-1] is before.chunks[-1]
    assert_same(after, random.Random(0))


@given(st.binary(max_size=20), st.binary(max_size=9), st.binary(max_size=9), st.binary(max_size=20))
def test_what_changed(above: bytes, old: bytes, new: bytes, below: bytes) -> None:
    before, after = above + old + below, above + new + below
    start, end = changed(before, after)
    assert before[:start] == after[:start] and before[end:] == after[len(after) - len(before) + end :]
    assert end - start <= len(old)
