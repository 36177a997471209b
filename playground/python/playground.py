"""What the page asks, answered as JSON: findings, cards and graphs of one program that lies in no file.

Places are offsets as JavaScript counts them, in UTF-16 code units.
"""

from __future__ import annotations

import json
from typing import Any

from analyzers.host import Host
from analyzers.report import Finding, Fix, Place
from autograd_lsp.cli.commands.graph import find, render
from autograd_lsp.cli.formats.wording import Wording
from autograd_lsp.cli.places import Location
from autograd_lsp.files.sources import Source
from autograd_lsp.render.card import card_plaintext
from autograd_lsp.reports.report import Report, Texts, in_order
from autograd_lsp.text.positions import LineIndex
from autograd_lsp.text.urls import rule_page

PATH = "/program.py"
SOURCE = Source("program.py", PATH)

_host = Host(lambda path: None)


def check(text: str) -> str:
    """The findings in a program, which the other questions are about from now on, and how far it is understood."""
    _host.set_text(PATH, text)
    snapshot = _host.snapshot()
    findings = in_order(snapshot.findings(PATH))
    backwards = snapshot.backwards(PATH)
    encoder = _Encoder(Report(SOURCE, findings, backwards=backwards, texts={PATH: text}))
    doubtful = [
        {**encoder.place(one.place), "grasp": one.grasp, "about": one.about}
        for one in backwards
        if one.grasp != "followed"
    ]
    told = {"findings": [encoder.finding(finding) for finding in findings], "backwards": doubtful}
    return json.dumps({**told, "count": len(backwards)})


def hover(offset: int) -> str:
    """The card of what stands at an offset."""
    snapshot = _host.snapshot()
    text = snapshot.text(PATH)
    card = snapshot.card(PATH, len(_before(text, offset).encode()))
    if card is None:
        return "null"
    index = LineIndex(text)
    said = card_plaintext(card, (), lambda place: f"line {index.position(place.start).line}")
    return json.dumps({"text": said, **_Encoder(Report(SOURCE, texts={PATH: text})).place(card.place)})


def graph(line: int) -> str:
    """The picture of the graph of what a line is about."""
    snapshot = _host.snapshot()
    found = find(snapshot, PATH, Location(SOURCE.shown, line, None))
    return json.dumps(None if found is None else {"name": found.name, "svg": render(found, "svg", snapshot, SOURCE)})


class _Encoder:
    def __init__(self, report: Report) -> None:
        self.data = report.texts[PATH].encode("utf-8", "surrogateescape")
        self.texts = Texts(report)
        self.words = Wording(report, self.texts)

    def finding(self, finding: Finding) -> dict[str, Any]:
        return {
            **self.place(finding.place),
            "code": finding.code,
            "name": finding.name,
            "url": rule_page(finding.name),
            "severity": finding.severity,
            "message": finding.message,
            "raises": None if finding.raises is None else self.words.raises(finding.raises),
            "assumes": self.words.assumed(finding) if finding.assumes else None,
            "related": [{**self.place(step.place), "message": step.message} for step in finding.related],
            "fixes": [self.fix(fix) for fix in finding.fixes],
        }

    def fix(self, fix: Fix) -> dict[str, Any]:
        return {"title": fix.title, "edits": [{**self.place(edit.place), "text": edit.text} for edit in fix.edits]}

    def place(self, place: Place) -> dict[str, int]:
        start, end = self._units(place.start), self._units(place.end)
        return {"from": start, "to": end, "line": self.texts.spot(place).begins.line}

    def _units(self, offset: int) -> int:
        return len(self.data[:offset].decode("utf-8", "surrogateescape").encode("utf-16-le", "surrogatepass")) // 2


def _before(text: str, units: int) -> str:
    """The text in front of an offset."""
    return text.encode("utf-16-le", "surrogatepass")[: 2 * units].decode("utf-16-le", "replace")
