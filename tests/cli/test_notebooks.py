"""Notebooks: their cells are one program, and what is found is told by cell."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import check_json, run

Cells = list[tuple[str, str]]
LEARN: Cells = [
    ("markdown", "# y.add_(1)"),
    ("code", "%matplotlib inline\nimport torch\nx = torch.ones(3, requires_grad=True)"),
    ("code", "y = x.exp()"),
    ("raw", "x = 1"),
    ("code", "# in place\ny.add_(1)"),
    ("code", "!ls\n\ny.sum().backward()"),
]


def notebook(cells: Cells, **metadata: Any) -> str:
    made = [
        {"cell_type": kind, "source": source.splitlines(keepends=True), "metadata": {}, "outputs": []}
        for kind, source in cells
    ]
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": metadata, "cells": made})


def write(path: Path, cells: Cells = LEARN, **metadata: Any) -> None:
    path.write_text(notebook(cells, **metadata), encoding="utf-8")


def found(cells: Cells, folder: Path) -> list[tuple[str, int, int]]:
    """Code, cell and line of each finding."""
    write(folder / "a.ipynb", cells)
    _, document = check_json("a.ipynb", cwd=folder)
    return [(f["code"], f["cell"], f["range"]["start"]["line"]) for f in document["files"][0]["findings"]]


def test_findings_are_told_by_cell(tmp_path: Path) -> None:
    write(tmp_path / "learn.ipynb")
    code, document = check_json("learn.ipynb", cwd=tmp_path)
    assert code == 1
    [file] = document["files"]
    [finding] = file["findings"]
    assert (file["path"], finding["code"], finding["cell"]) == ("learn.ipynb", "AG104", 5)
    assert finding["range"] == {"start": {"line": 2, "column": 1}, "end": {"line": 2, "column": 10}}
    raises = finding["raises"]
    assert (raises["path"], raises["cell"], raises["line"]) == ("learn.ipynb", 6, 3)
    assert [(step["cell"], step["line"]) for step in finding["related"]] == [(3, 1), (6, 3)]
    [edit] = finding["fixes"][0]["edits"]
    assert (edit["cell"], edit["range"], edit["text"]) == (5, finding["range"], "y = y.add(1)")


def test_the_text_shows_cells(tmp_path: Path) -> None:
    write(tmp_path / "learn.ipynb")
    done = run("check", cwd=tmp_path)
    assert done.stdout.startswith("error[AG104]: ")
    assert "\n --> learn.ipynb:cell 5:2:1\n" in done.stdout
    assert "2 | y.add_(1)\n  | ^^^^^^^^^\n --> learn.ipynb:cell 3\n1 | y = x.exp()\n" in done.stdout
    assert " at cell 6, line 3: " in done.stdout
    assert "\nFound 1 error in 1 file.\n" in done.stdout


def test_a_python_file_has_no_cells(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("import torch\nw = torch.ones(3)\nw.require_grad = True\n")
    _, document = check_json("a.py", cwd=tmp_path)
    assert "cell" not in json.dumps(document)


def test_what_a_module_does_for_a_notebook(tmp_path: Path) -> None:
    (tmp_path / "lib.py").write_text("def write(y):\n    y.add_(1)\n")
    write(tmp_path / "a.ipynb", [*LEARN[:4], ("code", "from lib import write\nwrite(y)"), LEARN[-1]])
    _, document = check_json("a.ipynb", cwd=tmp_path)
    [finding] = document["files"][1]["findings"]
    assert document["files"][1]["path"] == "lib.py" and "cell" not in finding
    assert (finding["raises"]["path"], finding["raises"]["cell"], finding["raises"]["line"]) == ("a.ipynb", 6, 3)
    steps = [(step["path"], step.get("cell"), step["line"]) for step in finding["related"]]
    assert {("a.ipynb", 3, 1), ("a.ipynb", 5, 2), ("a.ipynb", 6, 3)} <= {*steps}
    assert " at a.ipynb:cell 6:3: " in run("check", "a.ipynb", cwd=tmp_path).stdout


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_folder_of_notebooks(tmp_path: Path, jobs: str) -> None:
    (tmp_path / ".ipynb_checkpoints").mkdir()
    write(tmp_path / ".ipynb_checkpoints" / "a.ipynb")
    for name in "abcd":
        write(tmp_path / f"{name}.ipynb")
    write(tmp_path / "r.ipynb", kernelspec={"language": "R", "name": "ir"})
    (tmp_path / "lib.py").write_text("def write(y):\n    y.add_(1)  # autograd: ignore[AG104]\n")
    write(tmp_path / "user.ipynb", [*LEARN[:4], ("code", "from lib import write\nwrite(y)"), LEARN[-1]])
    code, document = check_json("--jobs", jobs, cwd=tmp_path)
    assert code == 1
    codes = {file["path"]: [f["code"] for f in file["findings"]] for file in document["files"]}
    assert codes == {
        **{f"{name}.ipynb": ["AG104"] for name in "abcd"},
        "lib.py": [],
        "user.ipynb": [],
    }


def test_standard_input_may_be_a_notebook(tmp_path: Path) -> None:
    stdin = notebook(LEARN).encode()
    _, document = check_json("-", "--stdin-filename", "new.ipynb", cwd=tmp_path, stdin=stdin)
    assert document["files"][0]["findings"][0]["cell"] == 5


@pytest.mark.parametrize(
    "metadata",
    [
        {},
        {"kernelspec": {"name": "conda-env-x-py", "language": "python"}},
        {"language_info": {"name": "python", "version": "3.12"}},
        {"language_info": {"name": "ipython"}},
        {"language_info": {}, "kernelspec": {"display_name": "?"}},
    ],
)
def test_python_is_recognized(tmp_path: Path, metadata: dict[str, Any]) -> None:
    write(tmp_path / "a.ipynb", **metadata)
    assert check_json("a.ipynb", cwd=tmp_path)[0] == 1


@pytest.mark.parametrize("metadata", [{"kernelspec": {"language": "julia"}}, {"language_info": {"name": "R"}}])
def test_other_languages_are_skipped_silently(tmp_path: Path, metadata: dict[str, Any]) -> None:
    write(tmp_path / "a.ipynb", **metadata)
    assert check_json("a.ipynb", cwd=tmp_path) == (0, {"version": 1, "files": []})
    done = run("facts", "a.ipynb", cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_format_3(tmp_path: Path) -> None:
    cells = [
        {"cell_type": "heading", "level": 1, "source": "Title"},
        *({"cell_type": "code", "language": "python", "input": source} for kind, source in LEARN if kind == "code"),
    ]
    document = {"nbformat": 3, "metadata": {"name": ""}, "worksheets": [{"cells": cells}]}
    (tmp_path / "a.ipynb").write_text(json.dumps(document))
    _, document = check_json("a.ipynb", cwd=tmp_path)
    assert [f["cell"] for f in document["files"][0]["findings"]] == [4]


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"[]",
        b"3",
        b'"x"',
        b"{}",
        b'{"cells": 3}',
        b'{"cells": [3]}',
        b'{"cells": [{}]}',
        b'{"cells": [{"cell_type": "code"}]}',
        b'{"cells": [{"cell_type": "code", "source": 3}]}',
        b'{"cells": [{"cell_type": "code", "source": [3]}]}',
        b'{"cells": [], "metadata": 3}',
        b'{"worksheets": 3}',
        b"[" * 100_000,
        b"\xff\xfe\x00",
        b"\0",
        b"1" * 5000,
    ],
)
def test_a_broken_notebook_is_one_finding_and_the_others_are_checked(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "bad.ipynb").write_bytes(data)
    write(tmp_path / "learn.ipynb")
    code, document = check_json(cwd=tmp_path)
    assert code == 2
    bad, learn = document["files"]
    [finding] = bad["findings"]
    assert (finding["code"], finding["name"], finding["severity"]) == ("AG001", "unreadable-file", "error")
    assert finding["range"]["start"] == {"line": 1, "column": 1} and "cell" not in finding
    assert [f["code"] for f in learn["findings"]] == ["AG104"]
    done = run("facts", "bad.ipynb", cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)


@pytest.mark.parametrize(
    "data",
    [
        ("\ufeff" + notebook(LEARN)).encode(),
        notebook(LEARN).replace("\\n", "\\r\\n").encode(),
        json.dumps(json.loads(notebook(LEARN)), indent=1).replace("\n", "\r\n").encode(),
        notebook([*LEARN[:2], ("code", "s = '\ud800 \0'"), *LEARN[3:]][:2] + LEARN[2:]).encode(),
        notebook(LEARN).replace('"outputs": []', '"outputs": [{"data": "%s"}]' % ("x" * 3_000_000), 1).encode(),
    ],
)
def test_odd_notebooks_are_read(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "a.ipynb").write_bytes(data)
    _, document = check_json("a.ipynb", cwd=tmp_path)
    [finding] = document["files"][0]["findings"]
    assert (finding["cell"], finding["range"]["start"]["line"]) == (5, 2)


def test_odd_characters_in_cells(tmp_path: Path) -> None:
    for odd in ("s = '\ud800'", "s = '\0'", "# \0", "s = '😀'; \u2028", "\x0c"):
        cells = [*LEARN[:3], ("code", odd), *LEARN[4:]]
        about_the_rest = [finding for finding in found(cells, tmp_path) if finding[0] != "AG005"]
        assert about_the_rest in ([("AG104", 5, 2)], []), odd


def test_comments_silence_in_cells(tmp_path: Path) -> None:
    assert found([*LEARN[:4], ("code", "y.add_(1)  # autograd: ignore[AG104]"), LEARN[-1]], tmp_path) == []
    assert found([*LEARN[:4], ("code", "y.add(1)  # noqa: AG104"), LEARN[-1]], tmp_path) == [("AG002", 5, 1)]
    whole = ("code", "# autograd: ignore-file")
    assert found([whole, *LEARN], tmp_path) == []


def test_the_last_line_of_a_cell_is_removed_within_it(tmp_path: Path) -> None:
    write(tmp_path / "a.ipynb", [("code", "x = 1\n# autograd: ignore[AG104]"), ("code", "y = 2")])
    _, document = check_json("a.ipynb", cwd=tmp_path)
    [finding] = document["files"][0]["findings"]
    [edit] = finding["fixes"][0]["edits"]
    assert edit["range"] == {"start": {"line": 2, "column": 1}, "end": {"line": 2, "column": 26}}


def test_settings_are_those_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "autograd-lsp.toml").write_text('[per-file-ignores]\n"*.ipynb" = ["AG1"]')
    assert found(LEARN, tmp_path) == []
    (tmp_path / "autograd-lsp.toml").write_text('exclude = ["*.ipynb"]')
    assert check_json(cwd=tmp_path) == (0, {"version": 1, "files": []})


@pytest.mark.parametrize(
    "cell",
    [
        "%%bash\ny.add_(1)",
        "%%html\n<b>'",
        "%%writefile train.py\ny.add_(1)",
        "y.add_(1",
        's = """\ny.add_(1)',
        "y.add(1) + \\",
        "!y.add_(1)",
        "%timeit y.add_(1)",
        "y.add_?",
        "?y.add_",
    ],
)
def test_what_is_no_python_is_not_run(tmp_path: Path, cell: str) -> None:
    assert found([*LEARN[:4], ("code", cell), LEARN[-1]], tmp_path) == []


