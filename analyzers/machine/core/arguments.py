"""The arguments of one call, as values."""

from __future__ import annotations

from dataclasses import dataclass, field

from analyzers.domain.values import NONE, Const, Unknown, Value


@dataclass(slots=True)
class Args:
    """The arguments of one call. `open`: there may be more, positional or named; `more`, if set, limits the possible
    names. `rest` stands for any number of positional ones, if something is known of them."""

    pos: list[Value] = field(default_factory=list)
    kw: dict[str, Value] = field(default_factory=dict)
    open: bool = False
    more: frozenset[Value] | None = None
    called: str = ""
    """The dotted name of the library function being called."""
    rest: Value | None = None
    starred: bool = False
    """If `open`: only positional ones may be missing, `f(4, *sizes)`."""

    def get(self, index: int, name: str, default: Value | None = None) -> Value:
        """A builtin's parameter, by position or name."""
        if index < len(self.pos):
            return self.pos[index]
        if name in self.kw:
            return self.kw[name]
        if self.may_name(name):
            return Unknown()
        return default if default is not None else NONE

    def all(self) -> list[Value]:
        rest = [] if self.rest is None else [self.rest]
        return [*self.pos, *rest, *self.kw.values()]

    def prepend(self, value: Value) -> Args:
        return Args([value, *self.pos], self.kw, self.open, self.more, rest=self.rest, starred=self.starred)

    def may_name(self, name: str) -> bool:
        """Whether a parameter with no visible argument may still have been passed one."""
        return self.open and (self.more is None or Const(name) in self.more)
