"""Where the file of an import is looked for."""

from __future__ import annotations

import pytest

from analyzers.program.imports import find_import
from analyzers.syntax.split import search_folders

FILES = {"/p/train_net.py", "/p/util.py", "/p/core/agent.py", "/p/core/deep/part.py"}


def found(importer: str, name: str, *others: str) -> str | None:
    files = FILES | set(others)
    return find_import(files.__contains__, importer, name, 0)


def test_a_script_sees_what_lies_beside_it() -> None:
    assert found("/p/train_net.py", "util") == "/p/util.py"


def test_a_folder_without_a_project_sees_nothing_above() -> None:
    assert found("/p/core/agent.py", "util") is None


@pytest.mark.parametrize("sign", [".git/HEAD", "pyproject.toml", "README.md", "requirements.txt", "LICENSE"])
def test_a_folder_of_a_project_sees_what_lies_at_its_root(sign: str) -> None:
    assert found("/p/core/agent.py", "util", f"/p/{sign}") == "/p/util.py"


def test_a_page_about_a_part_is_not_the_root() -> None:
    here = "/p/core/deep/part.py"
    assert found(here, "util", "/p/README.md", "/p/core/README.md", "/p/core/deep/README.md") == "/p/util.py"
    assert found(here, "util", "/p/core/README.md") is None


def test_a_root_that_is_marked_ends_the_search() -> None:
    assert found("/p/core/agent.py", "util", "/p/core/setup.py", "/p/README.md") is None


@pytest.mark.parametrize(
    ("written", "target"),
    [
        (b"sys.path.append('core')", "/p/core/agent.py"),
        (b"sys.path.insert(0, './core')", "/p/core/agent.py"),
        (b'sys.path.insert(0, os.path.join(os.path.dirname(__file__), "core"))', "/p/core/agent.py"),
        (b"sys.path.append(core)", None),
        (b"sys.path.append(f'{core}')", None),
        (b"# sys.path\npath.append('core')", None),
    ],
)
def test_a_folder_that_the_file_puts_on_the_path(written: bytes, target: str | None) -> None:
    added = search_folders(written)
    assert find_import(FILES.__contains__, "/p/train_net.py", "agent", 0, moves=True, added=added) == target


def test_a_folder_on_the_path_beside_the_one_of_the_script() -> None:
    added = search_folders(b'sys.path.append(os.path.join(here, "..", "core"))')
    assert find_import(FILES.__contains__, "/p/tools/run.py", "agent", 0, moves=True, added=added) == "/p/core/agent.py"
