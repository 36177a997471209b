"""Emacs with eglot, which counts in UTF-32 and asks for no diagnostics: it is sent them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.editors import emacs
from tests.editors.home import Home, make_home
from tests.editors.installs import Program, UnavailableError
from tests.editors.installs import emacs as install
from tests.editors.pages import snippets
from tests.lsp.editor import BROKEN

SERVER, SETTINGS = snippets("Emacs", "elisp")
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


@dataclass(frozen=True)
class Emacs:
    program: Program
    home: Home

    def run(self, script: str, init: str = SERVER) -> Any:
        return emacs.run(self.program, self.home, init, script)


@pytest.fixture
def editor(tmp_path: Path) -> Emacs:
    try:
        program = install()
    except UnavailableError as reason:
        pytest.skip(str(reason))
    return Emacs(program, make_home(tmp_path, PROGRAMS))


def test_a_finding_is_sent_and_underlined(editor: Emacs) -> None:
    told = editor.run("""
        (progn
          (autograd-test-open "train.py")
          (list :findings (autograd-test-findings 1)
                :server (plist-get (eglot--server-info (eglot-current-server)) :name)
                :pull (or (eglot-server-capable :diagnosticProvider) :json-false)))
    """)
    [[text, underlined]] = told["findings"]
    assert "AG104" in text
    assert underlined == "y.add_(1)"
    assert (told["server"], told["pull"]) == ("autograd-lsp", False)


def test_columns_are_right_behind_an_astral_character_and_the_fix_lands_there(editor: Emacs) -> None:
    told = editor.run("""
        (progn
          (autograd-test-open "astral.py")
          (let ((before (autograd-test-findings 1)))
            (goto-char (flymake-diagnostic-beg (car (flymake-diagnostics))))
            (insert "ü = 1; ")
            (eglot--signal-textDocument/didChange)
            (autograd-test-await
             "moved finding"
             (lambda () (let ((findings (flymake-diagnostics)))
                          (and findings (= (flymake-diagnostic-beg (car findings)) (point))))))
            (let ((actions (eglot-code-actions (point) (point) "quickfix" nil)))
              (eglot-execute (eglot-current-server)
                             (seq-find (lambda (action) (eq (plist-get action :isPreferred) t)) actions)))
            (eglot--signal-textDocument/didChange)
            (autograd-test-findings 0)
            (list :before before
                  :encoding (eglot-server-capable :positionEncoding)
                  :text (buffer-substring-no-properties (point-min) (point-max)))))
    """)
    assert [underlined for _, underlined in told["before"]] == ["y.add_(1)"]
    assert told["encoding"] == "utf-32"
    assert told["text"] == ASTRAL.replace("y.add_(1)", "ü = 1; y = y.add(1)")


def test_hover_says_what_the_tensor_is(editor: Emacs) -> None:
    shown = editor.run("""
        (progn
          (autograd-test-open "train.py")
          (goto-char (point-min))
          (search-forward "y = ")
          (beginning-of-line)
          (let ((shown nil))
            (eglot-hover-eldoc-function (lambda (text &rest _) (setq shown text)))
            (substring-no-properties (autograd-test-await "hover" (lambda () shown)))))
    """)
    assert "requires_grad=True" in shown


def test_an_edit_in_one_buffer_changes_the_findings_of_another(editor: Emacs) -> None:
    counts = editor.run("""
        (progn
          (autograd-test-open "caller.py")
          (let ((caller (current-buffer))
                (before (length (autograd-test-findings 1))))
            (autograd-test-open "library.py")
            (autograd-test-findings 1)
            (goto-char (point-min))
            (search-forward "y.add_")
            (replace-match "return y.add")
            (eglot--signal-textDocument/didChange)
            (autograd-test-findings 0)
            (list :before before
                  :after (with-current-buffer caller (length (autograd-test-findings 0))))))
    """)
    assert counts == {"before": 1, "after": 0}


@pytest.mark.parametrize(("init", "codes"), [(SERVER, ["AG206", "AG402"]), (SERVER + SETTINGS, ["AG206"])])
def test_the_settings_of_the_page_hold(editor: Emacs, init: str, codes: list[str]) -> None:
    findings = editor.run(f'(progn (autograd-test-open "two.py") (autograd-test-findings {len(codes)}))', init)
    assert all(any(code in text for text, _ in findings) for code in codes)
