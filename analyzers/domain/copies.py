"""`replace` as in `dataclasses`, in a third of the time: runs of the machine copy tensors and nodes by the thousand."""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import replace
else:
    from dataclasses import fields

    _LAYOUTS: dict[type, tuple[Any, dict[str, int]]] = {}

    def replace(one: Any, /, **changes: Any) -> Any:
        kind = type(one)
        copied = getattr(kind, "copied", None)
        if copied is not None:  # where it is compiled: `setup.py` writes that out
            copy = copied(one)
            for name, value in changes.items():
                setattr(copy, name, value)
            return copy
        layout = _LAYOUTS.get(kind)
        if layout is None:
            names = [each.name for each in fields(kind)]
            layout = _LAYOUTS[kind] = attrgetter(*names), {name: index for index, name in enumerate(names)}
        get, places = layout
        held = get(one)
        values = list(held) if len(places) > 1 else [held]
        for name, value in changes.items():
            values[places[name]] = value
        return kind(*values)


__all__ = ["replace"]
