"""The image is built of all that the package is built of, and the conda recipe asks for what pyproject.toml does."""

from __future__ import annotations

import json
import re
import shutil
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest
import yaml

from autograd_lsp import __version__
from tests.project.test_wheel import REPOSITORY, run

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

PROJECT: dict[str, Any] = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))
DOCKERFILE = (REPOSITORY / "docker" / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", "")
FLOOR = f"python {PROJECT['project']['requires-python']}"


def instructions(stage: str) -> list[tuple[str, str]]:
    """Each with its arguments; a line that begins otherwise is a comment or empty."""
    return re.findall(r"^([A-Z]+) (.+)$", stage, re.MULTILINE)


_, BUILD, LAST = re.split(r"(?=^FROM )", DOCKERFILE, flags=re.MULTILINE)


def test_the_image_is_built_of_what_the_wheel_is_built_of(tmp_path: Path) -> None:
    source = tmp_path / "source"
    for name, arguments in instructions(BUILD):
        if name == "COPY":
            *files, place = arguments.split()
            for file in files:
                if (REPOSITORY / file).is_dir():
                    shutil.copytree(
                        REPOSITORY / file, source / place, ignore=shutil.ignore_patterns("__pycache__", "*.so")
                    )
                else:
                    (source / place).mkdir(parents=True, exist_ok=True)
                    shutil.copy(REPOSITORY / file, source / place)
    options = ("--no-deps", "--no-build-isolation", "--wheel-dir", tmp_path)
    run(sys.executable, "-m", "pip", "wheel", *options, source)
    [wheel] = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        inside = {name.partition(".data/data/")[2] or name for name in archive.namelist()}
    prelude = {path.relative_to(REPOSITORY).as_posix() for path in (REPOSITORY / "analyzers/prelude").rglob("*.py")}
    assert prelude | {"autograd_lsp/cli/__init__.py", "share/man/man1/autograd-lsp.1"} <= inside


def test_the_image_runs_the_command_and_not_as_root() -> None:
    said = instructions(LAST)
    [user] = [arguments for name, arguments in said if name == "USER"]
    [made] = [arguments for name, arguments in said if "useradd" in arguments]
    assert made.endswith(f" {user}") and int(re.findall(r"--uid (\d+)", made)[0]) > 0
    assert [json.loads(arguments) for name, arguments in said if name == "ENTRYPOINT"] == [
        [*PROJECT["project"]["scripts"]]
    ]


def test_the_image_has_a_python_that_the_package_is_for() -> None:
    versions = re.findall(r"^FROM python:([\d.]+)-slim\b", DOCKERFILE, re.MULTILINE)
    assert len(versions) == 2 and len({*versions}) == 1
    assert f"Programming Language :: Python :: {versions[0]}" in PROJECT["project"]["classifiers"]


@pytest.fixture(scope="module")
def recipe() -> dict[str, Any]:
    read: dict[str, Any] = yaml.safe_load((REPOSITORY / "conda" / "recipe.yaml").read_text(encoding="utf-8"))
    return read


def test_the_recipe_asks_for_the_same_packages(recipe: dict[str, Any]) -> None:
    wanted = [re.sub(r"(?<=[\w-])(?=[<>=])", " ", one.partition(";")[0]) for one in PROJECT["project"]["dependencies"]]
    assert sorted(recipe["requirements"]["run"]) == sorted([FLOOR, *wanted])
    built = [re.sub(r"(?<=[\w-])(?=[<>=])", " ", one) for one in PROJECT["build-system"]["requires"]]
    assert sorted(recipe["requirements"]["host"]) == sorted([FLOOR, "pip", *built])


def test_the_recipe_is_of_this_version_and_says_the_same_of_it(recipe: dict[str, Any]) -> None:
    project = PROJECT["project"]
    assert recipe["context"]["version"] == __version__
    assert recipe["package"] == {"name": project["name"], "version": "${{ version }}"}
    assert (recipe["about"]["summary"], recipe["about"]["license"]) == (project["description"], project["license"])
    assert recipe["build"]["python"]["entry_points"] == [f"{name} = {at}" for name, at in project["scripts"].items()]
    assert (REPOSITORY / recipe["about"]["license_file"]).is_file()
