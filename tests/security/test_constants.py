"""Programs whose constants are as large as they like: nothing fails, and little is done."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzers.host import Host
from analyzers.ops.infer_core import range_length
from tests.security.test_growth import HEAD, calls

HOSTILE = (
    "math.factorial(10**8)", "pow(3, 10**9)", "f'{1:>2000000000}'", "'x'.ljust(2 * 10**9)", "1 << 10**10",
    "'%2000000000d' % 3", "'{:>{}}'.format(1, 10**10)", "str(10**4000 * 10**4000)", "(1).__lshift__(10**10)",
    "'x'.__mul__(10**10)", "[0] * 10**12", "bytes(10**12)", "list(range(10**12))", "sum(range(10**12))",
    "max(range(10**12))", "round(7, -10**9)", "'x'.encode('idna')", "len(range(10**100))", "range(10**100)[5]",
    "[1, 2][10**100:]", "itertools.count('a', 1)", "itertools.count(10**4000, 10**4000)",
    "list(itertools.permutations(range(60), 10**10))", "list(itertools.product(*[range(60)] * 60))",
    "list(itertools.repeat(0, 10**12))", "torch.zeros(10**4000)", "torch.zeros(10**7).unbind()",
    "torch.arange(10**12).split(1)", "torch.zeros(10**7).chunk(10**7)", "torch.arange(10**12).tolist()",
    "torch.tensor_split(torch.zeros(10**8), 10**8)", "list(torch.zeros(10**9))", "dict(enumerate(torch.zeros(10**9)))",
    "torch.arange(10**30)", "torch.arange(0, -10**30, -7)", "torch.arange(2**62).repeat(2**62)[1:]",
    "torch.zeros(10**30).tensor_split([5, 10**30])", "torch.nn.LSTM(10, 10, num_layers=10**9)",
    "torch.zeros([1] * 10**9)", "torch.zeros(3)[(None,) * 10**9]", "torch.nn.Linear(10**30, 10**30)",
)  # fmt: skip


NEGATIVE = (
    "torch.ones(2, 2).expand(-5, 2, 2)", "torch.ones(1, 2).expand(-5, 2)", "torch.ones(3).resize_(-1)",
    "torch.ones(3).as_strided((-1,), (1,))", "torch.nn.functional.pad(torch.ones(3), (-5, 0))", "torch.ones(-1)",
    "torch.ones(3).unfold(0, -1, 1)", "torch.ones(3).as_strided_((-1,), (1,))", "torch.ones(2, 2).repeat(-1, 2)",
)  # fmt: skip


@pytest.mark.parametrize("expression", NEGATIVE)
def test_no_tensor_has_a_negative_size(expression: str) -> None:
    """Torch refuses all of these."""
    host = Host()
    host.set_text("m.py", f"{HEAD}a = {expression}\nb = a[::2]\nfor c in b:\n    d = a\n")
    shapes = [fact.shape or () for fact in host.snapshot().facts("m.py")]
    assert not [shape for shape in shapes if any(size is not None and size < 0 for size in shape)]


@pytest.mark.parametrize("expression", HOSTILE)
def test_nothing_takes_long(expression: str) -> None:
    doubled = "s = 'a'\nfor _ in range(99):\n    s = s.replace('a', s + s)\n"
    assert calls(f"{HEAD}import itertools, math\n{doubled}a = {expression}\nfor b in a:\n    t = t * 2\n") < 200_000


@given(st.integers(-30, 30), st.integers(-30, 30), st.integers(-5, 5).filter(bool))
def test_the_length_of_a_range(start: int, stop: int, step: int) -> None:
    assert range_length(start, stop, step) == len(range(start, stop, step))
