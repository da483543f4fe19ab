"""Settings: by flag, by environment, by file, in this order; and none that is not safe."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from croupier.services import config
from tests.support.cli import croupier


@pytest.fixture(autouse=True)
def _clean(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in config.Settings.model_fields:
        monkeypatch.delenv(f"CROUPIER_{name.upper()}", raising=False)


def test_a_flag_overrides_the_environment_and_that_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    file = tmp_path / "croupier.toml"
    file.write_text('queue = 1\nbatch = 1\nlive_tables = 1\ndata = "from-file"\n')
    monkeypatch.setenv("CROUPIER_QUEUE", "2")
    monkeypatch.setenv("CROUPIER_BATCH", "2")
    monkeypatch.setenv("CROUPIER_GRACE_S", "2.5")
    settings = config.load({"queue": 3, "batch": None}, file)
    assert (settings.queue, settings.batch, settings.live_tables) == (3, 2, 1)
    assert settings.data == Path("from-file")
    assert settings.grace_s == 2.5
    assert settings.listen == "127.0.0.1:50051"


def test_every_setting_has_a_flag_and_a_description():
    text = croupier("serve", "--help", COLUMNS="200").stdout
    for name, field in config.Settings.model_fields.items():
        assert f"--{name.replace('_', '-')}" in text
        assert field.description


@pytest.mark.parametrize(
    "text, said",
    [
        ("listne = '127.0.0.1:1'", "listne"),
        ("[server]\nqueue = 1", "server"),
        ("queue = 0", "queue"),
        ("queue = 'many'", "queue"),
        ("message_bytes_max = 100000000", "message_bytes_max"),
        ("log_level = 'loud'", "log_level"),
        ("listen = 'localhost'", "HOST:PORT"),
        ("listen = ''", "listen is required"),
        ("listen = '127.0.0.1:99999'", "HOST:PORT"),
        ("tls_key = 'key.pem'", "go together"),
        ("queue = ", "croupier.toml"),
        ("queue = \udcff", "croupier.toml"),
    ],
)
def test_what_is_no_setting_is_refused(tmp_path: Path, text: str, said: str):
    file = tmp_path / "croupier.toml"
    file.write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(config.ConfigError, match=said):
        config.load({}, file)


def test_a_file_that_is_none_is_refused(tmp_path: Path):
    for path in (tmp_path / "missing.toml", tmp_path):
        with pytest.raises(config.ConfigError, match="is no file"):
            config.load({}, path)


def test_a_wrong_setting_of_the_environment_is_refused(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("CROUPIER_QUEUE", "many")
    with pytest.raises(config.ConfigError, match="queue"):
        config.load({}, None)


def test_what_a_cluster_puts_into_the_environment_is_no_setting(monkeypatch: pytest.MonkeyPatch):
    """A service called croupier gives every container these."""
    monkeypatch.setenv("CROUPIER_SERVICE_HOST", "10.0.0.1")
    monkeypatch.setenv("CROUPIER_PORT", "tcp://10.0.0.1:50051")
    assert config.load({}, None).listen == "127.0.0.1:50051"


@pytest.mark.parametrize("address", ["0.0.0.0:0", "[::]:0", "192.0.2.1:0", "casino.example:0"])
def test_beyond_loopback_callers_need_tokens_and_tls(address: str):
    with pytest.raises(config.ConfigError, match="needs a token file"):
        config.load({"listen": address}, None)
    with pytest.raises(config.ConfigError, match="needs tls_certificate and tls_key"):
        config.load({"listen": address, "tokens": "tokens.json"}, None)
    pair = {"tls_certificate": "chain.pem", "tls_key": "key.pem"}
    with pytest.raises(config.ConfigError, match="needs a token file"):
        config.load({"listen": address, **pair}, None)
    for more in (pair, {"allow_plaintext": True}):
        settings = config.load({"listen": address, "tokens": "tokens.json", **more}, None)
        assert settings.listen == address


@pytest.mark.parametrize("address", ["127.0.0.1:0", "127.9.9.9:0", "[::1]:0", "localhost:0"])
def test_on_loopback_nothing_more_is_needed(address: str):
    assert config.load({"listen": address}, None).tokens is None


TOKENS = {"tokens": "tokens.json", "allow_plaintext": True}


@pytest.mark.parametrize(
    "flags, said",
    [
        ({"workers": 0}, "workers"),
        ({"workers": 65}, "workers"),
        ({"workers": 3, "listen": "127.0.0.1:65534"}, "listen: 3 workers need ports beyond"),
        ({"workers": 3, "metrics_listen": "127.0.0.1:65534"}, "metrics_listen: 3 workers need"),
        ({"workers": 3, "advertise": "casino:65534"}, "advertise: 3 workers need"),
        (
            {"workers": 3, "listen": "127.0.0.1:7000", "metrics_listen": "127.0.0.1:7002"},
            "too close",
        ),
        (
            {"workers": 3, "listen": "127.0.0.1:7002", "metrics_listen": "127.0.0.1:7000"},
            "too close",
        ),
        ({"workers": 2, "listen": "0.0.0.0:7000", **TOKENS}, "needs advertise"),
        ({"peers": "127.0.0.1:7000", "listen": "[::]:7000", **TOKENS}, "needs advertise"),
        ({"advertise": "casino"}, "HOST:PORT"),
        ({"advertise": "casino:0"}, "advertise: casino:0 is no address that others can call"),
        ({"advertise": "0.0.0.0:7000"}, "no address that others can call"),
        ({"peers": "casino:7000,[::]:7000"}, "no address that others can call"),
        ({"peers": "casino:7000,nowhere"}, "'nowhere' is not HOST:PORT"),
        ({"peers": "casino:7000, CASINO:07000"}, "casino:7000 is there twice"),
        ({"peers": "casino:7000"}, "127.0.0.1:50051, where .* is not one of the peers casino:7000"),
        ({"peers": "casino:7000", "advertise": "casino:7001"}, "casino:7001, where .* is not one"),
        ({"peers": "casino:7000", "advertise": "casino:7000", "workers": 2}, "casino:7001, where"),
        ({"peers": "127.0.0.1:7000", "listen": "127.0.0.1:0"}, "peers need a port in listen"),
    ],
)
def test_processes_that_could_not_find_each_other_are_refused(flags: dict, said: str):
    with pytest.raises(config.ConfigError, match=said):
        config.load(flags, None)


def test_peers_are_given_by_flag_environment_or_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    file = tmp_path / "croupier.toml"
    file.write_text('advertise = "A:1"\npeers = ["A:1", "[::1]:2"]\n')
    assert config.load({}, file).peers == ("a:1", "[::1]:2")
    monkeypatch.setenv("CROUPIER_PEERS", "a:1, b:2")
    assert config.load({}, file).peers == ("a:1", "b:2")
    assert config.load({"peers": "c:3,a:1"}, file).peers == ("c:3", "a:1")
    assert config.load({"peers": ""}, file).peers == ()


def test_a_process_is_reached_where_it_listens_unless_it_says_otherwise():
    assert config.load({"listen": "localhost:07000"}, None).address() == "localhost:7000"
    settings = config.load({"listen": "[::1]:7000", "workers": 3}, None)
    assert [settings.address(one) for one in range(3)] == ["[::1]:7000", "[::1]:7001", "[::1]:7002"]
    settings = config.load(
        {"advertise": "casino:9", "workers": 2, "peers": "casino:9,casino:10"}, None
    )
    assert [settings.address(0), settings.address(1)] == ["casino:9", "casino:10"]


def test_the_command_line_refuses_to_listen_beyond_loopback_unguarded(tmp_path: Path):
    data = tmp_path / "data"
    tokens = tmp_path / "tokens.json"
    assert croupier("token", "new", "olga", "--role=operator", f"--file={tokens}").returncode == 0
    for flags, said in (
        ((), "needs a token file"),
        ((f"--tokens={tokens}",), "allow_plaintext"),
        (("--allow-plaintext",), "needs a token file"),
    ):
        ran = croupier("serve", "--listen=0.0.0.0:0", f"--data={data}", *flags)
        assert ran.returncode == 2
        assert ran.stderr.startswith("settings: ")
        assert said in ran.stderr
        assert "Traceback" not in ran.stderr
    assert not data.exists()


def test_the_command_line_takes_settings_from_everywhere(tmp_path: Path):
    file = tmp_path / "croupier.toml"
    file.write_text("queue = 0\n")
    by_file = croupier("serve", f"--config={file}")
    by_environment = croupier("serve", CROUPIER_QUEUE="0")
    by_flag = croupier("serve", "--queue=0", CROUPIER_QUEUE="5")
    for ran in (by_file, by_environment, by_flag):
        assert ran.returncode == 2
        assert ran.stderr.startswith("settings: queue: ")


def test_a_port_that_is_taken_is_said_clearly(tmp_path: Path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        data = f"--data={tmp_path / 'data'}"
        grpc_port = croupier("serve", f"--listen=127.0.0.1:{port}", "--metrics-listen=", data)
        metrics = f"--metrics-listen=127.0.0.1:{port}"
        metrics_port = croupier("serve", "--listen=127.0.0.1:0", metrics, data)
        workers = croupier(
            "serve", f"--listen=127.0.0.1:{port}", "--workers=2", "--metrics-listen=", data
        )
    for ran in (grpc_port, metrics_port, workers):
        assert ran.returncode == 1
        assert str(port) in ran.stderr
        assert "Traceback" not in ran.stderr
