"""Changes as a unified diff that `patch -p0` and `git apply -p0` take, in the bytes of the files themselves."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Iterable
from typing import BinaryIO

from autograd_lsp.cli.fixing.fix import Change

_PLAIN = re.compile(rb"[^\x00-\x1f\x7f\"\\]+")
_ESCAPES = {ord("\t"): b"\\t", ord("\n"): b"\\n", ord("\r"): b"\\r", ord('"'): b'\\"', ord("\\"): b"\\\\"}


def write(stream: BinaryIO, changes: Iterable[Change]) -> None:
    for change in changes:
        name = _name(change.shown)
        lines = difflib.diff_bytes(
            difflib.unified_diff, _lines(change.old), _lines(change.new), name, name, lineterm=b"\n"
        )
        for line in lines:
            stream.write(line if line.endswith(b"\n") else line + b"\n\\ No newline at end of file\n")
    stream.flush()


def _lines(data: bytes) -> list[bytes]:
    """As `patch` counts them: a carriage return ends no line."""
    return re.findall(rb"[^\n]*\n|[^\n]+", data)


def _name(shown: str) -> bytes:
    """As git writes names: quoted where a byte would be taken for something else, marked off where there is a space."""
    name = os.fsencode(shown.replace(os.sep, "/"))
    if _PLAIN.fullmatch(name) is None:
        escaped = (
            _ESCAPES.get(byte) or (b"\\%03o" % byte if byte < 32 or byte == 127 else bytes([byte])) for byte in name
        )
        return b'"' + b"".join(escaped) + b'"'
    return name + b"\t" if b" " in name else name
