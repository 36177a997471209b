"""Cache entries as bytes: JSON, compressed, with a checksum in front.

Whoever can write into the cache can write an entry, so reading one makes nothing but findings, costs no more than
`_MOST` bytes of JSON do, and gives None for everything else.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from dataclasses import dataclass, fields, is_dataclass
from typing import get_args

from analyzers.report import Backward, Edit, Effect, Finding, Fix, Grasp, Place, Raises, Related, Severity

_MOST = 4_000_000
"""The bytes of JSON that an entry has at most: larger ones are not kept."""

_SEVERITIES: dict[object, Severity] = {severity: severity for severity in get_args(Severity)}
_EFFECTS: dict[object, Effect | None] = {effect: effect for effect in (None, *get_args(Effect))}
_GRASPS: dict[object, Grasp] = {grasp: grasp for grasp in get_args(Grasp)}
_CHECKSUM = hashlib.sha256().digest_size


@dataclass(frozen=True, slots=True)
class Entry:
    """The findings of the file at `path`, and what they rest on. `digest` is of all of that."""

    path: str
    files: tuple[str, ...]
    chosen: tuple[str, ...]
    asks_outside: bool
    looks_together: bool
    digest: str
    findings: tuple[Finding, ...]
    backwards: tuple[Backward, ...] = ()


def entry_bytes(entry: Entry) -> bytes:
    """What `read_entry` reads; nothing for an entry that is too large."""
    text = json.dumps(_plain(entry), separators=(",", ":")).encode()
    if len(text) > _MOST:
        return b""
    data = zlib.compress(text, 1)
    return hashlib.sha256(data).digest() + data


def read_entry(data: bytes) -> Entry | None:
    checksum, data = data[:_CHECKSUM], data[_CHECKSUM:]
    if hashlib.sha256(data).digest() != checksum:
        return None
    try:
        return _entry(json.loads(zlib.decompressobj().decompress(data, _MOST)))
    except (KeyError, RecursionError, TypeError, ValueError, zlib.error):
        return None


def _plain(value: object) -> object:
    """A dataclass is the list of its fields."""
    if is_dataclass(value):
        return [_plain(getattr(value, field.name)) for field in fields(value)]
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return value


def _entry(data: object) -> Entry:
    match data:
        case [
            str(path), list(files), list(chosen), bool(outside), bool(together), str(digest),
            list(findings), list(backwards),
        ]:  # fmt: skip
            found, grasped = tuple(map(_finding, findings)), tuple(map(_backward, backwards))
            return Entry(path, _texts(files), _texts(chosen), outside, together, digest, found, grasped)
    raise _NotAnEntryError


def _backward(data: object) -> Backward:
    match data:
        case [place, grasp, str(about), since]:
            return Backward(_place(place), _GRASPS[grasp], about, None if since is None else _place(since))
    raise _NotAnEntryError


def _finding(data: object) -> Finding:
    match data:
        case [
            str(code), str(name), severity, str(message), place, raises, effect,
            list(related), list(fixes), list(assumes), str(advice),
        ]:  # fmt: skip
            return Finding(
                code, name, _SEVERITIES[severity], message, _place(place), _raises(raises), _EFFECTS[effect],
                tuple(map(_related, related)), tuple(map(_fix, fixes)), tuple(map(_related, assumes)),
                advice,
            )  # fmt: skip
    raise _NotAnEntryError


def _raises(data: object) -> Raises | None:
    match data:
        case None:
            return None
        case [place, str(exception), str(message), bool(certain), bool(caught), bool(expected), int(iteration)]:
            return Raises(_place(place), exception, message, certain, caught, expected, iteration)
    raise _NotAnEntryError


def _related(data: object) -> Related:
    match data:
        case [place, str(message)]:
            return Related(_place(place), message)
    raise _NotAnEntryError


def _fix(data: object) -> Fix:
    match data:
        case [str(title), bool(safe), list(edits)]:
            return Fix(title, safe, tuple(map(_edit, edits)))
    raise _NotAnEntryError


def _edit(data: object) -> Edit:
    match data:
        case [place, str(text)]:
            return Edit(_place(place), text)
    raise _NotAnEntryError


def _place(data: object) -> Place:
    match data:
        case [str(path), int(start), int(end)]:
            return Place(path, start, end)
    raise _NotAnEntryError


def _texts(data: list[object]) -> tuple[str, ...]:
    texts = tuple(item for item in data if isinstance(item, str))
    if len(texts) != len(data):
        raise _NotAnEntryError
    return texts


class _NotAnEntryError(ValueError):
    """The JSON is something else."""
