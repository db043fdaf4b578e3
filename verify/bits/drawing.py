"""One figure of a search: p against n as curves, and the phase diagram n × p of each variant."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from constructions.exports.files import replacing
from verify.bits.search import PrecisionRow, PrecisionState

COLOURS = {PrecisionState.FAILS: "#d9594c", PrecisionState.NO_FAILURE: "#f2c14e", PrecisionState.CERTIFIED: "#4a9c6d"}
VARIANT_COLOURS = {"printed": "#8a8a8a", "repaired": "#2b6cb0"}
ANOTHER_COLOUR = "#b7410e"
STYLES = {"wired for": "-", "certified": "o-", "fails at": "x--", "floor": ":"}


def draw(rows: Sequence[PrecisionRow], path: Path) -> None:
    """Writes an SVG, the same bytes for the same rows."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    disciplines = list(dict.fromkeys(row.subject.discipline for row in rows))
    variants = list(dict.fromkeys(row.subject.variant for row in rows))
    with mpl.rc_context({"svg.hashsalt": "precision", "svg.fonttype": "none", "font.size": 8}):
        figure = Figure(figsize=(3.2 * (1 + len(variants)), 3.4 * len(disciplines)), layout="constrained")
        panels = figure.subplots(len(disciplines), 1 + len(variants), squeeze=False, sharey="row")
        line: Any
        for line, discipline in zip(panels, disciplines, strict=True):
            some = [row for row in rows if row.subject.discipline is discipline]
            _curves(line[0], some)
            line[0].set_title(f"{rows[0].subject.construction}, {discipline.value}")
            for axes, variant in zip(line[1:], variants, strict=True):
                _phases(axes, [row for row in some if row.subject.variant == variant])
                axes.set_title(f"{variant}, p by p")
        figure.legend(*panels[0][0].get_legend_handles_labels(), loc="outside lower center", ncols=5, fontsize=6)
        with replacing(path) as fresh:
            figure.savefig(fresh, format="svg", metadata={"Date": None})


def _curves(axes: Any, rows: Sequence[PrecisionRow]) -> None:
    for variant in dict.fromkeys(row.subject.variant for row in rows):
        own = [row for row in rows if row.subject.variant == variant]
        curves: dict[str, dict[int, int | None]] = {
            "certified": {row.n: row.certified for row in own},
            "fails at": {row.n: row.fails_at.precision_bits if row.fails_at else None for row in own},
            "floor": {row.n: row.floor for row in own},
        }
        if not any(curves["certified"].values()):  # no certificate: the formula's word stands in its place
            curves["wired for"] = {row.n: row.wired_for for row in own}
        for name, curve in curves.items():
            known = {n: p for n, p in curve.items() if p is not None}
            if known:
                label, colour = f"{variant}, {name}", VARIANT_COLOURS.get(variant, ANOTHER_COLOUR)
                axes.plot(list(known), list(known.values()), STYLES[name], color=colour, label=label, ms=4, lw=1)
    _axes(axes, rows)
    axes.set_ylabel("p, bits")
    axes.grid(visible=True, alpha=0.2)


def _phases(axes: Any, rows: Sequence[PrecisionRow]) -> None:
    for state, colour in COLOURS.items():
        points = [(row.n, point.precision_bits) for row in rows for point in row.points if point.state is state]
        if points:
            ns, ps = zip(*points, strict=True)
            axes.scatter(ns, ps, color=colour, marker="s", s=18, label=state.value)
    _axes(axes, rows)
    axes.legend(fontsize=6, loc="upper left")


def _axes(axes: Any, rows: Sequence[PrecisionRow]) -> None:
    sizes = sorted({row.n for row in rows})
    axes.set_xscale("log", base=2)
    axes.set_xticks(sizes, labels=[str(n) for n in sizes])
    axes.minorticks_off()
    axes.set_xlabel("n")
