"""The value of a literal's text: numbers and strings, including escapes.

Every function raises ValueError for text that Python would refuse.
"""

from __future__ import annotations

import re
import unicodedata

_QUOTE = re.compile(rb"[\"']")
_LEGACY_OCTAL = re.compile(r"0+[1-9]")
_NEWLINE = re.compile(r"\r\n?")
_ESCAPE = re.compile(
    r"\\(?:(?P<newline>\n)|(?P<octal>[0-7]{1,3})|x(?P<x>[0-9a-fA-F]{2})|u(?P<u>[0-9a-fA-F]{4})"
    r"|U(?P<U>[0-9a-fA-F]{8})|N\{(?P<N>[^}]*)\}|(?P<one>.))",
    re.DOTALL,
)
_BRACES = re.compile(r"(?P<kept>(?:\\\\)+|\\N\{[^}]*\})|\{\{|\}\}")
_SIMPLE = {"\\": "\\", "'": "'", '"': '"', "a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}


def integer(text: str) -> int | complex:
    if text[-1:] in "jJ":
        return floating(text)
    if _LEGACY_OCTAL.match(text):
        raise ValueError(text)
    return int(text, 0)


def floating(text: str) -> complex:
    """A float, or a complex when `text` ends in `j`."""
    return complex(0, float(text[:-1])) if text[-1:] in "jJ" else float(text)


def prefix_of(text: bytes) -> str:
    """The letters before the quote, in lower case."""
    quote = _QUOTE.search(text)
    if quote is None:
        raise ValueError(text)
    return text[: quote.start()].decode("ascii", "replace").lower()


def string(text: bytes) -> str | bytes:
    """The value of one string literal that is not an f-string."""
    prefix = prefix_of(text)
    body = text[len(prefix) :]
    width = 3 if len(body) >= 6 and body[:3] in (b'"""', b"'''") else 1
    inner = _decode(body[width:-width])
    raw = "r" in prefix
    if "b" in prefix:
        if not inner.isascii():
            raise ValueError(text)
        return (inner if raw else _unescape(inner, of_bytes=True)).encode("latin-1")
    return inner if raw else _unescape(inner, of_bytes=False)


def fragment(text: bytes, *, raw: bool, braces: bool = True) -> str:
    """The value of the text between two replacement fields of an f-string; `braces` says that `{{` stands for `{`."""
    inner = _decode(text)
    if braces and ("{" in inner or "}" in inner):
        inner = _BRACES.sub(lambda m: m["kept"] or m[0][0], inner) if not raw else re.sub(r"\{\{|\}\}", _first, inner)
    return inner if raw else _unescape(inner, of_bytes=False)


def identifier(text: bytes) -> str:
    """A name as Python compares it: in normal form KC."""
    name = text.decode("utf-8", "replace")
    return name if name.isascii() else unicodedata.normalize("NFKC", name)


def _first(match: re.Match[str]) -> str:
    return match[0][0]


def _decode(text: bytes) -> str:
    """Python reads a file with every line end turned into a newline, strings included."""
    decoded = text.decode("utf-8", "replace")
    return _NEWLINE.sub("\n", decoded) if "\r" in decoded else decoded


def _unescape(text: str, *, of_bytes: bool) -> str:
    if "\\" not in text:
        return text

    def replace(match: re.Match[str]) -> str:
        which = match.lastgroup
        body = match[which] if which else ""
        if which == "newline":
            return ""
        if which == "octal":
            return chr(int(body, 8) & 0xFF if of_bytes else int(body, 8))
        if which == "x":
            return chr(int(body, 16))
        if which == "one":
            if body == "x" or (not of_bytes and body in "uUN"):
                raise ValueError(text)
            return _SIMPLE.get(body, match[0])
        if of_bytes:
            return match[0]
        if which == "N":
            try:
                return unicodedata.lookup(body)
            except KeyError:
                raise ValueError(text) from None
        return chr(int(body, 16))

    return _ESCAPE.sub(replace, text)
