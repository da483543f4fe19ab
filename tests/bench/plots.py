"""Draws the measured series of a run as SVG: the same points give the same bytes.

plots.py POINTS FOLDER
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import matplotlib as mpl

mpl.use("svg")
mpl.rcParams |= {
    # Text stays text and ids come from the content: a picture changes only with its points.
    "svg.fonttype": "none",
    "svg.hashsalt": "croupier",
    "font.family": "sans-serif",
    "font.size": 9,
    "axes.grid": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "grid.alpha": 0.3,
    "legend.frameon": False,
    "lines.marker": "o",
    "lines.markersize": 4,
}

from matplotlib import pyplot as plt  # noqa: E402  # it reads the settings above
from matplotlib.ticker import FuncFormatter, NullFormatter  # noqa: E402

THOUSANDS = FuncFormatter(lambda value, _: f"{value:,.10g}")


def load(points, machine, file):
    """Draw throughput and latency against offered load."""
    figure, (rate, latency) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    figure.suptitle(f"unary Play in an open loop; {machine}", fontsize=9)
    offered = [one["offered"] for one in points]
    rate.plot(offered, [one["achieved"] for one in points], label="answered")
    rate.plot(offered, offered, linestyle=":", marker="", color="gray", label="offered")
    rate.set(title="throughput", xlabel="commands/s offered", ylabel="commands/s", ylim=(0, None))
    for name in ("p50", "p99", "p99.9"):
        latency.plot(offered, [one[name] for one in points], label=name)
    latency.set(title="latency, from the intended sending", xlabel="commands/s offered")
    latency.set(ylabel="ms", yscale="log")
    for axes in (rate, latency):
        axes.set_xlim(0, None)
        axes.xaxis.set_major_formatter(THOUSANDS)
        axes.yaxis.set_major_formatter(THOUSANDS)
        axes.legend()
    latency.yaxis.set_minor_formatter(NullFormatter())
    _save(figure, file)


def size(points, machine, file):
    """Draw what a command costs against the events that its ledger has."""
    figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
    figure.suptitle(f"the writer without gRPC; {machine}", fontsize=9)
    events = [one["events"] for one in points]
    for kind, label in (("single", "alone, on disk"), ("batch", "in a batch of 100")):
        (line,) = axes.plot(events, [one[f"{kind}_us"] for one in points], label=label)
        axes.plot(
            events,
            [one[f"{kind}_beside_us"] for one in points],
            color=line.get_color(),
            linestyle=":",
            marker="",
            label=f"{label}, an empty ledger beside it",
        )
    axes.set_xscale("symlog", linthresh=1_000)
    axes.set(xlabel="events in the ledger", ylabel="µs a command", xlim=(0, None), ylim=(0, None))
    axes.set_xticks([one for one in (0, 1_000, 10_000, 100_000, 1_000_000) if one <= events[-1]])
    axes.xaxis.set_major_formatter(THOUSANDS)
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.yaxis.set_major_formatter(THOUSANDS)
    figure.legend(loc="outside lower center", ncols=2, fontsize=8)
    _save(figure, file)


def _save(figure, file):
    figure.savefig(file, metadata={"Date": None, "Creator": None})
    plt.close(figure)
    # The writer leaves blanks at the ends of lines, which no text file here has.
    lines = (line.rstrip() for line in file.read_text().splitlines())
    file.write_text("\n".join(lines) + "\n")


def main(source, folder):
    """Draw every series that the points have."""
    points = json.loads(Path(source).read_text())
    known = points["machine"]
    machine = f"{known['cpu']}, {known['cores']} cores, fsync {known['fsync_ms']} ms"
    Path(folder).mkdir(parents=True, exist_ok=True)
    for draw in (load, size):
        if draw.__name__ in points:
            draw(points[draw.__name__], machine, Path(folder) / f"{draw.__name__}.svg")


if __name__ == "__main__":
    main(*sys.argv[1:])
