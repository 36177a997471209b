"""What MkDocs is told of our pages: some lie elsewhere in the repository, and some fences say more than a language.

The pages are written to be read as files of the repository. `PAGES` are those that lie outside of `docs/`: links to
them lead to their copies, and links to other files are text alone. A fence such as ```` ```python fixed ```` is for the
tests; readers see a title over the program. What belongs to an item of a list is indented by four spaces for MkDocs.
"""

from __future__ import annotations

import posixpath
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[1]

PAGES = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "examples/README.md": "examples.md",
    "vscode-client/README.md": "vscode.md",
}
"""Their paths in the repository, and in the site."""

TITLES = {"fixed": "as the quick fix makes it", "right": "as it is meant", "driver": "what calls it"}

_FENCE = re.compile(r"^```python (?P<word>\w+).*$", re.MULTILINE)
_MESSAGE = re.compile(r"^```text\n(?=\w+(?:Error|Exception): )", re.MULTILINE)
_ITEM = re.compile(r"(?:-|\d+\.) ")
_LINK = re.compile(r"(?<!!)\[(?P<text>[^\]\n]+)\]\((?P<target>[^)#\s:]+)(?P<anchor>#[^)\s]*)?\)")


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """The list of pages leads to the playground, which `tools/build_playground.py` builds where there is npm."""
    if config.nav is not None and config.site_url and shutil.which("npm"):
        config.nav.append({"Playground": f"{config.site_url}playground/"})
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """The site has a copy of each of `PAGES`."""
    for source, page in PAGES.items():
        files.append(File.generated(config, page, content=(ROOT / source).read_text(encoding="utf-8")))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Fences and links as the site can show them."""
    here = page.file.src_uri
    source = next((source for source, copy in PAGES.items() if copy == here), f"docs/{here}")
    indented = "\n".join(_indented(markdown.split("\n")))
    fenced = _MESSAGE.sub("``` { .text .message }\n", _FENCE.sub(_titled, indented))
    return _LINK.sub(lambda found: _link(found, source, here), fenced)


def _indented(lines: list[str]) -> Iterator[str]:
    """Four spaces where an item of a list goes on after fewer; an empty line behind an item of several blocks."""
    fence: str | None = None
    more = 0
    blocks = False
    for line in lines:
        bare = line.lstrip(" ")
        margin = len(line) - len(bare)
        if fence is None:
            more = 4 - margin if margin in (2, 3) else 0
            if bare.startswith("```"):
                fence = bare[: len(bare) - len(bare.lstrip("`"))]
            if _ITEM.match(line):
                if blocks:
                    yield ""
                blocks = False
            blocks = blocks or not bare
        elif bare == fence:
            fence = None
        yield " " * more + line if bare else line


def _titled(fence: re.Match[str]) -> str:
    title = TITLES.get(fence["word"])
    return f'```python title="{title}"' if title else "```python"


def _link(found: re.Match[str], source: str, here: str) -> str:
    path = posixpath.normpath(posixpath.join(posixpath.dirname(source), found["target"]))
    inside = PAGES.get(path)
    if inside is None and path.startswith("docs/"):
        inside = path.removeprefix("docs/")
    if inside is None:
        # What is not there at all stays as it is, for MkDocs to warn of.
        return found["text"] if (ROOT / path).exists() else found[0]
    target = posixpath.relpath(inside, posixpath.dirname(here) or ".")
    return f"[{found['text']}]({target}{found['anchor'] or ''})"
