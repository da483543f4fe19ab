"""How calls are retried: the gRPC service config that clients in every language can be given.

`service_config.json` is for channels that retry by themselves. The client of this package retries
on its own, by the same file: it also knows how long a server says to wait, and other servers.
"""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

import grpc

SERVICE_CONFIG = files(__package__).joinpath("service_config.json").read_text(encoding="utf-8")
"""The service config as JSON, for a channel's option `grpc.service_config`."""

_POLICY: dict[str, Any] = json.loads(SERVICE_CONFIG)["methodConfig"][0]
_RETRY: dict[str, Any] = _POLICY["retryPolicy"]


def _seconds(duration: str) -> float:
    return float(duration.removesuffix("s"))


RETRIED_CODES = frozenset(grpc.StatusCode[name] for name in _RETRY["retryableStatusCodes"])
"""After these the same request may be sent again, to the same server or to another."""

TIMEOUT_S = _seconds(_POLICY["timeout"])
"""How long a call may take with all its attempts, seconds."""

PAUSE_S = _seconds(_RETRY["initialBackoff"])
PAUSE_MAX_S = _seconds(_RETRY["maxBackoff"])
PAUSE_FACTOR: float = _RETRY["backoffMultiplier"]
"""The pause before the second attempt, seconds; the longest; and how pauses grow."""
