"""What pyproject.toml cannot say: with AUTOGRAD_LSP_COMPILE=1 the analyzer's hot modules are compiled by mypyc.

Without it, the package is pure Python. Compiled or not, the sources are the same, and so is what they do.
"""

from __future__ import annotations

import os
from pathlib import Path

from setuptools import setup

COMPILED = ("domain", "host", "machine", "maps", "ops", "queries", "syntax")
"""The packages of the analyzer in which its time goes."""

INTERPRETED = {"__init__.py", "copies.py", "probe.py"}
"""What compiling would not make faster, or could not take: `copies` runs another function than it shows to whoever
checks types, and an uncompiled class, as the probes of tests are, cannot inherit from a compiled one."""


def modules() -> list[str]:
    files = (file for package in COMPILED for file in Path("analyzers", package).rglob("*.py"))
    return sorted(str(file) for file in files if file.name not in INTERPRETED)


def main() -> None:
    if os.environ.get("AUTOGRAD_LSP_COMPILE") != "1":
        setup()
        return
    try:
        from mypyc.build import mypycify
    except ImportError:
        # Whoever builds it asks first what that takes: the compiler, and what it has to know the types of.
        setup(
            setup_requires=[
                "mypy[mypyc]>=2.4,<2.5",
                "immutables>=0.20",
                "tree-sitter>=0.23",
                "tree-sitter-python>=0.23",
            ]
        )
        return
    setup(ext_modules=mypycify(modules(), opt_level="1", debug_level="0", multi_file=True, group_name="autograd_lsp"))


main()
