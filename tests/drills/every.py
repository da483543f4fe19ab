"""Every failure drill: something goes wrong with real servers under load, and what follows.

Each returns a report, and fails where a promise was broken.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

from tests.drills import alone, cluster, failover
from tests.drills.crowd import Report

DRILLS: dict[str, Callable[[Path], Awaitable[Report]]] = {
    "kill": alone.killed,
    "stop": alone.stopped,
    "cut": alone.cut,
    "full": alone.full,
    "failover": failover.replicated,
    "failover-disk": failover.replicated_to_disk,
    "failover-async": failover.unwaited,
    "failover-lag": failover.lagging,
    "cluster": cluster.node_down,
}
"""Every drill by its name."""
