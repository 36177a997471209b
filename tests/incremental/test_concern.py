"""Files that neither make tensors nor speak of autograd are not run, until what they import does."""

from __future__ import annotations

import pytest

from analyzers.host import Host
from analyzers.host.concern import MOST_FOLLOWED
from tests.incremental.test_incremental import opened

RUNS = {"imported", "module_run", "function_run", "presumed_module_run"}

DOUBLE = (
    "import torch\n\nw = torch.ones(2, requires_grad=True)\nloss = (w * w).sum()\nloss.backward()\nloss.backward()\n"
)


def runs(host: Host, path: str) -> list[str]:
    host.world.log.clear()
    host.snapshot().findings(path)
    host.snapshot().backwards(path)
    return [name for name, _ in host.world.log if name in RUNS]


def test_a_program_without_tensors_is_not_run() -> None:
    texts = {"/w/lab/tools.py": "def read(name):\n    return open(name).read()\n"}
    texts["/w/lab/main.py"] = "import tools\n\ntools.read('a')  # noqa: AG101\n"
    host = opened(texts)
    assert runs(host, "/w/lab/main.py") == []
    assert [finding.code for finding in host.snapshot().findings("/w/lab/main.py")] == ["AG002"]


@pytest.mark.parametrize("together", [True, False])
@pytest.mark.parametrize(
    "text",
    [
        "from steps import run\n",
        "import lab.steps\n",
        "def main():\n    from steps import run\n",
        "try:\n    from . import steps\nexcept ImportError:\n    pass\n",
    ],
)
def test_what_it_reaches_may_make_tensors(text: str, together: bool) -> None:
    texts = {
        "/w/lab/__init__.py": "",
        "/w/lab/main.py": text,
        "/w/lab/steps.py": "def go():\n    from .. lab import deep\n",
    }
    texts["/w/lab/deep.py"] = "x = 1\n"
    host = opened(texts)
    if together:
        host.look_at_together(["/w/lab/main.py"])
    assert runs(host, "/w/lab/main.py") == []
    host.set_text("/w/lab/deep.py", "import torch\n")
    assert "module_run" in runs(host, "/w/lab/main.py")
    host.set_text("/w/lab/deep.py", "x = 1\n")
    assert runs(host, "/w/lab/main.py") == []


def test_words_count_where_the_file_imports_them_at_once() -> None:
    """Of what nobody knows to be tensors, only the words say that they are."""
    texts = {
        "/w/lab/main.py": "from steps import train\n",
        "/w/lab/steps.py": "def train(loss):\n    loss.backward()\n",
    }
    assert "module_run" in runs(opened(texts), "/w/lab/main.py")


def test_a_file_that_begins_to_import_torch_is_run() -> None:
    host = opened(
        {
            "/w/lab/main.py": DOUBLE.replace("import torch", "")
            .replace("backward", "back")
            .replace("requires_grad", "track")
        }
    )
    assert runs(host, "/w/lab/main.py") == []
    host.set_text("/w/lab/main.py", DOUBLE)
    assert [finding.code for finding in host.snapshot().findings("/w/lab/main.py")] == ["AG102"]


def test_imports_are_followed_so_far_and_no_further() -> None:
    """To look through all of a huge program for each of its files would take longer than to run them."""
    deeper = "def go():\n    from lab import m{}\n"  # in functions, so that a run of one module is not one of all
    texts = {f"/w/lab/m{i}.py": deeper.format(i + 1) for i in range(MOST_FOLLOWED + 1)}
    host = Host(read=lambda path: texts[path].encode() if path in texts else None)
    assert "module_run" in runs(host, "/w/lab/m0.py")
    assert runs(host, "/w/lab/m2.py") == []
