"""What the figures were taken on. Nothing here names the machine itself."""

from __future__ import annotations

import os
import platform
import sqlite3
from importlib import metadata
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import psutil

from croupier.services.store.sqlite import SQLiteEngine

FSYNCS = 200


def facts(folder: Path) -> dict[str, Any]:
    """Return machine, software and disk, measured where the ledgers will be."""
    return {
        "cpu": _cpu(),
        "cores": len(psutil.Process().cpu_affinity())
        if hasattr(psutil.Process, "cpu_affinity")
        else os.cpu_count(),
        "memory_gib": round(psutil.virtual_memory().total / 2**30, 1),
        "load_before": round(os.getloadavg()[0], 2),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "grpcio": metadata.version("grpcio"),
        "eventsourcing": metadata.version("eventsourcing"),
        "engine": f"{SQLiteEngine.name} {sqlite3.sqlite_version}",
        "durability": SQLiteEngine.durability,
        "fsync_ms": round(1000 * fsync_s(folder), 3),
    }


def in_words(known: dict[str, Any]) -> str:
    """Return the facts as the head of the table."""
    return (
        f"{known['cpu']}, {known['cores']} cores, {known['memory_gib']} GiB, {known['system']}; "
        f"load {known['load_before']} before\n"
        f"Python {known['python']}, grpcio {known['grpcio']}, "
        f"eventsourcing {known['eventsourcing']}\n"
        f"engine {known['engine']}, acknowledged = {known['durability']}; "
        f"an fsync of this disk takes {known['fsync_ms']} ms (median)\n"
        "load generator and server on the same cores, over loopback"
    )


def fsync_s(folder: Path) -> float:
    """Return the median time of appending 4 KiB to a file and having it on disk, seconds."""
    times = []
    with (folder / "fsync").open("wb", buffering=0) as file:
        for _ in range(FSYNCS):
            before = perf_counter()
            file.write(b"x" * 4096)
            os.fsync(file.fileno())
            times.append(perf_counter() - before)
    return median(times)


def _cpu() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
