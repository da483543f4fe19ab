"""The Kubernetes manifests: valid, without rights, closed, and of one mind with the settings."""

from __future__ import annotations

import re
import shutil
import subprocess

import cloudcoil.models.prometheus_operator.v1 as operator
import kubernetes_validate
import pytest
import yaml

from croupier.services.config import split_address
from tests.support.deployments import kubernetes_environment, settings_of, stops_within_s
from tests.support.dockerfile import ROOT, stages
from tests.support.kustomize import KUBERNETES, one, rendered

FOLDERS = ("base", "overlays/single", "overlays/workers", "overlays/houses", "overlays/peers")
VERSIONS = ("1.30", "1.37")
"""The oldest whose features are used, and the newest whose schema is known."""

OPERATOR = {"ServiceMonitor": operator.ServiceMonitor, "PrometheusRule": operator.PrometheusRule}

NAME = {"app.kubernetes.io/name": "croupier"}
IMAGE = stages()[-1]


@pytest.fixture(params=FOLDERS)
def resources(request):
    return rendered(request.param)


def stateful_set(resources):
    return one(resources, "StatefulSet")["spec"]


def pod(resources):
    return stateful_set(resources)["template"]["spec"]


def container(resources):
    (found,) = pod(resources)["containers"]
    return found


def settings(resources):
    return settings_of(kubernetes_environment(resources))


def shares(resources):
    """Whether pods share ledgers: in an engine that is in none of them."""
    return settings(resources).engine != "sqlite"


# --- valid ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("folder", FOLDERS)
def test_every_resource_is_what_its_schema_says(folder, version):
    checked = [r for r in rendered(folder) if r["kind"] not in OPERATOR]
    assert len(checked) >= 8
    for resource in checked:
        kubernetes_validate.validate(resource, version, strict=True)


def test_a_misspelt_field_is_noticed():
    (resource,) = (r for r in rendered("base") if r["kind"] == "StatefulSet")
    resource["spec"]["template"]["spec"]["containers"][0]["livenessprobe"] = {}
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(resource, VERSIONS[0], strict=True)


@pytest.mark.parametrize("folder", FOLDERS[1:])
def test_resources_of_the_operator_are_what_its_types_say(folder):
    checked = [r for r in rendered(folder) if r["kind"] in OPERATOR]
    assert checked
    for resource in checked:
        parsed = OPERATOR[resource["kind"]].model_validate(resource)
        # A field that the type does not have would be dropped without a word.
        said = parsed.model_dump(mode="json", by_alias=True, exclude_none=True, exclude_unset=True)
        assert said == resource


def test_every_file_is_part_of_something():
    named = {
        (file.parent / name).resolve()
        for file in KUBERNETES.rglob("kustomization.yaml")
        for kind in ("resources", "components")
        for name in yaml.safe_load(file.read_text()).get(kind, ())
    }
    files = {file for file in KUBERNETES.rglob("*.yaml") if file.name != "kustomization.yaml"}
    assert files <= named
    assert all(place.exists() for place in named)


@pytest.mark.ops
@pytest.mark.skipif(not shutil.which("kubectl"), reason="kubectl is not on this machine")
@pytest.mark.parametrize("folder", FOLDERS)
def test_the_real_kustomize_says_the_same(folder):
    ran = subprocess.run(
        ["kubectl", "kustomize", str(KUBERNETES / folder)],
        capture_output=True,
        text=True,
        check=True,
    )
    # It adds a hash to the name of what it generates.
    plain = re.sub(r"\b(croupier-settings)-[a-z0-9]{10}\b", r"\1", ran.stdout)

    def in_order(resources):
        return sorted(resources, key=lambda r: (r["kind"], r["metadata"]["name"]))

    assert in_order(yaml.safe_load_all(plain)) == in_order(rendered(folder))


# --- no rights ------------------------------------------------------------------------------------


