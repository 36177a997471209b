"""What a module gave to unknown code may be called whenever unknown code runs, in the modules that import it, too."""

from __future__ import annotations

import pytest

from analyzers.host import Host

LIBRARY = """\
import torch
import framework

losses = []


def keep(x):
    losses.append((x * torch.ones(1, requires_grad=True)).sum())

"""

MAIN = """\
import framework
import torch
from library import losses

framework.run()
loss = losses[-1] if losses else torch.zeros(1)
loss.backward()
"""


@pytest.mark.parametrize(("given", "severities"), [("keep", ["warning"]), ("len", ["error"])])
def test_a_function_given_away_in_another_module_may_run(given: str, severities: list[str]) -> None:
    texts = {"/lab/library.py": LIBRARY + f"framework.register({given})\nlosses.clear()\n", "/lab/main.py": MAIN}
    host = Host(read=lambda _: None)
    for path, text in texts.items():
        host.set_text(path, text)
    assert [finding.severity for finding in host.snapshot().findings("/lab/main.py")] == severities
