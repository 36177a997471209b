"""Files on the disk, and the text that their bytes encode.

Everything that counts bytes of a program counts those of its text in UTF-8, whatever the file is encoded in.
"""

from __future__ import annotations

import codecs
import errno
import io
import os
import re
import stat
import tokenize

BOM = b"\xef\xbb\xbf"

_TWO_LINES = re.compile(rb"[^\r\n]*(?:\r\n?|\n)?[^\r\n]*")
_LINE_END = re.compile(rb"\r\n?")


MOST_BYTES = 64_000_000
"""The largest file that is read at all. A source is analysed up to a lower bound, and told to be too large above it."""

_AT_ONCE = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


def read_regular_file(path: str | os.PathLike[str], most: int = MOST_BYTES) -> bytes:
    """The bytes of a regular file.

    Whatever a checkout has under the name of a source, of settings or of a list of patterns is read by this: a pipe
    that nobody writes to would never end, and `/dev/zero` behind a link would fill all memory.

    Raises:
        OSError: there is no such file, it is not a regular one, or it has more than `most` bytes; `strerror` says so.
    """
    with open(path, "rb", buffering=0, opener=lambda name, _: os.open(name, _AT_ONCE)) as file:
        told = os.fstat(file.fileno())
        if not stat.S_ISREG(told.st_mode):
            raise OSError(errno.EINVAL, "not a regular file", os.fspath(path))
        parts: list[bytes] = []
        left = most + 1
        while left > 0 and (part := file.read(min(left, 1 << 20))):
            parts.append(part)
            left -= len(part)
    if left <= 0:
        raise OSError(errno.EFBIG, f"larger than {most // 1_000_000} MB", os.fspath(path))
    return b"".join(parts)


def read_from_disk(path: str) -> bytes | None:
    """The text of a file in UTF-8, without a byte order mark; its bytes where they are no text that Python reads.

    None if there is no file, or none that can be read (`read_regular_file`).
    """
    try:
        return in_utf8(read_regular_file(path))
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

    An encoding that there is none of is a `SyntaxError`, and so are those of domain names, which take quadratic time.
    """
    head = _TWO_LINES.match(data)
    assert head is not None
    lines = _LINE_END.sub(b"\n", head[0])
    name = tokenize.detect_encoding(io.BytesIO(lines).readline)[0]
    if codecs.lookup(name).name in {"idna", "punycode"}:
        raise SyntaxError(f"unknown encoding: {name}")
    return name
