"""The judge is judged: what it writes down is what a person would see."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.oracle import Observation, Pool, Program, Run


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    """One worker for the whole file."""
    with Pool(1) as worker:
        yield worker


def run(pool: Pool, text: str) -> Run:
    return pool.run([Program.from_text(text)])[0]


def at(done: Run, line: int, name: str) -> Observation:
    return next(item for item in done.observations if (item.line, item.name) == (line, name))


def test_a_binding_is_seen_right_after_its_statement(pool: Pool) -> None:
    done = run(pool, "import torch\nx = torch.ones(3, requires_grad=True)\ny = x.exp()\ny += 1\n")
    assert at(done, 2, "x").is_leaf == (True,)
    assert at(done, 3, "y").grad_fn == ("ExpBackward0",)
    assert at(done, 4, "y") == Observation(
        "program.py", 4, "<module>", "y", 1, (True,), (False,), ("AddBackward0",), ((3,),), ("float32",), (1,)
    )


def test_visits_are_gathered(pool: Pool) -> None:
    done = run(pool, "import torch\nh = torch.zeros(2)\nfor n in range(3):\n    h = torch.cat([h, h])\n")
    assert at(done, 4, "h").visits == 3
    assert at(done, 4, "h").shape == ((4,), (8,), (16,))


def test_targets_one_level_deep_are_called_as_written(pool: Pool) -> None:
    done = run(
        pool,
        "import torch\nclass Box: pass\nb = Box()\nd, xs = {}, [0]\nx = torch.ones(1)\n"
        "b.t = x\nd['k'] = x\nxs[0] = x\np, (q, *r) = x, (x, x)\nx[0] = 2\n",
    )
    assert [(item.line, item.name) for item in done.observations] == [
        (5, "x"),
        (6, "b.t"),
        (7, "d['k']"),
        (8, "xs[0]"),
        (9, "p"),
        (9, "q"),
    ]


def test_scopes_are_qualified_names(pool: Pool) -> None:
    done = run(
        pool,
        "import torch\nclass Model:\n    def forward(self):\n        a = torch.ones(1)\n"
        "        def inner():\n            b = torch.ones(1)\n        inner()\nModel().forward()\n",
    )
    assert at(done, 4, "a").scope == "Model.forward"
    assert at(done, 6, "b").scope == "Model.forward.<locals>.inner"


def test_loops_withs_and_walruses_bind(pool: Pool) -> None:
    done = run(
        pool,
        "import contextlib\nimport torch\nfor row in torch.ones(2, 3):\n    pass\n"
        "with contextlib.nullcontext(torch.ones(4)) as t:\n    pass\nif (w := torch.ones(1)).sum() > 0:\n    pass\n",
    )
    assert at(done, 3, "row").grad_fn == (None,)
    assert at(done, 5, "t").shape == ((4,),)
    assert at(done, 7, "w").shape == ((1,),)


def test_the_innermost_own_frame_counts(pool: Pool) -> None:
    done = run(pool, "import torch\ndef f(x):\n    x.backward()\nf(torch.ones(1))\n")
    assert done.outcome == "raises"
    assert done.raised
    assert (done.raised.exception, done.raised.line, done.raised.outer_line) == ("RuntimeError", 3, 4)


@pytest.mark.parametrize(
    "text",
    [
        "import torch\ntry:\n    torch.ones(1).backward()\nexcept RuntimeError:\n    pass\n",
        "import contextlib, torch\nwith contextlib.suppress(RuntimeError):\n    torch.ones(1).backward()\n",
    ],
)
def test_what_a_handler_takes_is_written_down(pool: Pool, text: str) -> None:
    done = run(pool, text)
    assert done.outcome == "ok"
    assert [(item.exception, item.line) for item in done.caught] == [("RuntimeError", 3)]


def test_a_probe_keeps_no_tensor_alive(pool: Pool) -> None:
    text = "import torch, weakref\nx = torch.ones(1)\nr = weakref.ref(x)\nx = None\nassert r() is None\n"
    assert run(pool, text).outcome == "ok"


def test_a_program_without_end_is_stopped(pool: Pool) -> None:
    assert pool.run([Program.from_text("while True: pass\n")], seconds=1)[0].outcome == "timeout"


def test_programs_do_not_see_each_other(pool: Pool) -> None:
    run(pool, "import torch\ntorch.set_default_dtype(torch.float64)\n")
    assert at(run(pool, "import torch\nx = torch.ones(1)\n"), 2, "x").dtype == ("float32",)


def test_modules_beside_the_program_are_probed(pool: Pool, tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text("from lib.parts import make\nx = make()\nx.backward()\n")
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "__init__.py").write_text("")
    (tmp_path / "lib" / "parts.py").write_text("import torch\ndef make():\n    t = torch.ones(1)\n    return t\n")
    done = pool.run([Program.at(tmp_path)])[0]
    assert [(item.file, item.line, item.scope) for item in done.observations] == [
        ("lib/parts.py", 3, "make"),
        ("main.py", 2, "<module>"),
    ]
    assert done.raised
    assert (done.raised.file, done.raised.line) == ("main.py", 3)


def test_warnings_are_charged_to_their_line(pool: Pool) -> None:
    done = run(pool, "import torch\nx = torch.ones(1, requires_grad=True) * 2\ng = x.grad\n")
    assert [(item.category, item.file, item.line) for item in done.warnings] == [("UserWarning", "program.py", 3)]


def test_names_are_bound_before_the_first_line(pool: Pool) -> None:
    done = pool.run([Program.from_text("y = x * 2\n", {"x": "torch.ones(2)"})])[0]
    assert at(done, 1, "y").shape == ((2,),)


def test_what_was_learnt_is_told_in_words(pool: Pool) -> None:
    done = run(pool, "import torch\nw = torch.ones(1, requires_grad=True)\n(w * 2).sum().backward()\ny = w * 2\n")
    assert done.learnt == (("w", "tensor([1.]) tensor([2.])"),)


def test_what_torch_refuses_to_show_is_no_fault_of_the_program(pool: Pool) -> None:
    text = "import torch\nt = torch.ones(2, 3)\na, b = t.chunk(2)\na.exp_()\nt.requires_grad_()\n"
    assert run(pool, text).outcome == "ok"


def test_a_run_survives_json(pool: Pool) -> None:
    done = run(pool, "import torch\nx = torch.ones(2, 3)\nx.backward()\n")
    assert Run.from_json(done.to_json()) == done
