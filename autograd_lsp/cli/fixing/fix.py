"""Applies safe fixes until none is left: first in memory, then on disk, in all files at once.

Each round checks the texts as they are by now, and makes all fixes that go together. What is written is what the last
round has nothing more to mend in; a killed process leaves files as they were, or finished.

A file is *refused* where it cannot be changed, and from then on no fix that would change it is made. As fixes elsewhere
may rest on its fixes, all begins anew from the disk when a file turns out late to be one.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from analyzers.program.disk import read_regular_file
from analyzers.report import Edit, Fix
from autograd_lsp.cli.checked import Checked
from autograd_lsp.cli.fixing.files import File, RefusedError, open_file
from autograd_lsp.cli.fixing.outcome import BREAKS, Outcome, Wanted
from autograd_lsp.config import Configuration, is_below
from autograd_lsp.files.sources import Source, shown_path
from autograd_lsp.process.drafts import CHANGED, replace_all
from autograd_lsp.reports.report import Texts
from autograd_lsp.text.edits import compatible, safe_fix
from autograd_lsp.text.words import plural

LEADS_OUT = "it is a link to a file outside of the folder"
_ROUNDS = 20
"""More than fixes that lead to others take; what is not done by then goes round in circles."""


@dataclass(frozen=True, slots=True)
class Change:
    shown: str
    old: bytes
    new: bytes


@dataclass(frozen=True, slots=True)
class Fixed:
    """`checked` is what remains."""

    checked: Checked
    changes: tuple[Change, ...]
    complaints: tuple[str, ...]
    """Files and fixes that were left out, and why."""
    stdin: bytes | None
    """Where the text came from standard input: what it is now."""
    outcome: Outcome

    @property
    def count(self) -> int:
        return len(self.outcome.applied)

    @property
    def said(self) -> str:
        return f"{plural(self.count, 'finding')} in {plural(len(self.changes), 'file')}"


def make_fixes(
    check: Callable[[Mapping[str, str]], Checked],
    sources: Sequence[Source],
    configuration: Configuration,
    *,
    write: bool,
) -> Fixed:
    """`check` is given texts that count instead of the files', by real path.

    A link that leads out of the folder in which it was found is not written through: a checkout may bring along one
    to any file of the user's.
    """
    own: dict[str, Source] = {}
    elsewhere: dict[str, Source] = {}
    for source in sources:
        path = os.path.realpath(source.path)
        if path == source.path or not configuration.excludes(path):
            found = own if source.folder is None or is_below(path, os.path.realpath(source.folder)) else elsewhere
            found.setdefault(path, source)
    refused = {path: LEADS_OUT for path in elsewhere if path not in own}
    own = {**elsewhere, **own}
    stdin = next((source for source in sources if source.text is not None), None)
    write = write and stdin is None
    before: dict[str, Change] = {}
    applied: list[Wanted] = []
    while True:
        work = _Work(own, refused)
        checked = work.settle(check)
        if checked is None:
            continue
        changes = work.changes()
        late = replace_all({path: (c.old, c.new) for path, c in changes.items()}) if write else {}
        if not late:
            break
        refused.update(late)
        there = {path: change for path, change in changes.items() if _is_there(path, change)}
        before = _after(before, there)
        applied += [one for one in work.applied if not there.keys().isdisjoint(_paths(one.fix))]
    changes = _after(before, changes)
    applied += work.applied
    left = dict.fromkeys(one.said(BREAKS) for one in work.skipped)
    complaints = [*(f"{own[path].shown} is left unchanged: {why}" for path, why in refused.items()), *left]
    now = None
    if stdin is not None:
        now = next((change.new for change in changes.values()), stdin.data)
    outcome = Outcome(applied, work.skipped, refused, frozenset(changes if write else ()))
    return Fixed(checked, tuple(changes.values()), tuple(complaints), now, outcome)


def _is_there(path: str, change: Change) -> bool:
    """Whether a change was made on the disk, although another of the same time could not be."""
    try:
        return read_regular_file(path) == change.new
    except OSError:
        return False


def _after(before: Mapping[str, Change], changes: Mapping[str, Change]) -> dict[str, Change]:
    """What two rounds of writing come to."""
    both = {path: replace(now, old=before[path].old) if path in before else now for path, now in changes.items()}
    return {**before, **both}


@dataclass(slots=True)
class _Work:
    """One way from the disk to texts in which nothing is left to mend; `own` and `refused` are by real path."""

    own: Mapping[str, Source]
    refused: dict[str, str]
    files: dict[str, File] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    """What files say by now."""
    applied: list[Wanted] = field(default_factory=list)
    skipped: list[Wanted] = field(default_factory=list)
    """Fixes that the last round has left out."""

    def settle(self, check: Callable[[Mapping[str, str]], Checked]) -> Checked | None:
        """What is found when all is done; None if it goes on and on, and the files where it does are refused."""
        changed: Collection[str] = ()
        for count in range(1, _ROUNDS + 1):
            checked = check(self.texts)
            before = len(self.refused)
            changed = self.make(checked, count)
            # What was found in a file that is another one by now holds no longer.
            if not changed and CHANGED not in [*self.refused.values()][before:]:
                return checked
        self.refused.update(dict.fromkeys(changed, f"its fixes kept leading to new ones, {_ROUNDS} times in a row"))
        return None

    def make(self, checked: Checked, count: int) -> Collection[str]:
        """Make the fixes of one round, the `count`th; the files that are other ones now."""
        wanted: list[Wanted] = []
        for report in checked.reports:
            places, source = Texts(report), report.source
            for finding in report.findings:
                fix = safe_fix(finding)
                if fix is not None and self.may_make(fix, report.texts, checked.unsteady):
                    line = places.spot(finding.place).begins.line
                    wanted.append(Wanted(source.path, source.shown, line, count, finding, _resolved(fix)))
        good, bad, texts = self.together([one.fix for one in wanted])
        self.skipped = [one for one in wanted if one.fix in bad]
        new = {path: text for path, text in texts.items() if text != self.text(path)}
        if new:
            taken = {*good}
            self.applied += [one for one in wanted if one.fix in taken]
            self.texts.update(new)
        return new

    def may_make(self, fix: Fix, texts: Mapping[str, str], unsteady: Collection[str]) -> bool:
        return all(self.may_change(edit.place.path, texts, unsteady) for edit in fix.edits)

    def may_change(self, path: str, texts: Mapping[str, str], unsteady: Collection[str]) -> bool:
        """`texts` are those that the edits were found in."""
        real = os.path.realpath(path)
        if real not in self.own or real in self.refused:
            return False
        try:
            if real not in self.files:
                self.files[real] = open_file(real, self.own[real])
            if path in unsteady or texts.get(path) != self.files[real].program(self.text(real)):
                raise RefusedError(CHANGED)
        except RefusedError as error:
            self.refused[real] = str(error)
            return False
        return True

    def text(self, path: str) -> str:
        known = self.texts.get(path)
        return self.files[path].text if known is None else known

    def together(self, fixes: Sequence[Fix]) -> tuple[list[Fix], list[Fix], dict[str, str]]:
        """Those that are made, those that break a file, and what texts come to."""
        good, edits = compatible(fixes)
        made = self.made(edits)
        broken = {path for path, text in made.items() if text is None}
        doubtful = [fix for fix in good if broken & _paths(fix)]
        good = [fix for fix in good if fix not in doubtful]
        bad: list[Fix] = []
        for fix in doubtful:
            trial, edits = compatible([*good, fix])
            if None in self.made(edits, _paths(fix)).values():
                bad.append(fix)
            else:
                good = trial
        texts = self.made(compatible(good)[1]) if doubtful else made
        return good, bad, {path: text for path, text in texts.items() if text is not None}

    def made(self, edits: Sequence[Edit], paths: Collection[str] | None = None) -> dict[str, str | None]:
        """The texts of files, or of some of them, after edits; None for one that is no program any more."""
        by_path: dict[str, list[Edit]] = {}
        for edit in edits:
            if paths is None or edit.place.path in paths:
                by_path.setdefault(edit.place.path, []).append(edit)
        return {path: self.after(path, there) for path, there in by_path.items()}

    def after(self, path: str, edits: Sequence[Edit]) -> str | None:
        return self.files[path].after(self.text(path), edits)

    def changes(self) -> dict[str, Change]:
        changes: dict[str, Change] = {}
        for path, text in sorted(self.texts.items()):
            file, source = self.files[path], self.own[path]
            shown = shown_path(path) if os.path.islink(source.path) else source.shown
            if text != file.text:
                changes[path] = Change(shown, file.data, file.encoded(text))
        return changes


def _paths(fix: Fix) -> set[str]:
    return {edit.place.path for edit in fix.edits}


def _resolved(fix: Fix) -> Fix:
    """The same with real paths: a file that is found under two names is one."""
    edits = (replace(edit, place=replace(edit.place, path=os.path.realpath(edit.place.path))) for edit in fix.edits)
    return replace(fix, edits=tuple(edits))
