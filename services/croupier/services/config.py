"""All settings: by flag, by environment (`CROUPIER_` and the name), or by a TOML file."""

from __future__ import annotations

import ipaddress
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, ValidationError, field_validator, model_validator
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)


class ConfigError(Exception):
    """The settings do not make a service that can run."""


class Settings(BaseSettings):
    """The settings of `croupier serve`: a flag overrides the environment, that the file."""

    model_config = SettingsConfigDict(env_prefix="CROUPIER_", extra="forbid")

    listen: str = Field("127.0.0.1:50051", description="HOST:PORT for gRPC; port 0 is any free one")
    metrics_listen: str = Field(
        "127.0.0.1:9464", description="HOST:PORT for Prometheus; empty turns it off"
    )
    data: Path = Field(Path("data"), description="folder of the ledgers' files")
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
    if not colon or not host or not port.isdecimal() or int(port) > 65535:
        raise ValueError(f"{address!r} is not HOST:PORT")
    return host.removeprefix("[").removesuffix("]"), int(port)


def is_loopback(host: str) -> bool:
    """Return whether only this machine can reach `host`."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


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
        lines = [
            ": ".join([*map(str, one["loc"]), one["msg"].removeprefix("Value error, ")])
            for one in error.errors()
        ]
        raise ConfigError("\n".join(lines)) from error
    except ValueError as error:
        raise ConfigError(f"{file}: {error}") from error
