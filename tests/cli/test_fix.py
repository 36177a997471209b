"""`check --fix` and `--diff`: what they change, what they leave alone, and what they say."""

from __future__ import annotations

import ast
import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from analyzers.report import Edit, Finding, Fix, Place
from autograd_lsp.cli.checked import Checked
from autograd_lsp.cli.fixing.fix import Fixed, make_fixes
from autograd_lsp.config import Configuration
from autograd_lsp.files.sources import Source
from autograd_lsp.process import drafts
from autograd_lsp.process.drafts import CHANGED, Draft
from autograd_lsp.reports.make import Reader
from autograd_lsp.reports.report import Report
from tests.cli.command import BROKEN, FIXED, REPOSITORY, check_json, run
from tests.corpus.labels import PARTS


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "train.py").write_text(BROKEN)
    (tmp_path / "fine.py").write_text(FIXED)
    return tmp_path


def test_safe_fixes_are_made_and_the_rest_is_reported(project: Path) -> None:
    unsafe = "import torch\nx = torch.ones(3, requires_grad=True)\nx.exp().backward()\n"
    (project / "other.py").write_text(unsafe)
    done = run("check", "--fix", cwd=project)
    assert done.returncode == 1
    assert "AG104" not in done.stdout
    assert "--> other.py:3:1\n" in done.stdout
    assert "Fixed 1 finding in 1 file.\n" in done.stdout and "\nFound 1 error in 1 file.\n" in done.stdout
    assert (project / "train.py").read_text() == FIXED
    assert (project / "other.py").read_text() == unsafe
    again = run("check", "--fix", cwd=project)
    assert (again.returncode, again.stdout) == (1, done.stdout.replace("Fixed 1 finding in 1 file.\n", ""))


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (("--ignore", "AG104"), "y.add_(1)"),
        ((), "y.add_(1)  # autograd: ignore[AG104]"),
        (("--baseline", "known.json"), "y.add_(1)"),
    ],
)
def test_what_is_not_reported_is_not_fixed(project: Path, arguments: tuple[str, ...], line: str) -> None:
    text = BROKEN.replace("y.add_(1)", line)
    (project / "train.py").write_text(text)
    run("check", "--write-baseline", "known.json", cwd=project)
    assert run("check", "--fix", *arguments, cwd=project).returncode == 0
    assert (project / "train.py").read_text() == text


def test_files_that_were_not_asked_for_are_not_touched(tmp_path: Path) -> None:
    """The run of the file that was asked for finds a fault in the one that it imports."""
    model = "def cost(x):\n    y = x.exp()\n    y.add_(1)\n    return y.sum()\n"
    (tmp_path / "model.py").write_text(model)
    (tmp_path / "train.py").write_text(
        "import torch\nfrom model import cost\ncost(torch.ones(3, requires_grad=True)).backward()\n"
    )
    done = run("check", "--fix", "train.py", cwd=tmp_path)
    assert (done.returncode, (tmp_path / "model.py").read_text()) == (1, model)
    assert "--> model.py:3:5\n" in done.stdout
    assert run("check", "--fix", "--jobs", "2", cwd=tmp_path).returncode == 0
    assert (tmp_path / "model.py").read_text() == model.replace("y.add_(1)", "y = y.add(1)")


