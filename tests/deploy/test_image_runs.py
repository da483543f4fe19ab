"""The Dockerfile's steps carried out, and its command run as a container would: see `image`."""

from __future__ import annotations

import os
import re
import shutil
import signal
import stat
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
import trustme

from tests.support.dockerfile import ROOT, context, stages
from tests.support.image import Image, Root, base_path

pytestmark = pytest.mark.ops

PLAIN = {"CROUPIER_ALLOW_PLAINTEXT": "true"}
OUTSIDE = {"CROUPIER_LISTEN": "0.0.0.0:50051", "CROUPIER_METRICS_LISTEN": "0.0.0.0:9464"}
TOKENS = "/data/tokens.json"


def test_with_nothing_but_its_own_environment_it_serves_and_is_well(image: Image, data: Path):
    with image.container() as container:
        assert any("engine   sqlite in /data" in line for line in container.said)
        well = image.run(*image.stage.healthcheck)
        assert (well.returncode, well.stdout) == (0, "SERVING\n"), well.stderr
        assert container.stop(signal.SIGTERM) == 0
    unwell = image.run(*image.stage.healthcheck)
    assert unwell.returncode == 1


def test_it_is_the_first_process_has_its_user_and_no_rights(image: Image, data: Path):
    with image.container() as container:
        process = container.main
        status = Path(f"/proc/{process.pid}/status").read_text()
        uid, gid = image.stage.user
        assert set(process.uids()) == {uid}
        assert set(process.gids()) == {gid}
    fields = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
    assert fields["NSpid"].split()[-1] == "1"
    assert {int(fields[one], 16) for one in ("CapPrm", "CapEff", "CapBnd")} == {0}
    assert fields["NoNewPrivs"] == "1"


def test_what_it_writes_is_its_own_and_in_the_volume_alone(image: Image, data: Path):
    with image.container() as container:
        assert container.stop(signal.SIGTERM) == 0
    uid, gid = image.stage.user
    written = list(data.rglob("*"))
    assert data / "draw.key" in written
    for one in written:
        found = one.stat()
        assert (found.st_uid, found.st_gid) == (uid, gid)
        # The volume itself lets nobody else in; what is secret says so once more.
        assert one.is_dir() or stat.S_IMODE(found.st_mode) == 0o600
    assert stat.S_IMODE(data.stat().st_mode) == 0o700
    tried = image.run("touch", "/x", "/run/x", "/opt/croupier/x", "/usr/x", "/etc/x")
    assert tried.stderr.count("Read-only file system") == 5


def test_nothing_in_it_installs_or_builds(image: Image, data: Path):
    pip = "/opt/croupier/bin/python", "-m", "pip", "--version"
    assert "No module named pip" in image.run(*pip).stderr
    assert "No module named pip" in image.run("python3", "-m", "pip", "--version").stderr
    listed = image.run(
        "python",
        "-c",
        "from importlib.metadata import distributions; "
        "print(*sorted(one.name.lower() for one in distributions()))",
    )
    found = set(listed.stdout.split())
    assert "croupier" in found
    assert not found & {"pip", "setuptools", "wheel", "hatchling", "editables", "pytest"}


def same_name(pinned: str) -> str:
    """Return "NAME==VERSION" with the name as lock files write it."""
    name, _, version = pinned.partition("==")
    return f"{re.sub('[-_.]+', '-', name).lower()}=={version}"


def test_the_packages_in_it_are_the_locked_ones(image: Image, data: Path):
    listed = image.run(
        "python",
        "-c",
        "from importlib.metadata import distributions; "
        "[print(one.name, one.version, sep='==') for one in distributions()]",
    )
    locked = {
        line.split()[0]
        for line in (ROOT / "requirements" / "run.txt").read_text().splitlines()
        if "==" in line and not line.startswith((" ", "#"))
    }
    installed = {same_name(one) for one in listed.stdout.split()}
    assert len(installed) > 10
    assert {one for one in installed if not one.startswith("croupier==")} <= locked


