"""The environments in which deployments run the service, as it would find them."""

from __future__ import annotations

import re
from typing import Any

from croupier.services.commands.workers import MARGIN_S
from croupier.services.config import Settings
from tests.support.dockerfile import stages
from tests.support.kustomize import Resource, one

FIELDS = {"metadata.name": "croupier-0", "metadata.namespace": "croupier"}
"""What a pod is told of itself, for the first pod."""


def image_environment() -> dict[str, str]:
    """Return the environment that the image has by itself."""
    return dict(stages()[-1].env)


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
    if "valueFrom" in variable:
        return FIELDS[variable["valueFrom"]["fieldRef"]["fieldPath"]]
    return re.sub(r"\$\((\w+)\)", lambda found: so_far[found[1]], variable["value"])


def stops_within_s(settings: Settings) -> float:
    """Return how long the service may take to stop, seconds: longer, and it is right to kill it."""
    ducking_s: float = getattr(settings, "lame_duck_s", 0.0)
    return ducking_s + 2 * settings.grace_s + MARGIN_S
