"""The site builds without a warning, and a browser that shows it asks no other server for anything."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest
import yaml

from autograd_lsp.text.urls import DOCUMENTATION, rule_page
from tests.cli.command import REPOSITORY

pytest.importorskip("material", reason="mkdocs-material is not installed")

# What a browser follows of its own accord; a link of the page, or its address for search engines, is not among them.
FETCHED = {
    "script": "src",
    "img": "src",
    "iframe": "src",
    "source": "src",
    "video": "src",
    "audio": "src",
    "embed": "src",
    "object": "data",
    "link": "href",
}
NOT_FETCHED = {"canonical", "prev", "next", "alternate", "edit"}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built strictly: a warning is an error."""
    out = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(out)]
    # A proxy that is not there: what the build would fetch, it does not get.
    nowhere = dict.fromkeys(("http_proxy", "https_proxy", "all_proxy"), "http://127.0.0.1:9")
    environment = {**os.environ, **nowhere, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=REPOSITORY, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "WARNING" not in done.stderr
    return out


class _Page(HTMLParser):
    """Collects what a page makes the browser fetch, and the classes of its elements."""

    def __init__(self) -> None:
        super().__init__()
        self.fetched: list[str] = []
        self.classes: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        said = {name: value or "" for name, value in attrs}
        self.classes.update(said.get("class", "").split())
        if tag in FETCHED and not NOT_FETCHED & set(said.get("rel", "").split()):
            self.fetched.append(said.get(FETCHED[tag], ""))
            self.fetched += said.get("srcset", "").split()
        self.fetched += re.findall(r"url\(([^)]+)\)", said.get("style", ""))


def pages(site: Path) -> Iterator[tuple[Path, _Page]]:
    for path in sorted(site.rglob("*.html")):
        page = _Page()
        page.feed(path.read_text(encoding="utf-8"))
        yield path, page


def outside(target: str) -> bool:
    return re.match(r"\W*(?:https?:)?//", target) is not None


def test_pages_fetch_nothing_from_elsewhere(site: Path) -> None:
    fetched = {(path.relative_to(site).as_posix(), target) for path, page in pages(site) for target in page.fetched}
    assert any(target.endswith(".css") for _, target in fetched) and any(".js" in target for _, target in fetched)
    assert not [found for found in fetched if outside(found[1])]


def test_styles_fetch_nothing_from_elsewhere(site: Path) -> None:
    styles = list(site.rglob("*.css"))
    assert styles
    for path in styles:
        text = path.read_text(encoding="utf-8")
        for target in re.findall(r"url\(([^)]+)\)|@import\s+([^;]+)", text):
            assert not outside("".join(target)), path


def test_no_page_makes_the_theme_load_a_drawing_program(site: Path) -> None:
    """The theme's script fetches Mermaid from another server as soon as an element has this class."""
    assert not [path for path, page in pages(site) if "mermaid" in page.classes]


def test_the_addresses_that_findings_name_are_there(site: Path) -> None:
    text = (REPOSITORY / "mkdocs.yml").read_text(encoding="utf-8")
    assert yaml.safe_load(text)["site_url"] == DOCUMENTATION
    for page in (REPOSITORY / "docs" / "rules").glob("*.md"):
        if page.stem != "index":
            assert (site / rule_page(page.stem).removeprefix(DOCUMENTATION) / "index.html").exists(), page


def test_blocks_became_what_they_are(site: Path) -> None:
    """A fence that the site does not understand is left standing as text, and so is a list or a table."""
    for path, _ in pages(site):
        for paragraph in re.findall(r"<p>.*?</p>", path.read_text(encoding="utf-8"), re.DOTALL):
            assert "```" not in paragraph, path
            assert not re.search(r"^\s*(?:- |\d+\. |\|)", paragraph, re.MULTILINE), (path, paragraph)
