"""Build what is released into `dist/`: the sdist, the wheels, the extension for VS Code, and a bill of materials.

python -m tools.release                         # needs the extra `release`, git, npm and a C compiler
python -m tools.release --no-vsix --no-compiled --no-sbom

Everything is built twice, each time from a fresh copy of the commit, and has to come out the same to the last byte.
Times inside of archives are that of the commit. The wheel whose hot modules are compiled, for this platform and this
Python, is built once: both wheels are installed, and have to say the same of one program.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import io
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import venv
from collections.abc import Mapping
from pathlib import Path

from tools.bundle import BundleError, bundle, this_target

ROOT = Path(__file__).resolve().parents[1]
SUMS = "SHA256SUMS"


class ReleaseError(Exception):
    """Printed without a traceback."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=ROOT / "dist")
    parser.add_argument("--no-vsix", action="store_true", help="leave the extension out")
    parser.add_argument("--no-compiled", action="store_true", help="leave the compiled wheel out")
    parser.add_argument("--no-sbom", action="store_true", help="leave the bill of materials out")
    parser.add_argument("--no-isolation", action="store_true", help="build with the setuptools that is installed here")
    options = parser.parse_args()
    try:
        for path in release(options):
            print(path)
    except (BundleError, ReleaseError) as error:
        print(f"release: {error}", file=sys.stderr)
        return 1
    return 0


def release(options: argparse.Namespace) -> list[Path]:
    """The files that were made, the sums of all others last."""
    if git("status", "--porcelain"):
        print("release: what is not committed is left out", file=sys.stderr)
    epoch = int(git("log", "-1", "--format=%ct"))
    if not options.no_vsix and shutil.which("npm") is None:
        raise ReleaseError("npm is not there; --no-vsix leaves the extension out")
    with tempfile.TemporaryDirectory() as folder:
        first, second = (build(Path(folder) / name, epoch, options) for name in ("first", "second"))
        if first != second:
            raise ReleaseError(f"not the same when built again: {', '.join(differing(first, second))}")
        made = dict(first)
        [wheel] = [name for name in made if name.endswith(".whl")]
        if not options.no_compiled:
            made.update(compiled(Path(folder) / "compiled", epoch, options, {wheel: made[wheel]}))
        if not options.no_sbom:
            made[wheel.removesuffix(".whl") + ".cdx.json"] = bill_of(wheel, made[wheel], Path(folder), epoch)
    made[SUMS] = "".join(f"{sum_of(data)}  {name}\n" for name, data in sorted(made.items())).encode()
    options.out.mkdir(parents=True, exist_ok=True)
    for name, data in made.items():
        (options.out / name).write_bytes(data)
    return [options.out / name for name in made]


def build(folder: Path, epoch: int, options: argparse.Namespace) -> dict[str, bytes]:
    """What comes out of one fresh copy, by name."""
    source, out = folder / "source", folder / "out"
    unpack(source)
    variables = {"SOURCE_DATE_EPOCH": str(epoch)}
    isolation = ["--no-isolation"] if options.no_isolation else []
    run(sys.executable, "-m", "build", *isolation, "--outdir", str(out), str(source), cwd=source, variables=variables)
    for sdist in out.glob("*.tar.gz"):
        sdist.write_bytes(steady(sdist.read_bytes(), epoch))
    if not options.no_vsix:
        extension(source, out, variables)
    return {path.name: path.read_bytes() for path in sorted(out.iterdir())}


def extension(source: Path, out: Path, variables: Mapping[str, str]) -> None:
    """With the server in it, for this platform."""
    client, target = source / "vscode-client", this_target()
    bundle(list(out.glob("*.whl")), target, client / "bundled" / "libs")
    run("npm", "ci", "--no-audit", "--no-fund", cwd=client, variables=variables)
    package = ["npm", "run", "package", "--", "--target", target, "--out", f"autograd-lsp-{target}.vsix"]
    run(*package, cwd=client, variables=variables)
    shutil.copy(client / f"autograd-lsp-{target}.vsix", out)


def unpack(source: Path) -> None:
    source.mkdir(parents=True)
    with tarfile.open(fileobj=io.BytesIO(git_bytes("archive", "--format=tar", "HEAD"))) as archive:
        archive.extractall(source, filter="data")


