"""The scripts for shells complete what there is, as the shells themselves say where they are installed."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from autograd_lsp.cli import COMMANDS
from autograd_lsp.cli.arguments import SHELLS
from autograd_lsp.config.reporting import FORMATS
from tests.cli.command import REPOSITORY, run

LINES = [
    ("", sorted(COMMANDS)),
    ("che", ["check"]),
    ("check --form", ["--format"]),
    ("check --format ", sorted(FORMATS)),
    ("check --fail-on w", ["warning"]),
    ("check --select saved-tensor-m", ["saved-tensor-modified"]),
    ("rule AG104", ["AG104"]),
    ("completions ", sorted(SHELLS)),
    ("check trai", ["train.py"]),
    ("graph trai", ["train.py"]),
]
BASH = """\
source {script}
COMP_WORDS=(autograd-lsp {line})
[[ {quoted} == *' ' || -z {quoted} ]] && COMP_WORDS+=("")
COMP_CWORD=$(( ${{#COMP_WORDS[@]}} - 1 ))
_shtab_autograd_lsp
printf '%s\\n' "${{COMPREPLY[@]}}"
"""


def script_for(shell: str, folder: Path) -> Path:
    done = run("completions", shell, cwd=folder)
    assert (done.returncode, done.stderr) == (0, "")
    script = folder / f"completions.{shell}"
    script.write_text(done.stdout)
    return script


@pytest.mark.parametrize("shell", SHELLS)
def test_every_command_and_option_is_in_the_script(shell: str, tmp_path: Path) -> None:
    text = script_for(shell, tmp_path).read_text()
    assert all(word in text for word in (*COMMANDS, *FORMATS, "stdin-filename", "saved-tensor-modified", "AG104"))
    if shutil.which(shell):
        parsed = subprocess.run([shell, "-n", str(tmp_path / f"completions.{shell}")], capture_output=True, check=False)
        assert (parsed.returncode, parsed.stderr) == (0, b"")


def test_bash_completes(tmp_path: Path) -> None:
    script = script_for("bash", tmp_path)
    (tmp_path / "train.py").write_text("")
    for line, expected in LINES:
        program = BASH.format(script=shlex.quote(str(script)), line=line, quoted=shlex.quote(line))
        done = subprocess.run(
            ["bash", "--norc", "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert (sorted(done.stdout.split()), line) == (expected, line), done.stderr


@pytest.mark.skipif(shutil.which("fish") is None, reason="needs fish")
def test_fish_completes(tmp_path: Path) -> None:
    script = script_for("fish", tmp_path)
    (tmp_path / "train.py").write_text("")
    for line, expected in LINES:
        program = f"source {shlex.quote(str(script))}; complete -C {shlex.quote(f'autograd-lsp {line}')}"
        done = subprocess.run(
            ["fish", "--no-config", "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True
        )
        offered = sorted(row.partition("\t")[0] for row in done.stdout.splitlines())
        assert (offered, line) == (expected, line)


def test_a_shell_that_is_not_known_is_bad_usage(tmp_path: Path) -> None:
    done = run("completions", "tcl", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "") and "bash" in done.stderr


def test_the_page_names_every_shell() -> None:
    page = (REPOSITORY / "docs" / "integrations.md").read_text(encoding="utf-8")
    assert re.findall(r"^autograd-lsp completions (\w+) > ", page, re.MULTILINE) == [*SHELLS]


def test_without_the_extra_it_says_what_is_missing(tmp_path: Path) -> None:
    program = (
        "import sys\nsys.modules['shtab'] = None\nfrom autograd_lsp.cli import main\n"
        "sys.exit(main(['completions', 'bash']))"
    )
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "autograd-lsp: `completions` needs `shtab`: `pip install shtab`\n"
