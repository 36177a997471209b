"""`--baseline` and `--write-baseline`: what is recorded is not reported, wherever its lines move to."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from analyzers.report import Choice, Finding, Place
from autograd_lsp.files.sources import Source
from autograd_lsp.process.exits import UsageError
from autograd_lsp.reports.baseline import read_baseline, write_baseline
from autograd_lsp.reports.report import Report
from tests.cli.command import BROKEN, FIXED, check_json, run

GONE = "recorded in known.json {} no longer found; `--write-baseline known.json` records the current findings.\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "train.py").write_text(BROKEN)
    (tmp_path / "fine.py").write_text(FIXED)
    return tmp_path


def test_only_what_is_new_is_reported(project: Path) -> None:
    done = run("check", "--write-baseline", "known.json", cwd=project)
    assert (done.returncode, done.stdout) == (0, "Recorded 1 finding in known.json.\nNo findings in 2 files.\n")
    known = ("check", "--baseline", "known.json")
    assert run(*known, cwd=project).stdout == "No findings in 2 files.\n"
    # The line moves, and its neighbours are others.
    (project / "train.py").write_text("# a remark\r\n\r\nimport math\r\n" + BROKEN.replace("ones(3", "ones(4"))
    assert run(*known, cwd=project).returncode == 0
    # Another one like it, and then the old one goes.
    body = "".join(f"    {line}\n" for line in BROKEN.splitlines()[1:])
    (project / "train.py").write_text(f"import torch\ndef one():\n{body}def two():\n{body}")
    code, document = check_json("--baseline", "known.json", cwd=project)
    assert code == 1
    [(finding,), ()] = [file["findings"] for file in document["files"]][::-1]
    assert finding["range"]["start"]["line"] == 10
    (project / "train.py").write_text(FIXED)
    done = run(*known, cwd=project)
    assert (done.returncode, done.stdout) == (0, "1 finding " + GONE.format("is") + "No findings in 2 files.\n")


def test_paths_count_from_the_folder_of_the_baseline(project: Path) -> None:
    (project / "sub").mkdir()
    (project / "sub" / "more.py").write_text(BROKEN)
    assert run("check", "..", "--write-baseline", "../known.json", cwd=project / "sub").returncode == 0
    assert [*json.loads((project / "known.json").read_text())["files"]] == ["sub/more.py", "train.py"]
    assert run("check", "--baseline", "known.json", cwd=project).returncode == 0
    (project / "sub" / "known.json").write_bytes((project / "known.json").read_bytes())
    assert run("check", "--baseline", "sub/known.json", cwd=project).returncode == 1


def test_a_file_that_cannot_be_read_is_nothing_to_get_used_to(project: Path) -> None:
    (project / "bad.py").write_bytes(b"\xff")
    assert run("check", "--write-baseline", "known.json", cwd=project).returncode == 2
    done = run("check", "--baseline", "known.json", cwd=project)
    assert (done.returncode, "AG001" in done.stdout) == (2, True)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (None, "no such baseline; `--write-baseline known.json` creates it"),
        ("{", "not valid JSON"),
        ("[" * 100_000, "not valid JSON"),
        ("[]", "not a baseline of version 1"),
        ('{"version": 2, "files": {}}', "not a baseline of version 1"),
        ('{"version": 1, "files": {"train.py": [3]}}', "not a baseline of version 1"),
        ('{"version": 1, "files": {"train.py": [{"code": "AG104"}]}}', "not a baseline of version 1"),
    ],
)
def test_a_baseline_that_cannot_be_used_is_said_to_be_so(tmp_path: Path, text: str | None, complaint: str) -> None:
    path = tmp_path / "known.json"
    if text is not None:
        path.write_text(text)
    with pytest.raises(UsageError) as error:
        read_baseline(str(path))
    assert str(error.value).replace(str(path), "known.json").startswith(f"known.json: {complaint}")


def test_no_answer_without_the_baseline_or_where_it_cannot_be_written(project: Path) -> None:
    done = run("check", "--baseline", "known.json", cwd=project)
    assert (done.returncode, done.stdout) == (2, "")
    done = run("check", "--write-baseline", "absent/known.json", cwd=project)
    assert done.returncode == 2
    assert done.stderr == "autograd-lsp: absent/known.json: cannot be written: No such file or directory\n"
    assert run("check", "--baseline", "a", "--write-baseline", "b", cwd=project).returncode == 2


def report(path: Path, text: str, *words: str) -> Report:
    """Findings at the first place of each word; their codes count up."""
    places = [Place(str(path), text.index(word), text.index(word) + len(word)) for word in words]
    findings = [Finding(f"AG10{number}", "rule", "error", "m", place) for number, place in enumerate(places)]
    return Report(Source(path.name, str(path)), tuple(findings), texts={str(path): text})


def test_what_is_recorded_is_the_same_each_time_and_readable(tmp_path: Path) -> None:
    a, b = tmp_path / "a.py", tmp_path / "é\udce9.py"
    for path in (a, b):
        path.write_text("")
    text = "  one('中')\n  two\n"
    reports = [report(b, "x\udcff\n", "x"), report(a, text, "two", "one"), report(tmp_path / "c.py", "")]
    shown = str(tmp_path / "known.json")
    assert write_baseline(shown, reports) == f"Recorded 3 findings in {shown}."
    first = Path(shown).read_bytes()
    write_baseline(shown, [reports[1], reports[0]])
    assert Path(shown).read_bytes() == first
    document = json.loads(first)
    assert [*document["files"]] == ["a.py", "é\udce9.py"]
    assert [entry["line"] for entry in document["files"]["a.py"]] == ["two", "one('中')"]
    assert '"line": "one(\'中\')"'.encode() in first
    left, notes = read_baseline(shown).without_known(reports, {str(a), str(b)}, lambda path: Choice())
    assert [left.findings for left in left] == [(), (), ()]
    assert notes == ()


def test_only_what_was_asked_for_is_missed(tmp_path: Path) -> None:
    """Not what lies in other files, and not what other rules say."""
    a, b = tmp_path / "a.py", tmp_path / "b.py"
    for path in (a, b):
        path.write_text("one\ntwo\n")
    shown = str(tmp_path / "known.json")
    write_baseline(shown, [report(path, "one\ntwo\n", "one", "two") for path in (a, b)])
    known, nothing = read_baseline(shown), [report(a, "one\ntwo\n")]

    def missed(asked: set[str], off: set[str]) -> str:
        _, notes = known.without_known(nothing, asked, lambda path: Choice(frozenset(off)))
        return notes[0].split(" ")[0] if notes else "0"

    assert missed({str(a)}, set()) == "2"
    assert missed({str(a)}, {"AG100"}) == "1"
    assert missed(set(), set()) == "0"
    os.remove(b)
    assert missed({str(a)}, {"AG100", "AG101"}) == "2"


def test_a_baseline_behind_a_link_is_written_there(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    link = tmp_path / "known.json"
    link.symlink_to("real/known.json")
    write_baseline(str(link), [])
    assert link.is_symlink()
    assert json.loads((tmp_path / "real" / "known.json").read_text()) == {"version": 1, "files": {}}
