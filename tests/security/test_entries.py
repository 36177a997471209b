"""Cache entries that say anything at all: they read as findings or not at all, and cheaply."""

from __future__ import annotations

import hashlib
import json
import os
import pickle
import tracemalloc
import zlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzers.report import Backward, Place
from autograd_lsp.reports.entries import Entry, entry_bytes, read_entry
from tests.cli.command import BROKEN, run

PLACE = ["train.py", 0, 3]
RAISES = [PLACE, "RuntimeError", "one of the variables", True, False, False, 2]
STEPS, FIXES = [[PLACE, "here"]], [["add", True, [[PLACE, "y"]]]]
FINDING = ["AG104", "x", "error", "y changes", PLACE, RAISES, "grad-none", STEPS, FIXES, STEPS, "add"]
BACKWARD = [PLACE, "lost", "y is not known", PLACE]
ENTRY = ["train.py", ["train.py"], ["train.py"], False, False, "00", [FINDING], [BACKWARD]]


@given(st.from_type(Entry))
def test_an_entry_reads_as_it_was_written(entry: Entry) -> None:
    assert read_entry(entry_bytes(entry)) == entry


def test_names_of_files_need_not_be_unicode() -> None:
    entry = Entry("\udcff.py", ("\udcff.py",), (), False, False, "", ())
    assert read_entry(entry_bytes(entry)) == entry


def replaced(value: object) -> Iterator[object]:
    """The value with one thing in it, at any depth, of another type."""
    others: tuple[object, ...] = (None, 7.5, "text", {}, [value])
    yield from (other for other in others if type(other) is not type(value))
    if isinstance(value, list):
        yield [*value, None]
        for number, item in enumerate(value):
            for new in replaced(item):
                yield [*value[:number], new, *value[number + 1 :]]


def test_an_entry_with_anything_of_another_type_is_none() -> None:
    """But for what may be None: an exception, an effect, and the place from which on something is not known."""
    whole = read_entry(checked(json.dumps(ENTRY).encode()))
    assert whole is not None
    spoilt = list(replaced(ENTRY))
    assert len(spoilt) > 200
    read = [entry for data in spoilt if (entry := read_entry(checked(json.dumps(data).encode()))) is not None]
    [finding], [backward] = whole.findings, whole.backwards
    assert read == [
        replace(whole, findings=(replace(finding, raises=None),)),
        replace(whole, findings=(replace(finding, effect=None),)),
        replace(whole, backwards=(replace(backward, since=None),)),
    ]


@pytest.mark.parametrize(
    "data", [b"\xff\xfe", pickle.dumps(os.system), b"[" * 1_000_000, b"9" * 1_000_000, bytes(1 << 28)]
)
def test_what_is_no_json_is_none(data: bytes) -> None:
    tracemalloc.start()
    assert read_entry(checked(data)) is None
    assert tracemalloc.get_traced_memory()[1] < 100_000_000 + len(checked(data))
    tracemalloc.stop()


def test_a_damaged_entry_is_none() -> None:
    """Of the checksum and of what it is of."""
    data = checked(json.dumps(ENTRY).encode())
    for number in range(len(data)):
        assert read_entry(data[:number] + bytes([data[number] ^ 1]) + data[number + 1 :]) is None
        assert read_entry(data[:number]) is None


@pytest.mark.parametrize("place", [(-5, -3), (0, 10**30), (10**30, 10**30), (9, 2)])
def test_places_that_the_file_does_not_have(
    place: tuple[int, int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "train.py").write_text(BROKEN)
    run("check", cwd=tmp_path / "project")
    [file] = (path for path in (tmp_path / "cache").rglob("*") if path.is_file())
    entry = read_entry(file.read_bytes())
    assert entry is not None
    [finding] = entry.findings
    wild = replace(finding, place=Place(finding.place.path, *place))
    lost = Backward(wild.place, "lost", "y is not known", wild.place)
    file.write_bytes(entry_bytes(replace(entry, findings=(wild,), backwards=(lost,))))
    for form in ("text", "json", "sarif", "github"):
        done = run("check", "--format", form, cwd=tmp_path / "project")
        assert "Traceback" not in done.stderr
        assert done.returncode == 1


def checked(data: bytes) -> bytes:
    compressed = zlib.compress(data)
    return hashlib.sha256(compressed).digest() + compressed
