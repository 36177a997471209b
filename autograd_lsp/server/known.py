"""Findings that a project's baseline records: an editor shows them as little as `check` reports them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from analyzers.program.disk import read_regular_file
from analyzers.report import Finding, Sighting
from autograd_lsp.config import Configuration
from autograd_lsp.process.exits import UsageError
from autograd_lsp.reports.baseline import Baseline, entries, read_baseline, with_entry
from autograd_lsp.reports.fingerprints import relative_path

if TYPE_CHECKING:
    from analyzers.host import Snapshot


class KnownFindings:
    """The baselines in use, each read anew once it has changed. `tell` is told what is wrong with one."""

    def __init__(self, configuration: Configuration, tell: Callable[[str], None]) -> None:
        self._configuration = configuration
        self._tell = tell
        self._read: dict[str, tuple[object, Baseline | None]] = {}

    @property
    def files(self) -> Iterable[str]:
        """The paths of the baselines that have been asked for."""
        return self._read.keys()

    def baseline_of(self, path: str) -> Baseline | None:
        """The one that counts for a file. One that cannot be read records nothing."""
        shown = self._configuration.baseline(os.path.dirname(path))
        if shown is None:
            return None
        stamp = _stamp(shown)
        known = self._read.get(shown)
        if known is None or known[0] != stamp:
            known = self._read[shown] = (stamp, self._fresh(shown))
        return known[1]

    def new(self, snapshot: Snapshot, sightings: Iterable[Sighting]) -> list[Sighting]:
        """Without those of findings that are recorded."""
        sightings = list(sightings)
        paths = {one.finding.place.path for one in sightings}
        recorded = {finding for path in paths for finding in self._recorded(snapshot, path)}
        return [one for one in sightings if one.finding not in recorded]

    def recording(self, snapshot: Snapshot, finding: Finding) -> tuple[str, str, str] | None:
        """The path of the baseline, its text, and that text with a finding more. None where there is no baseline."""
        path = finding.place.path
        baseline = self.baseline_of(path)
        if baseline is None:
            return None
        own = _findings(snapshot, path)
        made = dict(zip(own, entries(own, snapshot.text, baseline.folder), strict=True))
        try:
            text = read_regular_file(baseline.shown).decode("utf-8")
        except (OSError, ValueError):
            return None
        after = with_entry(text, relative_path(path, baseline.folder), made[finding]) if finding in made else None
        return None if after is None else (baseline.shown, text, after)

    def _recorded(self, snapshot: Snapshot, path: str) -> Iterable[Finding]:
        baseline = self.baseline_of(path)
        known = baseline.files.get(relative_path(path, baseline.folder)) if baseline is not None else None
        if baseline is None or not known:
            return ()
        own = _findings(snapshot, path)
        made = entries(own, snapshot.text, baseline.folder)
        return [finding for finding, entry in zip(own, made, strict=True) if entry["fingerprint"] in known]

    def _fresh(self, shown: str) -> Baseline | None:
        try:
            return read_baseline(shown)
        except UsageError as error:
            self._tell(str(error))
            return None


def _findings(snapshot: Snapshot, path: str) -> list[Finding]:
    """Those whose cause lies in a file, wherever they are raised."""
    return [one.finding for one in snapshot.sightings(path) if one.place == one.finding.place]


def _stamp(path: str) -> object:
    """Another one once the file has changed."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino
