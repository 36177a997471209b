"""Only regular files are read, and only so much of them, whatever a checkout has in their place."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from analyzers.program.disk import encoding_of, read_from_disk, read_regular_file
from tests.cli.command import run

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="pipes with names and links to devices")

NAMES = ("x.py", "x.ipynb", ".gitignore", "autograd-lsp.toml", "pyproject.toml", ".venv/pyvenv.cfg",
         ".venv/lib/python3.12/site-packages/x.pth", "sub/.gitignore", "sub/y.py")  # fmt: skip


@pytest.mark.parametrize("kind", ["pipe", "device", "folder", "link to itself"])
def test_what_is_no_regular_file_is_left_out(tmp_path: Path, kind: str) -> None:
    for name in NAMES:
        place = tmp_path / name
        place.parent.mkdir(parents=True, exist_ok=True)
        if kind == "pipe":
            os.mkfifo(place)
        elif kind == "device":
            place.symlink_to("/dev/zero")
        elif kind == "folder":
            place.mkdir()
        else:
            place.symlink_to(place)
    (tmp_path / "sub" / "ok.py").write_text("import torch\ntorch.ones(3).sum().backward()\n")
    done = run("check", "--no-cache", str(tmp_path), cwd=tmp_path)
    assert "error[AG101]" in done.stdout
    assert "Traceback" not in done.stderr
    if kind in {"pipe", "device"}:
        assert "error[AG001]: cannot read this file: not a regular file\n --> " in done.stdout


def test_a_file_has_only_so_many_bytes(tmp_path: Path) -> None:
    place = tmp_path / "x"
    place.write_bytes(b"123456")
    assert read_regular_file(place, 6) == b"123456"
    with pytest.raises(OSError, match="larger than"):
        read_regular_file(place, 5)


def test_a_pipe_is_none(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.py")
    assert read_from_disk(str(tmp_path / "pipe.py")) is None


def test_encodings_that_take_quadratic_time_are_unknown() -> None:
    assert encoding_of(b"# coding: latin-1\n") == "iso-8859-1"
    for name in (b"punycode", b"idna"):
        with pytest.raises(SyntaxError, match="unknown encoding"):
            encoding_of(b"# coding: " + name + b"\n")
