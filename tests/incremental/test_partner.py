"""Runs that a partner makes come out as they do here, and count only where they rest on what is found here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from analyzers.host import Cancelled, CancelToken, Host
from analyzers.host.helping import Helper
from analyzers.host.presuming import WHOLE
from analyzers.host.world import MOST_TEXT
from analyzers.report import Finding
from tests.incremental.edits import Writer

SCRIPT = """\
import torch
from lab import build, batches
model = build()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
total = 0
for x, y in batches():
    total = total + (model(x) - y).pow(2).sum()
    total.backward()
    optimizer.step()
"""
LIBRARY = """\
def train(model, batches, optimizer):
    total = 0
    for x, y in batches:
        total = total + (model(x) - y).pow(2).sum()
        total.backward()
        optimizer.step()
"""
MENDED = ("total = total + ", "total = ")
CORPUS = sorted((Path(__file__).parents[1] / "corpus" / "b").glob("*_broken.py"))[::6]


class Loopback:
    """A partner without a process: it makes a run when its answer is asked for."""

    def __init__(self, look_up: Callable[[str], str] = lambda dotted: "unknown") -> None:
        self.helper = Helper(look_up, lambda: None)
        self.begun: list[tuple[str, int]] = []
        self.answered: list[tuple[str, int]] = []
        self.told: list[tuple[str, object, object]] = []
        self.is_heard = True

    def tell(self, family: str, key: object, value: object) -> None:
        assert isinstance(key, str)
        self.told.append((family, key, value))
        if self.is_heard:
            self.helper.take_over(len(self.told), family, key, value)

    def begin(self, jobs: Sequence[tuple[str, int]]) -> None:
        self.begun += jobs

    def answer(self, path: str, index: int, make_way: Callable[[], None]) -> object:
        self.answered.append((path, index))
        told, answer = self.helper.answer(path, index, CancelToken(make_way))
        assert not self.is_heard or told == len(self.told)
        return answer


def shared(**texts: str) -> tuple[Host, Loopback]:
    host, partner = Host(), Loopback()
    host.share(partner)
    for name, text in texts.items():
        host.set_text(f"/lab/{name}.py", text)
    return host, partner


def alone(path: str, **texts: str) -> tuple[Finding, ...]:
    host = Host()
    for name, text in texts.items():
        host.set_text(f"/lab/{name}.py", text)
    return host.snapshot().findings(path)


def ran_here(host: Host, query: str) -> bool:
    return any(name == query for name, _ in host.world.log)


def test_a_script_is_run_once_here_and_once_there() -> None:
    host, partner = shared(script=SCRIPT)
    found = host.snapshot().findings("/lab/script.py")
    assert found == alone("/lab/script.py", script=SCRIPT)
    assert [one.code for one in found] == ["AG103"]
    assert found[0].assumes
    assert partner.begun == partner.answered == [("/lab/script.py", WHOLE)]
    assert ran_here(host, "module_run")
    assert not ran_here(host, "presumed_module_run")
    assert not any(name == "judged" for name, _ in partner.helper.host.world.log)


def test_so_is_a_function_on_unknown_arguments() -> None:
    host, partner = shared(library=LIBRARY)
    found = host.snapshot().findings("/lab/library.py")
    assert found == alone("/lab/library.py", library=LIBRARY) != ()
    assert partner.answered == [("/lab/library.py", 0)]
    assert not ran_here(host, "presumed_run")
    host.set_text("/lab/library.py", LIBRARY.replace("total = 0", "total = 1"))
    host.snapshot().findings("/lab/library.py")
    assert partner.begun == [("/lab/library.py", 0)], "what a file needed last is begun with at once"


def test_a_function_of_a_script_is_run_here() -> None:
    """What a script leaves to its functions takes as long as itself, and was made here already."""
    texts = {"both": SCRIPT + LIBRARY}
    host, partner = shared(**texts)
    assert host.snapshot().findings("/lab/both.py") == alone("/lab/both.py", **texts)
    assert {index for _, index in partner.answered} == {WHOLE}
    assert ran_here(host, "presumed_run")


def test_an_edit_is_told_and_asked_about() -> None:
    host, partner = shared(script=SCRIPT)
    broken = host.snapshot().findings("/lab/script.py")
    host.set_text("/lab/script.py", SCRIPT.replace(*MENDED))
    assert host.snapshot().findings("/lab/script.py") == alone("/lab/script.py", script=SCRIPT.replace(*MENDED))
    host.set_text("/lab/script.py", SCRIPT)
    assert host.snapshot().findings("/lab/script.py") == broken
    assert partner.told[-1] == ("buffer", "/lab/script.py", SCRIPT.encode())


def test_a_remark_changes_no_run() -> None:
    host, partner = shared(script=SCRIPT)
    host.snapshot().findings("/lab/script.py")
    ran = [name for name, _ in host.world.log].count("judged")
    host.set_text("/lab/script.py", "# A remark.\n" + SCRIPT)
    moved = host.snapshot().findings("/lab/script.py")
    assert moved == alone("/lab/script.py", script="# A remark.\n" + SCRIPT)
    assert [name for name, _ in host.world.log].count("judged") == ran
    assert len(partner.begun) == len(partner.answered) == 1, "nor is the partner asked"


def test_what_a_script_may_need_is_begun_with() -> None:
    """All is known of this one, which trains something: what the next edit leaves of it may be another matter."""
    text = "import torch\nw = torch.ones(2, requires_grad=True)\nw.sum().backward()\n"
    host, partner = shared(script=text)
    assert host.snapshot().findings("/lab/script.py") == ()
    host.set_text("/lab/script.py", text.replace("2", "3"))
    assert host.snapshot().findings("/lab/script.py") == ()
    assert partner.begun == [("/lab/script.py", WHOLE)] * 2
    assert not partner.answered


def test_what_trains_nothing_needs_no_partner_the_next_time() -> None:
    text = "import torch\nw = torch.ones(2)\n"
    host, partner = shared(script=text)
    assert host.snapshot().findings("/lab/script.py") == ()
    host.set_text("/lab/script.py", text.replace("2", "3"))
    assert host.snapshot().findings("/lab/script.py") == ()
    assert partner.begun == [("/lab/script.py", WHOLE)]
    assert not partner.answered


def test_what_is_too_large_is_run_nowhere() -> None:
    host, partner = shared(script=SCRIPT)
    host.snapshot().findings("/lab/script.py")
    host.set_text("/lab/script.py", SCRIPT + "#" * MOST_TEXT)
    host.set_text("/lab/other.py", SCRIPT + "#" * MOST_TEXT)
    for path in ("/lab/script.py", "/lab/other.py"):
        assert [one.code for one in host.snapshot().findings(path)] == ["AG004"]
    assert len(partner.begun) == len(partner.answered) == 1


def test_an_answer_for_another_text_does_not_count() -> None:
    host, partner = shared(script=SCRIPT)
    host.snapshot().findings("/lab/script.py")
    partner.is_heard = False
    host.set_text("/lab/script.py", SCRIPT.replace(*MENDED))
    found = host.snapshot().findings("/lab/script.py")
    assert found == alone("/lab/script.py", script=SCRIPT.replace(*MENDED))
    assert ran_here(host, "presumed_module_run")


def test_nor_does_one_for_another_library() -> None:
    """One of a module of torch's, or so the partner has heard, trains where this one knows of nothing."""
    text = SCRIPT.replace("lab", "elsewhere")
    kinds = {"elsewhere.build": "module"}
    host, partner = Host(), Loopback(lambda dotted: kinds.get(dotted, "unknown"))
    host.share(partner)
    host.set_text("/lab/script.py", text)
    assert host.snapshot().findings("/lab/script.py") == alone("/lab/script.py", script=text)
    assert partner.answered
    assert ran_here(host, "presumed_module_run")


