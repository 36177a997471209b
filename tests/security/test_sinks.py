"""What a checkout is made of is shown in a sink, and nothing in a sink obeys it."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from analyzers.report import Card, Finding, Place
from autograd_lsp.cli.telling import tell
from autograd_lsp.render.card import card_markdown
from autograd_lsp.text.sinks import fenced, first_printable, json_of, notice, printable, prose, xml_of
from tests.cli.command import BROKEN, run

COMMAND = re.compile(r"^\s*::|##\[", re.MULTILINE)
"""What a runner of GitHub Actions obeys."""
ESCAPES = "\x1b[2J\x1b]0;title\x07\x9b1A\r\b\u202e\u2066\ud800"
ATTACK = f"a\n::error::b ##[set-output name=x]y {ESCAPES}"


def test_a_terminal_obeys_nothing() -> None:
    shown = printable(ATTACK)
    assert shown.isprintable()
    assert COMMAND.search(shown) is None
    assert printable("a\tb é 変") == "a    b é 変"


@pytest.mark.parametrize("path", ["::error::a.py", "  ::warning::/b.py"])
def test_a_path_at_the_beginning_of_a_line_is_no_command(path: str) -> None:
    assert COMMAND.search(first_printable(path)) is None
    assert Path(first_printable(path)) == Path(path)


def test_json_reads_as_before() -> None:
    document = {"name": ATTACK.replace("\ud800", "")}
    assert json.loads(json_of(document)) == document
    assert COMMAND.search(json_of(document)) is None
    assert json_of(document).isascii()


def test_xml_reads_as_before() -> None:
    element = ET.Element("a", {"name": "##[group]x"})
    element.text = "a\n  ::error::b\r##[y]\n::: ##[x]"
    whole = xml_of(ET.tostring(element, encoding="unicode"))
    assert COMMAND.search(whole) is None
    assert "\r" not in whole
    assert ET.fromstring(whole).text == element.text
    assert ET.fromstring(whole).get("name") == "##[group]x"


@pytest.mark.parametrize(
    "text",
    [
        "![x](https://a.example/x.png)",
        "`key` ![x](https://a.example/x.png)",
        "`a`b`![x](https://a.example/x.png)`",
        "``` ![x](https://a.example)",
        "<img src=x>",
        "`a``<img src=x>`",
        "[run](command:workbench.action.quit)",
        "a\n\n# head\n![x](y)",
        r"\![x](y)",
        "https://a.example and www.a.example",
        "*a* _b_ &lt;",
    ],
)
def test_words_become_no_markup(text: str) -> None:
    """Whatever is not between backticks is escaped, and what is holds no backtick."""
    shown = prose(text)
    assert "\n" not in shown
    outside = re.sub(r"(?<!\\)(?:\\\\)*`[^`]+`", "", shown)
    bare = re.sub(r"\\.", "", outside)
    assert not set("`*[]<") & set(bare)
    assert "://" not in bare
    assert "www." not in bare


def test_sentences_of_ours_stay_as_they_are() -> None:
    said = "`y` was saved by `exp` on line 3, and modified in-place (once): its version is 1 -> 2, my_net.py"
    assert prose(said) == said


def test_a_block_ends_where_it_is_said_to() -> None:
    assert fenced("a\n```\n![x](y)") == "````text\na\n```\n![x](y)\n````"


def test_a_notice_has_no_links() -> None:
    assert "](" not in notice("pyproject.toml: no option [a](command:b)")


def test_a_hover_holds_no_image() -> None:
    place = Place("/a/![x](y).py", 0, 1)
    finding = Finding("AG101", "no-grad", "error", "`d['`]` ![x](https://a.example)", place)
    shown = card_markdown(Card("tensor", "x`![x](y)", place, None), [finding], lambda place: place.path)
    assert "![" not in re.sub(r"`[^`]*`", "", shown)


def test_standard_error_gets_lines_of_ours(capsys: pytest.CaptureFixture[str]) -> None:
    tell(ATTACK, f"Traceback\n{ATTACK}")
    lines = capsys.readouterr().err.splitlines()
    assert COMMAND.search("\n".join(lines)) is None
    assert lines[0].startswith("autograd-lsp: a")
    assert all(line.startswith("| ") for line in lines[1:])


@pytest.mark.parametrize("form", ["text", "json", "sarif", "github", "gitlab", "junit"])
def test_no_format_prints_a_command_of_the_checkouts(tmp_path: Path, form: str) -> None:
    """Names of files, of keys, and lines of the program; the commands of `github` are ours."""
    evil = "::error::a##[group]b"
    folder = tmp_path / "project"
    folder.mkdir()
    program = BROKEN.replace("y = x.exp()", f"d = {{'{evil}': x.exp()}}\ny = d['{evil}']  # {evil}")
    (folder / f"\r{evil}\x1b.py").write_text(program)
    (folder / "pyproject.toml").write_text('[tool.autograd-lsp]\n"a\\n::error::b" = 1\n')
    refused = run("check", "--format", form, ".", cwd=folder)
    assert refused.returncode == 2
    assert COMMAND.search(refused.stderr) is None
    (folder / "pyproject.toml").unlink()
    found = run("check", "--no-cache", "--format", form, ".", cwd=folder)
    assert found.returncode == 1
    ours = re.compile(r"^::(?:error|warning|notice) file=", re.MULTILINE)
    assert COMMAND.search(ours.sub("", found.stdout)) is None or form == "github"
    assert all(ours.match(line) for line in found.stdout.splitlines() if COMMAND.match(line))
    assert COMMAND.search(found.stderr) is None
    assert re.search(r"[\x00-\x08\x0b-\x1f\x7f]", found.stdout + found.stderr) is None


@pytest.mark.parametrize("form", ["text", "dot", "mermaid", "json", "svg"])
def test_no_picture_holds_what_a_terminal_obeys(tmp_path: Path, form: str) -> None:
    program = "import torch\nx = torch.ones(2, requires_grad=True)\nd = {'\x1b[2J': x}\ny = d['\x1b[2J'] * 2\n"
    (tmp_path / "m.py").write_text(program)
    shown = run("graph", "--format", form, "m.py:4:y", cwd=tmp_path)
    assert shown.returncode == 0
    assert "\x1b" not in shown.stdout
