"""Numbers that come from several devices: `DataParallel` returns one for each where a module returns a single one.

net = DataParallel(Net())     # its forward returns a loss
net(x).backward()             # raises where there are several devices
net(x).mean().backward()
"""

from __future__ import annotations

from analyzers.domain.lineage import Lineage
from analyzers.domain.objects import DictObj, ListObj
from analyzers.domain.values import Const, Tup, Value
from analyzers.machine.core.arguments import Args
from analyzers.machine.core.machine import Machine
from analyzers.machine.core.registries import answers

_ELEMENT_BY_ELEMENT = frozenset({
    "add", "div", "float", "iadd", "imul", "isub", "itruediv", "mul", "neg", "radd", "rmul", "rsub", "sub", "to",
    "truediv",
})  # fmt: skip
"""The steps of a trail that leave as many numbers as there were."""


class Gathered:
    def __init__(self) -> None:
        self.trails: set[Lineage] = set()
        """Of numbers that were returned to several devices' caller."""


@answers("autograd_machine.gathered")
def _gathered(m: Machine, args: Args) -> Value:
    """What a module returned on each device, given its device ids: several if nothing says that there is one."""
    result, devices = args.pos
    if not (isinstance(devices, Const) and devices.value == 1):
        for tensor in map(m.tensor, _parts(m, result)):
            if tensor is not None and tensor.shape == () and tensor.lineage is not None:
                m.record.unresolved.data = True
                m.notebook(Gathered).trails.add(tensor.lineage)
    return result


def _parts(m: Machine, result: Value) -> tuple[Value, ...]:
    """The items of a result, if it has any."""
    found = m.obj(result)
    match found:
        case ListObj(items=items):
            return items
        case DictObj():
            return tuple(found.values)
    return result.items if isinstance(result, Tup) else (result,)


def is_gathered(m: Machine, lineage: Lineage | None) -> bool:
    """Whether there is one number for each device, in a run that presumes several."""
    known = m.notebook(Gathered).trails if m.config.presumes else set()
    steps = {lineage: None} if lineage is not None and known else {}
    queue = list(steps)
    for step in queue:
        if step in known:
            return True
        if step.what in _ELEMENT_BY_ELEMENT:
            queue += [parent for parent in dict.fromkeys(step.parents) if parent not in steps]
            steps.update(dict.fromkeys(step.parents))
    return False