def test_what_is_learnt_of_a_library_is_told() -> None:
    text = SCRIPT.replace("lab", "elsewhere")
    host, partner = shared(script=text)
    host.snapshot().findings("/lab/script.py")
    host.outside_known({"elsewhere.build": "module"})
    found = host.snapshot().findings("/lab/script.py")
    there = Host(look_up=lambda dotted: "module" if dotted == "elsewhere.build" else "unknown")
    there.set_text("/lab/script.py", text)
    assert found == there.snapshot().findings("/lab/script.py")
    assert len(partner.answered) == 2
    assert not ran_here(host, "presumed_module_run")


def test_a_file_that_changed_on_the_disk_is_read_again_there(tmp_path: Path) -> None:
    library = tmp_path / "lab.py"
    script = tmp_path / "script.py"
    library.write_text("def cut(x):\n    return x.detach()\n")
    script.write_text(
        "import torch, other\nfrom lab import cut\nmodel = other.build()\nfor x in other.batches():\n"
        "    cut(model(x).sum()).backward()\n"
    )
    host, partner = Host(), Loopback()
    host.share(partner)
    assert host.snapshot().findings(str(script)) != ()
    library.write_text("def cut(x):\n    return x * 2\n")
    host.file_changed(str(library))
    assert host.snapshot().findings(str(script)) == Host().snapshot().findings(str(script))
    assert len(partner.answered) == 2
    assert not ran_here(host, "presumed_module_run")


