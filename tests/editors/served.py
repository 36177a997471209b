"""What the server serves, and by which test each editor is known to use it: the table of the page on editors.

A test is named only where it would fail if the server did not serve that.
"""

from __future__ import annotations

import ast
import asyncio

from lsprotocol import types

from autograd_lsp.config import Configuration
from autograd_lsp.server.features import create_server
from tests.editors.installs import REPOSITORY

VSCODE = {"VS Code": "tests/editors/test_vscode.py"}
FURTHER = {"VS Code": "tests/editors/test_further_requests.py"}
GRAPH_VIEW = {"VS Code": "tests/editors/test_graph_view.py"}
NEOVIM = dict.fromkeys(("Neovim 0.12", "Neovim 0.10"), "tests/editors/test_neovim.py")
EMACS = {"Emacs": "tests/editors/test_emacs.py"}
HELIX = {"Helix": "tests/editors/test_helix.py"}
RECORDED = {"recorded": "tests/lsp/test_clients.py"}
COLUMNS = [*VSCODE, *NEOVIM, *EMACS, *HELIX, *RECORDED, "scripted"]

PUSHED = types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS
"""Sent, and not served: every editor that does not pull lives on it."""


def where(files: dict[str, str], test: str) -> dict[str, str]:
    return {name: f"{file}::{test}" for name, file in files.items()}


def scripted(file: str, test: str) -> dict[str, str]:
    return {"scripted": f"tests/lsp/{file}.py::{test}"}


_FAULT = "test_a_fault_is_underlined_listed_explained_and_fixed"
_FINDING = "test_a_finding_is_underlined_and_tells_its_trace"
_FIX = "test_the_preferred_fix_changes_the_buffer_and_the_finding_goes"
_SENT = "test_a_finding_is_sent_and_underlined"
_ASTRAL = "test_columns_are_right_behind_an_astral_character_and_the_fix_lands_there"
_SHOWN = "test_a_finding_is_shown_and_hover_says_what_the_tensor_is"
_MENU = "test_the_fix_is_in_the_menu_and_lands_where_it_should"
_WAY = "test_diagnostics_come_the_way_and_in_the_units_that_it_chose"
_EDIT = "test_an_edit_in_one_buffer_changes_the_findings_of_another"
_ORIGIN = "test_from_a_finding_to_what_cut_freed_or_saved_the_tensor"
_TOKENS = "test_names_of_tensors_are_told_apart"
_CALLS = "test_calls_that_ran_are_found_both_ways"
_CELLS = "test_cells_are_edited_moved_inserted_and_deleted"
_STATUS = "test_the_status_counts_what_is_open_and_what_was_asked"
_OPEN = {**where(VSCODE, _FAULT), **where(NEOVIM, _FINDING), **where(EMACS, _SENT), **where(HELIX, _SHOWN)}

