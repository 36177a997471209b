"""Put the server and all it needs into the extension for VS Code, for one platform and every Python that is supported.

python -m tools.bundle WHEEL [COMPILED_WHEEL ...] [--target linux-x64] [--into vscode-client/bundled/libs]

What is the same for all Pythons goes into `any`, the rest into a folder for each: `cp310` to `cp314`. A wheel that was
compiled for one of them takes the place of the pure one there. Needs the extra `release`.
"""

from __future__ import annotations

import argparse
import hashlib
import platform
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from tools.check_wheels import PYTHONS

LIBS = Path(__file__).resolve().parents[1] / "vscode-client" / "bundled" / "libs"

TARGETS = {
    "linux-x64": "x86_64-manylinux_2_28",
    "linux-arm64": "aarch64-manylinux_2_28",
    "alpine-x64": "x86_64-unknown-linux-musl",
    "alpine-arm64": "aarch64-unknown-linux-musl",
    "darwin-x64": "x86_64-apple-darwin",
    "darwin-arm64": "aarch64-apple-darwin",
    "win32-x64": "x86_64-pc-windows-msvc",
    "win32-arm64": "aarch64-pc-windows-msvc",
}
"""What the extension's platforms are called by uv."""

_UNWANTED = (
    "bin",
    "share",
    "Scripts",
    ".lock",
    "jedi/third_party/django-stubs",
    "jedi/third_party/typeshed/stubs",
)
"""Commands, and four thousand stubs of libraries that have nothing to do with torch; jedi goes by what is there."""

_OF_THE_BUILD = ("direct_url.json", "INSTALLER", "RECORD", "REQUESTED", "uv_cache.json")
"""Files of a `.dist-info` that tell where and how it was installed here."""


class BundleError(Exception):
    """Printed without a traceback."""


def this_target() -> str:
    """The platform that this runs on.

    Raises:
        BundleError: the extension has no name for it.
    """
    machine = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64", "arm64": "arm64"}.get(platform.machine().lower())
    system = "alpine" if Path("/etc/alpine-release").exists() else sys.platform
    target = f"{system}-{machine}"
    if target not in TARGETS:
        raise BundleError(f"there is no extension for {sys.platform} on {platform.machine()}")
    return target


def bundle(wheels: Sequence[Path], target: str, into: Path) -> None:
    """Fill a folder, which is emptied first."""
    with tempfile.TemporaryDirectory() as folder:
        found = {f"cp{python.replace('.', '')}": Path(folder) / python for python in PYTHONS}
        for (tag, place), python in zip(found.items(), PYTHONS, strict=True):
            install(wheel_for(wheels, tag), python, target, place)
        shutil.rmtree(into, ignore_errors=True)
        lay_out(found, into)


def wheel_for(wheels: Iterable[Path], tag: str) -> Path:
    """The one that was compiled for a Python, or else the pure one."""
    by_tag = {wheel.name.split("-")[2]: wheel for wheel in wheels}
    found = by_tag.get(tag) or by_tag.get("py3")
    if found is None:
        raise BundleError(f"none of the wheels is for {tag}")
    return found


def install(wheel: Path, python: str, target: str, into: Path) -> None:
    """A wheel and what it needs, as one Python on one platform would have it; neither has to be here."""
    command = ["uv", "pip", "install", "--quiet", "--no-config", "--only-binary", ":all:", "--link-mode", "copy"]
    where = ["--python-version", python, "--python-platform", TARGETS[target], "--target", str(into)]
    done = subprocess.run(
        [sys.executable, "-m", *command, *where, str(wheel)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode:
        raise BundleError(f"Python {python} on {target}: {done.stdout.strip()}")
    for name in _UNWANTED:
        remove(into / name)
    for name in _OF_THE_BUILD:
        for file in into.glob(f"*.dist-info/{name}"):
            file.unlink()


def remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def lay_out(found: Mapping[str, Path], into: Path) -> None:
    """Each package once where several Pythons have the same, and where one has its own, in the folder of that Python.

    Their own come first in the import path.
    """
    names = sorted({entry.name for place in found.values() for entry in place.iterdir()})
    for tag in found:
        (into / tag).mkdir(parents=True)
    for name in names:
        sums = {tag: sum_of(place / name) for tag, place in found.items() if (place / name).exists()}
        shared, count = Counter(sums.values()).most_common(1)[0]
        for tag, sum_ in sums.items():
            to = into / ("any" if sum_ == shared and count > 1 else tag) / name
            if not to.exists():
                to.parent.mkdir(exist_ok=True)
                (shutil.copytree if (found[tag] / name).is_dir() else shutil.copy)(found[tag] / name, to)


def sum_of(path: Path) -> str:
    """Of a file, or of all files of a folder and their names."""
    files = sorted(path.rglob("*")) if path.is_dir() else [path]
    digest = hashlib.sha256()
    for file in files:
        if file.is_file():
            digest.update(f"{file.relative_to(path)}\0".encode() + hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("wheels", nargs="+", type=Path, metavar="WHEEL")
    parser.add_argument("--target", choices=TARGETS, help="default: this platform")
    parser.add_argument("--into", type=Path, default=LIBS)
    options = parser.parse_args()
    try:
        bundle(options.wheels, options.target or this_target(), options.into)
    except BundleError as error:
        print(f"bundle: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
