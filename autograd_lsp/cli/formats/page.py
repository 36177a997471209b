"""A page of Markdown for a person at a terminal."""

from __future__ import annotations

from rich.console import Console
from rich.markdown import Markdown


def show(page: str) -> None:
    Console().print(Markdown(page))
