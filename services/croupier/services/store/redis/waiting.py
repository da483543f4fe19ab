"""Waits until replicas, or the disk, have what was committed on a connection.

It is for a thread: nobody else waits. What is not reached in time is no error, since the commit is
recorded, but it is said.
"""

from __future__ import annotations

from time import monotonic

import structlog
from redis import exceptions as theirs

from croupier.services.store.redis.levels import FSYNC, least, reached
from croupier.services.store.redis.servers import Line
from croupier.services.store.redis_address import Address

logger = structlog.get_logger()


def wait_for(line: Line, address: Address, *, covers: bool) -> str:
    """Return how safe all commits on a line are, after `wait_ms` at most, and give the line back.

    `covers` says whether what is asked for is only that.
    """
    try:
        if covers:
            return _level(line, address)
    except theirs.RedisError as error:
        # Whether replicas have it nobody can tell now; who retries may be told more.
        logger.warning("commit not confirmed", server=line.node.name, why=str(error))
    finally:
        line.release()
    return least(address, as_required=line.node.required.is_met)


def _level(line: Line, address: Address) -> str:
    until = monotonic() + address.wait_ms / 1000

    def left_ms() -> int:
        # 0 would mean without end.
        return max(1, round(1000 * (until - monotonic())))

    def ask(*command: str | int) -> object:
        wait_ms = left_ms()
        return line.ask(*command, wait_ms, timeout_s=wait_ms / 1000 + address.timeout_s)

    own = least(address, as_required=line.node.required.is_met)
    replicas = 0
    if address.replicas and not address.replicas_fsync:
        replicas = int(str(ask("WAIT", address.replicas)))
    if address.fsync == "wait" or address.replicas_fsync:
        local = int(address.fsync == "wait")
        answer = ask("WAITAOF", local, address.replicas if address.replicas_fsync else 0)
        assert isinstance(answer, list)
        if local and answer[0]:
            own = FSYNC
        if address.replicas_fsync:
            replicas = answer[1]
    return reached(address, own, replicas)
