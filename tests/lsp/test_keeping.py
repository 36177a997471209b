"""What an earlier run has found is the first answer, as long as nothing that it rests on has changed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from lsprotocol import types

from autograd_lsp.process.drafts import write_whole
from autograd_lsp.reports.entries import Entry, entry_bytes, read_entry
from tests.cli.command import run
from tests.lsp.editor import PATIENCE, PULL_CLIENT, PUSH_CLIENT, Editor, editing

MODEL = """\
import torch
def cost(x):
    return {}
"""
TRAIN = """\
import torch
from model import cost
x = torch.ones(3, requires_grad=True)
cost(x).backward()
"""
CUT, WHOLE = "x.detach().sum()", "x.sum()"
MARK = "as it was kept"


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the entries."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "autograd-lsp" / "checks"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "model.py").write_text(MODEL.format(CUT))
    (folder / "train.py").write_text(TRAIN)
    return folder


def checked(project: Path, kept: Path) -> None:
    """A check whose findings can be told from those of any other run."""
    run("check", ".", cwd=project)
    for path in entries(kept):
        entry = read_entry(path.read_bytes())
        assert entry is not None
        found = tuple(replace(finding, message=MARK) for finding in entry.findings)
        write_whole(str(path), entry_bytes(replace(entry, findings=found)), lasting=False)


def entries(kept: Path) -> list[Path]:
    return [path for path in kept.rglob("*") if path.is_file()]


def read(kept: Path) -> list[Entry]:
    found = [read_entry(path.read_bytes()) for path in entries(kept)]
    return [entry for entry in found if entry is not None]


def opened(editor: Editor, path: Path, text: str | None = None) -> str:
    editor.open(path.as_uri(), path.read_text() if text is None else text)
    return path.as_uri()


async def until(holds: Callable[[], bool]) -> None:
    async def waiting() -> None:
        while not holds():
            await asyncio.sleep(0.01)

    await asyncio.wait_for(waiting(), PATIENCE)


async def pulled(editor: Editor, uri: str) -> list[str]:
    return [diagnostic.message for diagnostic in (await editor.pull(uri)).items]


@pytest.mark.asyncio
async def test_the_first_answer_is_what_a_check_has_found(project: Path, kept: Path) -> None:
    checked(project, kept)
    async with editing(PUSH_CLIENT, folders=[project.as_uri()]) as editor:
        uri = opened(editor, project / "train.py")
        assert [found.message for found in await editor.diagnostics_of(uri, 1)] == [MARK]
        assert await editor.hover(uri, 2, 0) is not None, "nothing is known of what was not run"
        editor.edit(uri, 2, (2, 0), (2, 0), "y = 1\n")
        assert MARK not in [found.message for found in await editor.diagnostics_of(uri, 2)]


@pytest.mark.asyncio
async def test_a_file_that_was_run_is_not_recalled(project: Path, kept: Path) -> None:
    checked(project, kept)
    async with editing(PULL_CLIENT, folders=[project.as_uri()]) as editor:
        uri = opened(editor, project / "train.py", TRAIN + "z = 1\n")
        assert MARK not in await pulled(editor, uri)
        editor.edit(uri, 2, (4, 0), (5, 0), "")
        found = await pulled(editor, uri)
        assert len(found) == 1
        assert MARK not in found


@pytest.mark.asyncio
async def test_what_is_typed_into_an_import_counts(project: Path, kept: Path) -> None:
    checked(project, kept)
    async with editing(PULL_CLIENT, folders=[project.as_uri()]) as editor:
        opened(editor, project / "model.py", MODEL.format(WHOLE))
        assert await pulled(editor, opened(editor, project / "train.py")) == []


@pytest.mark.asyncio
async def test_what_a_file_finds_in_another_is_recalled_where_it_shows(project: Path, kept: Path) -> None:
    checked(project, kept)
    async with editing(PULL_CLIENT, folders=[project.as_uri()]) as editor:
        model = opened(editor, project / "model.py")
        opened(editor, project / "train.py")
        assert await pulled(editor, model) == [MARK]


@pytest.mark.asyncio
async def test_a_setting_counts(project: Path, kept: Path) -> None:
    checked(project, kept)
    async with editing(PULL_CLIENT, folders=[project.as_uri()]) as editor:
        settings = {"autograd-lsp": {"ignore": ["AG101"]}}
        editor.workspace_did_change_configuration(types.DidChangeConfigurationParams(settings))
        assert await pulled(editor, opened(editor, project / "train.py")) == []


@pytest.mark.asyncio
@pytest.mark.parametrize("is_second", [False, True])
async def test_a_workspace_that_brings_its_own_entries_is_run(
    project: Path, kept: Path, monkeypatch: pytest.MonkeyPatch, is_second: bool
) -> None:
    checked(project, kept)
    kept.parents[1].rename(project / ".cache")
    monkeypatch.setenv("XDG_CACHE_HOME", str(project / ".cache"))
    (project.parent / "other").mkdir()
    folders = [project.parent / "other", project] if is_second else [project]
    async with editing(PULL_CLIENT, folders=[folder.as_uri() for folder in folders]) as editor:
        found = await pulled(editor, opened(editor, project / "train.py"))
        assert len(found) == 1
        assert MARK not in found


@pytest.mark.asyncio
async def test_the_server_keeps_what_it_finds(project: Path, kept: Path) -> None:
    async with editing(PULL_CLIENT, folders=[project.as_uri()]) as editor:
        [message] = await pulled(editor, opened(editor, project / "train.py"))
        await until(lambda: bool(entries(kept)))
    [entry] = read(kept)
    assert (entry.path, [finding.message for finding in entry.findings]) == (str(project / "train.py"), [message])
    assert message in run("check", "train.py", cwd=project).stdout
    assert read(kept) == [entry], "the check has kept something else"


@pytest.mark.asyncio
async def test_nothing_is_kept_of_what_is_typed_or_excluded(project: Path, kept: Path) -> None:
    (project / "autograd-lsp.toml").write_text('exclude = ["model.py"]\n')
    (project / "typed.py").write_text("x = 1\n")
    async with editing(PULL_CLIENT, folders=[project.as_uri()]) as editor:
        assert await pulled(editor, opened(editor, project / "typed.py", "x = 2\n")) == []
        assert await pulled(editor, opened(editor, project / "model.py")) == []
        await pulled(editor, opened(editor, project / "train.py"))
        await until(lambda: bool(entries(kept)))
    assert [entry.path for entry in read(kept)] == [str(project / "train.py")]
