"""The one setting of git's that says which files do not count: `core.excludesFile`.

It is looked for where git looks, the last one that says it counting: the system's file, the user's two, the
repository's. What a file includes is not followed, and no git is started.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping

from analyzers.program.disk import read_regular_file

MOST_BYTES = 1_000_000

_SECTION = re.compile(r"\s*\[\s*([\w.-]+)(?:\s+\"(?:[^\"\\]|\\.)*\")?\s*\]\s*")
_VALUE = re.compile(r"\s*([A-Za-z][\w-]*)\s*=\s*(.*?)\s*\Z")
_PART = re.compile(r'"((?:[^"\\]|\\.)*)"?|\\(.)|([#;])|([^"\\#;]+)')
_ESCAPED = re.compile(r"\\(.)")


def excludes_file(top: str, variables: Mapping[str, str] = os.environ) -> str | None:
    """The list of patterns that is for all of a user's repositories, here of the one at `top`; none without a home."""
    home = variables.get("HOME") or variables.get("USERPROFILE") or ""
    own = variables.get("XDG_CONFIG_HOME") or (os.path.join(home, ".config") if home else "")
    found: str | None = None
    for file in _files(top, home, own, variables):
        found = _said_in(file) or found
    if found is None:
        return os.path.join(own, "git", "ignore") if own else None
    if found.startswith("~/"):
        return os.path.join(home, found[2:]) if home else None
    return os.path.join(top, found)


def _files(top: str, home: str, own: str, variables: Mapping[str, str]) -> Iterator[str]:
    if variables.get("GIT_CONFIG_NOSYSTEM", "").lower() not in {"1", "true", "yes", "on"}:
        yield variables.get("GIT_CONFIG_SYSTEM", "/etc/gitconfig")
    if "GIT_CONFIG_GLOBAL" in variables:
        yield variables["GIT_CONFIG_GLOBAL"]
    else:
        yield from (os.path.join(own, "git", "config"),) if own else ()
        yield from (os.path.join(home, ".gitconfig"),) if home else ()
    yield os.path.join(top, ".git", "config")


def _said_in(file: str) -> str | None:
    try:
        text = read_regular_file(file, MOST_BYTES).decode("utf-8-sig", "surrogateescape")
    except (OSError, ValueError):
        return None
    found: str | None = None
    is_core = False
    for line in text.replace("\\\n", "").splitlines():
        section = _SECTION.match(line)
        if section is not None:
            is_core = section[1].lower() == "core"
            line = line[section.end() :]
        value = _VALUE.match(line)
        if is_core and value is not None and value[1].lower() == "excludesfile":
            found = _unquoted(value[2])
    return found


def _unquoted(value: str) -> str:
    """Without quotes, and up to a comment."""
    parts: list[str] = []
    for quoted, escaped, comment, plain in _PART.findall(value):
        if comment:
            break
        parts.append(_ESCAPED.sub(r"\1", quoted) or escaped or plain)
    return "".join(parts).rstrip()
