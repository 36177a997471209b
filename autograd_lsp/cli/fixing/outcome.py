"""What became of the fixes of a check: those that were made, those that were left out, and what was written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from analyzers.report import Finding, Fix


@dataclass(frozen=True, slots=True)
class Wanted:
    """The fix of one finding, with real paths; `path` and `shown` are of the file that the finding is in.

    `line` counts in the text of `round`, from 1: fixes of earlier rounds are in it.
    """

    path: str
    shown: str
    line: int
    round: int
    finding: Finding
    fix: Fix

    def said(self, why: str) -> str:
        return f"{self.shown}:{self.line}: {self.fix.title}: {why}"


BREAKS = "skipped because the file would no longer parse"


@dataclass(frozen=True, slots=True)
class Outcome:
    """`refused` says why by real path; `written` has real paths, and none for a text that came from standard input."""

    applied: Sequence[Wanted]
    skipped: Sequence[Wanted]
    refused: Mapping[str, str]
    written: frozenset[str]
