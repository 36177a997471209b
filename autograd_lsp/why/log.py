"""Extracts tracebacks from any text: a log, or the output of a notebook, of pytest or of a cluster.

A traceback is a sequence of *frames* and the line of its exception. Whatever precedes `  File "train.py", line 3` on a
line is its *prefix* - a time, a rank, the border of an exception group - and is removed from the lines below, where its
digits may differ. Four kinds are read: Python's own, IPython's, rich's and pytest's; anything in between is skipped.

    [rank0]: Traceback (most recent call last):
    [rank0]:   File "train.py", line 9, in main        Frame("train.py", 9, "main", "loss.backward()")
    [rank0]:     loss.backward()
    [rank0]:     ~~~~~~~~~~~~~^^
    [rank0]: RuntimeError: element 0 of tensors ...    Raised("RuntimeError", "element 0 of tensors ...", ...)

Reading takes time linear in the length of the text: overlong lines are cut, and no pattern looks beyond its line.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

_LONGEST_LINE = 4_000
_MOST_MESSAGE_LINES = 12
_MOST_NOISE = 20
"""Lines of somebody else between those of one traceback."""
_MOST_FRAMES = 200
"""Of one traceback: its first and its last ones. A recursion, or a log that was made up, has more."""
_MOST_AROUND = 100
"""The numbered lines of one frame."""

_ANSI = re.compile(r"\x1b(?:\[[0-9;:?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[()][0-9A-B]|[@-Z=>])")
_NUMBERS = re.compile(r"[0-9]+")
_MARKERS = re.compile(r"[\s~^]*")

_HEADER = "Traceback (most recent call last)"
_FORWARD = re.compile(r"Error detected in (\w+)\. Traceback of forward call that caused the error:")
_PYTHON_FRAME = re.compile(r'( *)File "([^"]+)", line ([0-9]{1,9})(?:, in (.*))?$')
_EXCEPTION = re.compile(r"((?:[^\W\d]\w*\.)*[^\W\d]\w*)(?:: ?(.*))?$")
_SOUNDS_LIKE_ONE = re.compile(r"[A-Z]\w*[a-z]\w*$")
_CHAINED = (
    "The above exception was the direct cause of the following exception:",
    "During handling of the above exception, another exception occurred:",
)

_CELL_FRAME = re.compile(r"(?:Cell |Input )?In ?\[([0-9]+|\*| )\](?:, line ([0-9]{1,9}))?(?:, in (.*))?$")
_FILE_FRAME = re.compile(r"File (.+):([0-9]{1,9})(?:, in (.*))?$")
_OLD_FRAME = re.compile(r"(\S.*) in (<?[^\W\d].*[)>])$")
_NUMBERED = re.compile(r"(-*>)? *([0-9]{1,9})(?: (.*))?$")

_RICH_FRAME = re.compile(r"(\S.*):([0-9]{1,9}) in (\S.*)$")
_RICH_LINE = re.compile(r"(❱)? *([0-9]{1,9}) (.*)$")

_PYTEST_FRAME = re.compile(r"(\S.*):([0-9]{1,9}):(?: (?:in (\S.*)|([^\W\d]\w*)))?$")


@dataclass(frozen=True, slots=True)
class Frame:
    """One step of a traceback. `text` is the source line as far as it is told, `around` the numbered lines beside it.

    `cell` is what Jupyter counts in `In[3]`; such a frame has no path.
    """

    path: str
    line: int
    function: str = ""
    text: str = ""
    cell: str | None = None
    around: tuple[tuple[int, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Raised:
    """One exception. `frames` go from the program's entry inwards; `forward` is what anomaly mode adds.

    `outer` are the frames of those that were raised because of it, or while it was handled: its way from the entry.
    """

    exception: str
    message: str
    below: str = ""
    """The lines below the message, which a terminal may have wrapped."""
    frames: tuple[Frame, ...] = ()
    forward: tuple[Frame, ...] = ()
    node: str | None = None
    """The node whose gradient failed, as anomaly mode says it."""
    outer: tuple[Frame, ...] = ()


def read_log(text: str) -> tuple[Raised, ...]:
    """Every exception that the text tells of, in its order."""
    return tuple(_with_outer(_Reader(clean_lines(text)).read()))


def clean_lines(text: str) -> list[str]:
    """Without colours, and with the lines that progress bars paint over each other apart."""
    plain = _ANSI.sub("", text) if "\x1b" in text else text
    return [line[:_LONGEST_LINE].rstrip() for line in re.split(r"\r\n|\n|\r", plain)]


@dataclass(frozen=True, slots=True)
class _Told:
    raised: Raised
    follows: bool
    """Whether the text says that the exception before led to this one."""


def _with_outer(told: Sequence[_Told]) -> list[Raised]:
    """From the last one back, as each chain ends in the exception whose frames its others lack."""
    found: list[Raised] = []
    outer: tuple[Frame, ...] = ()
    follows = False
    for item in reversed(told):
        outer = outer if follows else ()
        found.append(replace(item.raised, outer=outer))
        outer = outer if follows else item.raised.frames
        follows = item.follows
    return found[::-1]


class _Reader:
    def __init__(self, lines: list[str]) -> None:
        self.lines = lines
        self.at = 0
        self.forward: tuple[Frame, ...] = ()
        self.node: str | None = None
        self.follows = False
        self.told: list[_Told] = []

    def read(self) -> list[_Told]:
        while self.at < len(self.lines):
            line = self.lines[self.at]
            self.at += 1
            if _HEADER in line:
                self._after_header(line)
            elif 'File "' in line and (found := _frame_in(line)) is not None:
                # The top of it is cut off.
                self.at -= 1
                self._python(found)
            elif "Traceback of forward call" in line and (forward := _FORWARD.search(line)) is not None:
                self._anomaly(forward[1])
            elif any(words in line for words in _CHAINED):
                self.follows = True
            elif line[:2] in ("> ", "E ") or (line[:1] not in " \t" and _PYTEST_FRAME.match(line) is not None):
                self._pytest(line)
        return self.told

    def _after_header(self, line: str) -> None:
        before = line[: line.index(_HEADER)]
        if "╭" in before:
            self._rich()
            return
        words = before.split()
        if words and _EXCEPTION.match(words[-1]) and before.endswith("  ") and not before.startswith(" "):
            self._ipython(before[: before.index(words[-1])])
            return
        self._python(before)

    def _python(self, prefix: str) -> None:
        frames = self._python_frames(prefix)
        if not frames and self.at < len(self.lines) and (found := _frame_in(self.lines[self.at])) is not None:
            prefix = found
            frames = self._python_frames(prefix)
        noise = 0
        while self.at < len(self.lines) and noise <= _MOST_NOISE:
            line = self.lines[self.at]
            if _HEADER in line or _FORWARD.search(line) is not None:
                return
            body = _unprefixed(line, prefix)
            name = _exception_of(body)
            if name is not None:
                self.at += 1
                self._tell(*name, frames, self._below(prefix))
                return
            noise += 1
            self.at += 1
            frames += self._python_frames(prefix)

    def _python_frames(self, prefix: str) -> list[Frame]:
        frames: list[Frame] = []
        indent = 0
        while self.at < len(self.lines):
            body = _unprefixed(self.lines[self.at], prefix)
            frame = _PYTHON_FRAME.match(body) if 'File "' in body else None
            if frame is not None:
                indent = len(frame[1])
                frames.append(Frame(frame[2], int(frame[3]), frame[4] or ""))
            elif frames and body.startswith(" " * (indent + 1)):
                text = body.strip()
                if not frames[-1].text and _MARKERS.fullmatch(text) is None:
                    frames[-1] = replace(frames[-1], text=text)
            elif not body.startswith("  [Previous line repeated"):
                break
            self.at += 1
        return frames

    def _anomaly(self, node: str) -> None:
        """The way to the operator whose gradient failed; what it belongs to comes below."""
        found = _frame_in(self.lines[self.at]) if self.at < len(self.lines) else None
        self.node = node
        self.forward = _ends(self._python_frames(found)) if found is not None else ()

    def _ipython(self, prefix: str) -> None:
        frames: list[Frame] = []
        start = self.at
        while self.at < len(self.lines):
            body = _unprefixed(self.lines[self.at], prefix)
            if _HEADER in body:
                return
            frame = _ipython_frame(body)
            numbered = _NUMBERED.match(body.lstrip()) if body and frame is None else None
            if frame is not None:
                frames.append(frame)
            elif numbered is not None and frames and (body[:1] in " -" or body[0].isdigit()):
                frames[-1] = _with_line(frames[-1], int(numbered[2]), numbered[3] or "", numbered[1] is not None)
            elif frames and body and (name := _exception_of(body)) is not None:
                self.at += 1
                self._tell(*name, frames, self._below(prefix))
                return
            elif not frames and self.at - start > _MOST_NOISE:
                return
            self.at += 1

    def _rich(self) -> None:
        frames: list[Frame] = []
        while self.at < len(self.lines):
            line = self.lines[self.at]
            if _HEADER in line:
                return
            self.at += 1
            body = line.strip().removeprefix("│").removesuffix("│").strip()
            frame = _RICH_FRAME.match(body)
            shown = _RICH_LINE.match(body)
            if line.lstrip().startswith("╰"):
                break
            if frame is not None and "│" in line:
                frames.append(Frame(frame[1], int(frame[2]), frame[3]))
            elif shown is not None and frames:
                frames[-1] = _with_line(frames[-1], int(shown[2]), shown[3].strip(), shown[1] is not None)
        name = _exception_of(self.lines[self.at].strip()) if self.at < len(self.lines) else None
        if name is not None:
            self.at += 1
            self._tell(*name, frames, self._below(""))

    def _pytest(self, line: str) -> None:
        """From a marked line or a frame on to the line that ends the report: `train.py:9: RuntimeError`."""
        frames: list[Frame] = []
        text, said = "", ""
        noise = 0
        while True:
            if line.startswith("> "):
                text = line[1:].strip()
            elif line.startswith("E "):
                said = f"{said} {line[1:].strip()}".strip() if said else line[1:].strip()
            elif _HEADER in line:
                self.at -= 1
                return
            elif line[:1] not in (" ", "\t", "") and (frame := _PYTEST_FRAME.match(line)) is not None:
                frames.append(Frame(frame[1], int(frame[2]), frame[3] or "", text))
                text, noise = "", 0
                if frame[4] is not None:
                    name = _exception_of(said)
                    if name is not None and name[0].rpartition(".")[2] == frame[4]:
                        self._tell(*name, frames)
                    return
            elif frames and not frames[-1].text and line.startswith("    ") and noise == 0:
                frames[-1] = replace(frames[-1], text=line.strip())
            noise += 1
            if self.at >= len(self.lines) or noise > 4 * _MOST_NOISE:
                return
            line = self.lines[self.at]
            self.at += 1

    def _below(self, prefix: str) -> str:
        """What may be the rest of a message, or somebody else's words. Whoever reads on finds it again."""
        parts: list[str] = []
        for line in self.lines[self.at : self.at + _MOST_MESSAGE_LINES]:
            body = _unprefixed(line, prefix)
            if not body.strip() or _starts_anew(line) or (prefix and line == body):
                break
            parts.append(body.strip())
        return " ".join(parts)

    def _tell(self, exception: str, message: str, frames: Sequence[Frame], below: str = "") -> None:
        raised = Raised(exception, message.strip(), below, _ends(frames), self.forward, self.node)
        self.told.append(_Told(raised, self.follows))
        self.forward, self.node, self.follows = (), None, False


