"""Ask the index whether each dependency has a wheel for each Python and system that is supported: nobody should need a
compiler.

python tools/check_wheels.py [--python 3.14 ...]    # exits with 1 where one is missing
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib  # novm
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[1]
PYTHONS = ("3.10", "3.11", "3.12", "3.13", "3.14")
SYSTEMS = {
    "Linux": ("manylinux_2_28_x86_64", "manylinux_2_17_x86_64", "manylinux2014_x86_64"),
    "macOS": ("macosx_14_0_arm64", "macosx_11_0_arm64"),
    "Windows": ("win_amd64",),
}


def dependencies(python: str) -> list[str]:
    """What the package needs under one Python, without the marker that says so."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    needed = []
    for line in project["dependencies"]:
        requirement, _, marker = line.partition(";")
        found = re.search(r"python_version\s*<\s*['\"](\d+)\.(\d+)['\"]", marker)
        below = found is None or tuple(map(int, python.split("."))) < tuple(map(int, found.groups()))
        needed += [requirement.strip()] if below else []
    return needed


def has_wheel(requirement: str, python: str, tags: tuple[str, ...]) -> bool:
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:"]
        command += ["--python-version", python, "--implementation", "cp", "--dest", folder, requirement]
        command += [word for tag in tags for word in ("--platform", tag)]
        return subprocess.run(command, capture_output=True, check=False).returncode == 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", nargs="+", default=PYTHONS)
    missing = 0
    for python in parser.parse_args().python:
        for requirement in dependencies(python):
            without = [system for system, tags in SYSTEMS.items() if not has_wheel(requirement, python, tags)]
            missing += len(without)
            if without:
                print(f"Python {python}: no wheel of {requirement} for {', '.join(without)}", flush=True)
    print(f"{missing} wheels are missing" if missing else "every dependency has its wheels")
    return min(missing, 1)


if __name__ == "__main__":
    sys.exit(main())