TESTED: dict[str, dict[str, str]] = {
    types.INITIALIZE: {
        **_OPEN,
        **where(RECORDED, _WAY),
        **scripted("test_settings", "test_settings_are_there_from_the_start"),
    },
    types.INITIALIZED: scripted("test_settings", "test_settings_are_there_from_the_start"),
    types.SHUTDOWN: scripted("test_robustness", "test_leaving_does_not_wait_for_the_analyzer"),
    types.EXIT: scripted("test_robustness", "test_leaving_does_not_wait_for_the_analyzer"),
    types.SET_TRACE: scripted("test_views", "test_answers_are_traced_while_the_client_wants_it"),
    types.TEXT_DOCUMENT_DID_OPEN: {
        **_OPEN,
        **where(RECORDED, _WAY),
        **scripted("test_diagnostics", "test_a_broken_program_is_underlined_where_it_should_be_edited"),
    },
    types.TEXT_DOCUMENT_DID_CHANGE: {
        **where(VSCODE, _FAULT),
        **where(NEOVIM, _EDIT),
        **where(EMACS, _EDIT),
        **where(HELIX, "test_an_edit_in_one_file_changes_the_findings_of_another"),
        **scripted("test_diagnostics", "test_a_burst_of_typing_ends_with_the_last_version"),
    },
    types.TEXT_DOCUMENT_DID_CLOSE: scripted("test_diagnostics", "test_closing_clears"),
    PUSHED: {
        **where(EMACS, _SENT),
        **where(RECORDED, _WAY),
        **scripted("test_diagnostics", "test_each_version_is_published_under_its_own_number"),
    },
    types.TEXT_DOCUMENT_DIAGNOSTIC: {
        **where(VSCODE, _FAULT),
        **where(NEOVIM, "test_the_findings_are_pulled_and_none_is_shown_twice"),
        **where(HELIX, _SHOWN),
        **where(RECORDED, _WAY),
        **scripted("test_diagnostics", "test_a_client_that_pulls_is_not_pushed_to"),
    },
    types.WORKSPACE_DIAGNOSTIC: {
        **where(FURTHER, "test_a_file_that_is_not_open_is_among_the_problems"),
        **scripted("test_workspace", "test_files_are_told_whether_or_not_they_are_open"),
    },
    types.TEXT_DOCUMENT_HOVER: {
        **where(VSCODE, _FAULT),
        **where(NEOVIM, "test_hover_floats_what_is_known_of_the_tensor"),
        **where(EMACS, "test_hover_says_what_the_tensor_is"),
        **where(HELIX, _SHOWN),
        **where(RECORDED, "test_hover_is_in_the_markup_that_it_prefers"),
        **scripted("test_requests", "test_hover_says_what_the_tensor_is"),
    },
    types.TEXT_DOCUMENT_DEFINITION: scripted("test_definition", _ORIGIN),
    types.TEXT_DOCUMENT_TYPE_DEFINITION: scripted("test_definition", _ORIGIN),
    types.TEXT_DOCUMENT_CODE_ACTION: {
        **where(VSCODE, _FAULT),
        **where(NEOVIM, _FIX),
        **where(EMACS, _ASTRAL),
        **where(HELIX, _MENU),
        **where(RECORDED, "test_a_fix_has_the_shape_that_it_can_apply"),
        **scripted("test_requests", "test_the_quick_fix_mends_the_program"),
    },
    types.CODE_ACTION_RESOLVE: {
        **where(RECORDED, "test_a_fix_has_the_shape_that_it_can_apply"),
        **scripted("test_code_actions", "test_a_client_that_resolves_edits_gets_the_same_edits_later"),
    },
    types.TEXT_DOCUMENT_COMPLETION: scripted("test_completion", "test_a_rule_is_written_where_the_list_has_its_word"),
    types.TEXT_DOCUMENT_CODE_LENS: {
        **where(FURTHER, "test_a_code_lens_stands_above_the_line_and_opens_a_list"),
        **where(NEOVIM, "test_a_lens_of_the_server_is_shown"),
        **scripted("test_views", "test_a_client_that_can_go_to_places_is_given_them"),
    },
    types.TEXT_DOCUMENT_INLAY_HINT: {
        **where(FURTHER, "test_inlay_hints_stand_in_the_line"),
        **where(NEOVIM, "test_hints_stand_behind_the_names"),
        **scripted("test_views", "test_hints_say_what_is_new_about_a_name"),
    },
    types.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL: scripted("test_semantic_tokens", _TOKENS),
    types.TEXT_DOCUMENT_SEMANTIC_TOKENS_RANGE: scripted("test_semantic_tokens", _TOKENS),
    types.TEXT_DOCUMENT_PREPARE_CALL_HIERARCHY: scripted("test_call_hierarchy", _CALLS),
    types.CALL_HIERARCHY_INCOMING_CALLS: scripted("test_call_hierarchy", _CALLS),
    types.CALL_HIERARCHY_OUTGOING_CALLS: scripted("test_call_hierarchy", _CALLS),
    types.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT: {
        **where(NEOVIM, "test_on_a_finding_the_steps_of_its_trace_are_highlighted"),
        **scripted("test_views", "test_the_steps_of_a_trace_are_highlighted_on_its_finding_alone"),
    },
    types.NOTEBOOK_DOCUMENT_DID_OPEN: {
        **where(FURTHER, "test_a_fault_in_a_cell_is_underlined"),
        **scripted("test_notebooks", "test_each_cell_is_published_what_lies_in_it"),
    },
    types.NOTEBOOK_DOCUMENT_DID_CHANGE: scripted("test_notebooks", _CELLS),
    types.NOTEBOOK_DOCUMENT_DID_CLOSE: scripted("test_notebooks", "test_a_cell_that_goes_takes_its_diagnostics_along"),
    types.WORKSPACE_DID_CHANGE_CONFIGURATION: {
        **where(FURTHER, "test_a_setting_holds_at_once"),
        **scripted("test_settings", "test_the_clients_settings_go_over_the_file"),
    },
    types.WORKSPACE_DID_CHANGE_WATCHED_FILES: scripted("test_files", "test_unopened_files_that_change_on_the_disk"),
    types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS: scripted("test_workspace", "test_folders_come_and_go"),
    types.WORKSPACE_DID_RENAME_FILES: scripted("test_files", "test_a_folder_that_the_editor_renames"),
    types.WORKSPACE_DID_DELETE_FILES: scripted("test_files", "test_a_folder_that_the_editor_renames"),
    types.WORKSPACE_EXECUTE_COMMAND: scripted("test_views", _STATUS),
    types.WINDOW_WORK_DONE_PROGRESS_CANCEL: scripted("test_workspace", "test_the_user_can_stop_it_by_its_progress"),
    "autograd/graph": {
        **where(GRAPH_VIEW, "test_the_graph_is_drawn_followed_and_left"),
        **where(NEOVIM, "test_the_graph_is_a_tree_that_leads_to_the_lines_that_made_it"),
        **scripted("test_requests", "test_the_graph_of_the_tensor_under_the_cursor"),
    },
    "autograd/status": scripted("test_views", _STATUS),
}


