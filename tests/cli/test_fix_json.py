"""`check --fix --output-format json`: one document says what was done to each file, and what remains in it."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from autograd_lsp.cli.formats import json as json_format
from autograd_lsp.cli.formats.beside import Beside
from tests.cli.command import BROKEN, FIXED, check_json, run
from tests.cli.test_fix import Both, Marks, fail_to_replace, written

MENDED = {
    "code": "AG104",
    "name": "saved-tensor-modified",
    "line": 4,
    "round": 1,
    "title": "Use the out-of-place `add`",
    "edits": 1,
    "paths": ["train.py"],
}
NOTHING: Mapping[str, object] = {"written": False, "refused": None, "applied": [], "skipped": []}
UNSAFE = "import torch\nx = torch.ones(3, requires_grad=True)\nx.exp().backward()\n"


def test_each_file_says_what_was_done_and_what_remains(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(BROKEN)
    (tmp_path / "fine.py").write_text(FIXED)
    (tmp_path / "other.py").write_text(UNSAFE)
    code, document = check_json("--fix", cwd=tmp_path)
    files = {file["path"]: file for file in document["files"]}
    assert code == 1
    assert (tmp_path / "train.py").read_text() == FIXED
    assert files["train.py"]["fixed"] == {**NOTHING, "written": True, "applied": [MENDED]}
    assert files["fine.py"]["fixed"] == files["other.py"]["fixed"] == NOTHING
    assert [[found["code"] for found in file["findings"]] for file in files.values()] == [[], ["AG107"], []]


def test_what_remains_is_what_a_check_says_afterwards(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(BROKEN + UNSAFE)
    _, document = check_json("--fix", cwd=tmp_path)
    _, afterwards = check_json(cwd=tmp_path)
    assert "fixed" not in afterwards["files"][0]
    for file in document["files"]:
        assert file.pop("fixed")["applied"] == [MENDED]
    assert document == afterwards


def test_a_finding_of_an_importing_file_is_told_where_it_is(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text("def cost(x):\n    y = x.exp()\n    y.add_(1)\n    return y.sum()\n")
    (tmp_path / "train.py").write_text(
        "import torch\nfrom model import cost\ncost(torch.ones(3, requires_grad=True)).backward()\n"
    )
    code, document = check_json("--fix", cwd=tmp_path)
    model, train = (file["fixed"] for file in document["files"])
    assert (code, train) == (0, NOTHING)
    assert model == {**NOTHING, "written": True, "applied": [{**MENDED, "line": 3, "paths": ["model.py"]}]}


@pytest.mark.parametrize("name", ["train.py", "link.py"])
def test_a_file_that_is_left_unchanged_says_why(tmp_path: Path, name: str) -> None:
    (tmp_path / "train.py").write_text(BROKEN)
    (tmp_path / "train.py").chmod(0o444)
    (tmp_path / "link.py").symlink_to("train.py")
    code, document = check_json("--fix", name, cwd=tmp_path)
    [file] = document["files"]
    assert (code, file["fixed"]) == (1, {**NOTHING, "refused": "it is write-protected"})
    assert [found["code"] for found in file["findings"]] == ["AG104"]


def test_comments_that_silence_are_told_of_like_fixes(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(UNSAFE)
    _, document = check_json("--add-ignore", cwd=tmp_path)
    [file] = document["files"]
    assert [one["title"] for one in file["fixed"]["applied"]] == ["Ignore AG107 here"]
    assert (file["fixed"]["written"], file["findings"]) == (True, [])


def test_standard_input_is_fixed_and_not_written(tmp_path: Path) -> None:
    arguments = ("--fix", "--format", "json", "--output-file", "out.json", "-")
    done = run("check", *arguments, cwd=tmp_path, stdin=BROKEN.encode())
    assert done.stdout == FIXED
    [file] = json.loads((tmp_path / "out.json").read_text())["files"]
    assert file["fixed"] == {**NOTHING, "applied": [{**MENDED, "paths": ["<stdin>"]}]}


def told(marks: Marks) -> dict[str, Any]:
    """What the document says of fixes, by file."""
    fixed = marks.fix()
    stream = io.StringIO()
    json_format.write(stream, fixed.checked.reports, Beside(outcome=fixed.outcome))
    return {file["path"]: file["fixed"] for file in json.loads(stream.getvalue())["files"]}


def test_a_fix_of_two_files_is_told_once_and_both_are_written(tmp_path: Path) -> None:
    a, b = written(tmp_path, a="one = 1\n", b="one = 1\n")
    fixed = told(Both({}, a, b))
    assert [fixed["a.py"]["written"], fixed["b.py"]["written"]] == [True, True]
    [both] = fixed["a.py"]["applied"]
    assert (both["edits"], both["paths"], fixed["b.py"]["applied"]) == (2, [str(a), str(b)], [])


def test_a_fix_that_would_break_the_file_is_skipped_with_its_reason(tmp_path: Path) -> None:
    (a,) = written(tmp_path, a="one = 1\ntwo = 2\n")
    [fixed] = told(Marks({"one": "uno", "two": "du e"}, a)).values()
    [skipped] = fixed["skipped"]
    assert (skipped["title"], skipped["line"]) == ("Replace two", 2)
    assert skipped["reason"] == "skipped because the file would no longer parse"
    assert [one["title"] for one in fixed["applied"]] == ["Replace one"]


def test_a_line_counts_in_the_round_in_which_its_fix_was_made(tmp_path: Path) -> None:
    (a,) = written(tmp_path, a="one = 1\n")
    [fixed] = told(Marks({"one": "# two\ntwo", "two = 1": "three = 1"}, a)).values()
    assert [(one["round"], one["line"]) for one in fixed["applied"]] == [(1, 1), (2, 2)]


def test_what_was_written_before_the_disk_refused_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    a, b = written(tmp_path, a="one = 1\n", b="one = 1\n")
    fail_to_replace(monkeypatch)
    fixed = told(Marks({"one": "two"}, a, b))
    assert fixed["a.py"]["written"] and len(fixed["a.py"]["applied"]) == 1
    assert fixed["b.py"] == {**NOTHING, "refused": "told to fail"}
