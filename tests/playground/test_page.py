"""The playground in a real browser: it says what the command line says, fixes, links, and asks nobody else."""

from __future__ import annotations

import functools
import http.server
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.cli.command import BROKEN, FIXED, REPOSITORY, check_json
from tools import build_playground

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytest.importorskip("playwright", reason="`make test-editors` installs what drives the browser")
SHOTS = REPOSITORY / "build" / "screenshots"


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where the page is served, below a folder as on the site."""
    if (why := build_playground.install()) is not None:
        pytest.skip(why)
    root = tmp_path_factory.mktemp("site")
    build_playground.build(root / "playground")

    class Handler(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *words: object) -> None:
            del words

    handler = functools.partial(Handler, directory=str(root))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/playground/"
        server.shutdown()


class Visit:
    """A page, and what went wrong on it; `asked` are the addresses of other servers."""

    def __init__(self, page: Page, address: str) -> None:
        self.page = page
        self.wrong: list[str] = []
        self.asked: list[str] = []
        page.on("pageerror", lambda error: self.wrong.append(str(error)))
        page.on("console", lambda message: self.wrong.append(message.text) if message.type == "error" else None)
        page.on("request", lambda request: self.note(request.url, address))

    def note(self, url: str, address: str) -> None:
        if not url.startswith((address, "data:")):
            self.asked.append(url)

    def answered(self) -> None:
        from playwright.sync_api import expect

        expect(self.page.locator("#state")).to_have_text(re.compile(r" in \d+ ms$"))

    def put(self, text: str) -> None:
        """In the place of what is in the editor; once it is checked."""
        self.page.locator(".cm-content").focus()
        self.page.keyboard.press("Control+a")
        self.page.keyboard.insert_text(text)
        self.page.wait_for_timeout(400)
        self.answered()

    def text(self) -> str:
        return "\n".join(self.page.locator(".cm-line").all_inner_texts()).replace("\n\n", "\n")


@pytest.fixture
def visit(browser: Browser, address: str) -> Iterator[Visit]:
    context = browser.new_context(viewport={"width": 1360, "height": 900})
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    visit = Visit(context.new_page(), address)
    visit.page.goto(address)
    visit.answered()
    yield visit
    assert (visit.wrong, visit.asked) == ([], [])
    context.close()


def test_examples_have_the_findings_of_the_command_line(visit: Visit, tmp_path: Path) -> None:
    for name, text in build_playground.examples().items():
        (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
        _, document = check_json(f"{name}.py", cwd=tmp_path)
        visit.page.select_option("#examples", name)
        visit.page.wait_for_timeout(400)
        visit.answered()
        heads = visit.page.locator("#findings .head").all_inner_texts()
        assert heads == [
            f"{found['severity']} {found['code']} {found['name']}, line {found['range']['start']['line']}"
            for found in document["files"][0]["findings"]
        ]


def test_a_fix_mends_the_program(visit: Visit) -> None:
    from playwright.sync_api import expect

    visit.put(BROKEN)
    expect(visit.page.locator(".cm-lintRange-error")).to_have_text("y.add_(1)")
    visit.page.get_by_role("button", name="Use the out-of-place add").click()
    expect(visit.page.locator("#state")).to_have_text(re.compile("^No findings"))
    assert visit.text() == FIXED
    assert visit.page.input_value("#examples") == ""


def test_hover_and_graph_show_what_is_known(visit: Visit) -> None:
    from playwright.sync_api import expect

    visit.put("# 𝔸é\n" + BROKEN)
    visit.page.locator(".cm-line").nth(3).click()
    expect(visit.page.locator("#graph img")).to_have_attribute("alt", "The autograd graph of y at line 4")
    assert visit.page.evaluate("document.querySelector('#graph img').naturalWidth") > 50
    visit.page.locator(".cm-line").nth(3).hover(position={"x": 10, "y": 8})
    expect(visit.page.locator(".card")).to_contain_text("grad_fn=ExpBackward0")
    expect(visit.page.locator(".card")).to_contain_text("x [line 3]  leaf")


def test_a_link_carries_the_program(visit: Visit, browser: Browser, address: str) -> None:
    program = "# ünï 𝔸\n" + BROKEN
    visit.put(program)
    visit.page.click("#share")
    visit.page.wait_for_url("**/#code=*")
    link = visit.page.evaluate("navigator.clipboard.readText()")
    assert link == visit.page.url and re.fullmatch(r"[\w:/.#=-]+", link)
    other = Visit(browser.new_page(), address)
    other.page.goto(link)
    other.answered()
    assert other.text() == program
    other.page.goto(address + "#code=damaged")
    other.page.reload()
    other.answered()
    assert other.text().startswith('"""')
    assert (other.wrong, other.asked) == ([], [])


def test_half_a_program_and_none_are_answered(visit: Visit) -> None:
    for text in (" ", "def (\n", BROKEN + "def f(x:\n    y = [\n", "x = '\n" * 50):
        visit.put(text)
    visit.put("import torch\nx = torch.ones(3, requires_grad=True)\nx.exp().backward()\n")
    assert "AG107" in visit.page.locator("#findings").inner_text()


def test_a_deeply_nested_program_does_not_end_it(visit: Visit) -> None:
    visit.put("x = " + "(" * 3000 + "1" + ")" * 3000 + "\n")
    visit.put(BROKEN)
    assert "AG104" in visit.page.locator("#findings").inner_text()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_can_be_looked_at(browser: Browser, address: str, scheme: str) -> None:
    """Text stands out from its ground; the picture is for a person."""
    page = browser.new_page(color_scheme=scheme, viewport={"width": 1360, "height": 900})
    visit = Visit(page, address)
    page.goto(address)
    visit.answered()
    visit.put(BROKEN)
    page.locator(".cm-line").nth(2).click()
    page.locator("#graph img").wait_for()
    SHOTS.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=SHOTS / f"playground-{scheme}.png")
    ground, ink = (page.evaluate(f"getComputedStyle(document.body).{name}") for name in ("backgroundColor", "color"))
    light = [sum(map(int, re.findall(r"\d+", colour)[:3])) / 765 for colour in (ground, ink)]
    assert abs(light[0] - light[1]) > 0.6 and (light[0] > light[1]) == (scheme == "light")
