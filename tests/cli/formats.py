"""Each format of `check`, read by a parser that knows nothing of the writer, as the same plain records.

`findings_of_json` reads the format that the others are held against.
"""

from __future__ import annotations

import json
import os
import re
import unicodedata
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote_to_bytes, urlsplit

_COMMAND = re.compile(r"::(?P<name>[a-z]+) (?P<properties>[^:]*)::(?P<message>.*)")
_ESCAPE = re.compile("%(25|0D|0A|3A|2C)")
_URI = re.compile(r"(?:[A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=-]|%[0-9A-F]{2})*")


@dataclass(frozen=True, slots=True)
class Seen:
    """What every format tells of a finding; `message` without what a format adds below or behind it."""

    path: str
    line: int
    code: str
    name: str
    severity: str
    message: str


def findings_of_json(document: Any) -> Iterator[tuple[Seen, Any]]:
    """Each finding, with all that JSON tells of it."""
    for file in document["files"]:
        for finding in file["findings"]:
            words = (finding["code"], finding["name"], finding["severity"], finding["message"])
            yield Seen(file["path"], finding["range"]["start"]["line"], *words), finding


def commands(text: str) -> Iterator[tuple[str, dict[str, str], str]]:
    """The workflow commands in a log, as GitHub documents them: name, properties and message."""
    for line in text.split("\n"):
        if not line.startswith("::"):
            continue
        match = _COMMAND.fullmatch(line)
        assert match, line
        pairs = (pair.partition("=") for pair in match["properties"].split(","))
        yield match["name"], {key: _unescaped(value) for key, _, value in pairs}, _unescaped(match["message"])


def findings_of_github(text: str) -> list[Seen]:
    severities = {"error": "error", "warning": "warning", "notice": "info"}
    return [
        Seen(
            properties["file"],
            int(properties["line"]),
            *properties["title"].split(" "),
            severities[name],
            message.partition("\n")[0],
        )
        for name, properties, message in commands(text)
    ]


def findings_of_sarif(document: Any) -> Iterator[tuple[Seen, Any]]:
    """Each result, with all that SARIF tells of it. References by number have to lead somewhere."""
    (run,) = document["runs"]
    severities = {"error": "error", "warning": "warning", "note": "info"}
    for result in run["results"]:
        rule = run["tool"]["driver"]["rules"][result["ruleIndex"]]
        assert rule["id"] == result["ruleId"]
        (location,) = result["locations"]
        path, region = place_of_sarif(run, location["physicalLocation"])
        message = message_of_sarif(result["message"])
        severity = severities[result["level"]]
        yield Seen(path, region["startLine"], rule["id"], rule["name"], severity, message), result


def place_of_sarif(run: Any, physical: Any) -> tuple[str, Any]:
    """The path and the region of a physical location; the path from the base where that is named."""
    location = physical["artifactLocation"]
    if "index" in location:
        known = run["artifacts"][location["index"]]["location"]
        assert known == {key: value for key, value in location.items() if key != "index"}
    return path_of_sarif(run, location), physical["region"]


def path_of_sarif(run: Any, location: Any) -> str:
    uri = urlsplit(location["uri"])
    assert _URI.fullmatch(location["uri"]), location["uri"]
    path = os.fsdecode(unquote_to_bytes(uri.path))
    if "uriBaseId" in location:
        assert not uri.scheme and not path.startswith(("/", "../")), location
        base = run["originalUriBaseIds"][location["uriBaseId"]]["uri"]
        assert base.startswith("file:///") and base.endswith("/")
        return path
    assert uri.scheme == "file", location
    return path


def message_of_sarif(message: Any) -> str:
    """Without arguments there are no placeholders, so every brace is doubled; no bracket makes a link."""
    text: str = message["text"]
    assert "arguments" not in message
    assert not re.search(r"\[[^\[\]\\]*\]\(", text), text
    assert "{" not in text.replace("{{", "") and "}" not in text.replace("}}", ""), text
    return text.replace("{{", "{").replace("}}", "}").replace("\\](", "](")


def findings_of_gitlab(text: str) -> list[tuple[str, int, str, str, str, str]]:
    """Path, line, code, name, severity and description."""
    return [
        (
            issue["location"]["path"],
            issue["location"]["lines"]["begin"],
            *issue["check_name"].split(" "),
            issue["severity"],
            issue["description"],
        )
        for issue in json.loads(text)
    ]


def cases_of_junit(text: str) -> Iterator[tuple[ET.Element, ET.Element]]:
    """Each case with its suite, once the numbers on the way to it are right."""
    root = ET.fromstring(text)
    assert root.tag == "testsuites"
    for element in (root, *root):
        for key, tag in (("tests", "testcase"), ("failures", "failure"), ("errors", "error")):
            assert int(element.attrib[key]) == len([*element.iter(tag)]), (element.attrib, key)
    for suite in root:
        for case in suite.findall("testcase"):
            assert len(case) <= 1
            yield suite, case


def edited(text: str, edits: list[tuple[Any, str]]) -> str:
    """`text` with regions as SARIF has them replaced; lines end at `\\n`."""
    starts = [0, *(match.end() for match in re.finditer("\n", text))]
    spans = [
        (
            starts[region["startLine"] - 1] + region["startColumn"] - 1,
            starts[region["endLine"] - 1] + region["endColumn"] - 1,
            new,
        )
        for region, new in edits
    ]
    for start, end, new in sorted(spans, reverse=True):
        text = text[:start] + new + text[end:]
    return text


def region_of_json(found: Any) -> dict[str, int]:
    """A range of `--format json` as SARIF writes it."""
    start, end = found["start"], found["end"]
    return {
        "startLine": start["line"],
        "startColumn": start["column"],
        "endLine": end["line"],
        "endColumn": end["column"],
    }


def written(path: str) -> str:
    """A path as it comes out of a stream in UTF-8."""
    return path.encode("utf-8", "backslashreplace").decode("utf-8")


def told_to_github(text: str) -> str:
    """A text with what a terminal obeys replaced; line breaks are escaped and come back."""
    hidden = (unicodedata.category(char) == "Cc" and char not in "\t\r\n" for char in text)
    return "".join("\ufffd" if hide else char for hide, char in zip(hidden, text, strict=True))


def _unescaped(text: str) -> str:
    return _ESCAPE.sub(lambda match: chr(int(match[1], 16)), text)