def compiled(folder: Path, epoch: int, options: argparse.Namespace, pure: Mapping[str, bytes]) -> dict[str, bytes]:
    """The wheel for this platform, by name. It has to say what the pure one says."""
    source, out = folder / "source", folder / "out"
    unpack(source)
    isolation = ["--no-isolation"] if options.no_isolation else []
    variables = {"SOURCE_DATE_EPOCH": str(epoch), "AUTOGRAD_LSP_COMPILE": "1"}
    command = [sys.executable, "-m", "build", "--wheel", *isolation, "--outdir", str(out), str(source)]
    run(*command, cwd=source, variables=variables)
    made = {path.name: path.read_bytes() for path in out.glob("*.whl")}
    wheels = enumerate({**pure, **made}.items())
    said = {name: said_by(name, wheel, folder / f"tried-{at}") for at, (name, wheel) in wheels}
    if len(set(said.values())) != 1:
        raise ReleaseError(f"not of one opinion on one program: {', '.join(said)}")
    return made


TRIAL = """\
import torch

w = torch.ones(2, requires_grad=True)
loss = (w * w).sum()
loss.backward()
loss.backward()
"""


def said_by(name: str, wheel: bytes, folder: Path) -> str:
    """What the command of a wheel says of a program, in an environment that holds nothing else."""
    python = installed(name, wheel, folder)
    (folder / "trial.py").write_text(TRIAL, encoding="utf-8")
    command = [str(python), "-P", "-m", "autograd_lsp", "check", "--no-cache", "trial.py"]
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode != 1 or "backward-twice" not in done.stdout:
        raise ReleaseError(f"{name} does not run:\n{done.stdout}")
    return done.stdout


def installed(name: str, wheel: bytes, folder: Path) -> Path:
    """The interpreter of a new environment with a wheel."""
    home = folder / "environment"
    venv.create(home, symlinks=True)
    (folder / name).write_bytes(wheel)
    python = home / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    run(sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", str(folder / name), cwd=folder)
    return python


def differing(first: Mapping[str, bytes], second: Mapping[str, bytes]) -> list[str]:
    return sorted(name for name in first.keys() | second.keys() if first.get(name) != second.get(name))


def steady(data: bytes, epoch: int) -> bytes:
    """The same sdist with nothing in it of when, where and by whom it was made."""
    packed = io.BytesIO()
    with (
        tarfile.open(fileobj=io.BytesIO(data)) as old,
        gzip.GzipFile(filename="", mode="wb", fileobj=packed, mtime=epoch) as zipped,
        tarfile.open(mode="w", fileobj=zipped, format=tarfile.PAX_FORMAT) as new,
    ):
        for member in sorted(old.getmembers(), key=lambda member: member.name):
            member.mtime, member.uid, member.gid, member.uname, member.gname = epoch, 0, 0, "", ""
            member.mode = 0o755 if member.isdir() or member.mode & 0o100 else 0o644
            member.pax_headers = {}
            new.addfile(member, old.extractfile(member) if member.isfile() else None)
    return packed.getvalue()


def bill_of(name: str, wheel: bytes, folder: Path, epoch: int) -> bytes:
    """What an environment holds in which the wheel alone was installed, in CycloneDX's JSON."""
    python = installed(name, wheel, folder)
    out = folder / "bill.json"
    bill = ["environment", "--output-reproducible", "--pyproject", str(ROOT / "pyproject.toml")]
    command = [sys.executable, "-m", "cyclonedx_py", *bill, "--output-file", str(out), str(python)]
    run(*command, cwd=folder, variables={"SOURCE_DATE_EPOCH": str(epoch)})
    return out.read_bytes()


def sum_of(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def git(*arguments: str) -> str:
    return git_bytes(*arguments).decode().strip()


def git_bytes(*arguments: str) -> bytes:
    return subprocess.run(["git", *arguments], cwd=ROOT, stdout=subprocess.PIPE, check=True).stdout


def run(*command: str, cwd: Path, variables: Mapping[str, str] | None = None) -> None:
    environment = {**os.environ, **(variables or {})}
    done = subprocess.run(
        command, cwd=cwd, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    if done.returncode:
        raise ReleaseError(f"{' '.join(command)}\n{done.stdout}")


if __name__ == "__main__":
    sys.exit(main())
