"""What surely is not there: an attribute of an object of which everything is known that could have set it.

While a program is being written, most attributes that are used and not set are to be set next: `self.norm(x)` before
`self.norm = ...`. Whoever takes them for anything at all loses what is known of the object, of all that it holds, and
of what they are called with.
"""

from __future__ import annotations

from analyzers.domain.objects import ClassObj, Instance, by_name
from analyzers.domain.values import Ref
from analyzers.machine.core.havoc import is_lent
from analyzers.machine.core.machine import Machine
from analyzers.machine.core.registries import CLASSES
from analyzers.machine.objects.classes import PRELUDE, class_name, find_in_class

_ANSWERING = ("__getattr__", "__getattribute__")


def surely_lacks(m: Machine, owner: Ref, found: Instance, name: str) -> bool:
    """Whether a name that was not found on an object cannot be there."""
    cls = m.st.get(found.cls) if isinstance(found.cls, int) else None
    if found.open or not isinstance(cls, ClassObj) or not cls.known or name.startswith("_"):
        return False
    if any(find_in_class(m, found.cls, way) is not None for way in _ANSWERING):
        return False
    return all(_adds_nothing(m, one, found, name) for one in cls.ancestry) and not is_lent(m, owner.id)


def _adds_nothing(m: Machine, ancestor: int | str, found: Instance, name: str) -> bool:
    """Whether a class that an object inherits from cannot have given it an attribute."""
    cls = m.st.get(ancestor) if isinstance(ancestor, int) else None
    if not isinstance(cls, ClassObj) or cls.module.startswith(PRELUDE):
        model = CLASSES.get(class_name(m, ancestor))
        return model is not None and model.lacks(m, found, name)
    if not cls.plain:
        return False
    for _, held in by_name(cls.attrs):
        instance = m.obj(held)
        if isinstance(instance, Instance) and find_in_class(m, instance.cls, "__set_name__") is not None:
            return False
    return True
