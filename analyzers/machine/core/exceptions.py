"""Exceptions raised by the program."""

from __future__ import annotations

from analyzers.domain.values import Value
from analyzers.machine.core.causes import Raised


class PyRaise(Exception):  # noqa: N818  (control flow of the program, not an error of ours)
    """The program raises: `name` is the exception's class, `value` the exception object, if there is one."""

    def __init__(self, name: str, message: str = "", value: Value | None = None, event: Raised | None = None) -> None:
        super().__init__(name, message)
        self.name = name
        self.message = message
        self.value = value
        self.event = event

    def drop_frames(self) -> PyRaise:
        """Itself, safe to store: without its traceback frames, each of which keeps the machine's state alive."""
        self.__traceback__ = self.__context__ = None
        return self
