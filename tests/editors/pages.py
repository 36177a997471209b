"""What the pages tell a user to put into a configuration, so that the tests run exactly that."""

from __future__ import annotations

import re

from tests.editors.installs import REPOSITORY


def snippets(section: str, language: str, page: str = "editors.md") -> list[str]:
    """The blocks in `language` under the heading `section` of the page, in order."""
    text = (REPOSITORY / "docs" / page).read_text(encoding="utf-8")
    _, found, rest = text.partition(f"\n## {section}\n")
    assert found, section
    return re.findall(rf"^```{language}\n(.*?)^```$", rest.partition("\n## ")[0], re.MULTILINE | re.DOTALL)
