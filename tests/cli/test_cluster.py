"""`check --executor dask` says what processes of this machine say, whatever becomes of the cluster's workers."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("distributed")

import dask
from distributed import Client, LocalCluster

from autograd_lsp.config import Configuration
from autograd_lsp.files.sources import Source
from autograd_lsp.reports.cluster import Order
from autograd_lsp.reports.make import Reader, Task
from tests.cli.command import BROKEN, REPOSITORY, run

MODEL = "def cost(x):\n    return x.detach().sum()\n"
TRAIN = "import torch\nfrom model import cost\ncost(torch.ones(3, requires_grad=True)).backward()\n"
LONG = "import torch\n" + "x = torch.ones(3).exp()\n" * 400

HOSTILE = f"""
import sys
sys.path.insert(0, {str(REPOSITORY)!r})

def make_hostile():
    import os
    from analyzers.host import Snapshot
    from autograd_lsp.reports import make

    findings, read_text = Snapshot.findings, make.read_text

    def deadly(self, path):
        if path.endswith("deadly.py"):
            os._exit(7)
        return findings(self, path)

    def unreadable(path):
        if path.endswith("elsewhere.py"):
            raise make.UnreadableError("No such file or directory")
        return read_text(path)

    Snapshot.findings, make.read_text = deadly, unreadable

