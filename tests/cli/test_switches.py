"""The options that people know from other linters do here what they do there."""

from __future__ import annotations

from pathlib import Path

import pytest

from autograd_lsp.config.reporting import FORMATS
from tests.cli.command import BROKEN, check_json, run

UNSAFE = """\
import torch
x = torch.ones(3, requires_grad=True)
(x * 2).backward()
"""
TWO = """\
import torch
x = torch.ones(3, requires_grad=True)
y, z = x.exp(), x.exp()
y.add_(1)
z.add_(1)  # of z
try:
    y.sum().backward()
except RuntimeError:
    z.sum().backward()
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home"))
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "train.py").write_text(BROKEN)
    return folder


def configure(project: Path, text: str, name: str = "autograd-lsp.toml") -> None:
    (project / name).parent.mkdir(parents=True, exist_ok=True)
    (project / name).write_text(text)


def codes(project: Path, *arguments: str) -> list[str]:
    _, answer = check_json(*arguments, cwd=project)
    return [finding["code"] for file in answer["files"] for finding in file["findings"]]


@pytest.mark.parametrize("option", ["--format", "--output-format"])
def test_a_format_has_two_names(project: Path, option: str) -> None:
    done = run("check", option, "concise", cwd=project)
    assert done.stdout.splitlines()[0] == (
        "train.py:4:1: error[AG104] [*] `y.add_(1)` modifies in place what `x.exp()` saved for backward"
    )
    assert done.stdout.endswith("Found 1 error in 1 file.\n[*] 1 fixable with `--fix`.\n")


def test_quiet_prints_findings_alone(project: Path) -> None:
    done = run("check", "--quiet", "--output-format", "concise", "--statistics", cwd=project)
    assert len(done.stdout.splitlines()) == 1
    (project / "train.py").write_text("x = 1\n")
    assert run("check", "-q", cwd=project).stdout == ""


def test_verbose_says_what_a_report_rests_on(project: Path) -> None:
    configure(project, 'torch-version = "2.4"\n')
    done = run("check", "-v", cwd=project)
    assert "settings: autograd-lsp.toml\n" in done.stderr
    assert "torch of the programs: 2.4\n" in done.stderr


@pytest.mark.parametrize(("color", "is_coloured"), [("always", True), ("never", False), ("auto", False)])
def test_color(project: Path, color: str, is_coloured: bool) -> None:
    assert ("\x1b[" in run("check", "--color", color, cwd=project).stdout) == is_coloured


def test_exit_zero(project: Path) -> None:
    done = run("check", "--exit-zero", cwd=project)
    assert (done.returncode, "AG104" in done.stdout) == (0, True)


def test_extend_select_adds_to_a_selection(project: Path) -> None:
    (project / "other.py").write_text(UNSAFE)
    configure(project, 'select = ["AG107"]\n')
    assert codes(project) == ["AG107"]
    assert codes(project, "--extend-select", "AG104") == ["AG107", "AG104"]
    configure(project, 'select = ["AG107"]\nextend-select = ["AG104"]\n')
    assert codes(project) == ["AG107", "AG104"]
    assert codes(project, "--ignore", "AG107") == ["AG104"]


@pytest.mark.parametrize("option", ["--exclude", "--extend-exclude"])
def test_excluded_files_are_skipped_unless_they_are_named(project: Path, option: str) -> None:
    assert codes(project, option, "tr*.py,other") == []
    assert codes(project, option, "tr*.py", "train.py") == ["AG104"]
    assert codes(project, option, "tr*.py", "--force-exclude", "train.py") == []


def test_force_exclude_follows_the_configuration(project: Path) -> None:
    configure(project, 'exclude = ["sub/"]\n')
    (project / "sub").mkdir()
    (project / "train.py").rename(project / "sub" / "train.py")
    assert codes(project, "sub/train.py") == ["AG104"]
    assert codes(project, "sub/train.py", "--force-exclude") == []
    assert codes(project, "sub", "--force-exclude") == []


def test_unsafe_fixes_are_made_when_asked_for(project: Path) -> None:
    (project / "train.py").write_text(UNSAFE)
    done = run("check", "--fix", cwd=project)
    assert "1 fixable with `--fix --unsafe-fixes`" in done.stdout
    assert "(to review)" in done.stdout
    assert (project / "train.py").read_text() == UNSAFE
    run("check", "--fix", "--unsafe-fixes", cwd=project)
    assert (project / "train.py").read_text() != UNSAFE
    assert codes(project) == []


def test_add_ignore_silences_all_there_is(project: Path) -> None:
    (project / "train.py").write_text(TWO)
    assert codes(project) == ["AG104", "AG104"]
    done = run("check", "--add-ignore", cwd=project)
    assert done.returncode == 0, done.stdout
    changed = TWO.replace("y.add_(1)", "y.add_(1)  # autograd: ignore[AG104]").replace(
        "z\n", "z  # autograd: ignore[AG104]\n"
    )
    assert (project / "train.py").read_text() == changed
    assert codes(project) == []


def test_add_ignore_changes_nothing_with_diff(project: Path) -> None:
    done = run("check", "--add-ignore", "--diff", cwd=project)
    assert "+y.add_(1)  # autograd: ignore[AG104]\n" in done.stdout
    assert (project / "train.py").read_text() == BROKEN


def test_show_files(project: Path) -> None:
    (project / "a.py").write_text("")
    assert run("check", "--show-files", "--exclude", "train.py", cwd=project).stdout == "a.py\n"


def test_show_settings_reads_as_a_configuration(project: Path) -> None:
    configure(project, 'ignore = ["AG2"]\n[per-file-ignores]\n"a b.py" = ["AG1"]\n')
    done = run("check", "--show-settings", "--select", "AG1", "train.py", cwd=project)
    assert done.stdout.splitlines() == [
        "# Settings for train.py",
        f"# from {project / 'autograd-lsp.toml'}",
        'ignore = ["AG2"]',
        'per-file-ignores = { "a b.py" = ["AG1"] }',
        "# from the command line",
        'select = ["AG1"]',
    ]


def test_show_settings_of_standard_input_are_those_of_the_folder(project: Path) -> None:
    configure(project, 'ignore = ["AG2"]\n')
    done = run("check", "--show-settings", "-", cwd=project)
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, 'ignore = ["AG2"]')


@pytest.mark.parametrize(
    ("arguments", "question"),
    [
        (("--fromat", "json"), "did you mean '--format'?"),
        (("--format", "jsn"), "did you mean 'json'?"),
        (("--select", "AG1044"), "did you mean `AG104`?"),
        (("--select", "saved-tensor-modifed"), "did you mean `saved-tensor-modified`?"),
    ],
)
def test_a_slip_is_answered_by_what_was_meant(project: Path, arguments: tuple[str, ...], question: str) -> None:
    done = run("check", *arguments, cwd=project)
    assert (done.returncode, done.stdout) == (2, "")
    assert question in done.stderr
    assert "AG104" not in done.stderr.replace(question, "") or "AG1044" in done.stderr


def test_an_unknown_option_is_told_with_the_usage_of_its_command(project: Path) -> None:
    done = run("check", "--no-such-option", cwd=project)
    assert done.stderr.startswith("usage: autograd-lsp check ")
    assert "did you mean" not in done.stderr
    assert len(done.stderr.splitlines()) == 2


def test_what_a_check_is_told_stands_in_files_too(project: Path) -> None:
    run("check", "--write-baseline", "known.json", cwd=project)
    configure(project, 'baseline = "known.json"\noutput-format = "concise"\njobs = 1\n')
    assert run("check", cwd=project).stdout.startswith("No findings")
    configure(project, 'fail-on = "never"\noutput-format = "concise"\n')
    done = run("check", cwd=project)
    assert (done.returncode, done.stdout.splitlines()[0].startswith("train.py:4:1: error[AG104]")) == (0, True)
    assert run("check", "--fail-on", "error", cwd=project).returncode == 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('fail-on = "always"', "fail-on: expected one of never, error, warning, info, not 'always'"),
        ('output-format = "txt"', f"output-format: expected one of {', '.join(FORMATS)}, not 'txt'"),
        ("jobs = 0", "jobs: expected a positive number, not 0"),
        ('extend = "gone.toml"', "gone.toml: cannot be read"),
        ('extend = "autograd-lsp.toml"', "leads back to itself"),
    ],
)
def test_bad_settings_are_told(project: Path, text: str, said: str) -> None:
    configure(project, text)
    done = run("check", cwd=project)
    assert done.returncode == 2
    assert said in done.stderr


def test_a_file_goes_over_the_one_that_it_extends(project: Path) -> None:
    (project / "other.py").write_text(UNSAFE)
    configure(project, 'ignore = ["AG104"]\nseverity = { AG107 = "info" }\n', "base/base.toml")
    configure(project, 'extend = "base/base.toml"\n')
    assert codes(project) == ["AG107"]
    configure(project, 'extend = "base/base.toml"\nselect = ["AG104"]\n')
    assert codes(project) == ["AG104"]
    configure(project, '[tool.autograd-lsp]\nextend = "base/base.toml"\n', "pyproject.toml")
    (project / "autograd-lsp.toml").unlink()
    assert codes(project) == ["AG107"]


def test_the_users_own_file_counts_where_there_is_no_other(project: Path, tmp_path: Path) -> None:
    configure(tmp_path, 'ignore = ["AG104"]\n', "home/autograd-lsp/autograd-lsp.toml")
    assert codes(project) == []
    assert codes(project, "--no-config") == ["AG104"]
    configure(project, "")
    assert codes(project) == ["AG104"]


@pytest.mark.parametrize("key", ["extend", "baseline"])
@pytest.mark.parametrize("text", ["hunter2 = is my word", "-----BEGIN hunter2-----", '{"hunter2'])
def test_a_file_that_settings_name_is_not_quoted(project: Path, tmp_path: Path, key: str, text: str) -> None:
    (tmp_path / "secret").write_text(text)
    configure(project, f'{key} = "../secret"\n')
    done = run("check", ".", cwd=project)
    assert done.returncode == 2
    assert "secret" in done.stderr
    assert "hunter2" not in done.stdout + done.stderr


def test_a_diff_says_that_there_are_only_unsafe_fixes(project: Path) -> None:
    (project / "train.py").write_text(UNSAFE)
    assert run("check", "--diff", cwd=project).stderr == "Nothing to fix safely; 1 fixable with `--unsafe-fixes`.\n"
    assert "Would fix 1 finding" in run("check", "--diff", "--unsafe-fixes", cwd=project).stderr
