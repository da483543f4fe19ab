"""What a server has to be before ledgers are entrusted to it.

Whoever starts the service is told what is wrong and what to set. Nothing is written here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from redis import exceptions as theirs

from croupier.services.store.engine_error import EngineError
from croupier.services.store.redis import scripts, settings
from croupier.services.store.redis.errors import said
from croupier.services.store.redis.keys import FORMAT, Directory, Keys
from croupier.services.store.redis.servers import Line, Node, Servers, check_is_master
from croupier.services.store.redis_address import Address

SCANNED_MAX = 1_000_000
"""How many keys of others are looked through on a server that never had ledgers."""


def check(servers: Servers) -> list[str]:
    """Refuse servers that cannot keep ledgers; return what could not be found out.

    Raises:
        EngineError: one of them is not as it has to be, or does not answer.

    """
    address = servers.address
    unknown: list[str] = []
    try:
        nodes = servers.nodes()
        for node in nodes:
            line = Line(node, node.pool.get_connection())
            try:
                unknown += _check_server(line, address)
            finally:
                line.release()
        _check_keys(servers, nodes)
    except theirs.RedisError as error:
        raise EngineError(f"{address.shown}: {_explained(error, address)}") from error
    return list(dict.fromkeys(unknown))


def _explained(error: theirs.RedisError, address: Address) -> str:
    text = said(error)
    if isinstance(error, theirs.AuthenticationError) or text.startswith("NOAUTH"):
        return f"wrong user or password: {text}"
    if isinstance(error, theirs.NoPermissionError):
        return f"the user may not do what the service does: {text}"
    if isinstance(error, theirs.InvalidResponse) or "Protocol error" in text:
        return f"it does not answer as Redis does: {text}"
    if isinstance(error, theirs.TimeoutError):
        return f"no answer in {address.timeout_ms} ms; is it Redis, with TLS as said? {text}"
    return text


def _check_server(line: Line, address: Address) -> Iterator[str]:
    where = f"{address.shown} ({line.node.name})" if address.kind == "cluster" else address.shown
    info = settings.info(line)

    def refuse(what: str) -> EngineError:
        return EngineError(f"{where}: {what}")

    if too_old := settings.too_old(info):
        raise refuse(too_old)
    _check_mode(info.get("redis_mode", ""), address, refuse)
    check_is_master(line)
    config = settings.config(line)
    if config is None:
        yield "the user may not read the server's settings (CONFIG GET)"
    known = settings.known(info, config)
    for what in settings.wrong(known, address).values():
        raise refuse(what)
    for name, wanted, _ in settings.wanted(address):
        if name not in known:
            yield f"{name} is not known; it has to be {' or '.join(wanted)}"
    if int(info.get("connected_slaves", 0)) < address.replicas:
        yield (
            f"{info.get('connected_slaves', 0)} replicas are connected, "
            f"{address.replicas} should have each commit"
        )


def _check_mode(mode: str, address: Address, refuse: Any) -> None:
    if mode == "sentinel":
        raise refuse("it is a Sentinel; with redis+sentinel:// it is asked where the server is")
    if mode == "cluster" and address.kind != "cluster":
        raise refuse("it is a node of a Cluster; that is redis+cluster://")


def _check_keys(servers: Servers, nodes: list[Node]) -> None:
    """Refuse a server whose keys below the prefix are not those of ledgers."""
    address = servers.address
    directory = Directory(address.prefix)
    # Whether the user may run scripts at all is found out now and not by the first command.
    probe = Keys(address.prefix, "_")
    keys = (probe.head, probe.log)
    servers.there(probe.head, lambda line: line.run(scripts.HEAD, keys, ()))
    begun = f"{address.shown}: the keys that begin with {address.prefix}: are not those of ledgers"
    more = f"; choose another prefix (?prefix=...): {directory.format}"
    form, kind = _directory(servers, directory)
    if form is None:
        other = directory.ledgers if kind != b"none" else _any_key(nodes, address.prefix)
        # Somebody else may just be the first to open a ledger here: he makes the format first.
        form, kind = _directory(servers, directory)
        if form is None and other:
            raise EngineError(f"{begun}{more} is not there, {other} is")
    if form is None:
        return
    if not form.isdigit() or kind not in {b"none", b"set"}:
        raise EngineError(f"{begun}{more} or {directory.ledgers} is of another application")
    if int(form) > FORMAT:
        raise EngineError(
            f"{address.shown}: the keys are of format {int(form)}, this program knows {FORMAT}: "
            "a later version of it wrote them"
        )


def _directory(servers: Servers, directory: Directory) -> tuple[bytes | None, bytes]:
    """Return the format of the keys, None if there is none, and the type of their directory."""
    try:
        form = servers.there(directory.format, lambda line: line.ask("GET", directory.format))
    except theirs.ResponseError as error:
        if "WRONGTYPE" not in str(error):
            raise
        form = b"?"
    kind = servers.there(directory.ledgers, lambda line: line.ask("TYPE", directory.ledgers))
    return form, kind


def _any_key(nodes: list[Node], prefix: str) -> str:
    """Return any key below a prefix, empty if there is none among those looked through."""
    pattern = f"{prefix}:*"
    for node in nodes:
        line = Line(node, node.pool.get_connection())
        try:
            cursor: bytes | int | None = None
            for _ in range(SCANNED_MAX // 1_000):
                cursor, page = line.ask("SCAN", cursor or 0, "MATCH", pattern, "COUNT", 1_000)
                if page:
                    return str(page[0].decode(errors="replace"))
                if cursor == b"0":
                    break
        finally:
            line.release()
    return ""
