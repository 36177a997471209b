"""Write the site into a folder: the pages are made ready for Zensical, which then builds them from `mkdocs.yml`.

python tools/build_site.py build/site

The pages are written to be read as files of the repository. `PAGES` are those that lie outside of `docs/`: links to
them lead to their copies, and links to other files are text alone. A fence such as ```` ```python fixed ```` is for the
tests; readers see a title over the program. What belongs to an item of a list is indented by four spaces for Markdown's
first dialect. What Zensical warns of ends the build: links and headings that are not there.
"""

from __future__ import annotations

import argparse
import os
import posixpath
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

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
_SITE = re.compile(r"^site_url: (.+)$", re.MULTILINE)


def prepare(folder: Path) -> None:
    """`mkdocs.yml` and the folder `docs`, as Zensical can show them: it reads nothing outside of the folder."""
    shutil.copytree(ROOT / "docs", folder / "docs")
    for source, copy in PAGES.items():
        shutil.copy(ROOT / source, folder / "docs" / copy)
    for path in (folder / "docs").rglob("*.md"):
        here = path.relative_to(folder / "docs").as_posix()
        path.write_text(as_shown(path.read_text(encoding="utf-8"), here), encoding="utf-8")
    settings = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    if shutil.which("npm"):
        # The list of pages, with which the file ends, leads to what `tools/build_playground.py` builds.
        settings += f"  - Playground: {_SITE.findall(settings)[0]}playground/\n"
    (folder / "mkdocs.yml").write_text(settings, encoding="utf-8")


def as_shown(markdown: str, here: str) -> str:
    """Fences and links as the site can show them; `here` is the page's path in the site."""
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
        # What is not there at all stays as it is, for Zensical to warn of.
        return found["text"] if (ROOT / path).exists() else found[0]
    target = posixpath.relpath(inside, posixpath.dirname(here) or ".")
    return f"[{found['text']}]({target}{found['anchor'] or ''})"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    out = parser.parse_args().out
    if out.exists() and not (out / "sitemap.xml").exists():
        parser.error(f"{out} is there, and is not a site that could be replaced")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        prepare(folder)
        command = [sys.executable, "-m", "zensical", "build", "--strict", "--config-file", str(folder / "mkdocs.yml")]
        if code := subprocess.run(command, env={**os.environ, "NO_COLOR": "1"}, check=False).returncode:
            return code
        shutil.rmtree(out, ignore_errors=True)
        shutil.copytree(folder / "site", out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
