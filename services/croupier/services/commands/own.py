"""How a command on the same machine calls the server that was started with given settings."""

from __future__ import annotations

import socket
import ssl
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from croupier.services.config import Settings, is_any, join_address, moved, split_address
from croupier.services.files import read

ANSWER_S = 5.0
"""How long a server may take to show its certificate, seconds."""


@dataclass(frozen=True, slots=True)
class Own:
    """Where every process of a server listens, and with TLS, by what its certificate is known."""

    addresses: tuple[str, ...]
    roots: bytes | None = None
    server_name: str | None = None


def own(settings: Settings) -> Own:
    """Return how to call the server with these settings.

    It is asked at loopback where it listens everywhere. With TLS it is known by the certificate
    that the settings name, whatever names are in it: loopback is in none.

    Raises:
        OSError: the settings do not say where it listens, or who listens there has no such
            certificate.

    """
    host, port = split_address(settings.listen)
    if not port:
        raise OSError("listen: port 0 does not say where it listens; give --address")
    if is_any(host):
        host = "::1" if ":" in host else "127.0.0.1"
    first = join_address(host, port)
    addresses = tuple(moved(first, number) for number in range(settings.workers))
    if settings.tls_certificate is None:
        return Own(addresses)
    roots = read(settings.tls_certificate, "tls_certificate")
    return Own(addresses, roots, _name_at(host, port, settings.tls_certificate))


def _name_at(host: str, port: int, certificate: Path) -> str:
    """Return a name in the certificate of the server, which has to be this one."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False  # it is known by its key; the names are what is asked for
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    context.set_alpn_protocols(["h2"])
    try:
        context.load_verify_locations(certificate)
        with (
            socket.create_connection((host, port), timeout=ANSWER_S) as connection,
            context.wrap_socket(connection) as secure,
        ):
            shown: Any = secure.getpeercert() or {}
    except OSError as error:
        raise OSError(f"{join_address(host, port)}: {error}") from error
    names = [name for kind, name in shown.get("subjectAltName", ()) if kind != "email"]
    if not names:
        raise OSError(f"tls_certificate: {certificate} names no host")
    return str(names[0]).replace("*", "any", 1)
