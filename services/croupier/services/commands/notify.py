"""Tells the system's service manager how the service stands: systemd's protocol of `sd_notify`.

The manager names a datagram socket in the environment. Where there is none, nobody is told.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping

import structlog

logger = structlog.get_logger()

READY = "READY=1"
STOPPING = "STOPPING=1"


def notify(*said: str, environment: Mapping[str, str] = os.environ) -> None:
    """Tell the service manager, if there is one; that it cannot be told ends nothing."""
    name = environment.get("NOTIFY_SOCKET", "")
    if not name:
        return
    # A name that begins with @ is not in the file system, which a leading zero byte says.
    address = "\0" + name[1:] if name.startswith("@") else name
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as manager:
            manager.connect(address)
            manager.sendall("\n".join(said).encode())
    except OSError as error:
        logger.warning("the service manager cannot be told", socket=name, why=str(error))
