"""The compose files: what the specification allows, no rights, and of one mind with the rest."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
import yaml

from croupier.services.config import split_address
from croupier.services.store.redis_address import parse
from tests.support.deployments import (
    DEPLOY,
    composed,
    image_environment,
    in_repository,
    mounts,
    settings_of,
    stops_within_s,
)
from tests.support.dockerfile import ROOT, stages
from tests.support.processes import ServerProcess
from tests.support.redis_server import RedisServer

FILES = sorted(str(file.relative_to(DEPLOY)) for file in DEPLOY.rglob("compose*.yaml"))
PLAIN = ("compose.yaml",)
REDIS = ("compose.yaml", "compose.redis.yaml")
SHAPES = [
    ("compose.yaml", "redis/compose.sentinel.yaml"),
    ("compose.yaml", "redis/compose.cluster.yaml"),
]
TOGETHER = [PLAIN, ("compose.yaml", "compose.tls.yaml"), REDIS, *SHAPES]


@pytest.fixture(params=TOGETHER, ids="+".join)
def services(request):
    return composed(*request.param)["services"]


@pytest.fixture
def settings(services):
    return settings_of(image_environment() | services["croupier"]["environment"])


@pytest.mark.parametrize("file", FILES)
def test_it_is_what_the_specification_of_compose_allows(file):
    tool = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.compose-spec"]
    ran = subprocess.run([*tool, str(DEPLOY / file)], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout


def test_every_compose_file_is_tried():
    assert {name for files in TOGETHER for name in files} == set(FILES)


def test_images_are_exact_versions(services):
    for name, service in services.items():
        assert re.fullmatch(
            r"[a-z/-]+:v?\d+\.\d+\.\d+(-alpine)?(@sha256:[0-9a-f]{64})?", service["image"]
        ), name
    version = stages()[-1].labels["org.opencontainers.image.version"]
    assert services["croupier"]["image"] == f"croupier:{version}"
    build = services["croupier"]["build"]
    assert in_repository(build["context"]) == ROOT
    assert (ROOT / build["dockerfile"]).is_file()


def test_no_service_has_rights_or_writes_outside_its_volumes(services):
    for name, service in services.items():
        assert service["read_only"] is True, name
        assert service["cap_drop"] == ["ALL"], name
        assert service["security_opt"] == ["no-new-privileges:true"], name
        assert "privileged" not in service
        assert "cap_add" not in service


def test_every_service_is_bounded_watched_and_started_again(services):
    for name, service in services.items():
        assert set(service["deploy"]["resources"]["limits"]) == {"cpus", "memory", "pids"}, name
        assert service["restart"] == "unless-stopped"
        assert service["logging"]["options"]["max-size"]
        # The service's own check is in its image.
        assert "healthcheck" in service or name == "croupier"


@pytest.mark.parametrize("files", TOGETHER, ids="+".join)
def test_what_is_mounted_is_in_the_repository_or_a_volume_or_a_secret(files):
    whole = composed(*files)
    for service in whole["services"].values():
        for place, source in mounts(service).items():
            if source.startswith("."):
                assert in_repository(source).exists(), f"{source} for {place}"
            else:
                assert source in whole["volumes"]
        assert set(service.get("secrets", ())) <= set(whole["secrets"])
    for secret in whole["secrets"].values():
        file = in_repository(secret["file"])
        assert file.parent == DEPLOY / "secrets"
        ignored = ["git", "-c", f"safe.directory={ROOT}", "check-ignore", "--quiet", str(file)]
        assert subprocess.run(ignored, cwd=ROOT, check=False).returncode == 0


@pytest.mark.parametrize("files", TOGETHER, ids="+".join)
def test_nothing_is_named_that_is_not_used(files):
    whole = composed(*files)
    used = {name for service in whole["services"].values() for name in service.get("secrets", ())}
    assert used == set(whole["secrets"])
    used = {name for service in whole["services"].values() for name in service["networks"]}
    assert used == set(whole["networks"])


def test_secrets_and_data_lie_where_the_settings_say(services, settings):
    service = services["croupier"]
    places = {f"/run/secrets/{name}" for name in service["secrets"]}
    named = [settings.tokens, settings.draw_key, settings.tls_certificate, settings.tls_key]
    assert {str(path) for path in named if path} == places
    assert mounts(service) == {str(settings.data): "ledgers"}


def test_ports_are_those_on_which_it_listens(services, settings):
    published = services["croupier"]["ports"]
    inside = {port.rpartition(":")[2] for port in published}
    assert inside == {str(split_address(settings.listen)[1])}
    if settings.tls_certificate is None:
        assert all(port.startswith("127.0.0.1:") for port in published), "tokens are secrets"


def test_nothing_else_is_published_beyond_this_machine(services):
    for name, service in services.items():
        if name != "croupier":
            assert all(port.startswith("127.0.0.1:") for port in service.get("ports", ()))


def test_a_redis_that_is_run_as_said_is_one_that_ledgers_are_entrusted_to(tmp_path):
    whole = composed(*REDIS)
    server, *flags = whole["services"]["redis"]["command"]
    assert server == "redis-server"
    said = dict(zip(flags[::2], flags[1::2], strict=True))
    given = {name.removeprefix("--"): value for name, value in said.items()}
    assert given.pop("dir") == next(iter(mounts(whole["services"]["redis"])))
    with RedisServer(tmp_path / "redis") as redis:
        # None of the test's own settings but the port and the folder.
        redis.kill()
        redis.settings = {"bind": "127.0.0.1", **given}
        redis.start()
        with ServerProcess(tmp_path / "data", f"--engine={redis.url}") as served:
            assert any("engine   redis" in line for line in served.said)
            assert served.stop() == 0


def test_nobody_but_the_service_reaches_redis():
    whole = composed(*REDIS)
    url = whole["services"]["croupier"]["environment"]["CROUPIER_ENGINE"]
    assert url == "redis://redis:6379"
    (network,) = whole["services"]["redis"]["networks"]
    assert whole["networks"][network] == {"internal": True}
    on_it = {name for name, one in whole["services"].items() if network in one["networks"]}
    assert on_it == {"croupier", "redis"}


@pytest.mark.parametrize("files", SHAPES, ids="+".join)
def test_nobody_but_the_service_reaches_the_servers_of_a_shape(files):
    whole = composed(*files)
    assert whole["networks"]["engine"]["internal"] is True
    on_it = {name for name, one in whole["services"].items() if "engine" in one["networks"]}
    assert on_it == {
        name for name in whole["services"] if name.startswith(("redis", "sentinel"))
    } | {"croupier"}
    url = parse(whole["services"]["croupier"]["environment"]["CROUPIER_ENGINE"])
    assert {host for host, _ in url.hosts} <= on_it
    assert url.replicas == 1


def test_it_has_time_to_stop(services, settings):
    period = services["croupier"]["stop_grace_period"]
    assert int(period.removesuffix("s")) >= stops_within_s(settings)


def test_prometheus_reaches_the_service_and_grafana_does_not(services):
    networks = {name: set(service["networks"]) for name, service in services.items()}
    assert networks["prometheus"] & networks["croupier"]
    assert networks["prometheus"] & networks["grafana"]
    assert networks["prometheus"] & networks["alertmanager"]
    assert not networks["grafana"] & networks["croupier"]
    assert not networks["alertmanager"] & networks["croupier"]


def test_grafana_finds_its_dashboards_where_it_is_told_to_look():
    service = composed(*PLAIN)["services"]["grafana"]
    provider = yaml.safe_load((DEPLOY / "grafana/provisioning/dashboards/croupier.yml").read_text())
    paths = {one["options"]["path"] for one in provider["providers"]}
    found = {place for place, source in mounts(service).items() if "grafana/dashboards" in source}
    assert paths == found


def test_alertmanager_and_prometheus_find_their_files():
    services = composed(*PLAIN)["services"]
    for name in ("prometheus", "alertmanager"):
        (flag,) = (one for one in services[name]["command"] if one.startswith("--config.file="))
        path = flag.partition("=")[2]
        files = mounts(services[name])
        folder, _, file = path.rpartition("/")
        assert in_repository(files[folder]).joinpath(file).is_file()
        (store,) = (one for one in services[name]["command"] if re.match(r"--storage\S*path=", one))
        assert not files[store.partition("=")[2]].startswith(".")


def test_prometheus_scrapes_the_service_and_tells_alertmanager_and_grafana_asks_it():
    services = composed(*PLAIN)["services"]
    config = yaml.safe_load((DEPLOY / "compose/prometheus.yml").read_text())
    (scraped,) = config["scrape_configs"][0]["static_configs"]
    (told,) = config["alerting"]["alertmanagers"][0]["static_configs"]
    metrics = settings_of(services["croupier"]["environment"]).metrics_listen
    assert scraped["targets"] == [f"croupier:{split_address(metrics)[1]}"]
    assert told["targets"] == ["alertmanager:9093"]
    (source,) = yaml.safe_load((DEPLOY / "compose/datasources/prometheus.yml").read_text())[
        "datasources"
    ]
    assert source["url"] == "http://prometheus:9090"


def test_every_alert_goes_somewhere():
    config = yaml.safe_load((DEPLOY / "alertmanager/alertmanager.yml").read_text())
    receivers = {one["name"] for one in config["receivers"]}
    routes = [config["route"], *config["route"]["routes"]]
    assert {route["receiver"] for route in routes} == receivers
