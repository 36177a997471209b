"""A file is recorded once, when somebody points at it, and again only when its run would see the edit."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from analyzers.host import Host
from tests.support.analyzer import Sources

REPOSITORY = Path(__file__).resolve().parents[2]
PATH = "/lab/train.py"
TEXT = """\
import torch
w = torch.ones(3, requires_grad=True)
loss = (w * w).sum()
loss.backward()

def later(x):
    h = torch.ones(3, requires_grad=True) * x
    return h

def untouched(x):
    return torch.ones(2) * x
"""

POINTED_AT = [
    *sorted((REPOSITORY / "examples").glob("*.py")),
    *(
        REPOSITORY / "tests" / "corpus" / name
        for name in (
            "a/013_reinforce_list_to_tensor_broken.py",
            "a/253_char_rnn_streaming_windows_broken.py",
            "b/010_gan_fake_reused_broken.py",
            "b/142_pinn_burgers_right_ok.py",
            "b/187_probe_hooks_pkg_broken",
        )
    ),
]


class Pointing:
    """An open file, and how often each query runs for those who point at it."""

    def __init__(self) -> None:
        self.host, self.text = Host(), TEXT
        self.host.set_text(PATH, TEXT)

    def edit(self, old: str, new: str) -> None:
        self.text = self.text.replace(old, new)
        self.host.set_text(PATH, self.text)

    def runs(self, *words: str) -> Counter[str]:
        log = self.host.world.log
        log.clear()
        for word in words:
            card = self.host.snapshot().card(PATH, self.text.encode().index(word.encode()))
            assert card is not None, word
        return Counter(name for name, _ in log if name.startswith("recorded"))


def test_what_is_found_and_known_of_a_file_needs_no_recording() -> None:
    pointing = Pointing()
    snapshot = pointing.host.snapshot()
    snapshot.sightings(PATH)
    snapshot.facts(PATH)
    assert not [name for name, _ in pointing.host.world.log if name.startswith("recorded")]


def test_many_questions_are_answered_from_one_recording() -> None:
    pointing = Pointing()
    assert pointing.runs("w =", "w *", "loss =", "backward") == {"recorded_module": 1}
    assert not pointing.runs("w =", "loss.")


def test_a_function_that_nobody_calls_is_recorded_by_itself() -> None:
    assert Pointing().runs("h =", "h\n\n") == {"recorded_function": 1}


def test_text_that_moves_is_not_recorded_again() -> None:
    pointing = Pointing()
    pointing.runs("loss =", "h =")
    pointing.edit("import torch\n", "import torch\n\n# above\n")
    assert not pointing.runs("loss =", "h =")


def test_what_the_run_does_not_come_by_is_no_reason_to_record_again() -> None:
    pointing = Pointing()
    pointing.runs("loss =", "h =")
    pointing.edit("torch.ones(2) * x", "torch.zeros(2) + x")
    assert not pointing.runs("loss =", "h =")


def test_an_edit_that_the_run_sees_is_recorded() -> None:
    pointing = Pointing()
    pointing.runs("loss =")
    pointing.edit("(w * w)", "(w + w)")
    assert pointing.runs("loss =", "backward") == {"recorded_module": 1}


@pytest.mark.parametrize("path", POINTED_AT, ids=lambda path: path.stem)
def test_wherever_one_points_there_is_an_answer(path: Path) -> None:
    sources = Sources.at(path)
    host = Host()
    for file, text in sources.texts.items():
        host.set_text(str(sources.root / file), text)
    snapshot, told = host.snapshot(), 0
    for file, text in sources.texts.items():
        for word in re.finditer(rb"\w+|\W", text.encode()):
            card = snapshot.card(str(sources.root / file), word.start())
            if card is not None:
                told += 1
                assert card.place.start <= word.start() <= card.place.end
    assert told
