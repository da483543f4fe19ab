"""What health says of a server: ready or not, for all of its services at once."""

from __future__ import annotations

from collections.abc import Sequence

import structlog
from grpc_health.v1 import health, health_pb2

logger = structlog.get_logger()

_SERVING = health_pb2.HealthCheckResponse.SERVING
_NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING


class Readiness:
    """Whether callers should come here.

    A ledger that is fenced or away says nothing of the others: it has a name of its own in health.
    """

    def __init__(self, servicer: health.aio.HealthServicer, services: Sequence[str]) -> None:
        """Speak for services, besides for the server as a whole."""
        self._servicer = servicer
        self._names = ("", *services)
        self._said: bool | None = None

    async def tell(self, why_not: str) -> None:
        """Say that the server is ready, or where there is a reason, that it is not."""
        ready = not why_not
        if ready == self._said:
            return
        if why_not:
            logger.error("not ready", why=why_not)
        elif self._said is False:
            logger.info("ready again")
        self._said = ready
        for name in self._names:
            await self._servicer.set(name, _SERVING if ready else _NOT_SERVING)