def served() -> set[str]:
    """What a server has registered for a client that pulls and declares all else: it is offered the most."""
    actions = types.CodeActionClientCapabilities(
        data_support=True, resolve_support=types.ClientCodeActionResolveOptions(["edit"])
    )
    tokens = types.SemanticTokensClientCapabilities(
        requests=types.ClientSemanticTokensRequestOptions(range=True, full=True),
        token_types=[],
        token_modifiers=[],
        formats=[],
    )
    declared = types.TextDocumentClientCapabilities(
        diagnostic=types.DiagnosticClientCapabilities(),
        completion=types.CompletionClientCapabilities(),
        code_action=actions,
        semantic_tokens=tokens,
        call_hierarchy=types.CallHierarchyClientCapabilities(),
    )
    params = types.InitializeParams(types.ClientCapabilities(text_document=declared), root_uri="file:///project")

    def no_host() -> None:
        raise AssertionError("nothing is analysed")

    async def initialize() -> set[str]:
        server = create_server(no_host, Configuration())  # type: ignore[arg-type]
        # pygls asks for its handlers one by one.
        for handler, arguments, keywords in server.protocol.lsp_initialize(params):
            handler(*arguments, **(keywords or {}))
        manager = server.protocol.fm
        return {*manager.features, *manager.builtin_features}

    return asyncio.run(initialize())


def functions(file: str) -> set[str]:
    tree = ast.parse((REPOSITORY / file).read_text(encoding="utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}


def table() -> str:
    rows = [["request or notification", *COLUMNS], ["---"] * (len(COLUMNS) + 1)]
    rows += [[f"`{method}`", *("✓" if name in tests else "" for name in COLUMNS)] for method, tests in TESTED.items()]
    return "".join("| " + " | ".join(row) + " |\n" for row in rows)
