"""`check`: what it prints, what it exits with, and which files it means."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from autograd_lsp.files.sources import Source
from autograd_lsp.reports.make import shares
from tests.cli.command import BROKEN, FIXED, check_json, run


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "train.py").write_text(BROKEN)
    (tmp_path / "fine.py").write_text(FIXED)
    return tmp_path


def test_json_has_the_promised_shape(project: Path) -> None:
    code, document = check_json("train.py", cwd=project)
    assert code == 1
    assert document["version"] == 1
    [file] = document["files"]
    assert file["path"] == "train.py"
    [finding] = file["findings"]
    assert (finding["code"], finding["name"], finding["severity"]) == ("AG104", "saved-tensor-modified", "error")
    assert finding["range"] == {"start": {"line": 4, "column": 1}, "end": {"line": 4, "column": 10}}
    raises = finding["raises"]
    assert (raises["path"], raises["line"], raises["exception"]) == ("train.py", 5, "RuntimeError")
    assert (raises["certain"], raises["caught"], raises["expected"]) == (True, False, False)
    assert raises["message"].startswith("one of the variables needed for gradient computation has been modified")
    assert finding["effect"] is None
    assert {"path": "train.py", "line": 3}.items() <= finding["related"][0].items()
    edit = finding["fixes"][0]["edits"][0]
    assert edit["path"] == "train.py"
    assert edit["range"]["start"]["line"] == 4
    assert edit["text"]


def test_text_shows_place_cause_consequence_and_cure(project: Path) -> None:
    done = run("check", "train.py", cwd=project)
    assert done.returncode == 1
    assert done.stdout.startswith(
        "error[AG104]: `y.add_(1)` modifies in place what `x.exp()` saved for backward\n --> train.py:4:1\n"
    )
    assert "4 | y.add_(1)\n  | ^^^^^^^^^" in done.stdout
    assert "3 | y = x.exp()" in done.stdout
    assert "torch raises RuntimeError at line 5: " in done.stdout
    assert "\nhelp: Use the out-of-place `add` [*]\n" in done.stdout
    assert done.stdout.endswith(
        "More about a rule: `autograd-lsp rule AG104`.\nFound 1 error in 1 file.\n[*] 1 fixable with `--fix`.\n"
    )
    assert "\x1b" not in done.stdout
    assert done.stderr == ""


def test_a_clean_file_exits_zero(project: Path) -> None:
    done = run("check", "fine.py", cwd=project)
    assert (done.returncode, done.stdout) == (0, "No findings in 1 file.\n")


@pytest.mark.parametrize(("level", "code"), [("error", 1), ("warning", 1), ("info", 1), ("never", 0)])
def test_fail_on_decides_the_exit_code(project: Path, level: str, code: int) -> None:
    assert run("check", "--fail-on", level, "train.py", cwd=project).returncode == code


def test_columns_count_characters(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(BROKEN.replace("y.add_(1)", "s = '😀é'; y.add_(1)"), encoding="utf-8")
    _, document = check_json("train.py", cwd=tmp_path)
    assert document["files"][0]["findings"][0]["range"]["start"] == {"line": 4, "column": 11}


def test_standard_input(project: Path) -> None:
    code, document = check_json("-", "--stdin-filename", "new/model.py", cwd=project, stdin=BROKEN.encode())
    assert code == 1
    [file] = document["files"]
    assert file["path"] == "new/model.py"
    assert file["findings"][0]["raises"]["path"] == "new/model.py"


def test_standard_input_overrides_the_file_of_that_name(project: Path) -> None:
    code, document = check_json("-", "--stdin-filename", "train.py", cwd=project, stdin=FIXED.encode())
    assert (code, document["files"][0]["findings"]) == (0, [])


def test_a_file_that_cannot_be_read_is_a_finding_and_the_others_are_checked(project: Path) -> None:
    (project / "latin.py").write_bytes(b"name = '\xe9'\n")
    code, document = check_json("absent.py", "latin.py", "train.py", cwd=project)
    assert code == 2
    absent, latin, train = document["files"]
    for file in (absent, latin):
        [finding] = file["findings"]
        assert (finding["code"], finding["name"], finding["severity"]) == ("AG001", "unreadable-file", "error")
        assert finding["range"]["start"] == {"line": 1, "column": 1}
    assert [finding["code"] for finding in train["findings"]] == ["AG104"]


def test_a_declared_encoding_is_honoured(project: Path) -> None:
    (project / "latin.py").write_bytes(b"# -*- coding: latin-1 -*-\nname = '\xe9'\n")
    assert check_json("latin.py", cwd=project)[0] == 0


@pytest.mark.parametrize(
    ("encoding", "cookie"),
    [
        ("latin-1", "# -*- coding: latin-1 -*-\n"),
        ("utf-8-sig", ""),
        ("utf-8-sig", "# coding: utf-8\n"),
        ("gbk", "# coding: gbk\n"),
    ],
)
@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_places_are_those_of_the_text_whatever_its_encoding(
    project: Path, encoding: str, cookie: str, line_end: str
) -> None:
    text = cookie + "s = '\xb7\xb7'; " + BROKEN.replace("y.add_(1)", "s = '\xb7\xb7'; y.add_(1)")
    (project / "model.py").write_bytes(text.replace("\n", line_end).encode(encoding))
    (project / "user.py").write_text("import model\n")
    line = 4 + cookie.count("\n")
    _, document = check_json("model.py", "user.py", cwd=project)
    [finding] = document["files"][0]["findings"]
    assert finding["range"]["start"] == {"line": line, "column": 11}
    assert (finding["related"][0]["line"], finding["raises"]["line"]) == (line - 1, line + 1)


def test_select_and_ignore_take_names_and_codes(project: Path) -> None:
    for arguments, code in [
        (("--select", "AG104"), 1),
        (("--select", "saved-tensor-modified"), 1),
        (("--ignore", "AG104"), 0),
        (("--ignore", "saved-tensor-modified"), 0),
        (("--select", "AG104", "--ignore", "AG104"), 0),
    ]:
        assert run("check", *arguments, "train.py", cwd=project).returncode == code, arguments


def test_an_unknown_rule_is_bad_usage(project: Path) -> None:
    done = run("check", "--select", "no-such-rule", "train.py", cwd=project)
    assert (done.returncode, done.stdout) == (2, "")
    assert "no-such-rule" in done.stderr


def test_a_name_for_standard_input_means_that_it_is_read(project: Path) -> None:
    named = check_json("--stdin-filename", "new/model.py", cwd=project, stdin=BROKEN.encode())
    assert named == check_json("-", "--stdin-filename", "new/model.py", cwd=project, stdin=BROKEN.encode())
    assert [file["path"] for file in named[1]["files"]] == ["new/model.py"]


def test_a_number_of_jobs_that_makes_no_sense_is_said_to_be_so(project: Path) -> None:
    for number in ("0", "-1", "many", "²"):
        assert "--jobs: expected a positive number" in run("check", f"--jobs={number}", cwd=project).stderr


@pytest.mark.parametrize("arguments", [("--no-such-option",), ("--jobs", "0"), ("--stdin-filename", "x.py", ".")])
def test_bad_usage_exits_two(project: Path, arguments: tuple[str, ...]) -> None:
    assert run("check", *arguments, cwd=project).returncode == 2


LIBRARY = "def write(y):\n    y.add_(1)  # autograd: ignore[AG104]\n"
CALLER = BROKEN.replace("y =", "from lib import write\ny =").replace("y.add_(1)", "write(y)")


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_comments_silence_findings_whichever_file_finds_them(tmp_path: Path, jobs: str) -> None:
    (tmp_path / "lib.py").write_text(LIBRARY)
    (tmp_path / "caller.py").write_text(CALLER)
    (tmp_path / "train.py").write_text(BROKEN.replace("add_(1)", "add_(1)  # noqa: AG104"))
    assert run("check", "--jobs", jobs, cwd=tmp_path).stdout == "No findings in 3 files.\n"
    done = run("check", "--jobs", jobs, "lib.py", "train.py", cwd=tmp_path)
    assert done.returncode == 0
    assert done.stdout.startswith("info[AG002]: `AG104` is ignored here but not found\n --> lib.py:2:16\n")


def test_statistics_count_by_rule(project: Path) -> None:
    _, document = check_json("--statistics", ".", cwd=project)
    assert document["statistics"] == [{"code": "AG104", "name": "saved-tensor-modified", "count": 1}]
    assert "     1  AG104  saved-tensor-modified\n" in run("check", "--statistics", cwd=project).stdout


def test_a_folder_stands_for_the_python_files_that_someone_wrote(project: Path) -> None:
    for folder in (".hidden", "node_modules", "__pycache__", "build", "env", "src"):
        (project / folder).mkdir()
        (project / folder / "a.py").write_text(FIXED)
    (project / "env" / "pyvenv.cfg").touch()
    (project / "notes.txt").touch()
    _, document = check_json(cwd=project)
    assert [file["path"] for file in document["files"]] == ["fine.py", "train.py", "src/a.py"]
    _, document = check_json("build/a.py", "train.py", "./train.py", cwd=project)
    assert [file["path"] for file in document["files"]] == ["build/a.py", "train.py"]


@pytest.mark.parametrize(
    ("files", "processes", "first"), [(0, 2, []), (3, 2, [1, 1, 1]), (60, 2, [7, 6, 5]), (900, 4, [16])]
)
def test_shares_get_smaller_towards_the_end(files: int, processes: int, first: list[int]) -> None:
    """Whoever begins with the last ones is not to be waited for."""
    sources = [Source(f"{number}.py", f"{number}.py") for number in range(files)]
    given = list(shares(sources, processes))
    sizes = [len(share) for share in given]
    assert [source for share in given for source in share] == sources
    assert sizes[: len(first)] == first
    assert sizes == sorted(sizes, reverse=True)
    assert set(sizes[-processes * 4 :]) <= {1}


def test_the_number_of_jobs_changes_nothing_in_the_output(project: Path) -> None:
    for number in range(12):
        (project / f"model_{number}.py").write_text(BROKEN if number % 3 else FIXED)
    one = run("check", "--jobs", "1", cwd=project)
    several = run("check", "--jobs", "3", cwd=project)
    default = run("check", cwd=project)
    assert one.stdout == several.stdout == default.stdout
    assert one.returncode == several.returncode == default.returncode == 1
    assert "Found 9 errors in 9 files." in one.stdout


def test_a_terminal_is_told_nothing_to_obey(project: Path) -> None:
    (project / "train.py").write_text(BROKEN.replace("y.add_(1)", "s = '\x1b[31m'; y.add_(1)"))
    assert "\x1b" not in run("check", "train.py", cwd=project).stdout


def test_the_output_is_json_whatever_the_file_names_are(tmp_path: Path) -> None:
    (tmp_path / "modèle 😀.py").write_text(BROKEN)
    done = run("check", "--format", "json", cwd=tmp_path)
    assert json.loads(done.stdout)["files"][0]["path"] == "modèle 😀.py"
    assert done.stdout.isascii()


def test_a_file_of_data_is_not_analysed_and_imports_of_it_are_unknown(tmp_path: Path) -> None:
    (tmp_path / "data.py").write_text("VALUES = [\n" + "    1234567,\n" * 400_000 + "]\n" + BROKEN)
    (tmp_path / "train.py").write_text("from data import VALUES, missing\n" + BROKEN)
    code, answer = check_json(cwd=tmp_path)
    found = {file["path"]: [(f["code"], f["severity"]) for f in file["findings"]] for file in answer["files"]}
    assert found == {"data.py": [("AG004", "info")], "train.py": [("AG104", "error")]}
    assert code == 1


def test_a_path_without_python_is_told(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "words.txt").write_text("def f(:\n")
    (tmp_path / "train.py").write_text("import torch\n")
    done = run("check", "data", "train.py", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "No findings in 1 file.\n")
    assert done.stderr == "autograd-lsp: data: there are no Python files or notebooks to check\n"


TRAIN = """\
def train(net, batches, optimizer):
    net.train()
    for x in batches:
        loss = net(x).mean()
        loss.backward()
        optimizer.step()
"""


def test_what_a_warning_assumes_is_told(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(TRAIN)
    _, document = check_json("train.py", cwd=tmp_path)
    [finding] = document["files"][0]["findings"]
    assert [(step["path"], step["line"], step["message"]) for step in finding["assumes"]] == [
        ("train.py", 1, "`net` is a model that learns"),
        ("train.py", 1, "`optimizer` trains `net`"),
    ]
    again = check_json("train.py", cwd=tmp_path)[1]
    assert again == document, "from the cache"
    text = run("check", "train.py", cwd=tmp_path).stdout
    assert "  = assumed: `net` is a model that learns and `optimizer` trains `net`\n" in text
