"""The characters of a cell are found where they stand in the notebook's JSON, however that is written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograd_lsp.notebooks.program import read_notebook
from autograd_lsp.notebooks.source import as_written, find_cell
from tests.cli.command import check_json, run
from tests.cli.formats import cases_of_junit, commands, edited, findings_of_sarif
from tests.cli.test_notebooks import LEARN, notebook, write

SOURCES = st.text(
    st.one_of(st.sampled_from("\"\\\n\r\t é😀ud83'{}[],:"), st.characters(exclude_categories=["Cs"])), min_size=1
)
LAYOUTS = st.fixed_dictionaries({"indent": st.sampled_from([None, 0, 1]), "ensure_ascii": st.booleans()})


def slice_of(data: str, place: Any) -> str:
    """The text between two positions; lines end at line feeds."""
    lines = data.split("\n")
    (begin, end) = place
    if begin.line == end.line:
        return lines[begin.line - 1][begin.column - 1 : end.column - 1]
    between = lines[begin.line : end.line - 1]
    return "\n".join([lines[begin.line - 1][begin.column - 1 :], *between, lines[end.line - 1][: end.column - 1]])


@settings(deadline=None)
@given(st.lists(SOURCES, min_size=1, max_size=4), st.booleans(), LAYOUTS, st.booleans())
def test_each_character_is_where_it_is_said_to_be(
    sources: list[str], in_lines: bool, layout: dict[str, Any], is_old: bool
) -> None:
    written: list[Any] = [source.splitlines(keepends=True) if in_lines else source for source in sources]
    key = "input" if is_old else "source"
    cells: list[Any] = [{"outputs": [{"source": "]"}], "cell_type": "code", key: source} for source in written]
    document: Any = {"worksheets": [{"cells": cells[:2]}, {"cells": cells[2:]}]} if is_old else {"cells": cells}
    data = json.dumps(document, **layout)
    for number, source in enumerate(sources, start=1):
        cell = find_cell(data, number, source)
        assert cell is not None
        for at, character in enumerate(source):
            assert json.loads(f'"{slice_of(data, cell.range(at, at + 1))}"') == character
        begin, end = cell.range(0, len(source))
        assert (begin, end) == (cell.range(0, 1)[0], cell.range(len(source) - 1, len(source))[1])
        assert cell.range(len(source), len(source)) == (end, end)
    assert find_cell(data, len(sources) + 1, sources[-1]) is None
    assert find_cell(data, 1, sources[0] + "x") is None


@settings(deadline=None)
@given(SOURCES, SOURCES, st.booleans(), LAYOUTS, st.data())
def test_a_replaced_range_is_replaced_in_the_source(
    source: str, new: str, in_lines: bool, layout: dict[str, Any], draw: st.DataObject
) -> None:
    written = source.splitlines(keepends=True) if in_lines else source
    data = json.dumps({"cells": [{"cell_type": "code", "source": written}]}, **layout)
    start = draw.draw(st.integers(0, len(source)))
    end = draw.draw(st.integers(start, len(source)))
    cell = find_cell(data, 1, source)
    assert cell is not None
    begin, upto = cell.range(start, end)
    region = {"startLine": begin.line, "startColumn": begin.column, "endLine": upto.line, "endColumn": upto.column}
    [changed] = json.loads(edited(data, [(region, as_written(new))]))["cells"]
    assert "".join(changed["source"]) == source[:start] + new + source[end:]


@pytest.mark.parametrize(
    "data", ["", "{", "3", "[]", "{}", '{"cells": 3}', '{"cells": [3]}', '{"cells": [{"source": 3}]}', "[" * 100_000]
)
def test_what_is_no_notebook_has_no_cells(data: str) -> None:
    assert find_cell(data, 1, "x") is None
    assert find_cell('{"a": ' * 100_000 + "1" + "}" * 100_000, 1, "x") is None


def test_deep_outputs_are_passed_over() -> None:
    deep = "[" * 500 + "]" * 500
    cell = find_cell(f'{{"cells": [{{"outputs": {deep}, "source": "x"}}]}}', 1, "x")
    assert cell is not None and cell.range(0, 1)[0].line == 1


def jupyter(folder: Path) -> str:
    """The notebook as Jupyter lays it out: a line of JSON for each line of a cell."""
    write(folder / "learn.ipynb")
    data = json.dumps(json.loads((folder / "learn.ipynb").read_text(encoding="utf-8")), indent=1)
    (folder / "learn.ipynb").write_text(data, encoding="utf-8")
    return data


def test_every_format_points_into_the_file_and_names_the_cell(tmp_path: Path) -> None:
    data = jupyter(tmp_path)
    line = next(number for number, text in enumerate(data.split("\n"), start=1) if text == '    "y.add_(1)"')
    [(_, properties, message)] = commands(run("check", "--format", "github", cwd=tmp_path).stdout)
    assert (properties["file"], properties["line"], properties["endLine"]) == ("learn.ipynb", str(line), str(line))
    assert (properties["col"], properties["endColumn"]) == ("6", "15")
    assert message.split("\n")[0].endswith(" (cell 5, line 2)")
    assert "learn.ipynb:cell 3:1:5: `exp` saved" in message
    [issue] = json.loads(run("check", "--format", "gitlab", cwd=tmp_path).stdout)
    assert issue["location"] == {"path": "learn.ipynb", "lines": {"begin": line, "end": line}}
    assert issue["description"].endswith(" (cell 5, line 2)")
    [(_, case)] = cases_of_junit(run("check", "--format", "junit", cwd=tmp_path).stdout)
    assert (case.attrib["name"], case.attrib["line"]) == ("AG104 saved-tensor-modified at cell 5:2:1", str(line))
    [(seen, result)] = findings_of_sarif(json.loads(run("check", "--format", "sarif", cwd=tmp_path).stdout))
    [location] = result["locations"]
    assert (seen.path, seen.line) == ("learn.ipynb", line)
    assert location["logicalLocations"] == [{"name": "cell 5", "kind": "cell"}]
    assert location["properties"]["cell"] == 5
    assert location["properties"]["region"] == {"startLine": 2, "startColumn": 1, "endLine": 2, "endColumn": 10}
    assert [step["properties"]["cell"] for step in result["relatedLocations"]] == [3, 6]


def test_a_fix_of_sarif_mends_the_notebook(tmp_path: Path) -> None:
    data = jupyter(tmp_path)
    [(_, result)] = findings_of_sarif(json.loads(run("check", "--format", "sarif", cwd=tmp_path).stdout))
    [change] = result["fixes"][0]["artifactChanges"]
    edits = [(new["deletedRegion"], new["insertedContent"]["text"]) for new in change["replacements"]]
    (tmp_path / "learn.ipynb").write_text(edited(data, edits), encoding="utf-8")
    made = read_notebook(edited(data, edits))
    assert made is not None and [cell.source for cell in made.cells if cell.number == 5] == ["# in place\ny = y.add(1)"]
    assert check_json(cwd=tmp_path)[0] == 0


def test_a_notebook_on_standard_input(tmp_path: Path) -> None:
    stdin = notebook(LEARN).encode()
    done = run("check", "--format", "github", "-", "--stdin-filename", "new.ipynb", cwd=tmp_path, stdin=stdin)
    [(_, properties, _)] = commands(done.stdout)
    assert (properties["file"], properties["line"]) == ("new.ipynb", "1")
    assert properties["col"] == str(stdin.decode().index('"y.add_(1)"') + 2)


def test_a_broken_notebook_is_pointed_at_from_the_top(tmp_path: Path) -> None:
    (tmp_path / "bad.ipynb").write_text("{")
    [(_, properties, _)] = commands(run("check", "--format", "github", cwd=tmp_path).stdout)
    assert (properties["file"], properties["line"], properties["col"]) == ("bad.ipynb", "1", "1")
