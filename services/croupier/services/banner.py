"""What the service says when it is ready, for a person who starts it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.metadata import version

from croupier.services.config import Settings


@dataclass(frozen=True, slots=True)
class Standing:
    """How one process stands when it is ready. `not_served` has a reason by ledger."""

    port: int
    metrics_port: int
    engine: str
    durability: str
    ledgers: int
    not_served: dict[str, str] = field(default_factory=dict)
    where: str = ""
    others: list[str] = field(default_factory=list)
    """Of each engine that has only some ledgers, in words."""
    not_checked: list[str] = field(default_factory=list)
    """What could not be found out about engines."""
    warnings: list[str] = field(default_factory=list)
    """What is wrong with engines, though they are served."""


def banner(settings: Settings, processes: Sequence[Standing]) -> list[str]:
    """Return the lines about one or more processes that share `settings`."""
    first = processes[0]
    who = f"tokens in {settings.tokens}" if settings.tokens else "only `local`, without tokens"
    how = "plaintext" if settings.tls_certificate is None else "TLS"
    if len(processes) > 1:
        how += f", {len(processes)} workers"
    ports = _ports([one.port for one in processes])
    lines = [
        f"croupier {version('croupier')}",
        f"  gRPC     {_at(settings.listen, ports)} ({how})",
        f"  engine   {first.engine} in {first.where}, acknowledged = {first.durability}",
        *(f"           {other}" for other in first.others),
        *(f"  NOT CHECKED: {what}" for what in first.not_checked),
        *(f"  WARNING: {what}" for what in first.warnings),
        f"  ledgers  {sum(one.ledgers for one in processes)}",
        *(
            f"  NOT SERVED: {ledger}: {why}"
            for one in processes
            for ledger, why in one.not_served.items()
        ),
        f"  callers  {who}",
    ]
    if settings.metrics_listen:
        at = _at(settings.metrics_listen, str(first.metrics_port))
        ports = _ports([one.metrics_port for one in processes])
        more = f", ports {ports}" if len(processes) > 1 else ""
        lines.insert(2, f"  metrics  http://{at}/metrics{more}")
    return lines


def _ports(ports: Sequence[int]) -> str:
    return str(ports[0]) if len(ports) == 1 else f"{ports[0]}-{ports[-1]}"


def _at(listen: str, ports: str) -> str:
    host, _, _ = listen.rpartition(":")
    return f"{host}:{ports}"
