"""Figures of a run, as SVG: equal for equal numbers, as they bear neither dates nor random ids."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib

from benchmarks.report import IN_SECONDS
from benchmarks.results import Result, Run
from benchmarks.servers import OURS

matplotlib.use("svg")
from matplotlib import pyplot

COLORS = {
    OURS: "#d1495b",
    "compiled": "#e8919c",
    "ruff": "#7a5195",
    "ty": "#2e86ab",
    "pyrefly": "#e69f00",
    "pyright": "#4a7c59",
    "pyright --threads": "#8fb996",
    "jedi-language-server": "#8d8d8d",
}

_STYLE: dict[str, Any] = {
    "svg.hashsalt": "benchmarks",
    "svg.fonttype": "none",
    "font.family": "sans-serif",
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#e4e4e4",
    "legend.frameon": False,
    "figure.facecolor": "white",
    "savefig.facecolor": "white",
}


def write(run: Run, folder: Path) -> list[Path]:
    """One figure for each group that was measured."""
    folder.mkdir(parents=True, exist_ok=True)
    drawn = []
    with pyplot.rc_context(_STYLE):
        for group, draw in (
            ("typing", _spans),
            ("edits", _spans),
            ("size", _size),
            ("project", _project),
            ("start", _spans),
            ("check", _spans),
            ("repositories", _spans),
        ):
            results = [result for result in run.of(group) if any(result.seconds.values())]
            if results:
                figure = draw(results)
                path = folder / f"{group}.svg"
                figure.savefig(path, format="svg", bbox_inches="tight", metadata={"Date": None, "Creator": None})
                pyplot.close(figure)
                drawn.append(path)
    return drawn


def _spans(results: Sequence[Result]) -> Any:
    """By case a row for each server: a dot at the median, and a line from there to the 95th percentile."""
    names = _names(results)
    rows = len(results) * (len(names) + 1)
    figure, axes = pyplot.subplots(figsize=(8, 0.8 + 0.24 * rows), layout="constrained")
    labels, ticks = [], []
    at = 0.0
    unit, factor = ("seconds", 1.0) if results[0].group in IN_SECONDS else ("milliseconds", 1000.0)
    for result in results:
        here = [name for name in names if result.seconds.get(name)]
        ticks.append(at + (len(here) - 1) / 2)
        labels.append(_wrapped(result.title))
        for name in here:
            median, p95 = factor * result.median(name), factor * result.p95(name)
            axes.plot([median, max(median, p95)], [at, at], color=COLORS[name], linewidth=2.5, alpha=0.45)
            axes.plot([median], [at], "o", color=COLORS[name], markersize=6, zorder=3)
            axes.annotate(
                _number(median),
                (max(median, p95), at),
                (6, 0),
                textcoords="offset points",
                va="center",
                fontsize=8,
                color="#555555",
            )
            at += 1
        at += 1
    axes.set_yticks(ticks, labels)
    axes.tick_params(axis="y", length=0)
    axes.grid(False, axis="y")
    axes.invert_yaxis()
    _logarithmic(axes.xaxis, axes.set_xscale)
    axes.set_xlabel(f"{unit}: the dot is the median, the line ends at the 95th percentile")
    axes.margins(x=0.12)
    _legend(figure, names)
    return figure


def _size(results: Sequence[Result]) -> Any:
    figure, axes = pyplot.subplots(figsize=(8, 4.2), layout="constrained")
    names = _names(results)
    _lines(axes, results, names, "lines in the file")
    _legend(figure, names)
    return figure


def _project(results: Sequence[Result]) -> Any:
    """Without other open files on the left, and with them on the right."""
    halves = {
        "no others open": [result for result in results if result.case.endswith("closed")],
        "others open, 50 at most": [result for result in results if result.case.endswith("open")],
    }
    shown = {title: half for title, half in halves.items() if half}
    figure, many = pyplot.subplots(
        1, len(shown), figsize=(4.2 * len(shown), 3.8), sharey=True, squeeze=False, layout="constrained"
    )
    names = _names(results)
    for axes, (title, half) in zip(many[0], shown.items(), strict=True):
        _lines(axes, half, names, "files in the project")
        axes.set_title(title, fontsize=10)
    for axes in many[0][1:]:
        axes.set_ylabel("")
    _legend(figure, names)
    return figure


def _lines(axes: Any, results: Sequence[Result], names: Sequence[str], label: str) -> None:
    for name in names:
        points = [(r.size, 1000 * r.median(name), 1000 * r.p95(name)) for r in results if r.seconds.get(name)]
        if points:
            sizes, medians, p95s = zip(*sorted(points), strict=True)
            axes.plot(sizes, medians, "o-", color=COLORS[name], markersize=5, linewidth=1.8)
            axes.fill_between(sizes, medians, p95s, color=COLORS[name], alpha=0.12, linewidth=0)
    axes.set_xscale("log")
    sizes_seen = sorted({result.size for result in results})
    axes.set_xticks(sizes_seen, [f"{size:,}" for size in sizes_seen])
    axes.minorticks_off()
    _logarithmic(axes.yaxis, axes.set_yscale)
    axes.set_xlabel(label)
    axes.set_ylabel("milliseconds: median, shaded to p95")


def _logarithmic(axis: Any, set_scale: Any) -> None:
    set_scale("log")
    axis.set_major_formatter(lambda value, _: _number(value))


def _legend(figure: Any, names: Sequence[str]) -> None:
    handles = [pyplot.Line2D([], [], color=COLORS[name], marker="o", linewidth=1.8, label=name) for name in names]
    figure.legend(handles=handles, loc="outside upper center", ncols=min(len(names), 6), fontsize=9)


def _names(results: Sequence[Result]) -> list[str]:
    return [name for name in COLORS if any(result.seconds.get(name) for result in results)]


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 else f"{value:.1f}" if value >= 1 else f"{value:.2g}"


def _wrapped(title: str) -> str:
    """In two lines, cut at a comma or else in the middle."""
    first, comma, rest = title.replace("`", "").partition(", ")
    if comma:
        return f"{first},\n{rest}"
    words = title.split()
    return " ".join(words[: len(words) // 2]) + "\n" + " ".join(words[len(words) // 2 :])
