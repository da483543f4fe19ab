"""`croupier health` with the server's own settings: what a container or a unit asks of itself."""

from __future__ import annotations

from pathlib import Path

import pytest
import trustme

from tests.support.cli import croupier
from tests.support.processes import ServerProcess
from tests.support.workers import Workers

NAMES = [("ledger.example",), ("*.ledger.example",), ("10.1.2.3",)]


class Site:
    """A certificate authority, its certificates as files, and tokens."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._authority = trustme.CA()
        self.tokens = folder / "tokens.json"
        assert croupier("token", "new", "a", "--role=ops", f"--file={self.tokens}").returncode == 0

    def certificate(self, *names: str, through: trustme.CA | None = None) -> tuple[Path, Path]:
        """Return the files of a certificate with these names and of its key."""
        issued = (through or self._authority).issue_cert(*names)
        chain, key = (self._folder / f"{names[0].strip('*')}.{end}" for end in ("pem", "key"))
        chain.write_bytes(b"".join(one.bytes() for one in issued.cert_chain_pems))
        issued.private_key_pem.write_to_path(str(key))
        return chain, key

    def intermediate(self) -> trustme.CA:
        """Return an authority that the first one vouches for."""
        return self._authority.create_child_ca()


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path)


def tls(chain: Path, key: Path) -> dict[str, str]:
    return {"CROUPIER_TLS_CERTIFICATE": str(chain), "CROUPIER_TLS_KEY": str(key)}


def flags(environment: dict[str, str]) -> list[str]:
    names = ((name.removeprefix("CROUPIER_"), value) for name, value in environment.items())
    return [f"--{name.lower().replace('_', '-')}={value}" for name, value in names]


def test_a_server_that_listens_everywhere_is_asked_at_loopback(site: Site, tmp_path: Path):
    with ServerProcess(tmp_path / "data", f"--tokens={site.tokens}") as server:
        ran = croupier(
            "health",
            CROUPIER_LISTEN=f"0.0.0.0:{server.port}",
            CROUPIER_TOKENS=str(site.tokens),
            CROUPIER_ALLOW_PLAINTEXT="true",
        )
    assert (ran.returncode, ran.stdout) == (0, "SERVING\n")


def test_the_settings_may_stand_in_a_file(tmp_path: Path):
    with ServerProcess(tmp_path / "data") as server:
        (tmp_path / "croupier.toml").write_text(f'listen = "{server.address}"\n')
        ran = croupier("health", f"--config={tmp_path / 'croupier.toml'}")
        wrong = croupier("health", f"--config={tmp_path / 'absent.toml'}")
    assert (ran.returncode, ran.stdout) == (0, "SERVING\n")
    assert (wrong.returncode, wrong.stdout) == (2, "")


@pytest.mark.parametrize("names", NAMES, ids=str)
def test_over_tls_it_is_known_by_its_own_certificate(
    site: Site, tmp_path: Path, names: tuple[str, ...]
):
    secured = tls(*site.certificate(*names))
    with ServerProcess(tmp_path / "data", *flags(secured)) as server:
        ran = croupier("health", CROUPIER_LISTEN=server.address, **secured)
        plain = croupier("health", CROUPIER_LISTEN=server.address)
    assert (ran.returncode, ran.stdout) == (0, "SERVING\n"), ran.stderr
    assert (plain.returncode, plain.stdout) == (1, "")


def test_over_tls_no_root_is_needed_beside_the_chain(site: Site, tmp_path: Path):
    secured = tls(*site.certificate("ledger.example", through=site.intermediate()))
    with ServerProcess(tmp_path / "data", *flags(secured)) as server:
        ran = croupier("health", CROUPIER_LISTEN=server.address, **secured)
    assert (ran.returncode, ran.stdout) == (0, "SERVING\n"), ran.stderr


def test_another_server_with_another_certificate_is_not_taken_for_it(site: Site, tmp_path: Path):
    theirs, ours = (tls(*site.certificate(name)) for name in ("other.example", "ledger.example"))
    with ServerProcess(tmp_path / "data", *flags(theirs)) as server:
        ran = croupier("health", CROUPIER_LISTEN=server.address, **ours)
    assert (ran.returncode, ran.stdout) == (1, "")
    assert server.address in ran.stderr
    assert len(ran.stderr.splitlines()) == 1


def test_it_serves_where_every_worker_does(tmp_path: Path):
    with Workers(tmp_path / "data", 2) as workers:
        listen = {"CROUPIER_LISTEN": workers.addresses[0]}
        both = croupier("health", CROUPIER_WORKERS="2", **listen)
        more = croupier("health", CROUPIER_WORKERS="3", **listen)
        assert workers.stop() == 0
        none = croupier("health", CROUPIER_WORKERS="2", **listen)
    assert (both.returncode, both.stdout) == (0, "SERVING\n")
    assert [(one.returncode, one.stdout) for one in (more, none)] == [(1, "")] * 2


@pytest.mark.parametrize(
    "environment, code, said",
    [
        ({"CROUPIER_LISTEN": "127.0.0.1:0"}, 1, "port 0 does not say where it listens"),
        ({"CROUPIER_LISTEN": "nowhere"}, 2, "is not HOST:PORT"),
        (
            {"CROUPIER_TLS_CERTIFICATE": "absent", "CROUPIER_TLS_KEY": "absent"},
            1,
            "tls_certificate: absent cannot be read",
        ),
    ],
)
def test_settings_that_lead_to_no_server_are_told(
    environment: dict[str, str], code: int, said: str
):
    ran = croupier("health", **environment)
    assert (ran.returncode, ran.stdout) == (code, "")
    assert said in ran.stderr
    assert "Traceback" not in ran.stderr


def test_a_ledger_that_is_not_fenced_is_no_alarm(tmp_path: Path):
    with ServerProcess(tmp_path) as server:
        ran = croupier("health", f"--address={server.address}", "--service=ledgers/main")
        assert (ran.returncode, ran.stdout) == (
            0,
            "no fence: ledgers/main is served, or does not exist\n",
        )
        ran = croupier("health", f"--address={server.address}", "--service=croupier.v1.None")
        assert ran.returncode == 1
