"""Each promise of `docs/security.md` names its tests, and they are there."""

from __future__ import annotations

import re

from tests.cli.command import REPOSITORY
from tests.security.hostile import KINDS


def test_each_promise_has_its_tests() -> None:
    page = (REPOSITORY / "docs" / "security.md").read_text()
    promised = page.partition("What is trusted:")[0]
    promises = promised.split("\n- **")[1:]
    assert promises
    for promise in promises:
        named = re.search(r"\(Tests:\s+((?:`[^`]+`,?\s*)+)\.\)", promise)
        assert named is not None, promise
        for name in re.findall(r"`([^`]+)`", named[1]):
            assert (REPOSITORY / "tests" / name).is_file()
    assert len(KINDS) == 14
    assert "of fourteen kinds" in promised
