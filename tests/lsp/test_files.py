"""The workspace is one program: cause and crash in different files, open, unsaved, and changed on the disk."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from lsprotocol import types

from tests.lsp.editor import PATIENCE, PULL_CLIENT, Editor, editing
from tests.lsp.test_requests import applied
from tests.packages.programs import programs_in

[PROGRAM] = [
    p for p in programs_in(Path(__file__).parents[1] / "packages" / "packages.md") if "activation" in p.heading
]
MODEL, TRAIN = "models/net.py", "main.py"
FIXED = PROGRAM.files[MODEL].replace("gate *= 2", "gate = gate * 2")
CRASH = next(i for i, line in enumerate(PROGRAM.files[TRAIN].splitlines()) if "loss.backward()" in line)
CAUSE = next(i for i, line in enumerate(PROGRAM.files[MODEL].splitlines()) if "gate *= 2" in line)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return PROGRAM.write(tmp_path)


def uri_of(project: Path, file: str) -> str:
    return (project / file).as_uri()


def open_file(editor: Editor, project: Path, file: str) -> str:
    editor.open(uri_of(project, file), (project / file).read_text())
    return uri_of(project, file)


def on_disk(editor: Editor, path: Path, kind: types.FileChangeType) -> None:
    editor.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([types.FileEvent(path.as_uri(), kind)]))


async def codes(editor: Editor, uri: str) -> list[object]:
    return [diagnostic.code for diagnostic in (await editor.pull(uri)).items]


async def published(
    editor: Editor, uri: str, wanted: list[object], severity: types.DiagnosticSeverity | None = None
) -> None:
    """Until the newest diagnostics of a file have these codes, and this severity."""

    async def arrived() -> None:
        while True:
            newest = next((params for params in reversed(editor.published) if params.uri == uri), None)
            if newest is not None and [d.code for d in newest.diagnostics] == wanted:
                if severity is None or all(d.severity == severity for d in newest.diagnostics):
                    return
            await asyncio.sleep(0.01)

    await asyncio.wait_for(arrived(), PATIENCE)


async def test_a_crash_is_shown_where_it_happens_and_leads_to_its_cause(project: Path) -> None:
    async with editing() as editor:
        train = open_file(editor, project, TRAIN)
        [diagnostic] = await editor.diagnostics_of(train, 1)
    assert (diagnostic.code, diagnostic.range.start.line) == ("AG104", CRASH)
    related = diagnostic.related_information or []
    assert related[0].message == "the cause is here"
    assert related[0].location.uri == uri_of(project, MODEL)
    assert related[0].location.range.start.line == CAUSE
    assert {step.location.uri for step in related} >= {uri_of(project, "models/layers.py"), train}


async def test_the_cause_is_an_error_in_its_file_while_a_caller_is_open_that_raises(project: Path) -> None:
    async with editing() as editor:
        model = open_file(editor, project, MODEL)
        [diagnostic] = await editor.diagnostics_of(model, 1)
        assert diagnostic.severity == types.DiagnosticSeverity.Warning
        train = open_file(editor, project, TRAIN)
        await published(editor, model, ["AG104"], types.DiagnosticSeverity.Error)
        [diagnostic] = editor.published[-1].diagnostics
        assert diagnostic.range.start.line == CAUSE
        editor.close(train)
        await published(editor, model, ["AG104"], types.DiagnosticSeverity.Warning)


async def test_an_unsaved_model_changes_what_the_training_script_shows(project: Path) -> None:
    async with editing() as editor:
        train = open_file(editor, project, TRAIN)
        model = open_file(editor, project, MODEL)
        await published(editor, train, ["AG104"])
        editor.edit(model, 2, (CAUSE, 8), (CAUSE, 17), "gate = gate * 2")
        await published(editor, train, [])
        await published(editor, model, [])
        editor.edit(model, 3, (CAUSE, 8), (CAUSE, 23), "gate *= 2")
        await published(editor, train, ["AG104"])


@pytest.mark.parametrize("is_open", [True, False])
async def test_the_fix_that_the_script_offers_edits_the_model(project: Path, is_open: bool) -> None:
    async with editing() as editor:
        if is_open:
            editor.open(uri_of(project, MODEL), PROGRAM.files[MODEL], version=5)
        train = open_file(editor, project, TRAIN)
        [diagnostic] = await editor.diagnostics_of(train, 1)
        actions = await editor.code_actions(train, diagnostic)
    best = next(action for action in actions if action.is_preferred)
    [change] = best.edit.document_changes
    assert change.text_document.uri == uri_of(project, MODEL)
    assert change.text_document.version == (5 if is_open else None)
    assert applied(PROGRAM.files[MODEL], change.edits).partition("#")[0] == FIXED.partition("#")[0]
    assert actions[-1].title == "Ignore AG104 in net.py"


async def test_a_fix_of_the_whole_file_leaves_other_files_alone(project: Path) -> None:
    async with editing() as editor:
        train = open_file(editor, project, TRAIN)
        [diagnostic] = await editor.diagnostics_of(train, 1)
        assert not await editor.code_actions(train, diagnostic, only=["source.fixAll"])


async def test_unopened_files_that_change_on_the_disk(project: Path) -> None:
    model = project / MODEL
    async with editing() as editor:
        train = open_file(editor, project, TRAIN)
        await published(editor, train, ["AG104"])
        model.write_text(FIXED)
        on_disk(editor, model, types.FileChangeType.Changed)
        await published(editor, train, [])
        model.unlink()
        on_disk(editor, model, types.FileChangeType.Deleted)
        editor.edit(train, 2, (0, 0), (0, 0), "\n")
        assert await editor.diagnostics_of(train, 2) == []
        model.write_text(PROGRAM.files[MODEL])
        on_disk(editor, model, types.FileChangeType.Created)
        await published(editor, train, ["AG104"])


async def test_a_file_that_is_renamed(project: Path) -> None:
    old, new = project / MODEL, project / "models" / "network.py"
    init = project / "models" / "__init__.py"
    async with editing(PULL_CLIENT) as editor:
        train = open_file(editor, project, TRAIN)
        assert await codes(editor, train) == ["AG104"]
        old.rename(new)
        on_disk(editor, old, types.FileChangeType.Deleted)
        on_disk(editor, new, types.FileChangeType.Created)
        assert await codes(editor, train) == []
        init.write_text(PROGRAM.files["models/__init__.py"].replace(".net", ".network"))
        on_disk(editor, init, types.FileChangeType.Changed)
        [diagnostic] = (await editor.pull(train)).items
        assert (diagnostic.related_information or [])[0].location.uri == new.as_uri()


async def test_a_folder_that_the_editor_renames(project: Path) -> None:
    async with editing(PULL_CLIENT) as editor:
        train = open_file(editor, project, TRAIN)
        assert await codes(editor, train) == ["AG104"]
        old, new = project / "models", project / "other"
        old.rename(new)
        renamed = types.RenameFilesParams([types.FileRename(old.as_uri(), new.as_uri())])
        editor.workspace_did_rename_files(renamed)
        assert await codes(editor, train) == []
        new.rename(old)
        editor.workspace_did_rename_files(types.RenameFilesParams([types.FileRename(new.as_uri(), old.as_uri())]))
        assert await codes(editor, train) == ["AG104"]
        for file in sorted(old.glob("*.py")):
            file.unlink()
        editor.workspace_did_delete_files(types.DeleteFilesParams([types.FileDelete(old.as_uri())]))
        assert await codes(editor, train) == []
