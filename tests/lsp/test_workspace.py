"""The workspace as a whole: the findings of all its files, and folders that are configured each by itself."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException

from tests.lsp.editor import BROKEN, PATIENCE, PULL_CLIENT, PUSH_CLIENT, Editor, editing

CONTROLLED = (sys.executable, str(Path(__file__).with_name("controlled_server.py")))
TWO = BROKEN.replace("y.add_(1)\n", "y.add_(1)\nx.require_grad = True\n")
"""AG104, an error, and AG206, a warning."""
ASKED_CLIENT = types.ClientCapabilities(
    text_document=PULL_CLIENT.text_document, workspace=types.WorkspaceClientCapabilities(configuration=True)
)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name in (
        "train.py",
        "fine.py",
        "old/train.py",
        "venv/train.py",
        ".hidden/train.py",
        "made/train.py",
        "notes.txt",
    ):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("" if name == "fine.py" else BROKEN)
    (tmp_path / "venv" / "pyvenv.cfg").touch()
    (tmp_path / ".git").mkdir()
    (tmp_path / ".gitignore").write_text("made/\n")
    (tmp_path / "autograd-lsp.toml").write_text('exclude = ["old/"]')
    return tmp_path


async def pull_all(
    editor: Editor, known: types.WorkspaceDiagnosticReport | None = None, **more: object
) -> types.WorkspaceDiagnosticReport:
    ids = [types.PreviousResultId(one.uri, one.result_id) for one in known.items] if known is not None else []
    return await editor.workspace_diagnostic_async(types.WorkspaceDiagnosticParams(ids, **more))


def told(report: types.WorkspaceDiagnosticReport, root: Path) -> dict[str, object]:
    """By file, the codes that are new; None where nothing is."""
    return {
        one.uri.removeprefix(f"{root.as_uri()}/"): [d.code for d in one.items] if one.kind == "full" else None
        for one in report.items
    }


def on_disk(editor: Editor, path: Path, kind: types.FileChangeType) -> None:
    event = types.FileEvent(path.as_uri(), kind)
    editor.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([event]))


async def test_files_are_told_whether_or_not_they_are_open(project: Path) -> None:
    async with editing(PULL_CLIENT, folders=[project.as_uri()]) as editor:
        editor.open((project / "fine.py").as_uri(), BROKEN, version=4)
        report = await pull_all(editor)
        assert told(report, project) == {"fine.py": ["AG104"], "train.py": ["AG104"]}
        assert [one.version for one in report.items] == [4, None]
        # A file that is asked about by itself has the same result.
        [first, _] = report.items
        same = await editor.pull(first.uri, first.result_id)
        assert isinstance(same, types.RelatedUnchangedDocumentDiagnosticReport)
        assert editor.published == []


async def test_who_knows_all_is_answered_when_something_changes(project: Path) -> None:
    train = project / "train.py"
    async with editing(PULL_CLIENT, folders=[project.as_uri()]) as editor:
        report = await pull_all(editor)
        waiting = asyncio.ensure_future(pull_all(editor, report))
        await asyncio.sleep(0.5)
        assert not waiting.done()
        train.write_text("")
        on_disk(editor, train, types.FileChangeType.Changed)
        report = await asyncio.wait_for(waiting, PATIENCE)
        assert told(report, project) == {"train.py": [], "fine.py": None}
        train.write_text(BROKEN)
        on_disk(editor, train, types.FileChangeType.Changed)
        report = await asyncio.wait_for(pull_all(editor, report), PATIENCE)
        assert told(report, project)["train.py"] == ["AG104"]
        train.unlink()
        on_disk(editor, train, types.FileChangeType.Deleted)
        report = await asyncio.wait_for(pull_all(editor, report), PATIENCE)
        assert told(report, project) == {"train.py": [], "fine.py": None}


async def test_leaving_and_cancelling_do_not_wait_for_a_change(project: Path) -> None:
    async with editing(PULL_CLIENT, folders=[project.as_uri()]) as editor:
        report = await pull_all(editor)
        ids = [types.PreviousResultId(one.uri, one.result_id) for one in report.items]
        params = types.WorkspaceDiagnosticParams(ids)
        waiting = editor.protocol.send_request(types.WORKSPACE_DIAGNOSTIC, params, msg_id="w")
        await asyncio.sleep(0.3)
        editor.cancel_request(types.CancelParams("w"))
        with pytest.raises(JsonRpcException) as refusal:
            await asyncio.wait_for(asyncio.wrap_future(waiting), PATIENCE)
        assert refusal.value.code == types.LSPErrorCodes.RequestCancelled
        editor.protocol.send_request(types.WORKSPACE_DIAGNOSTIC, params, msg_id="x")
        await asyncio.sleep(0.3)


async def test_results_come_one_by_one_with_their_progress(project: Path) -> None:
    async with editing(PULL_CLIENT, folders=[project.as_uri()]) as editor:
        editor.progress_reports["work"] = []
        report = await pull_all(editor, partial_result_token="parts", work_done_token="work")
        assert list(report.items) == []
        told_of = [part["items"][0]["uri"].rpartition("/")[2] for part in editor.parts]
        assert told_of == ["fine.py", "train.py"]
        kinds = [value.kind for value in editor.progress_reports["work"]]
        assert kinds == ["begin", "report", "report", "end"]
        shares = [getattr(value, "percentage", None) for value in editor.progress_reports["work"]]
        assert shares == [0, 0, 50, None]


async def test_a_file_that_cannot_be_analysed_leaves_the_others_alone() -> None:
    bad, good = "file:///project/bad.py", "file:///project/good.py"
    async with editing(PULL_CLIENT, CONTROLLED) as editor:
        editor.open(bad, "FAIL")
        editor.open(good, "fine")
        report = await pull_all(editor)
        assert [(one.uri, one.items[0].message) for one in report.items] == [(good, "fine")]


async def test_a_change_in_the_middle_is_in_the_answer() -> None:
    one, other = "file:///project/one.py", "file:///project/other.py"
    async with editing(PULL_CLIENT, CONTROLLED) as editor:
        editor.open(one, "first")
        editor.open(other, "SLOW")
        waiting = asyncio.ensure_future(pull_all(editor))
        await asyncio.sleep(0.3)
        editor.edit(one, 2, (0, 0), (0, 5), "second")
        await asyncio.sleep(0.1)
        editor.edit(other, 2, (0, 0), (0, 4), "done")
        report = await asyncio.wait_for(waiting, PATIENCE)
        assert [(r.uri, r.items[0].message, r.version) for r in report.items] == [
            (one, "second", 2),
            (other, "done", 2),
        ]


async def test_what_the_user_asks_does_not_wait_for_the_workspace() -> None:
    slow, other = "file:///project/a.py", "file:///project/b.py"
    async with editing(PULL_CLIENT, CONTROLLED) as editor:
        editor.open(slow, "SLOW")
        editor.open(other, "fine")
        waiting = asyncio.ensure_future(pull_all(editor))
        await asyncio.sleep(0.3)
        report = await asyncio.wait_for(editor.pull(other), PATIENCE)
        assert [d.message for d in report.items] == ["fine"]
        assert not waiting.done()
        editor.edit(slow, 2, (0, 0), (0, 4), "done")
        report = await asyncio.wait_for(waiting, PATIENCE)
        assert [one.items[0].message for one in report.items] == ["done", "fine"]


async def test_the_user_can_stop_it_by_its_progress() -> None:
    slow, other = "file:///project/a.py", "file:///project/b.py"
    async with editing(PULL_CLIENT, CONTROLLED) as editor:
        editor.open(slow, "SLOW")
        editor.open(other, "fine")
        editor.progress_reports["work"] = []
        waiting = asyncio.ensure_future(pull_all(editor, work_done_token="work"))
        await asyncio.sleep(0.3)
        editor.window_work_done_progress_cancel(types.WorkDoneProgressCancelParams("work"))
        editor.edit(slow, 2, (0, 0), (0, 4), "done")
        with pytest.raises(JsonRpcException) as refusal:
            await asyncio.wait_for(waiting, PATIENCE)
        assert refusal.value.code == types.LSPErrorCodes.RequestCancelled
        assert editor.progress_reports["work"][-1].kind == "end"


async def test_only_a_client_that_pulls_can_ask_for_all() -> None:
    async with editing(PUSH_CLIENT) as editor:
        assert editor.offer.diagnostic_provider is None
        with pytest.raises(JsonRpcException) as refusal:
            await pull_all(editor)
        assert refusal.value.code == types.ErrorCodes.MethodNotFound


async def test_each_folder_has_its_own_files_and_settings(tmp_path: Path) -> None:
    a, b = tmp_path / "a", tmp_path / "b"
    for folder in (a, b):
        folder.mkdir()
        (folder / "train.py").write_text(TWO)
        (folder / "gone.py").write_text(TWO)
    (a / "autograd-lsp.toml").write_text('select = ["AG1"]\nexclude = ["gone.py"]\n')
    settings = {"autograd-lsp": {"ignore": ["AG104"], "exclude": ["/gone.py"]}}
    async with editing(ASKED_CLIENT, folders=[a.as_uri(), b.as_uri()]) as editor:
        report = await pull_all(editor)
        both = ["AG104", "AG206"]
        found = {name: sorted(codes) for name, codes in told(report, tmp_path).items()}
        assert found == {"a/train.py": ["AG104"], "b/train.py": both, "b/gone.py": both}
        editor.set_configuration(settings["autograd-lsp"], section="autograd-lsp", scope_uri=b.as_uri())
        editor.workspace_did_change_configuration(types.DidChangeConfigurationParams(None))
        report = await asyncio.wait_for(pull_all(editor, report), PATIENCE)
        assert told(report, tmp_path) == {"a/train.py": None, "b/train.py": ["AG206"], "b/gone.py": []}


async def test_the_user_may_want_to_hear_of_open_files_alone(project: Path) -> None:
    settings: dict[str, object] = {"autograd-lsp": {"diagnostics": {"workspace": False}}}
    async with editing(ASKED_CLIENT, settings=settings, folders=[project.as_uri()]) as editor:
        editor.open((project / "train.py").as_uri(), BROKEN)
        report = await pull_all(editor)
        report = await pull_all(editor) if len(report.items) > 1 else report  # the settings came later
        assert told(report, project) == {"train.py": ["AG104"]}
        waiting = asyncio.ensure_future(pull_all(editor, report))
        editor.set_configuration({"diagnostics": {"workspace": True}}, section="autograd-lsp")
        editor.workspace_did_change_configuration(types.DidChangeConfigurationParams(None))
        report = await asyncio.wait_for(waiting, PATIENCE)
        assert told(report, project) == {"fine.py": [], "train.py": None}


async def test_folders_come_and_go(tmp_path: Path) -> None:
    a, b = tmp_path / "a", tmp_path / "b"
    for folder in (a, b):
        folder.mkdir()
        (folder / "train.py").write_text(BROKEN)
    async with editing(PULL_CLIENT, folders=[a.as_uri()]) as editor:
        report = await pull_all(editor)
        assert told(report, tmp_path) == {"a/train.py": ["AG104"]}
        event = types.WorkspaceFoldersChangeEvent(
            added=[types.WorkspaceFolder(b.as_uri(), "b")], removed=[types.WorkspaceFolder(a.as_uri(), "a")]
        )
        editor.workspace_did_change_workspace_folders(types.DidChangeWorkspaceFoldersParams(event))
        report = await asyncio.wait_for(pull_all(editor, report), PATIENCE)
        assert told(report, tmp_path) == {"a/train.py": [], "b/train.py": ["AG104"]}
