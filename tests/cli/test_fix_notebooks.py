"""`--fix` in notebooks: the sources of cells change, and not a byte beside them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.command import run
from tests.cli.test_notebooks import LEARN, notebook

LISTED = notebook(LEARN)
INDENTED = json.dumps(json.loads(LISTED), indent=1, ensure_ascii=False) + "\n"


def as_one_string(text: str) -> str:
    document = json.loads(text)
    for cell in document["cells"]:
        cell["source"] = "".join(cell["source"])
    return json.dumps(document)


@pytest.mark.parametrize(
    ("before", "old", "new"),
    [
        (LISTED, '"y.add_(1)"', '"y = y.add(1)"'),
        (INDENTED, '"y.add_(1)"', '"y = y.add(1)"'),
        (INDENTED.replace("\n", "\r\n"), '"y.add_(1)"', '"y = y.add(1)"'),
        ("\ufeff" + LISTED, '"y.add_(1)"', '"y = y.add(1)"'),
        (as_one_string(LISTED), "\\ny.add_(1)", "\\ny = y.add(1)"),
        (LISTED.replace("# in place", "# \\u00e9 in place"), '"y.add_(1)"', '"y = y.add(1)"'),
        (INDENTED.replace("# in place", "# é in place"), '"y.add_(1)"', '"y = y.add(1)"'),
        (INDENTED.replace('"nbformat": 4', '"odd":  1.50,\n "nbformat": 4'), '"y.add_(1)"', '"y = y.add(1)"'),
    ],
    ids=["listed", "indented", "crlf", "mark", "one-string", "escaped", "not-ascii", "odd-spaces"],
)
def test_nothing_changes_but_the_line(tmp_path: Path, before: str, old: str, new: str) -> None:
    file = tmp_path / "a.ipynb"
    file.write_bytes(before.encode())
    shown = run("check", "--no-cache", "--diff", "a.ipynb", cwd=tmp_path)
    assert shown.returncode == 1 and new in shown.stdout
    assert file.read_bytes() == before.encode()
    done = run("check", "--no-cache", "--fix", "a.ipynb", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "Fixed 1 finding in 1 file." in done.stdout
    after = file.read_bytes().decode()
    assert before.count(old) == 1 and after == before.replace(old, new)


def test_suppressions_are_added_to_cells(tmp_path: Path) -> None:
    cells = [*LEARN[:-1], ("code", "def f():\n    return torch.tensor(x)\ny.sum().backward()")]
    (tmp_path / "a.ipynb").write_text(json.dumps(json.loads(notebook(cells)), indent=1))
    before = json.loads((tmp_path / "a.ipynb").read_text())
    done = run("check", "--no-cache", "--add-ignore", "a.ipynb", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    text = (tmp_path / "a.ipynb").read_text()
    assert text == json.dumps(json.loads(text), indent=1)
    changed = [
        cell["source"] for cell, old in zip(json.loads(text)["cells"], before["cells"], strict=True) if cell != old
    ]
    assert changed == [["# in place\n", "y.add_(1)  # autograd: ignore[AG104]"]]


def test_a_line_that_is_a_magic_is_left_alone(tmp_path: Path) -> None:
    cells = [*LEARN[:4], ("code", "%time y.add_(1)"), LEARN[-1]]
    before = notebook(cells)
    (tmp_path / "a.ipynb").write_text(before)
    done = run("check", "--no-cache", "--fix", "a.ipynb", cwd=tmp_path)
    assert done.returncode == 1
    assert "a.ipynb" in done.stderr
    assert (tmp_path / "a.ipynb").read_text() == before


def test_halves_of_characters_are_not_written_back(tmp_path: Path) -> None:
    before = LISTED.replace("# in place", "# \\ud800 in place")
    (tmp_path / "a.ipynb").write_text(before)
    done = run("check", "--no-cache", "--fix", "a.ipynb", cwd=tmp_path)
    assert done.returncode == 1
    assert (tmp_path / "a.ipynb").read_text() == before
