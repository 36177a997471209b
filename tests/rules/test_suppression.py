"""Comments silence the findings that they speak for, and are reported where they silence none."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from analyzers.host import Host
from analyzers.report import Choice, Edit, Finding

HEAD = "import torch\nx = torch.ones(3, requires_grad=True)\ny = x.exp()\n"
TAIL = "\ny.sum().backward()\n"
WRITE = "y.add_(1)"


def found(texts: str | Mapping[str, str] | bytes, path: str = "a.py", choice: Choice | None = None) -> list[Finding]:
    if isinstance(texts, bytes):
        host = Host(read=lambda _: texts)
    else:
        host = Host(read=lambda _: None, choose=lambda _: choice or Choice())
        for name, text in ({"a.py": texts} if isinstance(texts, str) else texts).items():
            host.set_text(name, text)
        if not isinstance(texts, str):
            host.look_at_together(texts)
    return list(host.snapshot().findings(path))


def codes(texts: str | Mapping[str, str] | bytes, path: str = "a.py", choice: Choice | None = None) -> list[str]:
    return [finding.code for finding in found(texts, path, choice)]


def applied(text: str, edits: tuple[Edit, ...]) -> str:
    data = text.encode()
    for edit in sorted(edits, key=lambda e: e.place, reverse=True):
        data = data[: edit.place.start] + edit.text.encode() + data[edit.place.end :]
    return data.decode()


@pytest.mark.parametrize(
    "line",
    [
        WRITE + "  # autograd: ignore[AG104]",
        WRITE + "  # autograd: ignore[ag104]",
        WRITE + "  # autograd: ignore[saved-tensor-modified]",
        WRITE + "  # autograd: ignore",
        WRITE + "  # because  # autograd: ignore[AG104] of that",
        WRITE + "  # noqa: AG104",
        WRITE + "  # noqa: E501, AG104",
        WRITE + "  # NOQA:E501 ag104",
        WRITE + "  # noqa",
        WRITE + "  # noqa because",
        "# ruff: noqa\n" + WRITE,
        "# ruff: noqa: AG104\n" + WRITE,
        WRITE + "\n# flake8: noqa: E501, AG104",
        "y.add_(\n    1,\n)  # noqa",
        "pass  # autograd: ignore-file[AG104]\n" + WRITE,
        "y.add_(\n    1,  # autograd: ignore[AG104]\n)",
        "y.add_(\n    1,\n)  # autograd: ignore[AG104]",
        "y.add_(  # autograd: ignore[AG104]\n    1,\n)",
        "z = (\n    y.add_(1),\n    2,\n)  # autograd: ignore[AG104]",
        "z = (  # autograd: ignore[AG104]\n    2,\n    y.add_(1),\n)",
        'z = (\n    y.add_(1), """a\n    b""",  # autograd: ignore[AG104]\n    2,\n)',
        "z = 1 + \\\n    y.add_(1) + \\\n    2  # autograd: ignore[AG104]",
        "if y.add_(1) is not None:  # autograd: ignore[AG104]\n    pass",
        "with torch.no_grad():\n    y.add_(1)  # autograd: ignore[AG104]",
    ],
)
def test_a_finding_is_silenced(line: str) -> None:
    assert codes(HEAD + line.partition("#")[0].rstrip() + TAIL) or "\n" in line
    assert codes(HEAD + line + TAIL) == []
    assert codes((HEAD + line + TAIL).replace("\n", "\r\n")) == []
    assert codes((HEAD + line + TAIL).replace("\n", "\r")) == []


@pytest.mark.parametrize(
    "line",
    [
        WRITE + "  # noqa: E501",
        WRITE + "  # noqa: because",
        WRITE + "  # ruff: noqa",
        "# ruff: noqa: E501\n" + WRITE,
        "# noqa\n" + WRITE,
        WRITE + "; s = '# autograd: ignore'",
        "s = '''\n# autograd: ignore-file\n'''\n" + WRITE,
        WRITE + "\n# autograd: ignoring this",
        "# noqa: E501\n" + WRITE,
    ],
)
def test_other_words_silence_nothing(line: str) -> None:
    assert codes(HEAD + line + TAIL) == ["AG104"]


@pytest.mark.parametrize("line", ["# autograd: ignore\n" + WRITE, WRITE + "\n# autograd: ignore[AG104]"])
def test_the_line_above_or_below_is_another_line(line: str) -> None:
    assert sorted(codes(HEAD + line + TAIL)) == ["AG002", "AG104"]


def test_a_comment_in_a_block_does_not_speak_for_its_header() -> None:
    text = HEAD + "for i in [y.add_(1)]:\n    print(i)  # autograd: ignore[AG104]" + TAIL
    assert sorted(codes(text)) == ["AG002", "AG104"]


def test_the_last_line_needs_no_newline() -> None:
    text = HEAD + WRITE + "\ny.sum().backward()  # autograd: ignore"
    assert codes(text) == ["AG104", "AG002"]
    assert codes(HEAD + "y.add_(1); y.sum().backward()  # autograd: ignore") == []


@pytest.mark.parametrize("before", [b"\xef\xbb\xbf", b"# \xe9\xff\n", "s = '😀é'\n".encode()])
def test_odd_bytes_move_no_line(before: bytes) -> None:
    text = before + (HEAD + WRITE + "  # autograd: ignore[AG104, AG105]" + TAIL).encode()
    (finding,) = found(text)
    assert text[finding.place.start : finding.place.end] == b"AG105"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("y.exp()  # autograd: ignore", "y.exp()"),
        ("y.exp()  # autograd: ignore[AG104]", "y.exp()"),
        ("y.exp()  # autograd: ignore[AG104, AG105]", "y.exp()"),
        ("y.exp()  # autograd: ignore[]", "y.exp()"),
        ("y.exp()  # noqa: AG104", "y.exp()"),
        ("y.exp()  # noqa: E501, AG104", "y.exp()  # noqa: E501"),
        ("y.exp()  # why  # autograd: ignore[AG104]", "y.exp()  # why"),
        ("y.exp()  # autograd: ignore[AG104] because", "y.exp()  # because"),
        ("y.exp()  # noqa: AG104  # why", "y.exp()  # why"),
        ("y.exp()  # noqa: AG104,E501 AG105 F401 why", "y.exp()  # noqa: E501, F401 why"),
        ("# ruff: noqa: AG104\ny.exp()", "y.exp()"),
        ("# flake8: noqa: AG104 E501\ny.exp()", "# flake8: noqa: E501\ny.exp()"),
        ("    # autograd: ignore[AG104]\ny.exp()", "y.exp()"),
        ("y.exp()\n# autograd: ignore-file[AG104]", "y.exp()"),
        ("y.add_(1)  # autograd: ignore[AG105, AG104]", "y.add_(1)  # autograd: ignore[AG104]"),
        ("y.add_(1)  # autograd: ignore[AG101,saved-tensor-modified,AG105]", None),
        ("y.exp()  # autograd: ignore[AG104, AG9999]", "y.exp()  # autograd: ignore[AG9999]"),
    ],
)
def test_the_fix_takes_away_what_is_unused(before: str, after: str | None) -> None:
    text = HEAD + before + TAIL
    (finding,) = [f for f in found(text) if f.code == "AG002"]
    assert (finding.name, finding.severity) == ("unused-suppression", "info")
    (fix,) = finding.fixes
    assert fix.safe
    after = after or "y.add_(1)  # autograd: ignore[saved-tensor-modified]"
    expected = HEAD + after + TAIL
    assert applied(text, fix.edits) == expected
    windows = text.replace("\n", "\r\n")
    (finding,) = [f for f in found(windows) if f.code == "AG002"]
    assert applied(windows, finding.fixes[0].edits) == expected.replace("\n", "\r\n")


def test_other_linters_comments_are_theirs() -> None:
    assert codes(HEAD + "y.exp()  # noqa\nz = 1  # noqa: E501, AGX1, AG999\n") == []
    assert codes("# flake8: noqa\n# ruff: noqa: E501, AG999\n" + HEAD) == []


@pytest.mark.parametrize("noqa", ["# noqa  # autograd: ignore[AG104, AG999]", "# noqa: AG104  # noqa"])
def test_a_bare_noqa_speaks_for_the_comments_of_its_line(noqa: str) -> None:
    assert codes(HEAD + "y.exp()  " + noqa + TAIL) == []
    assert "AG002" in codes(HEAD + "y.exp()  " + noqa.removeprefix("# noqa  ").removesuffix("# noqa") + TAIL)


def test_so_does_one_for_the_file() -> None:
    text = HEAD + "y.exp()  # autograd: ignore[AG104, AG999]" + TAIL
    assert codes(text) == ["AG002", "AG003"]
    assert codes("# ruff: noqa\n" + text) == []


def test_an_unknown_code_is_told() -> None:
    (finding,) = found(HEAD + "y.exp()  # autograd: ignore[AG999]" + TAIL)
    assert (finding.code, finding.severity) == ("AG003", "warning")
    assert "`AG999`" in finding.message
    assert codes(HEAD + "y.exp()  # autograd: ignore[AG999, AG003]" + TAIL) == []


def test_what_is_switched_off_is_not_called_unused() -> None:
    text = HEAD + "y.exp()  # autograd: ignore[AG104]" + TAIL
    assert codes(text, choice=Choice(off=frozenset({"AG104"}))) == []
    assert codes(text, choice=Choice(off=frozenset({"AG002"}))) == []
    assert codes(text, choice=Choice(off=frozenset({"AG105"}))) == ["AG002"]


def test_a_comment_can_keep_itself_from_being_called_unused() -> None:
    assert codes(HEAD + "y.exp()  # autograd: ignore[AG104, AG002]" + TAIL) == []
    assert codes("# autograd: ignore-file[AG002]\n" + HEAD + "y.exp()  # autograd: ignore[AG104]" + TAIL) == []


def test_nothing_is_called_unused_while_the_file_does_not_parse() -> None:
    null = b"s = '\0'\n" + (HEAD + WRITE + "  # autograd: ignore[AG104, AG105]" + TAIL).encode()
    assert codes(null) == ["AG005"]
    assert codes(HEAD + "y.exp()  # autograd: ignore[AG104]\ny = (\n") == ["AG005"]


LIBRARY = "def write(y):\n    y.add_(1)\n"
CALLER = HEAD.replace("y =", "from lib import write\ny =") + "write(y)" + TAIL


def test_a_comment_silences_what_another_files_run_finds() -> None:
    silent = LIBRARY.replace("(1)", "(1)  # autograd: ignore[AG104]")
    assert [f.place.path for f in found({"a.py": CALLER, "lib.py": LIBRARY})] == ["lib.py"]
    assert codes({"a.py": CALLER, "lib.py": silent}) == []


def test_a_comment_that_another_file_needs_is_not_unused() -> None:
    silent = LIBRARY.replace("(1)", "(1)  # autograd: ignore[AG104]")
    assert codes({"a.py": CALLER, "lib.py": silent}, "lib.py") == []
    assert codes({"a.py": CALLER.replace("write(y)", "0"), "lib.py": silent}, "lib.py") == ["AG002"]


def test_an_edit_of_a_comment_is_seen_at_once() -> None:
    host = Host(read=lambda _: None)
    for line, expected in [(WRITE, ["AG104"]), (WRITE + "  # noqa: AG104", []), (WRITE + "  #", ["AG104"])]:
        host.set_text("a.py", HEAD + line + TAIL)
        assert [f.code for f in host.snapshot().findings("a.py")] == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (WRITE, "y.add_(1)  # autograd: ignore[AG104]"),
        (WRITE + "  \t", "y.add_(1)  # autograd: ignore[AG104]"),
        (WRITE + "  # why", "y.add_(1)  # why  # autograd: ignore[AG104]"),
        (WRITE + "  # noqa: E501", "y.add_(1)  # noqa: E501  # autograd: ignore[AG104]"),
        (WRITE + "  # autograd: ignore[AG101]", "y.add_(1)  # autograd: ignore[AG101, AG104]"),
        (WRITE + "  # autograd: ignore[]", "y.add_(1)  # autograd: ignore[AG104]"),
        ("y.add_(\n    1,\n)", "y.add_(  # autograd: ignore[AG104]\n    1,\n)"),
        ("y \\\n    .add_(1)", "y \\\n    .add_(1)  # autograd: ignore[AG104]"),
        ('y.add_(1); s = """\n"""', 'y.add_(1); s = """\n"""  # autograd: ignore[AG104]'),
    ],
)
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_the_edit_that_ignores(line: str, expected: str, line_end: str) -> None:
    host = Host(read=lambda _: None)
    text = (HEAD + line + TAIL).replace("\n", line_end)
    host.set_text("a.py", text)
    (finding,) = [f for f in host.snapshot().findings("a.py") if f.code == "AG104"]
    edit = host.snapshot().ignoring(finding)
    assert edit is not None
    ignored = applied(text, (edit,))
    assert ignored == (HEAD + expected + TAIL).replace("\n", line_end)
    host.set_text("a.py", ignored)
    assert "AG104" not in [f.code for f in host.snapshot().findings("a.py")]
