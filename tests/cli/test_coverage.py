"""How far each backward is understood: with what the program says, with something presumed, or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from analyzers.host import Host
from tests.cli.command import check_json, run

KNOWN = "import torch\nnet = torch.nn.Linear(3, 1)\n"
GIVEN = "import torch\nfrom lab import give\n"


def grasped(text: str) -> list[tuple[str, str, str]]:
    """Of each backward how far it is understood, what is said of it, and the text where that begins."""
    host = Host(read=lambda _: None)
    host.set_text("a.py", text)
    told = host.snapshot().backwards("a.py")
    return [(one.grasp, one.about, "" if one.since is None else text[one.since.start : one.since.end]) for one in told]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (KNOWN + "net(torch.ones(2, 3)).sum().backward()\n", [("followed", "", "")]),
        # That data have no graph is so nearly sure that it makes no difference.
        (
            KNOWN + "from lab import films\nfor x in films:\n    net(x).sum().backward()\n",
            [("followed", "", "")],
        ),
        (
            GIVEN + "net = give()\nnet.parameters()\nloss = net(torch.ones(2, 3)).sum()\nloss.backward()\n",
            [("in part", "presumed that `net` is a model that learns", "give()")],
        ),
        (GIVEN + "give().add(1).backward()\n", [("lost", "`give()` is not known", "give()")]),
        # The function that is given a loss is where it begins, and has no text of its own.
        (
            "import torch\nclass Steps:\n    def back(self, loss):\n        loss.backward()\n",
            [("lost", "`loss` is not known", "")],
        ),
        (KNOWN + "def never():\n    return\n    net(torch.ones(3)).backward()\n", [("lost", "no run came to it", "")]),
        # Who steps what is a part of a loop.
        (
            KNOWN + "from lab import give\n"
            "def train(steps):\n    net(torch.ones(3)).sum().backward()\n    steps.step()\ntrain(give)\n",
            [("in part", "the optimizer is not known", "")],
        ),
        ("import torch\nprint('loss.backward()')  # loss.backward()\n", []),
    ],
)
def test_grasp(text: str, expected: list[tuple[str, str, str]]) -> None:
    assert grasped(text) == expected


def test_a_helper_that_two_files_use_is_told_of_once_as_whoever_knows_more_sees_it(tmp_path: Path) -> None:
    (tmp_path / "lib.py").write_text("def finish(loss):\n    loss.backward()\n")
    (tmp_path / "main.py").write_text(KNOWN + "from lib import finish\nfinish(net(torch.ones(2, 3)).sum())\n")
    files = check_json(".", cwd=tmp_path)[1]["files"]
    told = {file["path"]: [(one["line"], one["status"]) for one in file["backwards"]] for file in files}
    assert told == {"lib.py": [(2, "followed")], "main.py": []}


def test_a_line_says_what_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(GIVEN + "give().add(1).backward()\n")
    lost = "a.py:3:1: lost: `give()` is not known, since a.py:3:1"
    told = run("check", "--no-cache", "a.py", cwd=tmp_path).stdout
    about = "a.py:3:1, `give()` is not known, since a.py:3:1"
    assert (
        told == f"Of 1 backward call, 1 was not followed, so faults may be missed: {about}.\nNo findings in 1 file.\n"
    )
    told = run("check", "--no-cache", "--coverage", "a.py", cwd=tmp_path).stdout
    assert told.startswith(f"{lost}\nOf 1 backward call, 1 was not followed")


def test_the_cache_keeps_it(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(GIVEN + "give().add(1).backward()\n")
    first, again = (run("check", "--coverage", "a.py", cwd=tmp_path).stdout for _ in range(2))
    assert first == again
    assert "1 was not followed" in again


def test_several_are_counted_by_how_far_they_are_followed(tmp_path: Path) -> None:
    lost = "".join(f"give().add({n}).backward()\n" for n in range(2))
    (tmp_path / "a.py").write_text(GIVEN + lost)
    told = run("check", "--no-cache", "a.py", cwd=tmp_path).stdout
    assert told.startswith("Of 2 backward calls, 2 were not followed, so faults may be missed: a.py:3:1, ")
    assert "`--coverage` lists them." in told


def test_a_step_after_a_backward_that_raises_is_not_missed(tmp_path: Path) -> None:
    text = "import torch\nw = torch.ones(1, requires_grad=True)\nopt = torch.optim.SGD([w], lr=0.1)\n"
    (tmp_path / "a.py").write_text(text + "for k in range(2):\n    w.sum().detach().backward()\n    opt.step()\n")
    told = run("check", "--no-cache", "a.py", cwd=tmp_path).stdout
    assert "error[AG101]" in told
    assert "backward call" not in told
