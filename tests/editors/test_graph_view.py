"""The graph view in VS Code: what it draws, where it leads, and that it lives through being hidden."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("playwright", reason="`make test-editors` installs what drives the browser")

from playwright.sync_api import FrameLocator, expect

if TYPE_CHECKING:
    from tests.editors.workbench import Window

PROGRAM = """\
import torch

weight = torch.ones(3, requires_grad=True)
hidden = weight.exp()
hidden.sum().backward()
doubled = hidden * weight
cut = doubled.detach()
loss = (cut * cut).sum()
later = doubled
later.sum().backward()
"""


def open_graph(window: Window, file: str, word: str, line: int) -> FrameLocator:
    window.open(file, PROGRAM)
    window.wait_for_server(file)
    window.put_cursor(file, word, line)
    window.run_command("Show Autograd Graph")
    return window.graph()


def test_the_graph_is_drawn_followed_and_left(window: Window) -> None:
    graph = open_graph(window, "train.py", "torch", 1)
    expect(graph.locator("#text")).to_contain_text("No tensor is known at train.py:1")
    assert graph.locator("#legend li").count() == 8
    window.shoot("nothing-there")

    window.put_cursor("train.py", "later", 9)
    expect(graph.locator("#text")).to_have_text("train.py:9")
    expect(graph.locator(".node.tensor")).to_contain_text("later")
    expect(graph.locator(".node.operator", has_text="MulBackward0")).to_contain_text("saves")
    expect(graph.locator(".node.operator.freed", has_text="ExpBackward0")).to_contain_text("freed")
    expect(graph.locator(".node.leaf")).to_contain_text("weight")
    assert graph.locator("rect.saved").count() > 0
    window.shoot("graph")

    # A click leads to the line, and the picture stays.
    graph.locator(".node.operator.freed").click()
    window.wait_until(lambda: window.line_of_cursor() == 4, "the cursor is on line 4")
    expect(graph.locator("#text")).to_have_text("train.py:9")
    window.shoot("clicked")

    # So does the keyboard: from the tensor down to what made it, and Enter.
    tensor, product = graph.locator(".node.tensor"), graph.locator(".node.operator", has_text="MulBackward0")

    def go_down() -> None:
        """The file that was clicked open may take the focus late."""
        tensor.focus()
        window.wait_until(lambda: window.line_of_cursor() == 0, "the view has the focus")
        tensor.press("ArrowDown")
        assert product.evaluate("node => node === document.activeElement")

    window.insist(go_down)
    product.press("Enter")
    window.wait_until(lambda: window.line_of_cursor() == 6, "the cursor is on line 6")
    # The server answers in order: after this hover, a graph that was asked for would be there.
    window.hover("train.py", "cut", 7, "requires_grad")
    expect(graph.locator("#text")).to_have_text("train.py:9")
    window.end_hover()
    window.shoot("by-keyboard")

    # The view follows the cursor to where the graph was cut.
    window.put_cursor("train.py", "loss", 8)
    expect(graph.locator("#text")).to_have_text("train.py:8")
    expect(graph.locator(".node.cut").first).to_contain_text("detach")
    window.shoot("cut")

    # Pinned, it does not.
    graph.locator("#follow").click()
    expect(graph.locator("#follow")).to_have_attribute("aria-pressed", "false")
    window.put_cursor("train.py", "weight", 3)
    window.hover("train.py", "weight", 4, "requires_grad")
    window.end_hover()
    expect(graph.locator("#text")).to_have_text("train.py:8")

    # Hidden behind a file and shown again, it is what it was.
    tab = window.page.get_by_role("tab", name=re.compile("Graph of loss"))
    tab.click()
    window.open("other.py", "import torch\n")
    expect(window.page.locator("iframe.webview.ready")).not_to_be_visible()
    window.shoot("hidden")
    tab.click()
    expect(graph.locator(".node.cut").first).to_contain_text("detach")
    expect(graph.locator("#follow")).to_have_attribute("aria-pressed", "false")
    window.shoot("shown-again")

    # The exported picture stands for itself.
    graph.locator("#export").click()
    box = window.page.locator(".quick-input-widget:visible input.input").first
    expect(box).to_have_value(re.compile(r"loss\.svg$"))
    window.shoot("export")
    box.press("Enter")
    exported = window.folder / "loss.svg"
    window.wait_until(exported.exists, "the picture is saved")
    window.wait_until(lambda: exported.read_text(encoding="utf-8").endswith("</svg>\n"), "the picture is whole")
    picture = exported.read_text(encoding="utf-8")
    root = ET.fromstring(picture)
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert "detach" in "".join(root.itertext())
    assert not re.search(r"var\(|color\(", picture)


THEMES = {
    "Default Dark Modern": "vscode-dark",
    "Default High Contrast": "vscode-high-contrast",
    "Default High Contrast Light": "vscode-high-contrast-light",
}


def test_the_graph_takes_its_colours_from_the_theme_and_lives_through_a_reload(window: Window) -> None:
    graph = open_graph(window, "themes.py", "later", 9)
    expect(graph.locator(".node.leaf")).to_contain_text("weight")
    seen = {"vscode-light": colours(graph)}
    for theme, kind in THEMES.items():
        window.set(**{"workbench.colorTheme": theme})
        expect(graph.locator("body")).to_have_attribute("data-vscode-theme-kind", kind)
        seen[kind] = colours(graph)
        window.shoot(kind)
    for kind, here in seen.items():
        assert here["background"] not in (here["text"], here["tensor"], here["leaf"], here["operator"]), kind
    assert len({tuple(here.values()) for here in seen.values()}) == len(seen)

    # The workbench's own way, on which it keeps what is open first.
    with window.page.expect_navigation():
        window.run_command("Developer: Reload Window")
    expect(window.graph().locator(".node.leaf")).to_contain_text("weight")
    window.shoot("reloaded")


def colours(graph: FrameLocator) -> dict[str, str]:
    def of(selector: str, name: str) -> str:
        found: str = graph.locator(selector).first.evaluate(f"shape => getComputedStyle(shape).{name}")
        return found

    return {
        "background": of("body", "backgroundColor"),
        "text": of(".node text", "fill"),
        **{kind: of(f".node.{kind} :is(polygon, path, ellipse)", "stroke") for kind in ("tensor", "leaf", "operator")},
    }
