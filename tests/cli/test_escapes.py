"""Whatever a message or a name holds, a reader gets it back, and nothing that it did not say."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from io import StringIO

from hypothesis import given, settings
from hypothesis import strategies as st

from analyzers.report import Edit, Finding, Fix, Place, Raises, Related
from autograd_lsp.cli.formats import concise, github, gitlab, junit, sarif, text
from autograd_lsp.cli.formats.beside import Beside
from autograd_lsp.files.sources import Source
from autograd_lsp.reports.report import Report
from tests.cli.formats import (
    cases_of_junit,
    commands,
    findings_of_gitlab,
    findings_of_sarif,
    message_of_sarif,
    told_to_github,
)  # fmt: skip
from tests.cli.test_formats import clean

NASTY = st.text(st.one_of(st.sampled_from("%:,=\r\n{}[]()<>&\"'\\]]>0DA25\x00\x1b\ufffe\x85\u2028 "), st.characters()))
NAMES = NASTY.filter(lambda name: name.strip("./\0") and not {"/", "\0"} & {*name} and name.isprintable())


def report(message: str, name: str = "a.py") -> Report:
    """One finding that says `message` wherever it can."""
    path = f"/there/{name}"
    place = Place(path, 0, 5)
    finding = Finding(
        "AG104",
        "saved-tensor-modified",
        "error",
        message,
        place,
        Raises(Place(path, 6, 11), "RuntimeError", message, True, False, False),
        None,
        (Related(Place(path, 6, 11), message),),
        (Fix(message, True, (Edit(place, message),)),),
    )
    return Report(Source(name, path), (finding,), texts={path: "x = 1\ny = 2\n"})


@settings(deadline=None)
@given(NASTY, NASTY)
def test_a_workflow_command_is_one_line_and_says_all(title: str, message: str) -> None:
    line = github.command("error", {"file": "a.py", "title": title}, message)
    assert "\n" not in line and "\r" not in line
    assert [*commands(line)] == [("error", {"file": "a.py", "title": told_to_github(title)}, told_to_github(message))]


@settings(deadline=None)
@given(NASTY)
def test_github(message: str) -> None:
    stream = StringIO()
    github.write(stream, [report(message)], Beside())
    [(name, properties, text)] = commands(stream.getvalue().removesuffix("\n"))
    assert (name, properties["file"], properties["title"]) == ("error", "/there/a.py", "AG104 saved-tensor-modified")
    told = told_to_github(message)
    said = f": {told}" if message else ""
    assert text == f"{told}\na.py:2:1: {told}\ntorch raises RuntimeError at line 2{said}\nfix: {told}"


@settings(deadline=None)
@given(NASTY)
def test_gitlab(message: str) -> None:
    stream = StringIO()
    gitlab.write(stream, [report(message)], Beside())
    assert [row[-1] for row in findings_of_gitlab(stream.getvalue())] == [message]


@settings(deadline=None)
@given(NASTY, NAMES)
def test_junit(message: str, name: str) -> None:
    stream = StringIO()
    junit.write(stream, [report(message, name)], Beside(statistics=True))
    assert stream.getvalue().isascii()
    [(suite, case)] = cases_of_junit(stream.getvalue())
    [failure] = case
    assert suite.attrib["name"] == case.attrib["file"] == clean(name)
    assert failure.attrib["message"] == clean(message)
    assert (failure.text or "").count(clean(message)) >= 4


@settings(deadline=None)
@given(NASTY, NAMES)
def test_sarif(message: str, name: str) -> None:
    stream = StringIO()
    sarif.write(stream, [report(message, name)], Beside())
    assert stream.getvalue().isascii()
    [(seen, result)] = findings_of_sarif(json.loads(stream.getvalue()))
    assert (seen.path, seen.message) == (f"/there/{name}", message)
    assert message_of_sarif(result["relatedLocations"][0]["message"]) == message
    assert message_of_sarif(result["fixes"][0]["description"]) == message
    [change] = result["fixes"][0]["artifactChanges"]
    assert change["replacements"][0]["insertedContent"]["text"] == message


@settings(deadline=None)
@given(NASTY, NAMES)
def test_text_holds_nothing_to_obey(message: str, name: str) -> None:
    stream = StringIO()
    text.write(stream, [report(message, name)], Beside())
    lines = stream.getvalue().split("\n")
    assert all(line.isprintable() for line in lines)
    assert lines[0].startswith("error[AG104]: ") and lines[1].removeprefix(" --> ").removeprefix("./").startswith(name)
    assert not any(line.lstrip().startswith("::") for line in lines), "a command to GitHub"


@settings(deadline=None)
@given(NASTY, NAMES)
def test_a_line_holds_nothing_to_obey(message: str, name: str) -> None:
    stream = StringIO()
    concise.write(stream, [report(message, name)], Beside())
    [line, *_] = stream.getvalue().split("\n")
    assert line.isprintable() and line.removeprefix("./").startswith(name)
    assert not line.startswith("::"), "a command to GitHub"


def test_characters_that_xml_has_no_way_to_write_are_left_out() -> None:
    stream = StringIO()
    junit.write(stream, [report("a\x00b\x08c\ud800d\ufffee\x1bf\tg\x7f\x85")], Beside())
    failure = ET.fromstring(stream.getvalue()).find("testsuite/testcase/failure")
    assert failure is not None and failure.attrib["message"] == "abcdef\tg\x7f\x85"
