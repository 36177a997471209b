"""A program in a terminal that a test reads and types into: tmux, with a server of its own."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.editors.installs import UnavailableError

_PATIENCE = 120
_KEY = 0.1
"""Seconds for which a program may be busy with a key."""


@dataclass(frozen=True)
class Terminal:
    tmux: tuple[str, ...]

    def screen(self) -> str:
        return self._run("capture-pane", "-p")

    def type(self, *keys: str) -> None:
        """Each a name of tmux's (`Enter`) or one character."""
        for key in keys:
            self._run("send-keys", key)
            time.sleep(_KEY)

    def shows(self, text: str) -> str:
        """The screen, once it has `text`."""
        return self.settles(lambda screen: text in screen, text)

    def settles(self, is_so: Callable[[str], bool], what: str) -> str:
        """The screen, once it is so."""
        deadline = time.monotonic() + _PATIENCE
        while not is_so(screen := self.screen()):
            assert time.monotonic() < deadline, f"never came: {what}\n{screen}"
            time.sleep(0.05)
        return screen

    def _run(self, *command: str) -> str:
        done = subprocess.run([*self.tmux, *command], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout


@contextmanager
def terminal(command: Sequence[str], folder: Path, environment: Mapping[str, str]) -> Iterator[Terminal]:
    """With `command` in it, whose environment is `environment` alone."""
    program = shutil.which("tmux")
    if program is None:
        raise UnavailableError("there is no tmux on PATH")
    # The name of a socket may not be long.
    with tempfile.TemporaryDirectory() as short:
        tmux = (program, "-S", f"{short}/socket", "-f", "/dev/null")
        start = (*tmux, "new-session", "-d", "-x", "110", "-y", "28", "-c", str(folder))
        variables = [f"{name}={value}" for name, value in environment.items() if name not in ("TMUX", "TERM")]
        subprocess.run([*start, "env", "-u", "TMUX", *variables, *command], check=True, env=dict(environment))
        try:
            yield Terminal(tmux)
        finally:
            subprocess.run([*tmux, "kill-server"], capture_output=True, check=False)
