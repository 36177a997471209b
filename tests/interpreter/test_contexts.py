"""Ways out of a `with` block."""

from __future__ import annotations

import pytest

from analyzers.domain.truth import Truth
from analyzers.machine.core.exceptions import PyRaise
from analyzers.machine.interpreter.contexts import Guard, leave_context
from analyzers.machine.interpreter.flow import Flow
from analyzers.syntax import nodes as n
from tests.support.alone import machine


@pytest.mark.parametrize(("swallows", "goes_on", "raises"), [(None, 3, 4), (True, 5, 0), (False, 1, 4)])
def test_whoever_nobody_sees_swallows_one_exception_of_a_class(swallows: Truth, goes_on: int, raises: int) -> None:
    m = machine()
    ways = [(m.st.fork(), PyRaise(name)) for name in ("ValueError", "KeyError", "ValueError", "ValueError")]
    out = leave_context(m, n.Pass(0, 0), Guard(swallows=swallows), Flow(normal=[m.st.fork()], raises=ways))
    assert (len(out.normal), len(out.raises)) == (goes_on, raises)
