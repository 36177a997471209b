"""VS Code with several folders, and with a folder that nobody trusts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from tests.editors.test_vscode import BROKEN

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from tests.editors.tools import Tools
    from tests.editors.workbench import Workbench


def test_each_folder_of_a_workspace_has_its_own_server(browser: Browser, workbench: Workbench, tmp_path: Path) -> None:
    from tests.editors.workbench import PATIENCE, Window, show

    folders = [tmp_path / name for name in ("one", "two", "two/inner")]
    for folder in folders:
        folder.mkdir()
        (folder / f"{folder.name}.py").write_text(BROKEN, encoding="utf-8")
    workspace = tmp_path / "both.code-workspace"
    workspace.write_text(json.dumps({"folders": [{"path": str(folder)} for folder in folders]}), encoding="utf-8")
    window = Window(show(browser, workbench, workspace=workspace), tmp_path)
    window.wait_at_most(PATIENCE)
    looked_at = {}
    for folder in folders:
        file = f"{folder.name}.py"
        window.show(file)
        window.wait_for_server(file)
        assert window.editor(file).locator(".squiggly-error").count() == 1
        looked_at[folder.name] = window.debug_information()["server"]["folders"]
    assert looked_at == {"one": [str(folders[0])], "two": [str(folders[1])], "inner": [str(folders[1])]}
    window.page.context.close()


def test_a_folder_that_nobody_trusts_is_served_but_chooses_no_program(
    tools: Tools, browser: Browser, bare: Path, tmp_path: Path
) -> None:
    from tests.editors.workbench import START, Window, serve, show, write

    folder, trap = tmp_path / "stranger", tmp_path / "ran"
    (folder / ".venv" / "bin").mkdir(parents=True)
    program = folder / ".venv" / "bin" / "python"
    program.write_text(f"#!/bin/sh\ntouch {trap}\n", encoding="utf-8")
    program.chmod(0o755)
    (folder / "fault.py").write_text(BROKEN, encoding="utf-8")
    write(
        folder / ".vscode" / "settings.json",
        dict.fromkeys(("autograd-lsp.path", "autograd-lsp.interpreter"), str(program)),
    )
    with serve(tools, tmp_path / "home", bare) as workbench:
        window = Window(show(browser, workbench, folder=folder), folder, shots=tmp_path / "shots")
        window.wait_at_most(START)
        window.page.get_by_text("Restricted Mode").first.wait_for()
        window.show("fault.py")
        window.wait_for_server("fault.py")
        known = window.debug_information()
        window.page.context.close()
    assert (known["trusted"], known["command"]["program"]) == (False, str(bare))
    assert not trap.exists()
