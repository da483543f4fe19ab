"""What a server says of itself and of its settings, and what of that may lose commits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Protocol

from redis import exceptions as theirs

from croupier.services.store.redis_address import Address

VERSION_LEAST = (7, 2)
"""WAITAOF, and scripts that say what they do."""


class Asked(Protocol):
    """Whoever can be asked, and answers or raises the driver's errors."""

    def ask(self, *command: Any) -> Any:
        """Return the answer to a command."""
        ...


def info(server: Asked) -> dict[str, str]:
    """Return what a server says of itself.

    Raises:
        redis.RedisError: it does not say.

    """
    answer = server.ask("INFO")
    if not isinstance(answer, bytes):
        return {}
    rows = (row.partition(":") for row in answer.decode(errors="replace").splitlines())
    return {name: value for name, colon, value in rows if colon}


def config(server: Asked) -> dict[str, str] | None:
    """Return what a server says of its settings, None where the user may not ask.

    Raises:
        redis.RedisError: there is no answer.

    """
    try:
        answer = server.ask("CONFIG", "GET", "append*", "maxmemory-policy")
    except theirs.NoPermissionError:
        return None
    except theirs.ResponseError:  # hosted servers have no such command
        return None
    said = [part.decode() for part in answer]
    return dict(zip(said[::2], said[1::2], strict=True))


def known(said: Mapping[str, str], configured: Mapping[str, str] | None) -> dict[str, str]:
    """Return the settings that are known of a server, by either of its answers."""
    found = {}
    if "aof_enabled" in said:
        found["appendonly"] = "yes" if said["aof_enabled"] == "1" else "no"
    if "maxmemory_policy" in said:
        found["maxmemory-policy"] = said["maxmemory_policy"]
    return {**found, **(configured or {})}


def wanted(address: Address) -> Iterator[tuple[str, tuple[str, ...], str]]:
    """Yield the settings that a server must have: name, values, and why."""
    yield "appendonly", ("yes",), "what is only in memory is gone with the process"
    if address.fsync == "always":
        why = "acknowledged commits would be in memory only for a while (or say fsync=wait)"
        yield "appendfsync", ("always",), why
    else:
        yield "appendfsync", ("always", "everysec"), "the system would write to disk when it likes"
    yield "maxmemory-policy", ("noeviction",), "a server short of memory would remove ledgers"


def wrong(settings: Mapping[str, str], address: Address) -> dict[str, str]:
    """Return by name what is not as it has to be, in words: what, why, and what to set."""
    found = {}
    for name, values, why in wanted(address):
        value = settings.get(name)
        if value is not None and value not in values:
            allowed = " or ".join(f"`{name} {one}`" for one in values)
            found[name] = f"`{name} {value}`: {why}; set {allowed}"
    return found


def too_old(said: Mapping[str, str]) -> str:
    """Return what is wrong with a server's version, empty if it will do."""
    version = said.get("redis_version", "")
    numbers = tuple(int(part) for part in version.split(".")[:2] if part.isdecimal())
    if len(numbers) < 2:
        return "it does not say which version of Redis it is"
    if numbers < VERSION_LEAST:
        least = ".".join(map(str, VERSION_LEAST))
        return f"it is Redis {version}; {least} or later is needed"
    return ""


def is_being_written(said: Mapping[str, str]) -> bool:
    """Return whether the append-only file is being rewritten, or could not be.

    Of a server that had none and was told to have one, nothing is on disk before that is done.
    """
    under_way = ("aof_rewrite_in_progress", "aof_rewrite_scheduled")
    return (
        any(said.get(name) == "1" for name in under_way)
        or said.get("aof_last_bgrewrite_status", "ok") != "ok"
    )
