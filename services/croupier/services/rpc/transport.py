"""The transport of a server: what connections may do, and until when."""

from __future__ import annotations

import ssl

import grpc

from croupier.services.config import Settings
from croupier.services.files import read

MESSAGE_BYTES_CAP = 16_000_000
"""Where the transport itself cuts off; below it a message too large gets a refusal with details."""

PENDING_CALLS_MAX = 100_000
"""Calls that the transport may have taken and not yet handed over."""

_OPTIONS = (
    ("grpc.max_receive_message_length", MESSAGE_BYTES_CAP),
    # The ledgers' queues refuse with a reason; the transport would cancel calls without one.
    ("grpc.server.max_pending_requests", PENDING_CALLS_MAX),
    ("grpc.server.max_pending_requests_hard_limit", 2 * PENDING_CALLS_MAX),
    # A caller who has not heard of the limit of calls yet is not cut off for passing it.
    ("grpc.http.overload_protection", 0),
    # Two processes on one port would share its calls without anybody knowing.
    ("grpc.so_reuseport", 0),
    # A watcher whose machine is gone is noticed, though he never has anything to say.
    ("grpc.keepalive_time_ms", 60_000),
    ("grpc.keepalive_timeout_ms", 20_000),
)


def options_of(settings: Settings) -> list[tuple[str, int]]:
    """Return the options of the gRPC library for a server with these settings."""
    options = [
        *_OPTIONS,
        # What is beyond it waits at the caller, where it costs this process nothing.
        ("grpc.max_concurrent_streams", settings.calls_per_connection),
        # The library takes options that it does not know in silence; in its text this one is called
        # MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS.
        (
            "grpc.http2.min_ping_interval_without_data_ms",
            _ms(settings.min_recv_ping_interval_s),
        ),
        ("grpc.keepalive_permit_without_calls", int(settings.permit_without_calls)),
    ]
    if settings.max_connection_age_s:
        # So that callers find processes that were added, without a failed call: the connection
        # takes no new calls, and those under way have the grace to finish.
        options += [
            ("grpc.max_connection_age_ms", _ms(settings.max_connection_age_s)),
            ("grpc.max_connection_age_grace_ms", _ms(settings.max_connection_age_grace_s)),
        ]
    return options


def _ms(seconds: float) -> int:
    return round(1000 * seconds)


def credentials_of(settings: Settings) -> grpc.ServerCredentials | None:
    """Return the server's certificate and key, None where it speaks plaintext.

    Raises:
        OSError: the files cannot be read, or hold no certificate and its key.

    """
    if settings.tls_certificate is None or settings.tls_key is None:
        return None
    pair = (read(settings.tls_key, "tls_key"), read(settings.tls_certificate, "tls_certificate"))
    try:
        # The transport itself would only say that it cannot listen.
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(
            settings.tls_certificate, settings.tls_key, password=""
        )
    except ssl.SSLError as error:
        msg = f"{settings.tls_certificate} and {settings.tls_key}: no certificate and its key"
        raise OSError(f"{msg}: {error}") from error
    return grpc.ssl_server_credentials([pair])
