"""A command says which package it needs, where that is not installed with ours."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.command import REPOSITORY


@pytest.mark.parametrize(
    "missing", ["sys.modules['mcp'] = None", "sys.modules['mcp.server'] = type(sys)('mcp.server')"]
)
def test_the_package_is_named_where_the_package_is_missing_or_too_old(tmp_path: Path, missing: str) -> None:
    if "server" in missing:
        pytest.importorskip("mcp.client", reason="needs the package mcp, of the extra `mcp`")
    program = f"import sys\n{missing}\nfrom autograd_lsp.cli import main\nsys.exit(main(['mcp']))"
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "autograd-lsp: `mcp` needs `mcp`: `pip install mcp`\n"
