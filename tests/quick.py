"""What `make quick` runs: a part of the tests that is done in a minute or so. `make test` runs all.

python -m tests.quick        # the arguments for pytest
"""

from __future__ import annotations

PATHS = (
    "tests/core", "tests/objects", "tests/interpreter", "tests/autograd", "tests/operators", "tests/observers",
    "tests/mdtest", "tests/rules", "tests/domain", "tests/ops/test_infer.py", "tests/ops/test_resolve.py",
    "tests/ops/test_layout.py", "tests/ops/test_derivatives.py", "tests/prelude", "tests/queries", "tests/syntax",
    "tests/project/test_rooms.py",
)  # fmt: skip

NOT_WITHOUT_TORCH = ("test_mdtest.py::test_torch", "test_mdtest.py::test_right")
"""Beside these, with `--no-torch` the snippets hold the analyzer against their comments."""


def arguments() -> list[str]:
    left_out = [f"--deselect=tests/mdtest/{name}" for name in NOT_WITHOUT_TORCH]
    return [*PATHS, "--no-torch", *left_out]


if __name__ == "__main__":
    print(*arguments())
