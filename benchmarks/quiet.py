"""Waiting until a server has nothing more to do.

Who has been answered may still be at work, for itself or for other files, and would then be timed against the next
server's keystroke. Work is CPU time of the process and of those that it has started.
"""

from __future__ import annotations

import asyncio
from time import perf_counter

import psutil

_SHARE = 0.1
"""A process that uses less of one core than this is taken to be idle: most look at the clock now and then."""


class Tree:
    """A process with its descendants, as they were when last looked for."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._all: list[psutil.Process] = []
        self._look()

    async def settled(self, quiet: float = 0.5, patience: float = 120.0) -> bool:
        """Idle for this long; false for one that was not, within the time given."""
        self._look()
        return await self._idle(quiet, patience)

    async def calm(self) -> bool:
        """A short look, for use between two keystrokes."""
        return await self._idle(0.04, 3.0)

    async def _idle(self, quiet: float, patience: float) -> bool:
        begun = perf_counter()
        used, since = self._used(), begun
        while perf_counter() - begun < patience:
            await asyncio.sleep(quiet)
            now_used, now = self._used(), perf_counter()
            # The clock of CPU time ticks in hundredths of a second: one tick says nothing.
            if now_used - used <= max(_SHARE * (now - since), 0.011):
                return True
            used, since = now_used, now
        return False

    def _look(self) -> None:
        try:
            root = psutil.Process(self._pid)
            self._all = [root, *root.children(recursive=True)]
        except psutil.Error:
            # It has ended, which is for the client to say.
            self._all = []

    def _used(self) -> float:
        total = 0.0
        for process in self._all:
            try:
                times = process.cpu_times()
            except psutil.Error:
                continue
            total += times.user + times.system
        return total
