"""What a cell says beside Python: magics, shell commands and questions, turned into Python that does nothing.

    %matplotlib inline          0
    x = !ls                     x = get_ipython()         of which nothing is known
    %time loss.backward()       0;    loss.backward()
    tensor.add_?                0

Lines stay lines, and what is Python keeps its columns. A cell that Jupyter would refuse as a whole, as a bracket in it
is never closed, has no Python: its text must not run on into the next one.
"""

from __future__ import annotations

import re

_PYTHON_BODIES = frozenset({"capture", "debug", "ipytest", "prun", "time"})
"""Cell magics that run what is below them once, in the notebook's own namespace."""

_CELL_MAGIC = re.compile(r"\s*%%(\w*)[^\n]*\n?")
_LINE_MAGIC = re.compile(r"[%!?,;/]")
_TIMED = re.compile(r"%time[ \t]+(?=\S)")
_QUESTION = re.compile(r"%{0,2}[^\W\d][\w.*]*(?:\[[^\]\n]*\][\w.*]*)*\?{1,2}[ \t]*$", re.MULTILINE)
_ASSIGNED = re.compile(r"[^\W\d][^=#'\"\n]*(?<![-+*/%@&|^<>!:=])=[ \t]*(?=[!%])")
_SPACE = re.compile(r"[ \t\f]*")
_REST = re.compile(r"(?:[^\\\n]|\\\n?)*\n?")
_LINE_BREAK = re.compile(r"\r\n|\n|\r")
_TOKEN = re.compile(r"#[^\n]*|\"\"\"|'{3}|\"|'|[(\[{]|[)\]}]|\\.?|\n", re.DOTALL)
_SHORT_STRING = {quote: re.compile(rf"(?:[^{quote}\\\n]|\\.)*{quote}?", re.DOTALL) for quote in ("'", '"')}


def as_python(cell: str) -> str | None:
    """The cell as Python; None where it is none. Its lines end in newlines alone."""
    done = ""
    text = _LINE_BREAK.sub("\n", cell)
    while (magic := _CELL_MAGIC.match(text)) is not None:
        if magic[1] not in _PYTHON_BODIES:
            return None
        done += _blank(magic[0])
        text = text[magic.end() :]
    body = _body(text)
    return None if body is None else done + body


def _body(text: str) -> str | None:
    parts: list[str] = []
    at = 0
    while at < len(text):
        begin = _end(_SPACE, text, at)
        escaped = _escaped(text, begin)
        if escaped is not None:
            parts.append(text[at:begin] + escaped)
            at = _end(_REST, text, begin)
            continue
        timed = _TIMED.match(text, begin)
        start = timed.end() if timed is not None else at
        if timed is not None:
            parts.append(text[at:begin] + "0;".ljust(start - begin))
        end = _statement_end(text, start)
        if end is None:
            return None
        parts.append(text[start:end])
        at = end
    return "".join(parts)


def _escaped(text: str, begin: int) -> str | None:
    """What stands for a line that IPython takes for itself, as far as backslashes lead; None for Python."""
    if _TIMED.match(text, begin) is not None:
        return None
    rest = text[begin : _end(_REST, text, begin)]
    if _LINE_MAGIC.match(rest) is not None or _QUESTION.match(rest) is not None:
        return "0" + _blank(rest)
    assigned = _ASSIGNED.match(rest)
    if assigned is not None:
        return assigned[0] + "get_ipython()" + _blank(rest[assigned.end() :])
    return None


def _statement_end(text: str, at: int) -> int | None:
    """Where the logical line ends that begins at `at`; None where its brackets or its string are never closed."""
    depth = 0
    while (token := _TOKEN.search(text, at)) is not None:
        word, at = token[0], token.end()
        if word in "([{":
            depth += 1
        elif word in ")]}":
            depth = max(depth - 1, 0)
        elif word in ('"""', "'''"):
            close = _long_string_end(text, at, word)
            if close is None:
                return None
            at = close
        elif word in ("'", '"'):
            at = _end(_SHORT_STRING[word], text, at)
        elif word == "\n" and depth == 0:
            return at
        elif word[0] == "\\" and at == len(text):
            return None
    return None if depth else len(text)


def _long_string_end(text: str, at: int, quotes: str) -> int | None:
    while (close := text.find(quotes, at)) >= 0:
        backslashes = len(text[at:close]) - len(text[at:close].rstrip("\\"))
        if backslashes % 2 == 0:
            return close + 3
        at = close + 1
    return None


def _blank(text: str) -> str:
    """The line breaks of a text alone."""
    return "\n" * text.count("\n")


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    return at if found is None else found.end()
