"""What the bare text of a file says before it is parsed: what it may import, and whether it speaks of autograd.

Both err on the side of more: a docstring may hold an import, too. What they serve is to leave files alone of whose
program no rule says a word, as it neither comes by what makes tensors nor, of objects from elsewhere, has a word that
is autograd's alone.
"""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from collections.abc import Iterator
from typing import NamedTuple

_IMPORT = re.compile(
    rb"""
    (?: ^ | [\r;:] ) ([ \t]*)
    (?: import (?=[ \t]) (?P<modules> [^\r\n;\#]+ )
      | from (?=[ \t.]) (?P<source> [^\r\n;:\#(]*? ) \b import \b
        (?P<names> [ \t]* \( (?: [^()\#] | \#[^\n]*\n )* \) | [^\r\n;\#(]* ) )
    """,
    re.MULTILINE | re.VERBOSE,
)
"""No two parts in a row match the same, so that no text that somebody may have written takes longer than its length."""

_CONTINUED = re.compile(rb"\\\r?\n")
_COMMENT = re.compile(rb"#[^\n]*")
_OWN_WORD = re.compile(
    rb"(?:\.|\bdef )backward\b|\.grad\b(?!\s*\()|\b(?:requires_grad_?|zero_grad|no_grad|enable_grad|autograd)\b"
    rb"|\bdef (?:training_step|compute_loss)\b"
)
_PARTS_OF_WORDS = (b"backward", b"grad", b"def training_step", b"def compute_loss")
_MAKERS = frozenset(
    {"accelerate", "functorch", "lightning", "lightning_fabric", "peft", "pytorch_lightning", "transformers"}
)


class Import(NamedTuple):
    """What a statement may import: `import a.b`, or `from <level dots>module import names`."""

    module: str
    level: int
    names: tuple[str, ...]
    indented: bool
    """Whether it may stand in a function."""


def imports(text: bytes) -> Iterator[Import]:
    """In the order of the text."""
    text = _CONTINUED.sub(b" ", text.removeprefix(BOM_UTF8))
    done = 0
    while (at := text.find(b"import", done)) >= 0:
        start = max(text.rfind(b"\n", done, at) + 1, done)
        end = text.find(b"\n", at)
        found = _IMPORT.search(text, start, len(text) if end < 0 else end)
        if found is None:
            if end < 0:
                return
            done = end
            continue
        whole = _IMPORT.search(text, found.start()) or found
        yield from _imports(whole)
        done = whole.end()


def makes_tensors(text: bytes) -> bool:
    """Whether it imports torch, or a library whose classes train with it. Reads no further than to the first."""
    return any(not one.level and _is_maker(one.module.partition(".")[0]) for one in imports(text))


def speaks(text: bytes) -> bool:
    """Whether it has a word that is autograd's alone."""
    return any(word in text for word in _PARTS_OF_WORDS) and _OWN_WORD.search(text) is not None


def _imports(match: re.Match[bytes]) -> list[Import]:
    indented = bool(match[1])
    if match["modules"] is not None:
        return [Import(name, 0, (), indented) for name in _names(match["modules"])]
    source = match["source"].decode(errors="ignore").strip()
    module = source.lstrip(".")
    return [Import(module.strip(), len(source) - len(module), tuple(_names(match["names"])), indented)]


def _names(text: bytes) -> list[str]:
    """The first word of each part: `a.b as c, d` names `a.b` and `d`."""
    parts = _COMMENT.sub(b"", text).strip(b"() \t\r\n\\").split(b",")
    return [words[0].decode(errors="ignore") for part in parts if (words := part.replace(b"\\", b" ").split())]


def _is_maker(library: str) -> bool:
    return library.startswith("torch") or library in _MAKERS