def test_a_diff_changes_nothing_and_can_be_applied(project: Path) -> None:
    texts = {
        "train.py": BROKEN.encode(),
        "with space.py": BROKEN.replace("\n", "\r\n").encode(),
        "sub/end.py": BROKEN.replace("y.sum().backward()\n", "y.sum().backward()").encode(),
        "sub/latin é.py": ("# coding: latin-1\nname = 'é'\n" + BROKEN).encode("latin-1"),
        "sub/mark.py": BROKEN.encode("utf-8-sig"),
        "sub/mixed.py": BROKEN.replace("\n", "\r", 1).encode(),
    }
    (project / "sub").mkdir()
    for name, data in texts.items():
        (project / name).write_bytes(data)
    command = [sys.executable, "-m", "autograd_lsp", "check", "--diff"]
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    done = subprocess.run(command, cwd=project, env=environment, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (1, b"Would fix 6 findings in 6 files.\n")
    assert {name: (project / name).read_bytes() for name in texts} == texts
    other = project / "other"
    for tool in (["patch", "-p0", "--binary"], ["git", "apply", "-p0"]):
        if shutil.which(tool[0]) is None:
            continue
        shutil.rmtree(other, ignore_errors=True)
        (other / "sub").mkdir(parents=True)
        for name, data in texts.items():
            (other / name).write_bytes(data)
        subprocess.run(tool, cwd=other, input=done.stdout, check=True, capture_output=True)
        for name, data in texts.items():
            assert (other / name).read_bytes() == data.replace(b"y.add_(1)", b"y = y.add(1)"), name
    shutil.rmtree(other, ignore_errors=True)
    assert run("check", "--fix", cwd=project).returncode == 0
    for name, data in texts.items():
        assert (project / name).read_bytes() == data.replace(b"y.add_(1)", b"y = y.add(1)"), name
    clean = run("check", "--diff", cwd=project)
    assert (clean.returncode, clean.stdout, clean.stderr) == (0, "", "Nothing to fix.\n")


def test_a_diff_is_an_error_where_a_file_cannot_be_read(project: Path) -> None:
    done = run("check", "--diff", "train.py", "absent.py", cwd=project)
    assert done.returncode == 2
    assert "+y = y.add(1)\n" in done.stdout


def test_standard_input_is_printed_fixed(project: Path) -> None:
    data = BROKEN.replace("\n", "\r\n").encode("utf-8-sig")
    done = run("check", "--fix", "-", "--stdin-filename", "train.py", cwd=project, stdin=data)
    assert (done.returncode, done.stdout.encode()) == (0, data.replace(b"y.add_(1)", b"y = y.add(1)"))
    assert done.stderr == "Fixed 1 finding in 1 file.\nNo findings in 1 file.\n"
    assert (project / "train.py").read_text() == BROKEN


def test_standard_input_with_nothing_to_fix_is_printed_as_it_is(project: Path) -> None:
    for data in (FIXED.encode(), b"def (:\r\n", b""):
        assert run("check", "--fix", "-", cwd=project, stdin=data).stdout.encode() == data
    done = run("check", "--diff", "-", "--stdin-filename", "a/b.py", cwd=project, stdin=BROKEN.encode())
    assert done.returncode == 1
    assert done.stdout.startswith("--- a/b.py\n+++ a/b.py\n@@ ")
    assert run("check", "--fix", "-", "train.py", cwd=project).returncode == 2


def test_what_is_not_fixed_is_said(project: Path) -> None:
    """A file that does not parse, and one that nobody may write to."""
    (project / "broken.py").write_text(BROKEN + "def (\n")
    (project / "train.py").chmod(0o444)
    done = run("check", "--fix", cwd=project)
    assert done.returncode == 1
    assert {*done.stderr.splitlines()} == {
        "autograd-lsp: broken.py is left unchanged: it does not parse",
        "autograd-lsp: train.py is left unchanged: it is write-protected",
    }
    assert done.stdout.count("error[AG104]") == 2
    assert (project / "broken.py").read_text() == BROKEN + "def (\n"
    assert (project / "train.py").read_text() == BROKEN


def test_the_corpus_settles_and_parses(tmp_path: Path) -> None:
    """The second command finds all that it needs among what the first has kept."""
    for part in PARTS:
        shutil.copytree(REPOSITORY / "tests" / "corpus" / part, tmp_path / part)
    files = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    first = run("check", "--fix", "--jobs", "1", cwd=tmp_path, timeout=1800)
    assert (first.stderr, "Fixed " in first.stdout) == ("", True)
    fixed = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert {*fixed} == {*files}
    changed = [path for path in files if files[path] != fixed[path]]
    assert len(changed) > 10
    for path in changed:
        ast.parse(fixed[path])
    second = run("check", "--fix", "--jobs", "1", cwd=tmp_path, timeout=1800)
    assert {path: path.read_bytes() for path in files} == fixed
    assert second.stdout == "\n".join(line for line in first.stdout.split("\n") if not line.startswith("Fixed "))


class Marks:
    """A check that wants each mark of a text replaced, by its table; equal marks are one finding each."""

    def __init__(self, table: Mapping[str, str], *paths: Path) -> None:
        self.table = table
        self.sources = [Source(path.name, str(path)) for path in paths]
        self.rounds = 0

    def __call__(self, texts: Mapping[str, str]) -> Checked:
        self.rounds += 1
        return Checked([self.report(source, Reader(texts)) for source in self.sources], frozenset())

    def report(self, source: Source, read: Reader) -> Report:
        text = (read(source.path) or b"").decode()
        findings = []
        for mark, new in self.table.items():
            if mark in text:
                at = text.index(mark)
                fixes = (Fix(f"Replace {mark}", True, (Edit(Place(source.path, at, at + len(mark)), new),)),)
                findings.append(Finding("AG104", "rule", "error", mark, fixes[0].edits[0].place, fixes=fixes))
        return Report(source, tuple(findings), texts={source.path: text})

    def fix(self) -> Fixed:
        return make_fixes(self, self.sources, Configuration(isolated=True), write=True)


def written(folder: Path, **texts: str) -> list[Path]:
    paths = [Path(os.path.realpath(folder)) / f"{name}.py" for name in texts]
    for path, text in zip(paths, texts.values(), strict=True):
        path.write_text(text)
    return paths


def test_a_fix_that_would_break_the_file_is_dropped_and_said(tmp_path: Path) -> None:
    a, b = written(tmp_path, a="one = 1\ntwo = 2\nthree = 3\n", b="two = 2\n")
    fixed = Marks({"one": "uno", "two": "du e", "three": "tre"}, a, b).fix()
    assert a.read_text() == "uno = 1\ntwo = 2\ntre = 3\n"
    assert b.read_text() == "two = 2\n"
    assert fixed.complaints == (
        "a.py:2: Replace two: skipped because the file would no longer parse",
        "b.py:1: Replace two: skipped because the file would no longer parse",
    )
    assert fixed.count == 2


def test_a_fix_that_leads_to_another_is_followed(tmp_path: Path) -> None:
    (a,) = written(tmp_path, a="one = 1\n")
    fixed = Marks({"one": "two", "two": "three"}, a).fix()
    assert (a.read_text(), fixed.count, fixed.complaints) == ("three = 1\n", 2, ())


def test_fixes_that_go_round_in_circles_are_not_made(tmp_path: Path) -> None:
    a, b = written(tmp_path, a="one = 1\n", b="three = 1\n")
    fixed = Marks({"one": "two", "two": "one", "three": "four"}, a, b).fix()
    assert (a.read_text(), b.read_text()) == ("one = 1\n", "four = 1\n")
    assert fixed.complaints == ("a.py is left unchanged: its fixes kept leading to new ones, 20 times in a row",)


class Both(Marks):
    """One fix for two files."""

    def __call__(self, texts: Mapping[str, str]) -> Checked:
        read = [(read(source.path) or b"").decode() for source in self.sources for read in [Reader(texts)]]
        if not all(text.startswith("one") for text in read):
            return Checked([Report(source) for source in self.sources], frozenset())
        edits = tuple(Edit(Place(source.path, 0, 3), "two") for source in self.sources)
        finding = Finding("AG104", "rule", "error", "m", edits[0].place, fixes=(Fix("Both", True, edits),))
        texts = {source.path: text for source, text in zip(self.sources, read, strict=True)}
        return Checked([Report(self.sources[0], (finding,), texts=texts)], frozenset())


@pytest.mark.parametrize("protected", [False, True])
def test_a_fix_of_two_files_is_made_in_both_or_in_none(tmp_path: Path, protected: bool) -> None:
    a, b = written(tmp_path, a="one = 1\n", b="one = 1\n")
    b.chmod(0o444 if protected else 0o644)
    Both({}, a, b).fix()
    assert [a.read_text(), b.read_text()] == ["one = 1\n" if protected else "two = 1\n"] * 2


def test_a_file_that_changes_meanwhile_is_left_alone(tmp_path: Path) -> None:
    """All others are fixed as if it had been refused from the start."""
    a, b = written(tmp_path, a="one = 1\n", b="one = 1\n")

    class Meddled(Marks):
        def __call__(self, texts: Mapping[str, str]) -> Checked:
            checked = super().__call__(texts)
            if self.rounds == 2:
                a.write_text("one = 'mine'\n")
            return checked

    fixed = Meddled({"one": "two"}, a, b).fix()
    assert (a.read_text(), b.read_text()) == ("one = 'mine'\n", "two = 1\n")
    assert fixed.complaints == (f"a.py is left unchanged: {CHANGED}",)
    assert [len(report.findings) for report in fixed.checked.reports] == [1, 0]


def test_what_is_reported_of_a_file_that_has_changed_is_what_it_is_now(tmp_path: Path) -> None:
    """As where another command fixes it at the same time."""
    (a,) = written(tmp_path, a="one = 1\n")

    class Meddled(Marks):
        def __call__(self, texts: Mapping[str, str]) -> Checked:
            checked = super().__call__(texts)
            a.write_text("two = 1\n")
            return checked

    fixed = Meddled({"one": "two"}, a).fix()
    assert fixed.complaints == (f"a.py is left unchanged: {CHANGED}",)
    assert [report.findings for report in fixed.checked.reports] == [()]


def test_a_file_that_was_not_the_same_to_all_is_left_alone(tmp_path: Path) -> None:
    (a,) = written(tmp_path, a="one = 1\n")

    class Unsteady(Marks):
        def __call__(self, texts: Mapping[str, str]) -> Checked:
            return Checked(super().__call__(texts).reports, frozenset([str(a)]))

    class Outdated(Marks):
        def report(self, source: Source, read: Reader) -> Report:
            report = super().report(source, read)
            return Report(source, report.findings, texts={source.path: "\n" + report.texts[source.path]})

    for check in (Unsteady, Outdated):
        assert check({"one": "two"}, a).fix().complaints == (f"a.py is left unchanged: {CHANGED}",)
        assert a.read_text() == "one = 1\n"


def test_a_link_stays_a_link_and_its_file_is_fixed_once(tmp_path: Path) -> None:
    (a,) = written(tmp_path, a="one = 1\none = 1\n")
    (a.parent / "folder").mkdir()
    link, there = a.parent / "link.py", a.parent / "folder"
    link.symlink_to("a.py")
    (a.parent / "loop").symlink_to(there, target_is_directory=True)
    assert Marks({"one": "two"}, link, a, a.parent / "loop" / ".." / "a.py").fix().count == 6
    assert (link.is_symlink(), a.is_symlink(), a.read_text()) == (True, False, "two = 1\ntwo = 1\n")


def test_a_link_that_leads_out_of_the_folder_is_written_through_when_it_is_named(tmp_path: Path) -> None:
    outside, folder = tmp_path / "outside.py", tmp_path / "project"
    folder.mkdir()
    outside.write_text(BROKEN)
    (folder / "link.py").symlink_to(outside)
    (folder / "own.py").write_text(BROKEN)
    (folder / "within.py").symlink_to("own.py")
    left = run("check", "--fix", "--no-cache", ".", cwd=folder)
    assert "link.py is left unchanged: it is a link to a file outside of the folder" in left.stderr
    assert (outside.read_text(), (folder / "own.py").read_text()) == (BROKEN, FIXED)
    run("check", "--fix", "--no-cache", ".", "link.py", cwd=folder)
    assert outside.read_text() == BROKEN
    run("check", "--fix", "--no-cache", "link.py", cwd=folder)
    assert (outside.read_text(), (folder / "link.py").is_symlink()) == (FIXED, True)


def test_rights_stay(tmp_path: Path) -> None:
    (a,) = written(tmp_path, a="one = 1\n")
    a.chmod(0o751)
    Marks({"one": "two"}, a).fix()
    assert (a.read_text(), stat.S_IMODE(a.stat().st_mode)) == ("two = 1\n", 0o751)


def fail_to_replace(patch: pytest.MonkeyPatch) -> None:
    real = os.replace

    def replace(here: str, there: str) -> None:
        if os.path.basename(there) == "b.py":
            raise PermissionError(13, "told to fail")
        real(here, there)

    patch.setattr(os, "replace", replace)


def fail_to_write(patch: pytest.MonkeyPatch) -> None:
    real = Draft.close

    def close(draft: Draft) -> None:
        if os.path.basename(draft.path) == "b.py":
            raise OSError(28, "told to fail")
        real(draft)

    patch.setattr(Draft, "close", close)


@pytest.mark.parametrize("fail", [fail_to_replace, fail_to_write])
def test_a_disk_that_refuses_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fail: Callable[[pytest.MonkeyPatch], None]
) -> None:
    a, b = written(tmp_path, a="one = 1\n", b="one = 1\n")
    fail(monkeypatch)
    fixed = Marks({"one": "two"}, a, b).fix()
    assert (a.read_text(), b.read_text()) == ("two = 1\n", "one = 1\n")
    assert fixed.complaints == ("b.py is left unchanged: told to fail",)
    assert (fixed.said, fixed.outcome.written) == ("1 finding in 1 file", {str(a)})
    assert sorted(os.listdir(a.parent)) == ["a.py", "b.py"]


def test_what_a_killed_process_left_is_taken_away(tmp_path: Path) -> None:
    """And nothing else: a living one may still need its file, and other machines' processes are unknown."""
    (a,) = written(tmp_path, a="one = 1\n")
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    prefix = f".autograd-lsp-{drafts._HOST}"
    left, alive = f"{prefix}-{dead.pid}-x.tmp", f"{prefix}-{os.getppid()}-x.tmp"
    foreign, other = f".autograd-lsp-elsewhr-{dead.pid}-x.tmp", ".autograd-lsp-notes"
    for name in (left, alive, foreign, other):
        (tmp_path / name).write_text("")
    Marks({"one": "two"}, a).fix()
    assert {*os.listdir(tmp_path)} == {"a.py", alive, foreign, other}


def test_fixed_files_are_not_analysed_again(project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the last round has found is kept, and holds for the files as they were written."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    run("check", "--fix", "train.py", cwd=project)
    program = (
        "import sys\nfrom autograd_lsp.cli import main\n"
        "code = main(['check', 'train.py'])\nprint(code, 'analyzers.host' in sys.modules)"
    )
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=project, env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.endswith("0 False\n")
    (project / "train.py").write_text(BROKEN)
    assert check_json("train.py", cwd=project)[0] == 1
