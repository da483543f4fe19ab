"""Where a deployment's Redis is, and what is asked of it, as one URL.

    redis://[user:password@]host:port[/database][?option=value&...]
    redis+sentinel://[user:password@]host:port,host:port/service[?...]
    redis+cluster://[user:password@]host:port,host:port[?...]

With `rediss` in place of `redis` the connections are TLS. The user is that of the servers with the
keys.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal
from urllib.parse import parse_qsl, unquote, urlsplit

Kind = Literal["server", "sentinel", "cluster"]

KINDS: dict[str, tuple[Kind, bool]] = {
    "redis": ("server", False),
    "rediss": ("server", True),
    "redis+sentinel": ("sentinel", False),
    "rediss+sentinel": ("sentinel", True),
    "redis+cluster": ("cluster", False),
    "rediss+cluster": ("cluster", True),
}

_PREFIX = re.compile(r"[A-Za-z0-9._-]{1,64}")
_SERVICE = re.compile(r"[A-Za-z0-9._-]{1,64}")

FSYNC = ("always", "wait", "everysec")

BETWEEN_SYNCS_MS = 1_000
"""How long a server with `appendfsync everysec` lets a commit be in memory only, if all is well."""


@dataclass(frozen=True, slots=True)
class Address:
    """A parsed URL. Passwords are in no representation of it."""

    kind: Kind
    tls: bool
    hosts: tuple[tuple[str, int], ...]
    service: str = ""
    """What Sentinels call the master."""
    database: int = 0
    username: str = ""
    password: str = field(default="", repr=False)
    sentinel_username: str = ""
    sentinel_password: str = field(default="", repr=False)
    prefix: str = "croupier"
    """What all keys begin with."""
    fsync: str = "always"
    """`always`: the server must write each commit to disk before it answers. `wait`: it writes once
    a second, and answers wait for it (WAITAOF). `everysec`: answers do not wait."""
    replicas: int = 0
    """How many replicas should have a commit before it is answered."""
    replicas_fsync: bool = False
    """Whether they should have it on their disks (WAITAOF)."""
    wait_ms: int = 500
    """How long an answer waits for all that at most."""
    timeout_ms: int = 1_000
    """How long a server may take to answer."""
    ca: Path | None = None
    certificate: Path | None = None
    key: Path | None = None

    @property
    def timeout_s(self) -> float:
        """Return the time-out in seconds."""
        return self.timeout_ms / 1000

    @property
    def shown(self) -> str:
        """Return where it is, without who we are there."""
        scheme = next(name for name, what in KINDS.items() if what == (self.kind, self.tls))
        hosts = ",".join(
            f"[{host}]:{port}" if ":" in host else f"{host}:{port}" for host, port in self.hosts
        )
        where = f"/{self.service}" if self.service else f"/{self.database}" if self.database else ""
        return f"{scheme}://{hosts}{where}"


def parse(url: str) -> Address:
    """Return the address of a URL.

    Raises:
        ValueError: it is none; the message does not repeat it, since a password may be in it.
        OSError: the file with the password cannot be read.

    """
    parts = urlsplit(url)
    if parts.scheme not in KINDS:
        raise ValueError(f"the scheme is one of {', '.join(KINDS)}")
    kind, tls = KINDS[parts.scheme]
    user, _, hosts = parts.netloc.rpartition("@")
    name, _, password = user.partition(":")
    given = _options(parts.query)
    password = _secret(given, "password_file") or unquote(password)
    path = parts.path.strip("/")
    if parts.fragment:
        raise ValueError("a # in a password is written %23")
    if kind == "sentinel" and not _SERVICE.fullmatch(path):
        raise ValueError("the path names the service that the Sentinels watch, as in /mymaster")
    if kind == "cluster" and path:
        raise ValueError("a Cluster has no databases: there is no path")
    if kind == "server" and path and not path.isdecimal():
        raise ValueError(
            "the path is the number of a database, as in /0; a / in a password is written %2F"
        )
    fsync = given.pop("fsync", "always")
    address = Address(
        kind=kind,
        tls=tls,
        hosts=_hosts(hosts, 26379 if kind == "sentinel" else 6379),
        service=path if kind == "sentinel" else "",
        database=int(path or 0)
        if kind == "server"
        else _number(given, "database", 0, 0, 1_000_000),
        username=unquote(name),
        password=password,
        sentinel_username=given.pop("sentinel_user", ""),
        sentinel_password=_secret(given, "sentinel_password_file"),
        prefix=given.pop("prefix", "croupier"),
        fsync=fsync,
        replicas=_number(given, "replicas", 0, 0, 100),
        replicas_fsync=_switch(given, "replicas_fsync"),
        wait_ms=_number(given, "wait_ms", 2_500 if fsync == "wait" else 500, 1, 60_000),
        timeout_ms=_number(given, "timeout_ms", 1_000, 10, 60_000),
        ca=_path(given, "ca"),
        certificate=_path(given, "certificate"),
        key=_path(given, "key"),
    )
    if given:
        raise ValueError(f"there is no option {', '.join(sorted(given))}")
    _check(address)
    return address


def _check(address: Address) -> None:
    if not _PREFIX.fullmatch(address.prefix):
        raise ValueError("prefix has 1 to 64 letters, digits, dots, dashes and underscores")
    if address.fsync not in FSYNC:
        raise ValueError(f"fsync is one of {', '.join(FSYNC)}")
    if address.fsync == "wait" and address.wait_ms < BETWEEN_SYNCS_MS:
        raise ValueError(
            "with fsync=wait the server may write to disk once a second: "
            f"wait_ms is at least {BETWEEN_SYNCS_MS}"
        )
    if address.replicas_fsync and not address.replicas:
        raise ValueError("replicas_fsync says how replicas keep a commit: it needs replicas")
    if not address.tls and (address.ca or address.certificate or address.key):
        raise ValueError("ca, certificate and key are for TLS: the scheme begins with rediss")
    if bool(address.certificate) != bool(address.key):
        raise ValueError("certificate and key go together")
    if address.database and address.kind == "cluster":
        raise ValueError("a Cluster has no databases")
    if address.kind != "sentinel" and (address.sentinel_username or address.sentinel_password):
        raise ValueError("sentinel_user and sentinel_password_file are for redis+sentinel")
    if address.kind == "server" and len(address.hosts) > 1:
        raise ValueError("several hosts are for redis+sentinel and redis+cluster")


def _options(query: str) -> dict[str, str]:
    given: dict[str, str] = {}
    for name, value in parse_qsl(query, keep_blank_values=True):
        if name in given:
            raise ValueError(f"the option {name} is there twice")
        given[name] = value
    return given


def _hosts(text: str, port: int) -> tuple[tuple[str, int], ...]:
    found = []
    for one in text.split(","):
        match = re.fullmatch(r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::([0-9]{1,5}))?", one)
        if not match or not 0 < int(match[2] or port) < 65536:
            raise ValueError("hosts are HOST or HOST:PORT, separated by commas")
        found.append((match[1].strip("[]"), int(match[2] or port)))
    return tuple(found)


def _number(given: dict[str, str], name: str, default: int, least: int, most: int) -> int:
    text = given.pop(name, str(default))
    if not text.isdecimal() or not least <= int(text) <= most:
        raise ValueError(f"{name} is a number from {least} to {most}")
    return int(text)


def _switch(given: dict[str, str], name: str) -> bool:
    text = given.pop(name, "no")
    if text not in {"yes", "no"}:
        raise ValueError(f"{name} is yes or no")
    return text == "yes"


def _secret(given: dict[str, str], name: str) -> str:
    """Return what is in a file, empty if none is named."""
    file = given.pop(name, "")
    secret = Path(file).read_text().strip() if file else ""
    if file and not secret:
        raise ValueError(f"{name}: {file} is empty")
    return secret


def _path(given: dict[str, str], name: str) -> Path | None:
    text = given.pop(name, "")
    return Path(text) if text else None
