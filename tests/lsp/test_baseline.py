"""Findings that a baseline records are not shown; an action records one more."""

from __future__ import annotations

from pathlib import Path

import pytest
from lsprotocol import types

from tests.cli.command import run
from tests.lsp.editor import BROKEN, PULL_CLIENT, PUSH_CLIENT, editing
from tests.lsp.test_settings import TWO, codes, file_changed


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "autograd-lsp.toml").write_text('baseline = "known.json"\n')
    (tmp_path / "train.py").write_text(BROKEN)
    record(tmp_path)
    return tmp_path


def record(project: Path) -> None:
    done = run("check", "--no-cache", "--no-config", "--write-baseline", "known.json", "train.py", cwd=project)
    assert done.returncode == 0, done.stderr


async def test_what_is_recorded_is_not_shown_and_what_is_new_is(project: Path) -> None:
    uri = (project / "train.py").as_uri()
    async with editing(PUSH_CLIENT, folders=[project.as_uri()]) as editor:
        editor.open(uri, BROKEN)
        assert await editor.diagnostics_of(uri, 1) == []
        editor.edit(uri, 2, (0, 0), (len(BROKEN.split("\n")), 0), "\n# Lines move.\n" + TWO)
        [new] = await editor.diagnostics_of(uri, 2)
        assert new.code == "AG206"


async def test_a_baseline_that_changes_counts_at_once(project: Path) -> None:
    uri = (project / "train.py").as_uri()
    async with editing(PULL_CLIENT, folders=[project.as_uri()]) as editor:
        editor.open(uri, BROKEN)
        assert await codes(editor, uri) == []
        (project / "known.json").write_text('{"version": 1, "files": {}}')
        file_changed(editor, project / "known.json")
        assert await codes(editor, uri) == ["AG104"]


@pytest.mark.parametrize("text", [None, "not JSON", '{"version": 1, "files": {"train.py": 5}}'])
async def test_a_baseline_that_cannot_be_read_is_told_and_records_nothing(project: Path, text: str | None) -> None:
    uri, known = (project / "train.py").as_uri(), project / "known.json"
    known.unlink()
    if text is not None:
        known.write_text(text)
    async with editing(PULL_CLIENT, folders=[project.as_uri()]) as editor:
        editor.open(uri, BROKEN)
        [diagnostic] = (await editor.pull(uri)).items
        assert await codes(editor, uri) == ["AG104"]
        [told] = [message.message for message in editor.messages]
        assert "known.json" in told
        titles = [action.title for action in await editor.code_actions(uri, diagnostic)]
        assert titles and not [title for title in titles if title.startswith("Record")]


async def test_an_action_records_a_finding_as_the_command_does(project: Path) -> None:
    uri, known = (project / "train.py").as_uri(), project / "known.json"
    (project / "train.py").write_text(TWO)
    async with editing(PULL_CLIENT, folders=[project.as_uri()]) as editor:
        editor.open(uri, TWO)
        [diagnostic] = (await editor.pull(uri)).items
        actions = await editor.code_actions(uri, diagnostic)
        [action] = [action for action in actions if action.title == "Record AG206 in known.json"]
        assert action.edit is not None and action.edit.changes is not None
        [(where, [edit])] = action.edit.changes.items()
    assert where == known.as_uri()
    assert edit.range == types.Range(types.Position(0, 0), types.Position(known.read_text().count("\n"), 0))
    record(project)
    assert edit.new_text == known.read_text()


async def test_without_a_baseline_nothing_is_recorded(tmp_path: Path) -> None:
    uri = (tmp_path / "train.py").as_uri()
    async with editing(PULL_CLIENT, folders=[tmp_path.as_uri()]) as editor:
        editor.open(uri, BROKEN)
        [diagnostic] = (await editor.pull(uri)).items
        titles = [action.title for action in await editor.code_actions(uri, diagnostic)]
        assert titles and not [title for title in titles if title.startswith("Record")]
