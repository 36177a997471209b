"""Configuration files: which one counts for a file, what they say, and what is said of bad ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.command import BROKEN, FIXED, check_json, run

TWO = BROKEN.replace("y.add_(1)\n", "y.add_(1)\nx.require_grad = True\n")
"""AG104, an error, and AG206, a warning."""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "tests").mkdir()
    for name in ("train.py", "tests/test_train.py"):
        (tmp_path / name).write_text(TWO)
    return tmp_path


def configure(folder: Path, text: str) -> None:
    (folder / "autograd-lsp.toml").write_text(text)


def found(*arguments: str, cwd: Path) -> dict[str, list[str]]:
    """The codes by file; exit code 2 is an error."""
    code, document = check_json(*arguments, cwd=cwd)
    assert code != 2
    return {file["path"]: [finding["code"] for finding in file["findings"]] for file in document["files"]}


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("", ["AG104", "AG206"]),
        ('select = ["AG104"]', ["AG104"]),
        ('select = ["AG1"]', ["AG104"]),
        ('select = ["ag1"]', ["AG104"]),
        ('select = ["misspelt-grad-attribute"]', ["AG206"]),
        ('select = ["ALL"]', ["AG104", "AG206"]),
        ("select = []", []),
        ('ignore = ["AG2"]', ["AG104"]),
        ('ignore = ["ALL"]', []),
        ('select = ["AG104"]\nignore = ["AG1"]', ["AG104"]),
        ('select = ["AG1"]\nignore = ["AG104"]', []),
        ('select = ["AG104"]\nignore = ["saved-tensor-modified"]', []),
        ('[severity]\nAG104 = "off"', ["AG206"]),
        ('[severity]\nALL = "off"\nAG104 = "info"', ["AG104"]),
        ('[per-file-ignores]\n"train.py" = ["AG1"]', ["AG206"]),
        ('[per-file-ignores]\n"*.py" = ["ALL"]', []),
        ('[per-file-ignores]\n"tests/" = ["ALL"]', ["AG104", "AG206"]),
        ('[per-file-ignores]\n"!tests/" = ["ALL"]', []),
    ],
)
def test_what_is_reported(project: Path, text: str, codes: list[str]) -> None:
    configure(project, text)
    assert found("train.py", cwd=project) == {"train.py": codes}


def test_the_command_line_goes_over_the_file(project: Path) -> None:
    configure(project, 'select = ["AG2"]')
    assert found("--select", "AG1", "train.py", cwd=project) == {"train.py": ["AG104"]}
    assert found("--ignore", "AG206", "train.py", cwd=project) == {"train.py": []}
    configure(project, 'ignore = ["AG2"]')
    assert found("--select", "ALL", "train.py", cwd=project) == {"train.py": ["AG104", "AG206"]}
    assert found("--no-config", "train.py", cwd=project) == {"train.py": ["AG104", "AG206"]}


def test_severities_decide_the_exit_code(project: Path) -> None:
    configure(project, '[severity]\nAG1 = "info"\nAG206 = "info"')
    code, document = check_json("train.py", cwd=project)
    assert code == 0
    assert [finding["severity"] for finding in document["files"][0]["findings"]] == ["info", "info"]
    configure(project, '[severity]\nAG1 = "off"\nAG206 = "error"')
    assert run("check", "--fail-on", "error", "train.py", cwd=project).returncode == 1


def test_what_the_program_expects_stays_a_remark(project: Path) -> None:
    lines = BROKEN.splitlines()
    text = "\n".join(["import pytest", *lines[:-1], "with pytest.raises(RuntimeError):", "    " + lines[-1], ""])
    (project / "train.py").write_text(text)
    configure(project, '[severity]\nALL = "error"')
    code, document = check_json("train.py", cwd=project)
    assert (code, [f["severity"] for f in document["files"][0]["findings"]]) == (0, ["info"])


def test_the_nearest_file_counts_alone(project: Path) -> None:
    (project / "pyproject.toml").write_text('[tool.autograd-lsp]\nselect = ["AG1"]\n')
    (project / "tests" / "pyproject.toml").write_text("[tool.other]\n")
    assert found(cwd=project) == {"train.py": ["AG104"], "tests/test_train.py": ["AG104"]}
    (project / "tests" / "pyproject.toml").write_text("[tool.autograd-lsp]\n")
    assert found(cwd=project)["tests/test_train.py"] == ["AG104", "AG206"]
    configure(project / "tests", 'select = ["AG2"]')
    assert found(cwd=project)["tests/test_train.py"] == ["AG206"]
    assert found(cwd=project / "tests") == {"test_train.py": ["AG206"]}
    assert found("../train.py", cwd=project / "tests") == {"../train.py": ["AG104"]}


def test_excluded_files_are_not_looked_at_unless_they_are_named(project: Path) -> None:
    configure(project, 'exclude = ["tests/", "old_*.py"]')
    (project / "old_train.py").write_text(BROKEN)
    (project / "tests" / "old_test.py").write_text(BROKEN)
    assert list(found(cwd=project)) == ["train.py"]
    assert list(found("old_train.py", "tests", cwd=project)) == [
        "old_train.py",
        "tests/old_test.py",
        "tests/test_train.py",
    ]
    configure(project, 'exclude = ["*.py", "!train.py"]')
    assert list(found(cwd=project)) == ["train.py"]


def test_nothing_is_said_of_an_excluded_file_that_another_imports(tmp_path: Path) -> None:
    (tmp_path / "lib.py").write_text("def write(y):\n    y.add_(1)\n")
    (tmp_path / "caller.py").write_text(
        BROKEN.replace("y =", "from lib import write\ny =").replace("y.add_(1)", "write(y)")
    )
    assert found("caller.py", cwd=tmp_path) == {"caller.py": [], "lib.py": ["AG104"]}
    configure(tmp_path, 'exclude = ["lib.py"]')
    assert found(cwd=tmp_path) == {"caller.py": []}
    configure(tmp_path, '[per-file-ignores]\n"lib.py" = ["AG1"]')
    assert found("caller.py", cwd=tmp_path) == {"caller.py": []}


def test_a_file_named_on_the_command_line_stands_for_all_others(project: Path) -> None:
    configure(project, 'select = ["AG1"]')
    (project / "ci").mkdir()
    (project / "ci" / "strict.toml").write_text('select = ["AG2"]\nexclude = ["tests"]\n')
    assert found("--config", "ci/strict.toml", cwd=project) == {"train.py": ["AG206"]}


def test_several_processes_are_configured_like_one(project: Path) -> None:
    configure(project, 'select = ["AG2"]')
    assert run("check", "--jobs", "2", cwd=project).stdout == run("check", "--jobs", "1", cwd=project).stdout


def test_a_comment_for_a_rule_that_is_switched_off_is_not_unused(project: Path) -> None:
    (project / "train.py").write_text(FIXED.replace("add(1)", "add(1)  # noqa: AG104"))
    assert found("train.py", cwd=project) == {"train.py": ["AG002"]}
    assert found("--ignore", "AG104", "train.py", cwd=project) == {"train.py": []}
    assert found("--select", "AG1", "train.py", cwd=project) == {"train.py": []}
    configure(project, '[severity]\nAG104 = "off"')
    assert found("train.py", cwd=project) == {"train.py": []}


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-8"])
def test_windows_files_are_read(project: Path, encoding: str) -> None:
    (project / "autograd-lsp.toml").write_bytes('select = ["AG2"]\r\n'.encode(encoding))
    assert found("train.py", cwd=project) == {"train.py": ["AG206"]}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("select = 'AG1'", ["select", "list of rules", "'AG1'"]),
        ("select = ['AG1', 3]", ["select", "list of rules"]),
        ("select = ['AG9']", ["select", "no rule `AG9`"]),
        ("select = ['A']", ["select", "no rule `A`"]),
        ("selct = []", ["selct", "unknown key", "select"]),
        ("exclude = ['!']", ["exclude", "'!'", "pattern"]),
        ("exclude = true", ["exclude", "list of patterns"]),
        ("per-file-ignores = []", ["per-file-ignores", "table"]),
        ("[per-file-ignores]\n'a.py' = 'AG1'", ["per-file-ignores", "a.py", "list of rules"]),
        ("[severity]\nAG104 = 'loud'", ["severity.AG104", "error, warning, info, off", "'loud'"]),
        ("[severity]\nAG104 = ['off']", ["severity.AG104"]),
        ("[severity]\nAG9 = 'off'", ["severity", "no rule `AG9`"]),
        ("select = [", ["not valid TOML"]),
        ("x = " + "[" * 100_000, ["not valid TOML"]),
        ("select = ['\0']", ["not valid TOML"]),
    ],
)
def test_a_bad_value_is_bad_usage_with_file_and_key(project: Path, text: str, words: list[str]) -> None:
    configure(project, text)
    done = run("check", "train.py", cwd=project)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    for word in ["autograd-lsp.toml: ", *words]:
        assert word in done.stderr
    assert run("check", "--no-config", "train.py", cwd=project).returncode == 1


def test_an_interpreter_that_is_not_there_is_bad_usage(project: Path) -> None:
    configure(project, 'python = "nowhere"')
    done = run("check", cwd=project)
    assert done.returncode == 2 and "python: there is no" in done.stderr and "nowhere" in done.stderr
    (project / "nowhere").mkdir()
    assert run("check", cwd=project).returncode != 2


def test_a_bad_pyproject_names_the_table(project: Path) -> None:
    (project / "pyproject.toml").write_text("[tool]\nautograd-lsp = 3\n")
    assert "pyproject.toml: tool.autograd-lsp: expected a table" in run("check", cwd=project).stderr
    (project / "pyproject.toml").write_text("[tool.autograd-lsp]\nselect = 3\n")
    assert "pyproject.toml: tool.autograd-lsp.select: expected" in run("check", cwd=project).stderr
    (project / "pyproject.toml").write_bytes(b"\xff")
    assert "pyproject.toml: not valid TOML" in run("check", cwd=project).stderr


@pytest.mark.parametrize(
    "arguments", [("--config", "absent.toml"), ("--config", "x.toml", "--no-config"), ("--select", "AG9")]
)
def test_bad_usage(project: Path, arguments: tuple[str, ...]) -> None:
    done = run("check", *arguments, cwd=project)
    assert (done.returncode, done.stdout) == (2, "")
    assert arguments[1] in done.stderr or "contradict" in done.stderr
