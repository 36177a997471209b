"""The action for GitHub: its steps are run here, as the runner runs them, on a copy of the checkout."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cli.command import BROKEN, FIXED
from tests.project.checkout import REPOSITORY, copy_to

ACTION: dict[str, Any] = yaml.safe_load((REPOSITORY / "action.yml").read_text(encoding="utf-8"))
STEPS: list[dict[str, Any]] = ACTION["runs"]["steps"]
DEFAULTS: dict[str, str] = {name: spec["default"] for name, spec in ACTION["inputs"].items()}
_EXPRESSION = re.compile(r"\$\{\{\s*(.*?)\s*\}\}")
_SHELL = ("bash", "--noprofile", "--norc", "-eo", "pipefail")

PYTHON = """\
#!/bin/sh
"$REAL_PYTHON" "$@" --without-pip
for folder; do :; done
echo "$PRESENT" > "$("$folder/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/present.pth"
"""
"""Makes environments that find what is installed here, pip among it, as there may be no package index."""


class Runner:
    """A job's folders, and what its steps have put out."""

    def __init__(self, home: Path) -> None:
        self.workspace = home / "workspace"
        self.checkout = home / "action"
        self.temp = home / "temp"
        bin_ = home / "bin"
        for folder in (self.workspace, self.temp, bin_):
            folder.mkdir()
        copy_to(self.checkout)
        (bin_ / "python3").write_text(PYTHON)
        (bin_ / "python3").chmod(0o755)
        self._environment = {
            **{name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "CI_PROJECT_DIR")},
            "PATH": f"{bin_}{os.pathsep}{os.environ['PATH']}",
            "REAL_PYTHON": sys.executable,
            "PRESENT": sysconfig.get_path("purelib"),
            "PIP_NO_DEPS": "1",
            "PIP_NO_INDEX": "1",
            "PIP_NO_BUILD_ISOLATION": "0",  # which is how pip spells "without"
            "RUNNER_TEMP": str(self.temp),
            "GITHUB_WORKSPACE": str(self.workspace),
            "GITHUB_ACTION_PATH": str(self.checkout),
            "XDG_CACHE_HOME": str(home / "cache"),
        }
        self._outputs: dict[str, dict[str, str]] = {}

    def run(self, step: Mapping[str, Any], inputs: Mapping[str, str]) -> subprocess.CompletedProcess[str] | None:
        """None where the step's condition does not hold."""
        if "if" in step and not self._holds(step["if"], inputs):
            return None
        script, put_out = self.temp / "step.sh", self.temp / "output"
        script.write_text(step["run"])
        put_out.write_text("")
        own = {name: self._filled(value, inputs) for name, value in step.get("env", {}).items()}
        done = subprocess.run(
            [*_SHELL, str(script)],
            cwd=self.workspace,
            env={**self._environment, **own, "GITHUB_OUTPUT": str(put_out)},
            capture_output=True,
            text=True,
            check=False,
        )
        lines = put_out.read_text().splitlines()
        self._outputs[step.get("id", "")] = {name: value for name, _, value in (line.partition("=") for line in lines)}
        return done

    def use(self, **given: str) -> tuple[int, str]:
        """All steps but the first, up to one that fails; its exit code, and what was said."""
        said = ""
        for step in STEPS[1:]:
            done = self.run(step, DEFAULTS | given)
            said += done.stdout + done.stderr if done is not None else ""
            if done is not None and done.returncode:
                return done.returncode, said
        return 0, said

    def _value(self, expression: str, inputs: Mapping[str, str]) -> str:
        match expression.split("."):
            case ["inputs", name]:
                return inputs[name]
            case ["steps", step, "outputs", name]:
                return self._outputs[step][name]
        raise AssertionError(expression)

    def _filled(self, value: str, inputs: Mapping[str, str]) -> str:
        return _EXPRESSION.sub(lambda match: self._value(match[1], inputs), value)

    def _holds(self, condition: str, inputs: Mapping[str, str]) -> bool:
        expression, quoted = condition.split(" != ")
        return self._value(expression, inputs) != quoted.strip("'")


@pytest.fixture(scope="module")
def runner(tmp_path_factory: pytest.TempPathFactory) -> Runner:
    made = Runner(tmp_path_factory.mktemp("job"))
    done = made.run(STEPS[0], DEFAULTS)
    assert done is not None and done.returncode == 0, done
    return made


@pytest.fixture(autouse=True)
def empty(runner: Runner) -> None:
    shutil.rmtree(runner.workspace)
    runner.workspace.mkdir()


def test_it_is_a_composite_action() -> None:
    assert ACTION["runs"]["using"] == "composite"
    assert all({"name", "shell", "run"} <= step.keys() and step["shell"] == "bash" for step in STEPS)
    assert all(spec["description"] for spec in (*ACTION["inputs"].values(), *ACTION["outputs"].values()))


def test_no_script_takes_text_from_an_expression() -> None:
    """It would be run as a part of the script, whatever it says."""
    assert not [step["run"] for step in STEPS if _EXPRESSION.search(step["run"])]


def test_findings_are_told_beside_the_lines(runner: Runner) -> None:
    (runner.workspace / "train.py").write_text(BROKEN)
    code, said = runner.use()
    assert code == 1
    assert said.startswith("::error file=train.py,line=4,endLine=4,col=1,endColumn=10,title=AG104 ")


def test_a_clean_project_passes(runner: Runner) -> None:
    (runner.workspace / "train.py").write_text(FIXED)
    assert runner.use() == (0, "")


def test_paths_and_options_are_words_and_no_patterns(runner: Runner) -> None:
    for name in ("a.py", "b.py", "c.py", "-d.py"):
        (runner.workspace / name).write_text(BROKEN)
    code, said = runner.use(paths="a.py\n  -d.py", format="text", args="--select AG104 --statistics")
    assert code == 1 and "Found 2 errors in 2 files." in said and "2  AG104  saved-tensor-modified" in said
    code, said = runner.use(paths="*.py", format="text")
    assert code == 2 and "Found 1 error in 1 file." in said
    (runner.workspace / "run").mkdir()
    code, said = runner.use(paths="run; touch $(echo made)", format="text")
    assert code == 2 and not (runner.workspace / "made").exists()


def test_a_report_for_code_scanning_is_there_though_the_check_fails(runner: Runner) -> None:
    (runner.workspace / "train.py").write_text(BROKEN)
    code, said = runner.use(sarif="out/autograd.sarif", args="--fail-on error")
    assert code == 1 and said.count("::error") == 1
    document = json.loads((runner.workspace / "out/autograd.sarif").read_text(encoding="utf-8"))
    assert [result["ruleId"] for result in document["runs"][0]["results"]] == ["AG104"]


def test_the_page_has_every_input() -> None:
    page = (REPOSITORY / "docs" / "integrations.md").read_text(encoding="utf-8")
    table = re.findall(r"^\| `(\w+)` \| (?:`(.+)`)? ?\| [^|]+ \|$", page.partition("| input |")[2], re.MULTILINE)
    assert dict(table) == DEFAULTS
    [example] = [block for block in re.findall(r"```yaml\n([\s\S]*?)```", page) if "uses:" in block]
    assert set(yaml.safe_load(example)["steps"][-1]["with"]) <= set(DEFAULTS)