def _starts_anew(line: str) -> bool:
    return _HEADER in line or 'File "' in line or any(words in line for words in _CHAINED) or "----" in line


def _frame_in(line: str) -> str | None:
    """The prefix of a line that tells a frame of Python's."""
    at = line.find('File "')
    if at < 0 or _PYTHON_FRAME.match(line[at:]) is None:
        return None
    return line[: max(at - 2, 0)] if line[max(at - 2, 0) : at] == "  " else line[:at]


def _unprefixed(line: str, prefix: str) -> str:
    """The line without a prefix that it has, with other numbers in it perhaps; else as it is."""
    if not prefix:
        return line
    if line.startswith(prefix):
        return line[len(prefix) :]
    if line == prefix.rstrip():
        return ""
    found = _like(prefix).match(line)
    return line[found.end() :] if found is not None else line


@lru_cache(maxsize=64)
def _like(prefix: str) -> re.Pattern[str]:
    parts = _NUMBERS.split(prefix)
    return re.compile("[0-9]{1,20}".join(map(re.escape, parts)))


def _exception_of(body: str) -> tuple[str, str] | None:
    if not body or body[0].isspace():
        return None
    found = _EXCEPTION.match(body)
    if found is None or _SOUNDS_LIKE_ONE.match(found[1].rpartition(".")[2]) is None:
        return None
    return found[1], found[2] or ""


def _ipython_frame(body: str) -> Frame | None:
    if not body or body[0] in " -" or body[0].isdigit():
        return None
    if (cell := _CELL_FRAME.match(body)) is not None:
        return Frame("", int(cell[2] or 0), cell[3] or "", cell=cell[1])
    if (file := _FILE_FRAME.match(body)) is not None:
        return Frame(file[1], int(file[2]), file[3] or "")
    if body[-1] not in ")>":
        return None
    if (old := _OLD_FRAME.match(body)) is not None and ("/" in old[1] or "\\" in old[1] or old[1].startswith("<")):
        return Frame(old[1], 0, old[2])
    return None


def _ends(frames: Sequence[Frame]) -> tuple[Frame, ...]:
    half = _MOST_FRAMES // 2
    return tuple(frames) if len(frames) <= _MOST_FRAMES else (*frames[:half], *frames[-half:])


def _with_line(frame: Frame, number: int, text: str, is_it: bool) -> Frame:
    around = frame.around if len(frame.around) == _MOST_AROUND else (*frame.around, (number, text))
    if not is_it:
        return replace(frame, around=around)
    return replace(frame, around=around, line=number, text=text.strip())