def test_asked_to_stop_while_it_starts_the_first_process_ends(image: Image, data: Path):
    spin = (
        "from croupier.services.cli import main\n"
        "from croupier.services.ledger.ledgers import Ledgers\n"
        "def recover(self):\n"
        "    print('recovering', flush=True)\n"
        "    while True: pass\n"
        "Ledgers.recover = recover\n"
        "main()\n"
    )
    words = image.words(["python", "-c", spin, "serve"], first=True)
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout.readline() == "recovering\n"
            (main,) = psutil.Process(process.pid).children()
            main.send_signal(signal.SIGTERM)
            assert process.wait(30) == 0
        finally:
            process.kill()


def test_beyond_loopback_it_wants_tokens_and_says_so(image: Image, data: Path):
    ran = image.run(*image.stage.command, **OUTSIDE, **PLAIN)
    assert ran.returncode == 2
    assert "needs a token file" in ran.stderr


def test_with_tokens_tls_and_workers_it_serves_and_is_well(image: Image, data: Path):
    uid, gid = image.stage.user
    made = image.run("croupier", "token", "new", "cage", "--role=operator", f"--file={TOKENS}")
    assert made.returncode == 0, made.stderr
    issued = trustme.CA().issue_cert("ledger.example")
    (data / "chain.pem").write_bytes(issued.cert_chain_pems[0].bytes())
    issued.private_key_pem.write_to_path(str(data / "key.pem"))
    for name in ("chain.pem", "key.pem"):
        os.chown(data / name, uid, gid)
        (data / name).chmod(0o400)
    environment = {
        **OUTSIDE,
        "CROUPIER_TOKENS": TOKENS,
        "CROUPIER_TLS_CERTIFICATE": "/data/chain.pem",
        "CROUPIER_TLS_KEY": "/data/key.pem",
        "CROUPIER_WORKERS": "2",
        "CROUPIER_ADVERTISE": "ledger.example:50051",
    }
    with image.container(**environment) as container:
        assert any("(TLS, 2 workers)" in line for line in container.said)
        well = image.run(*image.stage.healthcheck, **environment)
        assert (well.returncode, well.stdout) == (0, "SERVING\n"), well.stderr
        assert container.stop(signal.SIGTERM) == 0


def test_a_volume_that_it_may_not_write_is_said_clearly(image: Image, data: Path):
    os.chown(data, 0, 0)
    ran = image.run(*image.stage.command)
    assert (ran.returncode, ran.stdout) == (1, "")
    assert ran.stderr == (
        "data: the folder /data cannot be written by the user who serves: Permission denied\n"
    )


def test_the_guide_installs_the_service_on_a_machine(image: Image):
    guide = (ROOT / "docs" / "deployment.md").read_text()
    (snippet,) = re.findall(r"^```sh\n(python3 -m venv .*?)^```", guide, re.MULTILINE | re.DOTALL)
    root = Root(image.held, "machine")
    for source in ("domain", "services", "proto", "requirements", "pyproject.toml", "README.md"):
        for file, place in context(source):
            to = root.path / "checkout" / place
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, to)
    said = root.step(f"set -e\n{snippet}", {"PATH": base_path()}, "/checkout")
    assert "Successfully installed croupier-" in said
    version = root.step("/opt/croupier/bin/croupier --version", {}, "/")
    assert version == f"croupier {stages()[-1].labels['org.opencontainers.image.version']}\n"


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_every_locked_package_has_a_wheel_for_the_interpreter_of_the_image(
    tmp_path: Path, machine: str
):
    version = stages()[-1].base.removeprefix("python:").split("-")[0]
    platforms = [f"--platform=manylinux_2_{minor}_{machine}" for minor in (17, 24, 28, 34)]
    kinds = ["--only-binary=:all:", "--require-hashes", f"--python-version={version}"]
    for lock in ("run", "build"):
        ran = subprocess.run(
            [
                *(sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"),
                *("--disable-pip-version-check", f"--dest={tmp_path}"),
                *kinds,
                *platforms,
                f"--platform=manylinux2014_{machine}",
                f"--requirement={ROOT / 'requirements' / lock}.txt",
            ],
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
        assert ran.returncode == 0, ran.stderr
    assert list(tmp_path.glob("grpcio-*.whl"))
