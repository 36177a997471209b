"""Helix in a terminal, configured by the lines of the page on editors, and typed into."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.editors.home import Home, make_home
from tests.editors.installs import Program, UnavailableError
from tests.editors.installs import helix as install
from tests.editors.pages import snippets
from tests.editors.terminal import Terminal, terminal
from tests.lsp.editor import BROKEN

[LANGUAGES] = snippets("Helix", "toml")
ASTRAL = BROKEN.replace("y.add_(1)", "s = '😀é'; y.add_(1)")
TWO = BROKEN.replace("y.add_(1)", "y.require_grad = True").replace("backward()", "backward(retain_graph=True)")
"""AG206, and AG402, which the settings of the page leave out."""
PROGRAMS = {
    "train.py": BROKEN,
    "astral.py": ASTRAL,
    "library.py": "def write(y):\n    y.add_(1)\n",
    "caller.py": BROKEN.replace("y.add_(1)", "from library import write; write(y)"),
    "two.py": TWO,
}
WRITES = "modifies in place what"


@dataclass(frozen=True)
class Helix:
    program: Program
    home: Home

    @contextmanager
    def editing(self, file: str) -> Iterator[Terminal]:
        """As it is written on the page, a file of the project is open."""
        # Helix gives a server up that takes 20 seconds to start, and a busy machine may take longer.
        patient = LANGUAGES.replace(
            "[language-server.autograd-lsp]\n", "[language-server.autograd-lsp]\ntimeout = 120\n"
        )
        self.home.write(".config/helix/languages.toml", patient)
        environment = {**self.home.environment, **self.program.environment}
        try:
            with terminal([*self.program.command, file], self.home.project, environment) as screen:
                yield screen
        except UnavailableError as reason:
            pytest.skip(str(reason))


@pytest.fixture
def editor(tmp_path: Path) -> Helix:
    try:
        program = install()
    except UnavailableError as reason:
        pytest.skip(str(reason))
    return Helix(program, make_home(tmp_path, PROGRAMS))


def test_a_finding_is_shown_and_hover_says_what_the_tensor_is(editor: Helix) -> None:
    with editor.editing("train.py") as terminal:
        terminal.shows(WRITES)
        terminal.type("3", "g", "g", "Space", "k")
        screen = terminal.shows("requires_grad=True ")
        print(screen)
        assert "ExpBackward0" in screen


@pytest.mark.parametrize(("file", "text"), [("train.py", BROKEN), ("astral.py", ASTRAL)])
def test_the_fix_is_in_the_menu_and_lands_where_it_should(editor: Helix, file: str, text: str) -> None:
    with editor.editing(file) as terminal:
        terminal.shows(WRITES)
        terminal.type("]", "d")
        terminal.type("Space", "a")
        print(terminal.shows("Use the out-of-place"))
        terminal.type("Enter")
        terminal.shows("y = y.add(1)")
        terminal.settles(lambda screen: WRITES not in screen, "the end of the finding")
        terminal.type(":", "w", "Enter")
        terminal.shows("written")
    assert (editor.home.project / file).read_text(encoding="utf-8") == text.replace("y.add_(1)", "y = y.add(1)")


def test_an_edit_in_one_file_changes_the_findings_of_another(editor: Helix) -> None:
    with editor.editing("caller.py") as terminal:
        terminal.shows(WRITES)
        terminal.type(*":open", "Space", *"library.py", "Enter")
        terminal.shows(WRITES)
        terminal.type("]", "d", "Space", "a")
        terminal.shows("Ignore AG104")
        terminal.type("Escape", "x", "c", *"    return y.add(1)", "Escape")
        terminal.settles(lambda screen: WRITES not in screen, "the end of the finding")
        terminal.type(":", *"buffer-previous", "Enter")
        terminal.shows("from library import")
        terminal.settles(lambda screen: WRITES not in screen, "the end of the finding of the caller")


def test_the_settings_of_the_page_hold(editor: Helix) -> None:
    with editor.editing("two.py") as terminal:
        terminal.shows("only creates an attribute")
        terminal.type("Space", "d")
        screen = terminal.shows("AG206")
        print(screen)
        assert "AG402" not in screen
