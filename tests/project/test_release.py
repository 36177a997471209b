"""What `tools/release.py` builds is the same each time, and works where nothing else is installed."""

from __future__ import annotations

import argparse
import gzip
import hashlib
import io
import shutil
import sys
import tarfile
from pathlib import Path

import pytest

from tests.project.checkout import REPOSITORY, copy_to
from tests.project.test_wheel import EXAMPLE, environment_with, run
from tools import release


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with one commit, of the files as they are now."""
    folder = tmp_path_factory.mktemp("checkout")
    copy_to(folder)
    shutil.copytree(REPOSITORY / "tools", folder / "tools", ignore=shutil.ignore_patterns("__pycache__"))
    git = ("git", "-c", "user.name=a", "-c", "user.email=a@example.invalid", "-c", "commit.gpgsign=false")
    run("git", "init", "--quiet", cwd=folder)
    run("git", "add", ".", cwd=folder)
    run(*git, "commit", "--quiet", "--no-verify", "--message", "all", cwd=folder)
    return folder


@pytest.fixture(scope="module")
def released(checkout: Path) -> Path:
    switches = ("--no-vsix", "--no-compiled", "--no-sbom", "--no-isolation")
    run(sys.executable, "-m", "tools.release", *switches, cwd=checkout)
    return checkout / "dist"


def test_the_sums_are_those_of_what_was_built(released: Path) -> None:
    listed = dict(reversed(line.split("  ")) for line in (released / release.SUMS).read_text().splitlines())
    built = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in released.iterdir()}
    built.pop(release.SUMS)
    assert listed == built
    assert sorted(name.partition("-")[2] for name in built) == ["0.1.0-py3-none-any.whl", "0.1.0.tar.gz"]


def test_an_archive_tells_nothing_of_when_and_by_whom_it_was_made() -> None:
    made = []
    for mtime, uid, order in ((1, 7, ("a", "b")), (2, 8, ("b", "a"))):
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w:gz") as archive:
            for name in order:
                member = tarfile.TarInfo(name)
                member.mtime, member.uid, member.uname, member.size = mtime, uid, f"user{uid}", len(name)
                archive.addfile(member, io.BytesIO(name.encode()))
        made.append(packed.getvalue())
    assert made[0] != made[1]
    assert release.steady(made[0], 5) == release.steady(made[1], 5) != release.steady(made[1], 6)
    with tarfile.open(fileobj=io.BytesIO(gzip.decompress(release.steady(made[1], 5)))) as archive:
        assert [(member.name, member.mtime, member.uid) for member in archive] == [("a", 5, 0), ("b", 5, 0)]


@pytest.mark.parametrize("kind", ["*.whl", "*.tar.gz"])
def test_what_is_built_can_be_installed_and_run(released: Path, kind: str, tmp_path: Path) -> None:
    [package] = released.glob(kind)
    scripts = environment_with(package, tmp_path / "environment")
    assert "AG104" in run(scripts / "autograd-lsp", "check", "--no-cache", EXAMPLE, cwd=tmp_path, code=1)
    assert "--stdio" in run(scripts / "autograd-lsp", "server", "--help", cwd=tmp_path)


def test_what_differs_when_built_again_is_no_release(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    built = [{"a.whl": b"1", "b.tar.gz": b"1"}, {"a.whl": b"2", "b.tar.gz": b"1", "c.vsix": b""}]
    options = argparse.Namespace(out=tmp_path / "dist", no_vsix=True, no_sbom=True, no_isolation=True)
    monkeypatch.setattr(release, "git", lambda *arguments: "0")
    monkeypatch.setattr(release, "build", lambda *arguments: built.pop())
    with pytest.raises(release.ReleaseError, match=r": a\.whl, c\.vsix$"):
        release.release(options)
    assert not options.out.exists()
