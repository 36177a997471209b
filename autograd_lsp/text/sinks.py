"""Text on its way out, one function for each sink: whatever a checkout contains is shown there, and never obeyed.

    printable        a terminal, a log, a label of a picture
    first_printable  the same where a line begins with it
    json_of          JSON, XML: see `xml_of`
    prose            Markdown; `fenced` for a block of it
    notice           a message that an editor pops up

A runner of GitHub Actions reads all that a step prints. It obeys lines that begin with `::`, and whatever follows `##[`
anywhere in a line (`ActionCommand.cs` in actions/runner).
"""

from __future__ import annotations

import json
import re
from typing import Any

_TAB = "    "
_UNKNOWN = "\N{REPLACEMENT CHARACTER}"
_OBEYED = "##["
_LINE_OF_COMMAND = re.compile(r"^(\s*):(?=:)", re.MULTILINE)

_CODE = re.compile(r"`([^`]+)`")
_MARKUP = re.compile(r"[\\`*\[\]<]|&(?=#?\w)|(?<!\w)_|_(?!\w)|(?<=:)/(?=/)|(?<=www)\.")


def printable(text: str) -> str:
    """On one line, tabs as spaces, without what moves the cursor, colours, hides or turns text around."""
    shown = "".join(_TAB if char == "\t" else char if char.isprintable() else _UNKNOWN for char in text)
    return shown.replace(_OBEYED, _OBEYED[:-1] + _UNKNOWN)


def first_printable(path: str) -> str:
    """A path that a line begins with: `./::error::.py` is the same file, and no command."""
    shown = printable(path)
    return f"./{shown}" if shown.lstrip().startswith("::") else shown


def json_of(document: Any, indent: int | None = 1) -> str:
    """JSON in ASCII, which holds no control characters; a bracket that a runner would obey is written by its number."""
    return json.dumps(document, indent=indent).replace(_OBEYED, r"##\u005b")


def xml_of(document: str) -> str:
    """XML that is written already: characters that a runner would obey become references to themselves."""
    return _LINE_OF_COMMAND.sub(r"\1&#58;", document.replace("\r", "&#13;")).replace(_OBEYED, "##&#91;")


def prose(text: str) -> str:
    """Words with code between backticks, as Markdown that holds no links, images or HTML.

    Code that has a backtick in it may end early; what follows it is words then, and as harmless.
    """
    parts: list[str] = []
    at = 0
    line = " ".join(text.split("\n"))
    for code in _CODE.finditer(line):
        between = _escaped(line[at : code.start()])
        parts += [between or " " * bool(at), f"`{printable(code[1])}`"]
        at = code.end()
    return "".join([*parts, _escaped(line[at:])])


def fenced(text: str) -> str:
    """Lines as a block of Markdown, with a fence longer than any in them."""
    longest = max(map(len, re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{text}\n{fence}"


def notice(text: str) -> str:
    """VS Code makes links of `[text](command:...)`, even in what it pops up as plain text."""
    return "\n".join(map(printable, text.split("\n"))).replace("](", "] (")


def _escaped(words: str) -> str:
    return _MARKUP.sub(lambda found: f"\\{found[0]}", printable(words))
