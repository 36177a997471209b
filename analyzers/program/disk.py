"""Files on the disk, and the text that their bytes encode.

Everything that counts bytes of a program counts those of its text in UTF-8, whatever the file is encoded in.
"""

from __future__ import annotations

import io
import re
import tokenize
from pathlib import Path

BOM = b"\xef\xbb\xbf"

_TWO_LINES = re.compile(rb"[^\r\n]*(?:\r\n?|\n)?[^\r\n]*")
_LINE_END = re.compile(rb"\r\n?")


def read_from_disk(path: str) -> bytes | None:
    """The text of a file in UTF-8, without a byte order mark; its bytes where they are no text that Python reads.

    None if there is no file, or none that can be read.
    """
    try:
        return in_utf8(Path(path).read_bytes()) if Path(path).is_file() else None
    except (OSError, ValueError):
        return None


def in_utf8(data: bytes) -> bytes:
    head = _TWO_LINES.match(data)
    if not data.startswith(BOM) and head is not None and b"coding" not in head[0]:
        return data
    try:
        return data.decode(encoding_of(data)).encode()
    except (SyntaxError, UnicodeError, LookupError):
        return data


def encoding_of(data: bytes) -> str:
    """What Python decodes its source by: UTF-8, or what a byte order mark or a coding comment says.

    An encoding that there is none of is a `SyntaxError`.
    """
    head = _TWO_LINES.match(data)
    assert head is not None
    lines = _LINE_END.sub(b"\n", head[0])
    return tokenize.detect_encoding(io.BytesIO(lines).readline)[0]