@pytest.mark.parametrize(
    ("cell", "line"),
    [
        ("%%time\ny.add_(1)", 2),
        ("\n%%capture out\n%%time\n\ny.add_(1)", 5),
        ("%time y.add_(1)", 1),
        ("files = !ls\nhere = %pwd\ny.add_(1)", 3),
        ("!pip install \\\n  torch\ny.add_(1)", 3),
        ("if x is not None:\n    !ls\n    y.add_(1)", 3),
        ("    y.add_(1)", 1),
        ("\n  # why\n  y.add_(1)\n  y.size()", 3),
        ("s = '''\n%%bash '''\ny.add_(1)", 3),
        ("s = \"it's\"; t = 'a\\'b'; u = r'\\'' if 0 else ''\ny.add_(1)", 2),
        ("import asyncio\nawait asyncio.sleep(0)\ny.add_(1)", 3),
        ("y.add_(1);", 1),
        ("display(y)\nget_ipython()\ny.add_(1)", 3),
        ("a %= 2 if 0 else 3\ny.add_(1)", 2),
    ],
)
def test_python_between_magics_is_run_where_it_stands(tmp_path: Path, cell: str, line: int) -> None:
    assert found([*LEARN[:4], ("code", cell), LEARN[-1]], tmp_path) == [("AG104", 5, line)]


def test_what_does_not_parse_is_told_in_its_cell(tmp_path: Path) -> None:
    cell = "y.size()\nz = [1,\n%pwd\n]\ny.add_(1)"
    assert found([*LEARN[:4], ("code", cell), LEARN[-1]], tmp_path) == [("AG005", 5, 2), ("AG104", 5, 5)]


def test_facts_tell_the_cell(tmp_path: Path) -> None:
    write(tmp_path / "a.ipynb")
    done = run("facts", "--format", "json", "a.ipynb", cwd=tmp_path)
    [file] = json.loads(done.stdout)["files"]
    assert [(fact["cell"], fact["line"], fact["name"]) for fact in file["facts"]][:2] == [(2, 3, "x"), (3, 1, "y")]
    assert "a.ipynb:cell 3:1: y  " in run("facts", "a.ipynb", cwd=tmp_path).stdout


def test_the_graph_of_a_notebook_is_bad_usage(tmp_path: Path) -> None:
    write(tmp_path / "a.ipynb")
    done = run("graph", "a.ipynb:3", cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
