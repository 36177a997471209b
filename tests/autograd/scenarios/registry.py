"""How a file of scenarios names its own."""

from __future__ import annotations

from collections.abc import Callable

from tests.autograd.api import Api


class Scenarios(list[Callable[[Api], None]]):
    def __call__(self, function: Callable[[Api], None]) -> Callable[[Api], None]:
        self.append(function)
        return function
