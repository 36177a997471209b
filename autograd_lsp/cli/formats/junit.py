"""Findings as JUnit's XML: a suite for each file, and a case for each finding, or one that says there is none.

A case fails where its finding fails the check; a file that cannot be read, or not be analysed, is an error. Other
findings are what a passing case printed.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from typing import TextIO

from analyzers.report import Finding
from autograd_lsp.cli.formats.beside import Beside
from autograd_lsp.cli.formats.regions import Regions
from autograd_lsp.cli.formats.wording import Wording, count_by_rule
from autograd_lsp.reports.levels import fails
from autograd_lsp.reports.report import Report, Texts
from autograd_lsp.text.sinks import xml_of

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML 1.0 has no way to write."""


def write(stream: TextIO, reports: Sequence[Report], beside: Beside) -> None:
    suites = [_suite(report, beside.statistics, beside.fail_on) for report in reports]
    root = ET.Element("testsuites", {"name": "autograd-lsp", **_totals(suites)})
    root.extend(suites)
    ET.indent(root, " ")
    # What is not ASCII is written by number, so that the encoding of the stream does not matter.
    stream.write(xml_of(ET.tostring(root, encoding="us-ascii", xml_declaration=True).decode("ascii")) + "\n")


def _suite(report: Report, statistics: bool, fail_on: str) -> ET.Element:
    suite = ET.Element("testsuite", name=_xml(report.source.shown))
    if statistics and report.findings:
        properties = ET.SubElement(suite, "properties")
        for row in count_by_rule([report]):
            ET.SubElement(properties, "property", name=f"{row['code']} {row['name']}", value=str(row["count"]))
    texts = Texts(report)
    words, regions = Wording(report, texts), Regions(report, texts)
    for finding in report.findings:
        line = regions.of(finding.place).begins.line
        _case(suite, report, finding, line, words, fail_on)
    if report.failure == "internal":
        case = ET.SubElement(suite, "testcase", _names(report, "internal error"))
        problem = ET.SubElement(case, "error", message="internal error", type="internal")
        problem.text = _xml(report.traceback)
    elif not report.findings:
        ET.SubElement(suite, "testcase", _names(report, "no findings"))
    counts = {tag: len(suite.findall(f"testcase/{tag}")) for tag in ("failure", "error")}
    suite.set("tests", str(len(suite.findall("testcase"))))
    suite.set("failures", str(counts["failure"]))
    suite.set("errors", str(counts["error"]))
    return suite


def _case(suite: ET.Element, report: Report, finding: Finding, line: int, words: Wording, fail_on: str) -> None:
    where = words.where(finding.place)
    name = f"{finding.code} {finding.name} at {where.removeprefix(report.source.shown + ':')}"
    case = ET.SubElement(suite, "testcase", {**_names(report, name), "line": str(line)})
    told = "\n".join([f"{where}: {finding.severity}[{finding.code}] {finding.message}", *words.details(finding)])
    kind = "error" if report.failure == "unreadable" else "failure" if fails(finding, fail_on) else None
    if kind is None:
        ET.SubElement(case, "system-out").text = _xml(told)
    else:
        problem = ET.SubElement(case, kind, message=_xml(finding.message), type=finding.severity)
        problem.text = _xml(told)


def _names(report: Report, name: str) -> dict[str, str]:
    shown = _xml(report.source.shown)
    return {"name": _xml(name), "classname": shown, "file": shown}


def _totals(suites: Sequence[ET.Element]) -> dict[str, str]:
    return {key: str(sum(int(suite.get(key, "0")) for suite in suites)) for key in ("tests", "failures", "errors")}


def _xml(text: str) -> str:
    return _NOT_XML.sub("", text)
