"""The environments in which deployments run the service, as it would find them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml

from croupier.services.commands.workers import MARGIN_S
from croupier.services.config import Settings
from tests.support.dockerfile import ROOT, stages
from tests.support.kustomize import Resource, one

DEPLOY = ROOT / "deploy"

SECRETS = {("croupier-engine", "url"): "rediss://croupier:secret@redis.redis:6379"}
"""What a secret of the site might have in it, by name and key."""

FIELDS = {"metadata.name": "croupier-0", "metadata.namespace": "croupier"}
"""What a pod is told of itself, for the first pod."""


def image_environment() -> dict[str, str]:
    """Return the environment that the image has by itself."""
    return dict(stages()[-1].env)


def settings_of(environment: dict[str, str]) -> Settings:
    """Return the settings of an environment; one that is none of the service's is an error."""
    prefix = Settings.model_config["env_prefix"]
    own = {k.removeprefix(prefix): v for k, v in environment.items() if k.startswith(prefix)}
    return Settings(**{name.lower(): value for name, value in own.items()})


def composed(*names: str) -> dict[str, Any]:
    """Return what compose files come to together: maps are merged and lists added."""
    result: dict[str, Any] = {}
    for name in names:
        result = _merged(result, yaml.safe_load((DEPLOY / name).read_text()))
    return result


def _merged(under: Any, over: Any) -> Any:
    if isinstance(under, dict) and isinstance(over, dict):
        return under | {k: _merged(under[k], v) if k in under else v for k, v in over.items()}
    if isinstance(under, list) and isinstance(over, list):
        return under + over
    return over


def mounts(service: dict[str, Any]) -> dict[str, str]:
    """Return what a composed service mounts, by where."""
    return {place: source for source, place, *_ in (v.split(":") for v in service["volumes"])}


def in_repository(source: str) -> Path:
    """Return the file or folder that a compose file mounts."""
    return (DEPLOY / source).resolve()


def kubernetes_environment(resources: list[Resource]) -> dict[str, str]:
    """Return the environment of the first pod."""
    spec = one(resources, "StatefulSet")["spec"]["template"]["spec"]
    (container,) = spec["containers"]
    found = image_environment()
    for source in container.get("envFrom", ()):
        found |= one(resources, "ConfigMap", source["configMapRef"]["name"])["data"]
    for variable in container.get("env", ()):
        found[variable["name"]] = _value(variable, found)
    return found


def _value(variable: dict[str, Any], so_far: dict[str, str]) -> str:
    match variable.get("valueFrom"):
        case {"fieldRef": {"fieldPath": path}}:
            return FIELDS[path]
        case {"secretKeyRef": {"name": name, "key": key}}:
            return SECRETS[name, key]
    return re.sub(r"\$\((\w+)\)", lambda found: so_far[found[1]], variable["value"])


def stops_within_s(settings: Settings) -> float:
    """Return how long the service may take to stop, seconds: longer, and it is right to kill it."""
    return settings.lame_duck_s + 2 * settings.grace_s + MARGIN_S
