"""A VS Code workbench with the extension in it, and windows of it that a test can look at and type into."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import time
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from playwright.sync_api import Browser, FrameLocator, Locator, Page
from playwright.sync_api import Error as BrowserError

from tests.editors.tools import Tools

START = 600
"""Seconds, until the first finding is painted. On a loaded machine that takes minutes."""

PATIENCE = 120
"""Seconds, for anything that a window shows after that."""

MOMENT = 20
"""Seconds, for what comes at once unless a key or a click was lost."""

WARM_UP = "import torch\n\nx = torch.ones(3, requires_grad=True)\ny = x.exp()\ny.add_(1)\ny.sum().backward()\n"

USER_SETTINGS = {
    "workbench.startupEditor": "none",
    "workbench.tips.enabled": False,
    "workbench.secondarySideBar.defaultVisibility": "hidden",
    "workbench.colorTheme": "Default Light Modern",
    "telemetry.telemetryLevel": "off",
    "extensions.ignoreRecommendations": True,
    "extensions.autoCheckUpdates": False,
    "update.mode": "none",
    "git.enabled": False,
    "chat.disableAIFeatures": True,
    "files.autoSave": "off",
    "files.simpleDialog.enable": True,
    "editor.minimap.enabled": False,
    "editor.accessibilitySupport": "off",
}


@dataclass(frozen=True)
class Workbench:
    address: str
    log: Path


@contextmanager
def serve(tools: Tools, home: Path, python: Path, *further: str) -> Iterator[Workbench]:
    """code-server with a home of its own, whose extension starts the server with `python`. The server cannot see what
    the tests have installed."""
    user, extensions = home / "user", home / "extensions"
    # Settings of the machine's scope count only here: among the user's they are dropped, now and then.
    write(user / "Machine" / "settings.json", {"autograd-lsp.interpreter": str(python)})
    write(user / "User" / "settings.json", USER_SETTINGS)
    folders = ("--user-data-dir", str(user), "--extensions-dir", str(extensions))
    command = (str(tools.node), str(tools.code_server), *folders)
    env = {**os.environ, "HOME": str(home), "XDG_RUNTIME_DIR": str(home)}
    env.pop("PYTHONPATH", None)
    install = [*command, "--install-extension", str(tools.extension)]
    subprocess.run(install, env=env, check=True, capture_output=True, timeout=START)
    address = f"127.0.0.1:{free_port()}"
    switches = ("--auth", "none", "--bind-addr", address, "--reconnection-grace-time", "5")
    quiet = ("--disable-telemetry", "--disable-update-check", "--disable-getting-started-override")
    log = home / "code-server.log"
    with log.open("wb") as out:
        process = started([*command, *switches, *quiet, *further], env, out, address)
        try:
            assert process.poll() is None, log.read_text(encoding="utf-8", errors="replace")
            yield Workbench(address, log)
        finally:
            process.terminate()
            try:
                process.wait(timeout=PATIENCE)
            except subprocess.TimeoutExpired:
                process.kill()


def started(command: Sequence[str], env: Mapping[str, str], out: BinaryIO, address: str) -> subprocess.Popen[bytes]:
    """code-server ends by itself when its parts are slow to find each other; then it is started anew."""
    deadline = time.monotonic() + START
    while True:
        process = subprocess.Popen(command, env=env, stdout=out, stderr=out)
        if comes_up(process, address) or time.monotonic() > deadline:
            return process


def comes_up(process: subprocess.Popen[bytes], address: str) -> bool:
    wait_until(lambda: is_up(address) or process.poll() is not None, "code-server answers")
    return process.poll() is None


def write(path: Path, settings: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(settings), encoding="utf-8")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def is_up(address: str) -> bool:
    try:
        with urllib.request.urlopen(f"http://{address}/healthz", timeout=5) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


def wait_until(condition: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + START
    while not condition():
        assert time.monotonic() < deadline, f"waited in vain: {what}"
        time.sleep(0.1)


@dataclass
class Window:
    """One page with one folder open. `shoot` keeps what is to be seen, numbered, in `shots`."""

    page: Page
    folder: Path
    shots: Path = Path()
    count: int = 0
    patience: float = PATIENCE

    def shoot(self, name: str) -> None:
        self.count += 1
        self.shots.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=self.shots / f"{self.count}-{name}.png")

    # The editor.

    def editor(self, file: str) -> Locator:
        """By the name of the file that it shows, not of the tab, so that it has to be painted."""
        return self.page.locator(f'.editor-instance .monaco-editor[data-uri$="/{file}"]').first

    def text(self, file: str) -> str:
        """What is painted, with plain spaces; the lines come in any order."""
        return " ".join(self.editor(file).locator(".view-line").all_inner_texts()).replace("\u00a0", " ")

    def place_of(self, file: str, word: str, line: int) -> tuple[float, float]:
        """The middle of a word that is to be seen, on a line counted from 1."""
        found: list[list[float]] = []

        def look() -> bool:
            place = self.editor(file).evaluate(PLACE_OF_WORD, [word, line])
            if place is not None:
                found.append(place)
            return place is not None

        self.wait_until(look, f"{word} is to be seen on line {line} of {file}")
        return found[0][0], found[0][1]

    def put_cursor(self, file: str, word: str, line: int) -> None:
        self.page.mouse.click(*self.place_of(file, word, line))

    def line_of_cursor(self) -> int:
        """As the status bar has it; 0 where no editor of text has the focus."""
        words = " ".join(self.page.locator("#status\\.editor\\.selection").all_inner_texts())
        found = re.search(r"Ln (\d+)", words)
        return int(found[1]) if found else 0

    # The workbench around it.

    def run_command(self, title: str) -> None:
        box = self.page.locator(".quick-input-widget:visible input.input").first
        entry = self.page.locator(".quick-input-widget:visible .monaco-list-row", has_text=title).first

        def open_palette() -> None:
            self.page.keyboard.press("F1")
            box.fill(f">{title}")
            entry.click()

        self.insist(open_palette)

    def open(self, file: str, text: str) -> None:
        """Writes a file and opens it by its name."""
        (self.folder / file).write_text(text, encoding="utf-8")
        self.show(file)

    def show(self, file: str) -> None:
        def pick() -> None:
            self.page.keyboard.press("Control+P")
            box = self.page.locator(".quick-input-widget:visible input.input").first
            box.fill(file)
            entry = self.page.locator(".quick-input-widget:visible .monaco-list-row", has_text=file).first
            entry.click()
            self.editor(file).locator(".view-line").first.wait_for()

        self.insist(pick)

    def set(self, **settings: object) -> None:
        """The workspace's settings, which go over the user's."""
        write(self.folder / ".vscode" / "settings.json", settings)

    def close_editors(self) -> None:
        """And what else a test has opened or set."""
        self.set()
        self.run_command("View: Close All Editors")
        self.page.locator(".editor-instance").first.wait_for(state="detached")
        if self.page.locator(".part.panel").is_visible():
            self.page.keyboard.press("Control+J")

    def insist(self, action: Callable[[], None]) -> None:
        """A hover or a message that opens at that moment swallows a key: away with it, and once more."""
        before, deadline = self.patience, time.monotonic() + self.patience
        self.wait_at_most(MOMENT)
        try:
            while True:
                try:
                    return action()
                except (BrowserError, AssertionError):
                    if time.monotonic() > deadline:
                        raise
                    self.page.mouse.move(5, 5)
                    self.page.keyboard.press("Escape")
                    self.page.keyboard.press("Escape")
        finally:
            self.wait_at_most(before)

    def wait_at_most(self, seconds: float) -> None:
        self.patience = seconds
        self.page.set_default_timeout(seconds * 1000)

    def wait_until(self, condition: Callable[[], bool], what: str) -> None:
        """The page goes on living meanwhile."""
        deadline = time.monotonic() + self.patience
        while not condition():
            assert time.monotonic() < deadline, f"waited in vain: {what}"
            self.page.wait_for_timeout(100)

    def debug_information(self) -> dict[str, Any]:
        """Of the server that serves the file in the editor, through the clipboard."""
        self.page.evaluate("navigator.clipboard.writeText('')")
        self.run_command("Copy Debug Information")
        read = "navigator.clipboard.readText()"
        self.wait_until(lambda: self.page.evaluate(read).startswith("```json"), "there is something in the clipboard")
        copied: dict[str, Any] = json.loads(
            self.page.evaluate(read).strip().removeprefix("```json").removesuffix("```")
        )
        return copied

    def hover(self, file: str, word: str, line: int, text: str) -> str:
        """What is shown over a word, once `text` is in it."""
        hover = self.page.locator(".monaco-hover:visible", has_text=text)

        def point() -> None:
            self.page.mouse.move(*self.place_of(file, word, line), steps=5)
            hover.first.wait_for()

        self.insist(point)
        return hover.first.inner_text()

    def end_hover(self) -> None:
        """It would lie over what is clicked next, and swallow keys."""
        self.page.mouse.move(5, 5)
        self.page.keyboard.press("Escape")
        self.page.locator(".monaco-hover:visible").first.wait_for(state="hidden")

    def wait_for_server(self, file: str) -> None:
        """It has spoken of the file, in which there is something to find."""
        self.editor(file).locator(".squiggly-error, .squiggly-warning, .squiggly-hint").first.wait_for()

    def graph(self) -> FrameLocator:
        return self.page.frame_locator("iframe.webview.ready").frame_locator("#active-frame")


PLACE_OF_WORD = """
(editor, [word, line]) => {
  const numbers = [...editor.querySelectorAll(".margin .line-numbers")];
  const number = numbers.find((one) => one.textContent.trim() === String(line));
  if (!number) return null;
  const top = number.getBoundingClientRect().top;
  const rows = [...editor.querySelectorAll(".view-line")];
  const row = rows.find((one) => Math.abs(one.getBoundingClientRect().top - top) < 4);
  if (!row) return null;
  const walker = document.createTreeWalker(row, NodeFilter.SHOW_TEXT);
  for (let text; (text = walker.nextNode()); ) {
    const start = text.data.replaceAll("\\u00a0", " ").search(new RegExp("\\\\b" + word + "\\\\b"));
    if (start >= 0) {
      const range = document.createRange();
      range.setStart(text, start);
      range.setEnd(text, start + word.length);
      const box = range.getBoundingClientRect();
      return [box.x + box.width / 2, box.y + box.height / 2];
    }
  }
  return null;
}
"""


def show(browser: Browser, workbench: Workbench, **what: Path) -> Page:
    """A page with a `folder` or a `workspace`."""
    allowed = ["clipboard-read", "clipboard-write"]
    page = browser.new_context(viewport={"width": 1400, "height": 850}, permissions=allowed).new_page()
    page.set_default_timeout(START * 1000)
    page.goto(f"http://{workbench.address}/?{urllib.parse.urlencode({key: str(path) for key, path in what.items()})}")
    page.locator(".explorer-folders-view").wait_for()
    return page


def open_window(browser: Browser, workbench: Workbench, folder: Path) -> Window:
    page = show(browser, workbench, folder=folder)
    window = Window(page, folder)
    window.wait_at_most(START)
    window.open("warm_up.py", WARM_UP)
    window.wait_for_server("warm_up.py")
    window.wait_at_most(PATIENCE)
    (folder / "warm_up.py").write_text("", encoding="utf-8")
    window.editor("warm_up.py").locator(".squiggly-error").first.wait_for(state="detached")
    window.close_editors()
    return window
