"""The server around an analyzer that does what its text says: `SLOW` works until it is cancelled, `FAIL` fails.

Run as a script by the tests of what the server does while the analyzer is busy or broken.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable

from analyzers.host import Cancelled, CancelToken
from analyzers.report import Card, Finding, Place, Sighting
from autograd_lsp.config import Configuration
from autograd_lsp.server.features import create_server
from autograd_lsp.server.transport import serve
from autograd_lsp.server.wire import leave


class ControlledHost:
    def __init__(self) -> None:
        self.texts: dict[str, str] = {}
        self.revision = 0

    def set_text(self, path: str, text: str) -> None:
        self.texts[path] = text
        self.revision += 1

    def close(self, path: str) -> None:
        self.texts.pop(path, None)
        self.revision += 1

    def file_changed(self, path: str) -> None:
        self.revision += 1

    def look_at_together(self, paths: Iterable[str]) -> None:
        pass

    def shrink_if_large(self) -> bool:
        return False

    def snapshot(self, token: CancelToken, *, aside: bool = False) -> ControlledSnapshot:
        return ControlledSnapshot(self, token)


class ControlledSnapshot:
    def __init__(self, host: ControlledHost, token: CancelToken) -> None:
        self.host = host
        self.token = token
        self.revision = host.revision

    def text(self, path: str) -> str:
        return self.host.texts.get(path, "")

    def sightings(self, path: str) -> tuple[Sighting, ...]:
        text = self.text(path)
        self.behave(text)
        place = Place(path, 0, 1)
        return (Sighting(Finding("AG000", "first-line", "warning", text.partition("\n")[0], place), place),)

    def ask(self, question: object) -> object:
        raise ValueError("there is nothing to ask but texts")

    def card(self, path: str, offset: int) -> Card | None:
        self.behave(self.text(path))
        return Card("tensor", "t", Place(path, 0, 1), None)

    def behave(self, text: str) -> None:
        if "FAIL" in text:
            raise ValueError("told to fail")
        while "SLOW" in text:
            self.token.check()
            if self.token.make_way is not None:
                self.token.make_way()
            if self.revision != self.host.revision:
                raise Cancelled
            time.sleep(0.005)


if __name__ == "__main__":
    leave(serve(create_server(ControlledHost, Configuration(isolated=True)), sys.stdin.buffer, sys.stdout.buffer))
