"""What `kubectl kustomize` would say, for the few fields that our kustomizations use.

Names of generated ConfigMaps keep their plain form; a test compares all of it with the real one.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jsonpatch
import yaml

from tests.support.dockerfile import ROOT

KUBERNETES = ROOT / "deploy" / "kubernetes"
CLUSTER_WIDE = frozenset({"Namespace"})
KNOWN = frozenset(
    {
        *("apiVersion", "kind", "namespace", "resources", "components", "configMapGenerator"),
        *("patches", "replicas"),
    }
)

Resource = dict[str, Any]


def rendered(folder: str) -> list[Resource]:
    """Return the resources of a folder below `deploy/kubernetes`."""
    return _render(KUBERNETES / folder, [])


def one(resources: list[Resource], kind: str, name: str = "croupier") -> Resource:
    """Return the resource of a kind with a name."""
    (found,) = (r for r in resources if (r["kind"], r["metadata"]["name"]) == (kind, name))
    return found


def _render(folder: Path, resources: list[Resource]) -> list[Resource]:
    said = yaml.safe_load((folder / "kustomization.yaml").read_text())
    assert said.keys() <= KNOWN, f"{folder}: this reader does not know {said.keys() - KNOWN}"
    for name in said.get("resources", ()):
        place = folder / name
        if place.is_dir():
            resources += _render(place, [])
        else:
            resources += list(yaml.safe_load_all(place.read_text()))
    for name in said.get("components", ()):
        assert yaml.safe_load((folder / name / "kustomization.yaml").read_text())["kind"] == (
            "Component"
        )
        resources = _render(folder / name, resources)
    for generator in said.get("configMapGenerator", ()):
        _generate(generator, resources)
    for replica in said.get("replicas", ()):
        one(resources, "StatefulSet", replica["name"])["spec"]["replicas"] = replica["count"]
    for patch in said.get("patches", ()):
        resources = _patched(patch, resources)
    if namespace := said.get("namespace"):
        for resource in resources:
            if resource["kind"] not in CLUSTER_WIDE:
                resource["metadata"]["namespace"] = namespace
    return resources


def _generate(generator: dict[str, Any], resources: list[Resource]) -> None:
    data = dict(literal.split("=", 1) for literal in generator["literals"])
    if generator.get("behavior") == "merge":
        one(resources, "ConfigMap", generator["name"])["data"] |= data
        return
    metadata = {"name": generator["name"]}
    resources.append({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data})


def _patched(patch: dict[str, Any], resources: list[Resource]) -> list[Resource]:
    change = yaml.safe_load(patch["patch"])
    if isinstance(change, dict):
        assert change["$patch"] == "delete"
        gone = one(resources, change["kind"], change["metadata"]["name"])
        return [r for r in resources if r is not gone]
    target = one(resources, patch["target"]["kind"], patch["target"]["name"])
    return [jsonpatch.apply_patch(r, change) if r is target else r for r in resources]