make_hostile()
"""
"""What a worker runs at its start, so that some files bring it down and others are not on its disk."""

IMPATIENT = "from autograd_lsp.reports import cluster\ncluster.LOOK_EVERY = 0.2"
"""What a command runs at its start, so that it looks for workers all the time."""


@pytest.fixture(scope="module", autouse=True)
def _surroundings() -> Iterator[None]:
    """Workers find the package, are not where the command is, and may take long to start."""
    patient = {"distributed.comm.timeouts.connect": "60s", "distributed.comm.timeouts.tcp": "300s"}
    with pytest.MonkeyPatch.context() as patch, dask.config.set(patient):
        patch.setenv("PYTHONPATH", str(REPOSITORY))
        yield


def cluster_of(**options: Any) -> LocalCluster:
    return LocalCluster(n_workers=2, threads_per_worker=2, processes=True, dashboard_address=None, **options)


@pytest.fixture(scope="module")
def cluster(_surroundings: None) -> Iterator[LocalCluster]:
    with cluster_of() as made:
        yield made


@pytest.fixture(scope="module")
def hostile(_surroundings: None) -> Iterator[LocalCluster]:
    with dask.config.set({"distributed.scheduler.allowed-failures": 0}), cluster_of(preload=[HOSTILE]) as made:
        yield made


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Findings at their place and elsewhere, a notebook, a file that nobody can read, and a configuration."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "model.py").write_text(MODEL)
    for number in range(20):
        (folder / f"train_{number}.py").write_text(BROKEN if number % 3 else TRAIN)
    (folder / "bad.py").write_bytes(b"\xff\xfe\x00")
    cell = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": BROKEN}
    (folder / "notes.ipynb").write_text(
        json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    )
    (folder / "own.toml").write_text('per-file-ignores = {"train_1*.py" = ["AG104"]}\n')
    return folder


def on(cluster: LocalCluster) -> tuple[str, ...]:
    return "--executor", "dask", "--dask-scheduler", cluster.scheduler_address


def start(folder: Path, *arguments: str, before: str = "") -> subprocess.Popen[str]:
    program = f"import sys\n{before}\nfrom autograd_lsp.cli import main\nsys.exit(main(sys.argv[1:]))"
    return subprocess.Popen(
        [sys.executable, "-c", program, "check", *arguments],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def said(process: subprocess.Popen[str]) -> tuple[int, str]:
    _, error = process.communicate(timeout=300)
    return process.returncode, error


@pytest.mark.parametrize(
    "options", [("--format", "json"), ("--config", "own.toml"), ("--diff",)], ids=lambda options: options[0]
)
def test_a_cluster_says_the_same_in_the_same_order(
    project: Path, cluster: LocalCluster, options: tuple[str, ...]
) -> None:
    here = run("check", "--no-cache", "--jobs", "1", *options, cwd=project)
    there = run("check", "--no-cache", *on(cluster), *options, cwd=project)
    assert "AG104" in here.stdout or "y = y.add(1)" in here.stdout
    assert (there.returncode, there.stdout, there.stderr) == (here.returncode, here.stdout, here.stderr)


def test_standard_input_goes_to_a_cluster(project: Path, cluster: LocalCluster) -> None:
    arguments = ("check", "-", "--stdin-filename", "train.py")
    there = run(*arguments, *on(cluster), cwd=project, stdin=TRAIN.encode())
    assert "AG101" in there.stdout
    assert there.stdout == run(*arguments, cwd=project, stdin=TRAIN.encode()).stdout


def test_what_a_cluster_has_found_is_kept_here(project: Path, cluster: LocalCluster, tmp_path: Path) -> None:
    """The second command asks nobody: there is no such scheduler."""
    (project / "bad.py").unlink()
    first = run("check", *on(cluster), cwd=project)
    second = run("check", "--executor", "dask", "--dask-scheduler", "tcp://127.0.0.1:9", cwd=project)
    assert (second.returncode, second.stdout, second.stderr) == (first.returncode, first.stdout, "")
    assert "AG104" in first.stdout


def test_nothing_of_a_command_stays_with_the_workers(project: Path, cluster: LocalCluster) -> None:
    run("check", "--no-cache", *on(cluster), cwd=project)

    def orders() -> int:
        import gc

        gc.collect()
        return sum(type(kept).__name__ == "Order" for kept in gc.get_objects())

    with Client(cluster) as client:
        left = time.monotonic() + 60
        while any(client.run(orders).values()):
            assert time.monotonic() < left, "a worker keeps what it knew of a command"
            time.sleep(0.2)


def test_a_worker_that_is_killed_costs_no_finding(project: Path, cluster: LocalCluster) -> None:
    for number in range(16):
        (project / f"long_{number}.py").write_text(LONG)
    here = run("check", "--no-cache", "--jobs", "1", cwd=project)
    with Client(cluster) as client:
        before = client.run(os.getpid)
        process = start(project, "--no-cache", *on(cluster), before=IMPATIENT)
        while not (busy := [worker for worker, tasks in client.processing().items() if tasks]):
            assert process.poll() is None, "the check was over before a worker was killed"
            time.sleep(0.01)
        os.kill(before[busy[0]], signal.SIGKILL)
        output, error = process.communicate(timeout=300)
        client.wait_for_workers(2, timeout=60)
        assert {*client.run(os.getpid).values()} != {*before.values()}
    assert (process.returncode, output, error) == (here.returncode, here.stdout, here.stderr)


def test_a_file_that_brings_workers_down_leaves_the_others_checked(tmp_path: Path, hostile: LocalCluster) -> None:
    for name in ("a.py", "deadly.py", "z.py"):
        (tmp_path / name).write_text(BROKEN)
    done = run("check", "--no-cache", *on(hostile), cwd=tmp_path)
    assert done.returncode == 2
    assert "internal error in deadly.py" in done.stderr
    assert "internal error in a.py" not in done.stderr
    found = [line.strip(" ->").split(":")[0] for line in done.stdout.splitlines() if " --> " in line]
    assert found == ["a.py", "z.py"], done.stderr


def test_a_disk_that_workers_do_not_share_is_said_to_be_so(tmp_path: Path, hostile: LocalCluster) -> None:
    (tmp_path / "elsewhere.py").write_text(BROKEN)
    done = run("check", "--no-cache", *on(hostile), cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("autograd-lsp: a worker cannot read ")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--executor", "dask"), "needs --dask-scheduler ADDRESS"),
        (
            ("--executor", "dask", "--dask-scheduler", "tcp://127.0.0.1:9"),
            "no dask scheduler answers at tcp://127.0.0.1:9",
        ),
        (("--executor", "dask", "--dask-scheduler", "nobody"), "no dask scheduler answers at nobody: missing port"),
        (("--executor", "dask", "--dask-scheduler", "tcp://127.0.0.1:9", "--jobs", "2"), "contradict"),
        (("--dask-scheduler", "tcp://127.0.0.1:9"), "needs --executor dask"),
    ],
)
def test_bad_usage_is_one_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...], words: str
) -> None:
    (tmp_path / "train.py").write_text(BROKEN)
    monkeypatch.setenv("DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT", "1s")
    monkeypatch.delenv("DASK_SCHEDULER_ADDRESS", raising=False)
    done = run("check", "--no-cache", *options, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert words in done.stderr
    assert done.stderr.count("\n") == 1


def test_without_the_package_the_message_says_what_to_install(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(BROKEN)
    code, error = said(start(tmp_path, "--executor", "dask", before="sys.modules['distributed'] = None"))
    assert code == 2
    assert "pip install distributed" in error
    assert error.count("\n") == 1


@pytest.fixture
def scheduler(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """One without workers, in a process of its own."""
    told = tmp_path / "scheduler.json"
    command = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0"]
    process = subprocess.Popen(
        [*command, "--no-dashboard", "--scheduler-file", str(told)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    left = time.monotonic() + 60
    while not told.exists():
        assert time.monotonic() < left, "no scheduler has started"
        time.sleep(0.05)
    try:
        yield process, json.loads(told.read_text())["address"]
    finally:
        process.kill()
        process.wait()


def test_a_scheduler_that_dies_ends_the_check(tmp_path: Path, scheduler: tuple[subprocess.Popen[bytes], str]) -> None:
    (tmp_path / "train.py").write_text(BROKEN)
    process, address = scheduler
    check = start(tmp_path, "--no-cache", "--executor", "dask", "--dask-scheduler", address)
    with Client(address) as client:
        while not client.run_on_scheduler(lambda dask_scheduler: len(dask_scheduler.tasks)):
            assert check.poll() is None, "the check was over before the scheduler was killed"
            time.sleep(0.05)
        process.kill()
        assert said(check) == (2, f"autograd-lsp: the connection to the dask scheduler at {address} was lost\n")


def test_nobody_waits_for_workers_that_do_not_come(
    tmp_path: Path, scheduler: tuple[subprocess.Popen[bytes], str]
) -> None:
    (tmp_path / "train.py").write_text(BROKEN)
    _, address = scheduler
    check = start(tmp_path, "--no-cache", "--executor", "dask", "--dask-scheduler", address, before=IMPATIENT)
    assert said(check) == (2, f"autograd-lsp: the dask scheduler at {address} has no workers\n")


def test_another_version_is_not_asked(tmp_path: Path) -> None:
    task = Task("findings", (), Configuration(isolated=True), str(tmp_path), False, Reader({}), False)
    with pytest.raises(RuntimeError, match=r"has autograd-lsp .*, and this is 0\.0\.0"):
        Order(task, 1, "0.0.0").reports([Source("train.py", str(tmp_path / "train.py"))])
