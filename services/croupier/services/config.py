"""All settings: by flag, by environment (`CROUPIER_` and the name), or by a TOML file."""

from __future__ import annotations

import ipaddress
import re
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError, field_validator, model_validator
from pydantic_settings import (
    BaseSettings,
    NoDecode,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from croupier.services.store.choosing import SQLITE, check_engine, check_pattern

PORT_MAX = 65_535
OFF = "off"
"""What turns a setting off that is on by itself."""
TRACE_URL = re.compile(r"https?://[^\s/]+:\d{1,5}/?")


class ConfigError(Exception):
    """The settings do not make a service that can run."""


class Settings(BaseSettings):
    """The settings of `croupier serve`: a flag overrides the environment, that the file."""

    model_config = SettingsConfigDict(
        env_prefix="CROUPIER_", extra="forbid", hide_input_in_errors=True
    )

    listen: str = Field("127.0.0.1:50051", description="HOST:PORT for gRPC; port 0 is any free one")
    metrics_listen: str = Field(
        "127.0.0.1:9464", description="HOST:PORT for Prometheus; empty turns it off"
    )
    workers: int = Field(
        1, ge=1, le=64, description="processes, on consecutive ports from those given on"
    )
    advertise: str | None = Field(
        None, description="HOST:PORT at which others reach this process; without it, listen"
    )
    peers: Annotated[tuple[str, ...], NoDecode] = Field(
        (), description="HOST:PORT of every process that shares the ledgers, this one included"
    )
    data: Path = Field(Path("data"), description="folder of the ledgers' files")
    engine: str = Field(
        "sqlite",
        repr=False,  # a password may be in it
        description="where ledgers are kept: sqlite (in data), sqlite:PATH, redis://HOST:PORT, "
        "rediss://, redis+sentinel://, redis+cluster://",
    )
    engines: Annotated[dict[str, str], NoDecode] = Field(
        {},
        repr=False,
        description="engines of some ledgers, by id or by how it begins: 'vip*=redis://HOST:PORT'",
    )
    wakeups: str | None = Field(
        None,
        repr=False,
        description="redis://HOST:PORT by which processes wake each other's watchers, or off; "
        "without it, the engine's server if there are peers",
    )
    draw_key: Path | None = Field(
        None, description="file with the secret that draws come from; without it, data/draw.key"
    )
    tokens: Path | None = Field(None, description="token file; without it everybody is `local`")
    tls_certificate: Path | None = Field(None, description="PEM certificate chain")
    tls_key: Path | None = Field(None, description="PEM private key")
    allow_plaintext: bool = Field(
        False, description="listen beyond loopback without TLS, behind something that adds it"
    )
    queue: int = Field(10_000, ge=1, le=1_000_000, description="requests waiting per ledger")
    backlog: int = Field(
        5_000, ge=1, le=50_000, description="calls taken by the transport and not begun"
    )
    calls_per_connection: int = Field(
        1_000, ge=1, le=100_000, description="calls and streams at once on one connection"
    )
    batch: int = Field(256, ge=1, le=100_000, description="requests decided in one turn")
    streams: int = Field(
        2_000, ge=1, le=100_000, description="watchers and streams of commands open at once"
    )
    heartbeat_s: float = Field(
        15.0, gt=0, le=3600, description="longest time a watcher is sent nothing, seconds"
    )
    live_tables: int = Field(10_000, ge=1, description="tables kept in memory per ledger")
    message_bytes_max: int = Field(
        1_000_000, ge=1_000, le=4_000_000, description="largest request taken, bytes"
    )
    grace_s: float = Field(
        10.0, ge=0, le=600, description="how long calls may take to finish at shutdown, seconds"
    )
    lame_duck_s: float = Field(
        1.0,
        ge=0,
        le=60,
        description="longest time that calls are still taken at shutdown, until callers have left",
    )
    deadline_max_s: float = Field(
        30.0, gt=0, le=3600, description="longest time that a call is worked on, seconds"
    )
    max_connection_age_s: float = Field(
        3600.0, ge=0, description="age at which a connection is to be made anew, seconds; 0: never"
    )
    max_connection_age_grace_s: float = Field(
        300.0, gt=0, description="how long its calls and streams may go on then, seconds"
    )
    min_recv_ping_interval_s: float = Field(
        5.0, ge=0, le=7200, description="callers that ping more often are cut off, seconds"
    )
    permit_without_calls: bool = Field(
        True, description="callers may ping a connection without calls, too"
    )
    slow_call_s: float = Field(
        1.0, ge=0, le=3600, description="calls that take longer are logged, seconds; 0: none"
    )
    trace: str = Field(
        "off", description="where traces go: off, console, or the URL of an OTLP collector (gRPC)"
    )
    log_level: Literal["debug", "info", "warning", "error", "critical"] = Field(
        "info", description="the least level of log lines"
    )
    log_format: Literal["console", "json"] = Field("console", description="how log lines look")

    @field_validator("listen", "metrics_listen")
    @classmethod
    def _is_address(cls, value: str) -> str:
        if value:
            split_address(value)
        return value

    @field_validator("trace")
    @classmethod
    def _can_be_traced(cls, value: str) -> str:
        if value not in ("off", "console") and not TRACE_URL.fullmatch(value):
            raise ValueError(f"{value!r} is not off, console, or http(s)://HOST:PORT")
        if value != "off" and not (find_spec("opentelemetry") and find_spec("opentelemetry.sdk")):
            raise ValueError("traces need the extra otel: pip install 'croupier[otel]'")
        return value

    @field_validator("advertise")
    @classmethod
    def _is_reachable(cls, value: str | None) -> str | None:
        return None if value is None else reachable(value)

    @field_validator("engine")
    @classmethod
    def _is_engine(cls, value: str) -> str:
        return check_engine(value)

    @field_validator("wakeups")
    @classmethod
    def _is_channel(cls, value: str | None) -> str | None:
        if value is not None and value != OFF and check_engine(value).partition(":")[0] == SQLITE:
            raise ValueError(f"wake-ups come from a Redis server, or are {OFF}")
        return value

    @field_validator("engines", mode="before")
    @classmethod
    def _is_table(cls, value: Any) -> Any:
        """Take a table, or as flags and the environment have it, one text with blanks."""
        if not isinstance(value, str):
            return value
        pairs = [one.partition("=") for one in value.split()]
        if not all(equals for _, equals, _ in pairs):
            raise ValueError("it is LEDGER=ENGINE, and more of them after a blank")
        table = {ledger: engine for ledger, _, engine in pairs}
        if len(table) != len(pairs):
            raise ValueError("a ledger is there twice")
        return table

    @field_validator("engines")
    @classmethod
    def _are_engines(cls, value: dict[str, str]) -> dict[str, str]:
        return {check_pattern(ledger): check_engine(engine) for ledger, engine in value.items()}

    @field_validator("peers", mode="before")
    @classmethod
    def _is_list(cls, value: Any) -> Any:
        """Take a list, or as flags and the environment have it, one text with commas."""
        if isinstance(value, str):
            return tuple(one.strip() for one in value.split(",")) if value.strip() else ()
        return value

    @field_validator("peers")
    @classmethod
    def _are_reachable(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        peers = tuple(map(reachable, value))
        if twice := {one for one in peers if peers.count(one) > 1}:
            raise ValueError(f"{', '.join(sorted(twice))} is there twice")
        return peers

    @model_validator(mode="after")
    def _is_safe(self) -> Settings:
        if (self.tls_certificate is None) != (self.tls_key is None):
            raise ValueError("tls_certificate and tls_key go together")
        if not self.listen:
            raise ValueError("listen is required")
        if not is_loopback(split_address(self.listen)[0]):
            if self.tokens is None:
                raise ValueError(
                    f"listening on {self.listen} needs a token file (tokens): "
                    "beyond loopback every caller has to say who he is"
                )
            if self.tls_certificate is None and not self.allow_plaintext:
                raise ValueError(
                    f"listening on {self.listen} needs tls_certificate and tls_key, or "
                    "allow_plaintext where something in front adds TLS: tokens are secrets"
                )
        return self

    @model_validator(mode="after")
    def _is_among_its_peers(self) -> Settings:
        host, port = split_address(self.listen)
        if self.advertise is None and (self.workers > 1 or self.peers):
            if is_any(host):
                raise ValueError(
                    f"listening on {self.listen} beside other processes needs advertise: "
                    "callers are sent from one to the other, and this is no address to call"
                )
            if self.peers and not port:
                raise ValueError("peers need a port in listen, or advertise: each knows its own")
        if self.peers:
            for number in range(self.workers):
                if (own := self.address(number)) not in self.peers:
                    raise ValueError(
                        f"{own}, where this process is reached, is not one of the peers "
                        f"{', '.join(self.peers)}; advertise says how they call it"
                    )
        return self

    @model_validator(mode="after")
    def _has_ports_for_all(self) -> Settings:
        if self.workers == 1:
            return self
        taken = {}
        for name in ("listen", "metrics_listen", "advertise"):
            if not (address := getattr(self, name)):
                continue
            _, port = split_address(address)
            if port + self.workers - 1 > PORT_MAX:
                raise ValueError(f"{name}: {self.workers} workers need ports beyond {PORT_MAX}")
            if port and name != "advertise":
                taken[name] = range(port, port + self.workers)
        if len(taken) == 2 and max(one.start for one in taken.values()) < min(
            one.stop for one in taken.values()
        ):
            raise ValueError(
                f"listen and metrics_listen are too close: {self.workers} workers take "
                f"{self.workers} ports from each on"
            )
        return self

    def address(self, number: int = 0) -> str:
        """Return where others reach worker `number`, as far as the settings say."""
        return moved(self.advertise or reachable(self.listen, any_port=True), number)

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Return the sources in order of precedence."""
        del dotenv_settings, file_secret_settings
        return (init_settings, env_settings, TomlConfigSettingsSource(settings_cls))


def split_address(address: str) -> tuple[str, int]:
    """Return host and port of "HOST:PORT"; an IPv6 host stands in brackets."""
    host, colon, port = address.rpartition(":")
    if not colon or not host or not port.isdecimal() or int(port) > PORT_MAX:
        raise ValueError(f"{address!r} is not HOST:PORT")
    return host.removeprefix("[").removesuffix("]"), int(port)


def join_address(host: str, port: int) -> str:
    """Return "HOST:PORT" in the one way in which it is written."""
    host = host.lower()
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def moved(address: str, number: int) -> str:
    """Return the address `number` ports further on; port 0 stays."""
    host, port = split_address(address)
    return join_address(host, port + number if port else 0)


def reachable(address: str, *, any_port: bool = False) -> str:
    """Return an address in the one way in which it is written, for it is compared and hashed.

    Raises:
        ValueError: it is none that can be called.

    """
    host, port = split_address(address)
    if not any_port and (not port or is_any(host)):
        raise ValueError(f"{address} is no address that others can call")
    return join_address(host, port)


def is_any(host: str) -> bool:
    """Return whether `host` means every address of this machine."""
    try:
        return ipaddress.ip_address(host).is_unspecified
    except ValueError:
        return False


def is_loopback(host: str) -> bool:
    """Return whether only this machine can reach `host`."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def in_words(error: ValidationError) -> str:
    """Return which settings are wrong and why, a line each."""
    return "\n".join(
        ": ".join([*map(str, one["loc"]), one["msg"].removeprefix("Value error, ")])
        for one in error.errors()
    )


def load(flags: dict[str, Any], file: Path | None) -> Settings:
    """Return the settings of flags, environment and file.

    Raises:
        ConfigError: they are incomplete, unknown or unsafe; the message says which and why.

    """

    class FromFile(Settings):
        model_config = SettingsConfigDict(toml_file=file)

    if file is not None and not file.is_file():
        raise ConfigError(f"{file} is no file")
    given = {name: value for name, value in flags.items() if value is not None}
    try:
        return FromFile(**given)
    except ValidationError as error:
        raise ConfigError(in_words(error)) from error
    except ValueError as error:
        raise ConfigError(f"{file}: {error}") from error
