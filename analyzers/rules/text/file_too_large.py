"""A file is too large to be analysed.

A file larger than 4 MB is treated as data: nothing in it is analysed, and what other files import from it is unknown.
"""

from __future__ import annotations

from analyzers.drafting.base import Rule
from analyzers.report import Finding, Place

RULE = Rule("AG004", "file-too-large", "A file is too large to be analysed", None, __doc__ or "")


def finding(path: str, most: int) -> Finding:
    """`most` is how many bytes are analysed."""
    message = f"this file is larger than {most // 1_000_000} MB: it is not analysed, and what it defines is unknown"
    return Finding(RULE.code, RULE.name, "info", message, Place(path, 0, 0))
