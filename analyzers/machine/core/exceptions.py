"""Exceptions that the program raises."""

from __future__ import annotations

from analyzers.domain.values import Value
from analyzers.machine.core.causes import Raised


class PyRaise(Exception):  # noqa: N818  (control flow of the program, not an error of ours)
    """The program raises: `name` is the exception's class, `value` the exception object where there is one."""

    def __init__(self, name: str, message: str = "", value: Value | None = None, event: Raised | None = None) -> None:
        super().__init__(name, message)
        self.name = name
        self.message = message
        self.value = value
        self.event = event

    def drop_frames(self) -> PyRaise:
        """Itself, to be kept: without the frames that it came through, each of which holds what the machine knows."""
        self.__traceback__ = self.__context__ = None
        return self
