"""What was found is kept on the disk, so that the first answer of the next server takes no run.

`check` and the server keep it at the same place. What was recalled is all that its file shows; the runs follow at
leisure, so that the first edit takes no longer than any other.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

from analyzers.program.disk import read_from_disk
from analyzers.report import Choice, Finding
from autograd_lsp.config import Configuration
from autograd_lsp.environment import Environment, cache_lies_below, fingerprint
from autograd_lsp.reports.cache import Cache
from autograd_lsp.reports.report import in_order
from autograd_lsp.server.app import AutogradServer

if TYPE_CHECKING:
    from analyzers.host import Snapshot

logger = logging.getLogger(__name__)

_PAUSE = 1.0
"""Seconds after an answer in which others come first."""


class Keeper:
    """Asked on the thread of the analyses alone."""

    def __init__(
        self, configuration: Configuration, environment: Environment, folders: Callable[[], list[str]]
    ) -> None:
        """`folders` are those of the workspace. In the first, the environment is looked for, once."""
        self._configuration = configuration
        self._environment = environment
        self._folders = folders
        self._fingerprint = cache(lambda: fingerprint(configuration.python(folders()[0]), folders()[0]))
        self._kept: dict[str, bytes] = {}
        """Digests of the texts for which all was kept that is found."""

    def recall(
        self,
        path: str,
        read: Callable[[str], bytes | None],
        choose: Callable[[str], Choice],
        together: Callable[[], frozenset[str]],
    ) -> tuple[Finding, ...] | None:
        if self._is_own_cache():
            return None
        kept = self._cache(read, choose, together).kept(path)
        return None if kept is None else kept[0]

    def look_after(self, snapshot: Snapshot, path: str) -> None:
        """Keep what is found in a file as the disk has it; where that was recalled, run it."""
        text = snapshot.source(path)
        if text is None or self._configuration.excludes(path) or read_from_disk(path) != text:
            return
        environment, was_settled = self._environment, self._environment.is_settled
        grounds = snapshot.grounds(path)
        if grounds is None:
            snapshot.facts(path)
            return
        digest = hashlib.blake2b(text).digest()
        if grounds.looks_together or self._kept.get(path) == digest or self._is_own_cache():
            return
        told = in_order(snapshot.findings(path)), snapshot.backwards(path)
        is_open = environment.has_failed or not (was_settled and environment.is_settled)
        disk = self._cache(read_from_disk, self._configuration.choice, frozenset)
        entry = disk.entry(path, told, snapshot, is_open=is_open)
        if entry:
            disk.put(path, entry)
            self._kept[path] = digest

    def _is_own_cache(self) -> bool:
        """Whether the workspace could have brought the entries."""
        return cache_lies_below(self._folders())

    def _cache(
        self,
        read: Callable[[str], bytes | None],
        choose: Callable[[str], Choice],
        together: Callable[[], frozenset[str]],
    ) -> Cache:
        return Cache(read, choose, together, self._fingerprint, self._environment.torch_release)


def register(server: AutogradServer, keeper: Keeper) -> None:
    """Called while initializing."""
    under_way: dict[str, asyncio.Task[None]] = {}

    def answered(path: str) -> None:
        if path not in under_way:
            under_way[path] = asyncio.get_running_loop().create_task(look_after(path))

    async def look_after(path: str) -> None:
        try:
            await asyncio.sleep(_PAUSE)
            await server.ask_at_leisure(lambda snapshot, _: keeper.look_after(snapshot, path))
        except Exception:
            logger.exception("what was found in %s is not kept", path)
        finally:
            del under_way[path]

    server.when_answered.append(answered)