def test_the_grounds_of_an_answer_are_those_of_its_findings() -> None:
    host, _ = shared(script=SCRIPT)
    apart = Host()
    apart.set_text("/lab/script.py", SCRIPT)
    assert host.snapshot().grounds("/lab/script.py") == apart.snapshot().grounds("/lab/script.py")


def test_who_listens_is_told_all_that_was_set_before() -> None:
    host = Host()
    host.set_text("/lab/script.py", SCRIPT)
    host.set_text("/lab/other.py", LIBRARY)
    host.close("/lab/other.py")
    partner = Loopback()
    host.share(partner)
    assert partner.told == [("buffer", "/lab/script.py", SCRIPT.encode())]
    host.close("/lab/script.py")
    assert partner.told[-1] == ("buffer", "/lab/script.py", None)


def test_a_run_under_way_is_cancelled_by_what_is_told() -> None:
    helper = Helper(lambda dotted: "unknown", lambda: None)
    helper.take_over(1, "buffer", "/lab/script.py", SCRIPT.encode())
    token = CancelToken()
    token.make_way = token.cancel
    with pytest.raises(Cancelled):
        helper.answer("/lab/script.py", WHOLE, token)
    told, _ = helper.answer("/lab/script.py", WHOLE, CancelToken())
    assert told == 1


def test_edits_of_several_files_come_out_as_they_do_alone() -> None:
    """Of one that others import, and of those."""
    lab = "def build():\n    return make()\ndef batches():\n    return data\ndef cut(x):\n    return x.detach()\n"
    script = SCRIPT.replace("build, batches", "build, batches, cut").replace(
        "total.backward()", "cut(total).backward()"
    )
    writer = Writer({"/lab/lab.py": lab, "/lab/script.py": script, "/lab/library.py": LIBRARY}, seed=11)
    host, _ = shared()
    apart = Host()
    for one in (host, apart):
        one.look_at_together(writer.texts)
        for path, text in writer.texts.items():
            one.set_text(path, text)
    for _ in range(60):
        path = writer.edit()
        for one in (host, apart):
            one.set_text(path, writer.texts[path])
        for shown in writer.texts:
            assert host.snapshot().sightings(shown) == apart.snapshot().sightings(shown)


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.stem)
def test_edits_come_out_as_they_do_alone(path: Path) -> None:
    writer = Writer({str(path): path.read_text()}, seed=7)
    host, _ = shared()
    apart = Host()
    for _ in range(8):
        host.set_text(str(path), writer.texts[str(path)])
        apart.set_text(str(path), writer.texts[str(path)])
        assert host.snapshot().sightings(str(path)) == apart.snapshot().sightings(str(path))
        assert host.snapshot().backwards(str(path)) == apart.snapshot().backwards(str(path))
        writer.edit()
