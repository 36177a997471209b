"""Random edits as people make them: typing, deleting, moving and pasting lines, taking back."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping

_TYPED = (
    "x", "loss", ".", "(", ")", "[", "]", "'", '"', '"""', "\n", "\n    ", "  ", ":", ",", "=", " + 1", "#", "\t",
    ".detach()", ".backward()", ".item()", "with torch.no_grad():", "return ", "if x:\n", "else:\n", "def f(x):\n",
    "class A:\n", "import torch\n", "retain_graph=True", "@", "\\\n", "lambda x: ", "for i in range(3):\n", "é", "😀",
    "optimizer.zero_grad()\n", ".requires_grad_()", "pass", "\r\n", "\x0c", "del x\n", "# autograd: ignore\n",
)  # fmt: skip


class Writer:
    """Edits the texts of some files, one at a time, and remembers what they were."""

    def __init__(self, texts: Mapping[str, str], seed: int) -> None:
        self.texts = dict(texts)
        self._before: list[tuple[str, str]] = []
        self._random = random.Random(seed)

    def edit(self) -> str:
        """Make one edit; the file that it was made in."""
        chance = self._random
        if self._before and chance.random() < 0.3:
            path, text = self._before.pop()
            self.texts[path] = text
            return path
        path = chance.choice(sorted(self.texts))
        kinds: tuple[Callable[[str], str], ...] = (
            self._type, self._type, self._type, self._erase, self._move, self._paste, self._drop,
        )  # fmt: skip
        self._before.append((path, self.texts[path]))
        self.texts[path] = chance.choice(kinds)(self.texts[path])
        return path

    def _at(self, text: str) -> int:
        return self._random.randint(0, len(text))

    def _type(self, text: str) -> str:
        at = self._at(text)
        return text[:at] + self._random.choice(_TYPED) + text[at:]

    def _erase(self, text: str) -> str:
        at = self._at(text)
        return text[:at] + text[at + self._random.choice((1, 1, 2, 10, 80)) :]

    def _lines(self, text: str) -> tuple[list[str], slice]:
        lines = text.splitlines(keepends=True)
        start = self._random.randint(0, len(lines))
        return lines, slice(start, start + self._random.choice((1, 1, 2, 5, 20)))

    def _drop(self, text: str) -> str:
        lines, part = self._lines(text)
        del lines[part]
        return "".join(lines)

    def _move(self, text: str) -> str:
        lines, part = self._lines(text)
        moved = lines[part]
        del lines[part]
        at = self._random.randint(0, len(lines))
        return "".join([*lines[:at], *moved, *lines[at:]])

    def _paste(self, text: str) -> str:
        """A part of any of the files."""
        lines, part = self._lines(self.texts[self._random.choice(sorted(self.texts))])
        at = self._at(text)
        return text[:at] + "".join(lines[part]) + text[at:]
