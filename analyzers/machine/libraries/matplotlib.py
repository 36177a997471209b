"""Matplotlib as far as tensors reach it: whatever is plotted becomes an array."""

from __future__ import annotations

from analyzers.domain.objects import Instance
from analyzers.domain.values import Ref, Tup, Unknown, Value
from analyzers.machine.core.arguments import Args
from analyzers.machine.core.machine import Machine
from analyzers.machine.core.registries import CLASSES, ClassModel
from analyzers.machine.core.tables import enter
from analyzers.machine.libraries.numpy.arrays import check_convertible
from analyzers.maps import Map

FIGURE, AXES = "matplotlib.figure.Figure", "matplotlib.axes.Axes"


_ALL = frozenset({
    "bar", "barh", "contour", "contourf", "ecdf", "errorbar", "fill", "fill_between", "hexbin", "hist", "hist2d",
    "loglog", "pie", "plot", "scatter", "semilogx", "semilogy", "stackplot", "stairs", "stem", "step", "violinplot",
})  # fmt: skip
"""Functions that convert all of their arguments to arrays."""


_FIRST = frozenset({"boxplot", "imshow", "matshow", "pcolormesh"})
"""Functions that convert at least their first argument to an array."""


def call_pyplot(m: Machine, name: str, args: Args) -> Value:
    """`plt.plot(...)`, and functions that return figures and axes."""
    match name:
        case "subplots" if not args.pos and not args.open and not {"nrows", "ncols"} & args.kw.keys():
            return Tup((m.new(Instance(FIGURE, Map())), m.new(Instance(AXES, Map()))))
        case "gca" | "axes" | "subplot":
            return m.new(Instance(AXES, Map()))
        case "figure" | "gcf":
            return m.new(Instance(FIGURE, Map()))
    return call_axes(m, name, args)


def call_axes(m: Machine, name: str, args: Args) -> Value:
    """A method of `Axes`, or the `pyplot` function of the same name."""
    for value in args.pos if name in _ALL else args.pos[:1] if name in _FIRST else ():
        check_convertible(m, value)
    return Unknown()


def call_figure(m: Machine, name: str) -> Value:
    return m.new(Instance(AXES, Map())) if name in {"add_subplot", "add_axes", "gca"} else Unknown()


class AxesModel(ClassModel):
    def call_method(self, m: Machine, owner: Ref, found: Instance, name: str, args: Args) -> Value:
        return call_axes(m, name, args)


class FigureModel(ClassModel):
    def call_method(self, m: Machine, owner: Ref, found: Instance, name: str, args: Args) -> Value:
        return call_figure(m, name)


enter(CLASSES, AXES, AxesModel())
enter(CLASSES, FIGURE, FigureModel())
