"""What an editor shows in the margin, pushed and pulled."""

from __future__ import annotations

import pytest
from lsprotocol import types

from tests.lsp.editor import BROKEN, PULL_CLIENT, PUSH_CLIENT, editing

URI = "file:///project/train.py"
FIXED = BROKEN.replace("y.add_(1)", "y = y.add(1)")


def at(line: int, start: int, end: int) -> types.Range:
    return types.Range(types.Position(line, start), types.Position(line, end))


async def test_a_broken_program_is_underlined_where_it_should_be_edited() -> None:
    async with editing() as editor:
        editor.open(URI, BROKEN)
        [diagnostic] = await editor.diagnostics_of(URI, 1)
    assert diagnostic.code == "AG104"
    assert diagnostic.source == "autograd-lsp"
    assert diagnostic.severity == types.DiagnosticSeverity.Error
    assert diagnostic.range == at(3, 0, 9)
    assert diagnostic.code_description is not None
    assert "saved-tensor-modified" in diagnostic.code_description.href


async def test_the_trace_says_where_torch_raises() -> None:
    async with editing() as editor:
        editor.open(URI, BROKEN)
        [diagnostic] = await editor.diagnostics_of(URI, 1)
    related = diagnostic.related_information or []
    assert {step.location.uri for step in related} == {URI}
    assert {2, 4} <= {step.location.range.start.line for step in related}


async def test_each_version_is_published_under_its_own_number() -> None:
    async with editing() as editor:
        editor.open(URI, FIXED, version=7)
        assert await editor.diagnostics_of(URI, 7) == []
        editor.edit(URI, 8, (3, 0), (3, 12), "y.add_(1)")
        assert len(await editor.diagnostics_of(URI, 8)) == 1
        editor.edit(URI, 9, (3, 0), (3, 9), "y = y.add(1)")
        assert await editor.diagnostics_of(URI, 9) == []
    assert [params.version for params in editor.published] == [7, 8, 9]


async def test_a_burst_of_typing_ends_with_the_last_version() -> None:
    async with editing() as editor:
        editor.open(URI, BROKEN, version=1)
        for version in range(2, 40):
            editor.edit(URI, version, (0, 0), (0, 0), "# typing\n")
        [diagnostic] = await editor.diagnostics_of(URI, 39)
    assert diagnostic.range == at(41, 0, 9)
    versions = [params.version for params in editor.published]
    assert versions == sorted(versions)


async def test_a_line_that_is_being_typed_leaves_the_other_findings_alone() -> None:
    async with editing() as editor:
        editor.open(URI, BROKEN)
        await editor.diagnostics_of(URI, 1)
        editor.edit(URI, 2, (5, 0), (5, 0), "def half(\n")
        assert [d.code for d in await editor.diagnostics_of(URI, 2)] == ["AG104", "AG005"]


async def test_closing_clears() -> None:
    async with editing() as editor:
        editor.open(URI, BROKEN)
        await editor.diagnostics_of(URI, 1)
        editor.close(URI)
        assert await editor.diagnostics_of(URI, None) == []


async def test_an_unsaved_buffer_is_a_document_too() -> None:
    async with editing() as editor:
        editor.open("untitled:Untitled-1", BROKEN)
        [diagnostic] = await editor.diagnostics_of("untitled:Untitled-1", 1)
    assert {step.location.uri for step in diagnostic.related_information or []} == {"untitled:Untitled-1"}


async def test_a_file_name_with_spaces_and_accents_comes_back_as_it_was_sent() -> None:
    uri = "file:///project/mod%C3%A8le%20final.py"
    async with editing() as editor:
        editor.open(uri, BROKEN)
        [diagnostic] = await editor.diagnostics_of(uri, 1)
    assert {step.location.uri for step in diagnostic.related_information or []} == {uri}


async def test_a_client_that_pulls_is_not_pushed_to() -> None:
    async with editing(PULL_CLIENT) as editor:
        editor.open(URI, BROKEN)
        report = await editor.pull(URI)
        assert isinstance(report, types.RelatedFullDocumentDiagnosticReport)
        assert [d.code for d in report.items] == ["AG104"]
        assert isinstance(await editor.pull(URI, report.result_id), types.RelatedUnchangedDocumentDiagnosticReport)
        editor.edit(URI, 2, (3, 0), (3, 9), "y = y.add(1)")
        report = await editor.pull(URI, report.result_id)
        assert isinstance(report, types.RelatedFullDocumentDiagnosticReport)
        assert list(report.items) == []
    assert editor.published == []


@pytest.mark.parametrize("pulls", [True, False])
async def test_only_a_client_that_pulls_is_told_that_it_can(pulls: bool) -> None:
    async with editing(PULL_CLIENT if pulls else PUSH_CLIENT) as editor:
        assert (editor.offer.diagnostic_provider is not None) == pulls


async def test_what_a_warning_assumes_is_among_its_links() -> None:
    train = """\
def train(net, batches, optimizer):
    net.train()
    for x in batches:
        net(x).mean().backward()
        optimizer.step()
"""
    async with editing() as editor:
        editor.open(URI, train)
        [diagnostic] = await editor.diagnostics_of(URI, 1)
    links = [(step.location.range.start.line, step.message) for step in diagnostic.related_information or []]
    assert links[-2:] == [(0, "assumed: `net` is a model that learns"), (0, "assumed: `optimizer` trains `net`")]