def test_pods_keep_to_the_restricted_profile(resources):
    assert one(resources, "Namespace")["metadata"]["labels"] == {
        "pod-security.kubernetes.io/enforce": "restricted"
    }
    uid, gid = IMAGE.user
    assert pod(resources)["securityContext"] == {
        "runAsNonRoot": True,
        "runAsUser": uid,
        "runAsGroup": gid,
        "fsGroup": gid,
        "fsGroupChangePolicy": "OnRootMismatch",
        "seccompProfile": {"type": "RuntimeDefault"},
    }
    assert container(resources)["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    for unsafe in ("hostNetwork", "hostPID", "hostIPC"):
        assert unsafe not in pod(resources)


def test_pods_hold_no_key_to_the_cluster(resources):
    assert pod(resources)["automountServiceAccountToken"] is False
    assert one(resources, "ServiceAccount")["automountServiceAccountToken"] is False
    # A service named croupier would put CROUPIER_PORT and the like into the environment.
    assert pod(resources)["enableServiceLinks"] is False


def test_nothing_passes_but_what_is_let_in(resources):
    policies = [r["spec"] for r in resources if r["kind"] == "NetworkPolicy"]
    assert {"podSelector": {"matchLabels": NAME}, "policyTypes": ["Ingress", "Egress"]} in policies
    let_in = [rule for policy in policies for rule in policy.get("ingress", ())]
    assert len(let_in) == 2
    assert all(rule["from"] and rule["ports"] for rule in let_in)
    let_out = [rule for policy in policies for rule in policy.get("egress", ())]
    assert bool(let_out) == shares(resources)
    assert all(rule["to"] and rule["ports"] for rule in let_out)
    found = set()
    for rule in let_in:
        for port in rule["ports"]:
            found |= set(range(port["port"], port.get("endPort", port["port"]) + 1))
    assert found == {one["containerPort"] for one in container(resources)["ports"]}


def test_memory_has_a_limit_and_the_processor_has_none(resources):
    resources_ = container(resources)["resources"]
    assert set(resources_["limits"]) == {"memory", "ephemeral-storage"}
    assert set(resources_["requests"]) == {"cpu", "memory", "ephemeral-storage"}
    # One process uses one core.
    assert int(resources_["requests"]["cpu"]) == settings(resources).workers


# --- of one mind with the settings ----------------------------------------------------------------


def test_ports_are_those_on_which_it_listens(resources):
    found = settings(resources)
    for name, address in (("grpc", found.listen), ("metrics", found.metrics_listen)):
        _, first = split_address(address)
        ports = [p["containerPort"] for p in container(resources)["ports"] if name in p["name"]]
        assert ports == list(range(first, first + found.workers))
        for service in (r for r in resources if r["kind"] == "Service"):
            targets = [p for p in service["spec"]["ports"] if name in p["name"]]
            own = {p["name"] for p in container(resources)["ports"]}
            assert {p["targetPort"] for p in targets} <= own
    for kind in ("startupProbe", "readinessProbe", "livenessProbe"):
        probe = container(resources)[kind]
        if "grpc" in probe:
            assert probe["grpc"] == {"port": split_address(found.listen)[1]}
            assert found.tls_certificate is None, "the cluster's own probe speaks no TLS"
        else:
            assert probe["exec"]["command"] == IMAGE.healthcheck
            assert found.tls_certificate is not None


def test_every_worker_is_scraped():
    resources = rendered("overlays/workers")
    scraped = {e["port"] for e in one(resources, "ServiceMonitor")["spec"]["endpoints"]}
    headless = one(resources, "Service", "croupier-pods")["spec"]["ports"]
    assert scraped == {p["name"] for p in headless if "metrics" in p["name"]}
    assert len(scraped) == settings(resources).workers


def test_selectors_find_the_pods_and_the_service(resources):
    assert stateful_set(resources)["selector"]["matchLabels"] == NAME
    assert stateful_set(resources)["template"]["metadata"]["labels"] == NAME
    assert one(resources, "PodDisruptionBudget")["spec"]["selector"]["matchLabels"] == NAME
    services = [r for r in resources if r["kind"] == "Service"]
    assert all(service["spec"]["selector"] == NAME for service in services)
    for monitor in (r for r in resources if r["kind"] == "ServiceMonitor"):
        wanted = monitor["spec"]["selector"]["matchLabels"].items()
        found = [s for s in services if wanted <= s["metadata"]["labels"].items()]
        assert [s["metadata"]["name"] for s in found] == ["croupier-pods"]


def test_pods_have_time_to_stop(resources):
    before = container(resources).get("lifecycle", {}).get("preStop", {}).get("sleep", {})
    needed = stops_within_s(settings(resources)) + before.get("seconds", 0)
    assert pod(resources)["terminationGracePeriodSeconds"] >= needed


def test_a_long_start_is_waited_for_and_a_late_answer_is_not_death(resources):
    start, live = (container(resources)[f"{one}Probe"] for one in ("startup", "liveness"))
    assert start["periodSeconds"] * start["failureThreshold"] >= 600
    assert live["periodSeconds"] * live["failureThreshold"] >= 120
    assert "service" not in live.get("grpc", {}), "a fenced ledger is no reason to start again"


def test_data_and_secrets_lie_where_the_settings_say(resources):
    found = settings(resources)
    mounts = {m["mountPath"]: m for m in container(resources)["volumeMounts"]}
    assert str(found.data) in mounts
    assert "readOnly" not in mounts[str(found.data)]
    named = [found.tokens, found.draw_key, found.tls_certificate, found.tls_key]
    for path in filter(None, named):
        assert mounts[str(path.parent)]["readOnly"] is True
    volumes = {v["name"]: v for v in pod(resources)["volumes"]}
    for mount in mounts.values():
        if mount.get("readOnly"):
            secret = volumes[mount["name"]]["secret"]
            assert secret["defaultMode"] == 0o440
        elif shares(resources):
            assert "emptyDir" in volumes[mount["name"]]
        else:
            (claim,) = stateful_set(resources)["volumeClaimTemplates"]
            assert mount["name"] == claim["metadata"]["name"]
    assert found.draw_key.parent != found.data


def test_a_volume_with_ledgers_is_one_pods_alone_and_is_kept(resources):
    claims = stateful_set(resources).get("volumeClaimTemplates", [])
    assert len(claims) == (0 if shares(resources) else 1)
    for claim in claims:
        assert claim["spec"]["accessModes"] == ["ReadWriteOncePod"]
        retention = stateful_set(resources)["persistentVolumeClaimRetentionPolicy"]
        assert set(retention.values()) == {"Retain"}


def test_only_pods_that_share_ledgers_are_peers_and_have_a_service_over_them(resources):
    """Pods with a volume each do not share, so a caller must choose the pod."""
    replicas = stateful_set(resources)["replicas"]
    services = [r["spec"] for r in resources if r["kind"] == "Service"]
    if shares(resources):
        found = settings(resources)
        headless = stateful_set(resources)["serviceName"]
        assert found.peers == tuple(
            f"croupier-{number}.{headless}.croupier:50051" for number in range(replicas)
        )
        assert found.address() == found.peers[0]
        return
    assert settings(resources).peers == ()
    if replicas > 1:
        assert [service["clusterIP"] for service in services] == ["None"]


def test_workers_are_called_by_the_stable_name_of_their_pod():
    resources = rendered("overlays/workers")
    found = settings(resources)
    headless = stateful_set(resources)["serviceName"]
    namespace = one(resources, "StatefulSet")["metadata"]["namespace"]
    assert [found.address(number) for number in range(found.workers)] == [
        f"croupier-0.{headless}.{namespace}:{port}" for port in range(50051, 50055)
    ]


def test_the_image_has_the_version_of_the_project(resources):
    version = IMAGE.labels["org.opencontainers.image.version"]
    assert container(resources)["image"] == f"croupier:{version}"
    assert (ROOT / "pyproject.toml").read_text().count(f'version = "{version}"') == 1
