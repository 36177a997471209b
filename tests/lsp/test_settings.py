"""Configuration files and the client's settings, as the server minds them."""

from __future__ import annotations

import asyncio
from pathlib import Path

from lsprotocol import types

from tests.lsp.editor import BROKEN, PATIENCE, PULL_CLIENT, PUSH_CLIENT, Editor, editing

TWO = BROKEN.replace("y.add_(1)\n", "y.add_(1)\nx.require_grad = True\n")
"""AG104, an error, and AG206, a warning."""
ASKED_CLIENT = types.ClientCapabilities(
    text_document=PULL_CLIENT.text_document,
    workspace=types.WorkspaceClientCapabilities(
        configuration=True,
        diagnostics=types.DiagnosticWorkspaceClientCapabilities(refresh_support=True),
        did_change_watched_files=types.DidChangeWatchedFilesClientCapabilities(dynamic_registration=True),
        did_change_configuration=types.DidChangeConfigurationClientCapabilities(dynamic_registration=True),
    ),
)


async def codes(editor: Editor, uri: str) -> list[object]:
    return sorted(d.code for d in (await editor.pull(uri)).items)


async def refreshed(editor: Editor, count: int) -> None:
    async def enough() -> None:
        while editor.diagnostic_refresh_count < count:
            await asyncio.sleep(0.01)

    await asyncio.wait_for(enough(), PATIENCE)


def file_changed(editor: Editor, path: Path) -> None:
    event = types.FileEvent(path.as_uri(), types.FileChangeType.Changed)
    editor.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([event]))


async def test_a_configuration_file_is_read_and_read_again(tmp_path: Path) -> None:
    config, uri = tmp_path / "pyproject.toml", (tmp_path / "train.py").as_uri()
    config.write_text('[tool.autograd-lsp]\nselect = ["AG2"]\n[tool.autograd-lsp.severity]\nAG206 = "error"\n')
    async with editing(PULL_CLIENT) as editor:
        editor.open(uri, TWO)
        [diagnostic] = (await editor.pull(uri)).items
        assert (diagnostic.code, diagnostic.severity) == ("AG206", types.DiagnosticSeverity.Error)
        config.write_text("")
        file_changed(editor, config)
        assert await codes(editor, uri) == ["AG104", "AG206"]
        (tmp_path / "autograd-lsp.toml").write_text('[per-file-ignores]\n"train.py" = ["ALL"]\n')
        file_changed(editor, tmp_path / "autograd-lsp.toml")
        assert await codes(editor, uri) == []


async def test_an_excluded_file_has_neither_findings_nor_fixes(tmp_path: Path) -> None:
    (tmp_path / "autograd-lsp.toml").write_text('exclude = ["old/"]')
    uri, fine = ((tmp_path / name).as_uri() for name in ("old/train.py", "train.py"))
    async with editing(PULL_CLIENT) as editor:
        editor.open(uri, TWO)
        editor.open(fine, TWO)
        assert await codes(editor, uri) == []
        for diagnostic in (await editor.pull(fine)).items:
            assert not await editor.code_actions(uri, diagnostic)


async def test_a_bad_file_is_told_once_and_counts_as_none(tmp_path: Path) -> None:
    config = tmp_path / "autograd-lsp.toml"
    config.write_text("select = 3")
    uris = [(tmp_path / name).as_uri() for name in ("a.py", "sub/b.py")]
    async with editing() as editor:
        for uri in uris:
            editor.open(uri, TWO)
            assert len(await editor.diagnostics_of(uri, 1)) == 2
        [message] = editor.messages
        assert message.type == types.MessageType.Error
        assert message.message == f"autograd-lsp: {config}: select: expected a list of rules, not 3"
        file_changed(editor, config)
        editor.edit(uris[0], 2, (0, 0), (0, 0), "\n")
        await editor.diagnostics_of(uris[0], 2)
        assert len(editor.messages) == 2


async def test_the_clients_settings_go_over_the_file(tmp_path: Path) -> None:
    (tmp_path / "autograd-lsp.toml").write_text('select = ["AG2"]')
    uri = (tmp_path / "train.py").as_uri()
    async with editing(ASKED_CLIENT) as editor:
        editor.open(uri, TWO)
        await refreshed(editor, 0)
        assert await codes(editor, uri) == ["AG206"]
        editor.set_configuration({"select": ["AG1"], "path": "", "trace": {"server": "off"}}, section="autograd-lsp")
        editor.workspace_did_change_configuration(types.DidChangeConfigurationParams(None))
        await refreshed(editor, 1)
        assert await codes(editor, uri) == ["AG104"]
        editor.set_configuration({"select": None, "perFileIgnores": {"*.py": ["ALL"]}}, section="autograd-lsp")
        editor.workspace_did_change_configuration(types.DidChangeConfigurationParams(None))
        await refreshed(editor, 2)
        assert await codes(editor, uri) == []
        assert editor.messages == []
        editor.set_configuration({"severity": {"AG104": "loud"}}, section="autograd-lsp")
        editor.workspace_did_change_configuration(types.DidChangeConfigurationParams(None))
        await refreshed(editor, 3)
        assert await codes(editor, uri) == ["AG206"]
        [message] = editor.messages
        assert message.message.startswith("autograd-lsp: autograd-lsp.severity.AG104: expected one of error, ")


async def test_settings_are_there_from_the_start(tmp_path: Path) -> None:
    uri = (tmp_path / "train.py").as_uri()
    settings = {"autograd-lsp": {"ignore": ["AG1"]}}
    async with editing(ASKED_CLIENT, settings=settings) as editor:
        await refreshed(editor, 1)
        editor.open(uri, TWO)
        assert await codes(editor, uri) == ["AG206"]


async def test_a_client_that_is_not_asked_sends_its_settings(tmp_path: Path) -> None:
    uri = (tmp_path / "train.py").as_uri()
    async with editing(PUSH_CLIENT) as editor:
        for settings in ({"autograd-lsp": {"select": ["AG1"], "per-file-ignores": {"x.py": []}}}, None, [], {}):
            editor.workspace_did_change_configuration(types.DidChangeConfigurationParams(settings))
            if settings:
                editor.open(uri, TWO)
                assert [d.code for d in await editor.diagnostics_of(uri, 1)] == ["AG104"]
        editor.edit(uri, 2, (0, 0), (0, 0), "\n")
        assert len(await editor.diagnostics_of(uri, 2)) == 2
        assert editor.messages == []
