"""The site builds without a warning, and a browser that shows it asks no other server for anything."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import urllib.parse
from collections.abc import Iterator
from fnmatch import fnmatch
from html.parser import HTMLParser
from pathlib import Path

import pytest
import yaml

from autograd_lsp.text.urls import DOCUMENTATION, rule_page
from tests.cli.command import REPOSITORY
from tools.build_site import PAGES

pytest.importorskip("zensical", reason="Zensical is not installed")

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
    out = tmp_path_factory.mktemp("made") / "site"
    command = [sys.executable, "tools/build_site.py", str(out)]
    # A proxy that is not there: what the build would fetch, it does not get.
    nowhere = dict.fromkeys(("http_proxy", "https_proxy", "all_proxy"), "http://127.0.0.1:9")
    environment = {**os.environ, **nowhere}
    done = subprocess.run(command, cwd=REPOSITORY, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "No issues found" in done.stderr
    return out


@pytest.mark.parametrize("link", ["gone.md", "start.md#nowhere", "#nowhere"])
def test_a_link_that_leads_nowhere_ends_the_build(link: str, tmp_path: Path) -> None:
    for source in ("docs", *PAGES, "mkdocs.yml", "tools/build_site.py"):
        (tmp_path / source).parent.mkdir(parents=True, exist_ok=True)
        (shutil.copytree if (REPOSITORY / source).is_dir() else shutil.copy)(REPOSITORY / source, tmp_path / source)
    with (tmp_path / "docs" / "limits.md").open("a", encoding="utf-8") as page:
        page.write(f"\n[A link]({link})\n")
    command = [sys.executable, str(tmp_path / "tools" / "build_site.py"), str(tmp_path / "site")]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode != 0 and "limits.md" in done.stderr
    assert not (tmp_path / "site").exists()


def test_a_folder_that_is_no_site_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").touch()
    command = [sys.executable, "tools/build_site.py", str(tmp_path)]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert done.returncode == 2 and "is not a site" in done.stderr
    assert (tmp_path / "notes.txt").exists()


def test_every_page_is_in_the_list_or_left_out_of_it_on_purpose() -> None:
    settings = yaml.safe_load((REPOSITORY / "mkdocs.yml").read_text(encoding="utf-8"))
    listed = re.findall(r"[\w/-]+\.md", json.dumps(settings["nav"]))
    left_out = settings["not_in_nav"].split()
    docs = REPOSITORY / "docs"
    pages = {path.relative_to(docs).as_posix() for path in docs.rglob("*.md")} | {*PAGES.values()}
    assert len(listed) == len({*listed}) and {*listed} <= pages
    assert {page for page in pages if not any(fnmatch(f"/{page}", one) for one in left_out)} <= {*listed}


class _Page(HTMLParser):
    """Collects what a page makes the browser fetch, what it leads to, and the classes of its elements."""

    def __init__(self) -> None:
        super().__init__()
        self.fetched: list[str] = []
        self.followed: list[str] = []
        self.classes: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        said = {name: value or "" for name, value in attrs}
        self.classes.update(said.get("class", "").split())
        if tag in FETCHED and not NOT_FETCHED & set(said.get("rel", "").split()):
            self.fetched.append(said.get(FETCHED[tag], ""))
            self.fetched += said.get("srcset", "").split()
        if tag == "a":
            self.followed.append(said.get("href", ""))
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


def test_what_pages_lead_to_is_there(site: Path) -> None:
    """Zensical asks that of other pages alone: this is about pictures and files, too."""
    for path, page in pages(site):
        for target in {*page.fetched, *page.followed}:
            name = urllib.parse.unquote(re.split(r"[?#]", target)[0])
            if name and not re.match(r"[a-z]+:", name):
                place = site / name.lstrip("/") if name.startswith("/") else path.parent / name
                assert place.is_file() or (place / "index.html").is_file(), (path, target)


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
