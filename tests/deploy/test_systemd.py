"""The systemd unit: what systemd itself says of it, and of one mind with the settings."""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from tests.support.deployments import settings_of, stops_within_s
from tests.support.image import Image
from tests.support.units import DROP_IN, SPECIFIERS, SYSTEMD, UNIT, environment, every, last

TOGETHER = [(UNIT,), (UNIT, DROP_IN)]
EXPOSURE_MOST = 15
"""Tenths of systemd's own measure, which goes from 0 (shut in) to 10 (left open)."""

SECONDS = {"": 1, "s": 1, "min": 60}

needs_systemd = pytest.mark.skipif(
    not shutil.which("systemd-analyze"), reason="the package systemd is not on this machine"
)


@pytest.fixture(params=TOGETHER, ids=lambda files: files[-1].name)
def files(request):
    return request.param


def seconds(text: str) -> int:
    number, unit = re.fullmatch(r"(\d+)(\w*)", text).groups()
    return int(number) * SECONDS[unit]


# --- of one mind with the settings ----------------------------------------------------------------


def test_its_settings_are_a_service_that_starts(files):
    found = settings_of(environment(*files))
    assert found.tokens is not None
    assert (found.tls_certificate is not None) == (DROP_IN in files)


def test_data_is_the_state_folder_and_nothing_else_is_written(files):
    folder = f"/var/lib/{last('StateDirectory', *files)}"
    assert str(settings_of(environment(*files)).data) == folder
    assert environment(*files)["SQLITE_TMPDIR"] == folder
    assert last("StateDirectoryMode", *files) == "0700"
    assert last("ProtectSystem", *files) == "strict"
    assert not every("ReadWritePaths", *files)


def test_secrets_are_credentials_that_the_unit_loads(files):
    loaded = dict(one.split(":") for one in every("LoadCredential", *files))
    assert all(source == f"/etc/croupier/{name}" for name, source in loaded.items())
    found = settings_of(environment(*files))
    named = [found.tokens, found.draw_key, found.tls_certificate, found.tls_key]
    assert {str(path) for path in named if path} == {f"{SPECIFIERS['%d']}/{one}" for one in loaded}


def test_it_has_time_to_stop_and_to_start(files):
    found = settings_of(environment(*files))
    assert seconds(last("TimeoutStopSec", *files)) >= stops_within_s(found)
    assert seconds(last("TimeoutStartSec", *files)) >= 600
    assert last("Type", *files) == "notify"


def test_the_user_that_serves_is_one_that_is_made():
    kind, user, _, _, home, shell = re.fullmatch(
        r"(\w) (\S+) (\S+) (\".*\") (\S+) (\S+)",
        (SYSTEMD / "croupier.sysusers").read_text().splitlines()[-1],
    ).groups()
    assert (kind, user) == ("u", last("User", UNIT))
    assert user == last("Group", UNIT)
    assert (home, shell) == ("/var/lib/croupier", "/usr/sbin/nologin")


# --- what systemd says ----------------------------------------------------------------------------


@pytest.fixture
def system(tmp_path: Path, files):
    """A root with the units of this machine's systemd, ours, and the program that ours starts."""
    units = tmp_path / "usr/lib/systemd/system"
    shutil.copytree("/usr/lib/systemd/system", units, symlinks=True)
    own = tmp_path / "etc/systemd/system"
    own.mkdir(parents=True)
    shutil.copy(UNIT, own)
    if DROP_IN in files:
        (own / "croupier.service.d").mkdir()
        shutil.copy(DROP_IN, own / "croupier.service.d")
    program = tmp_path / last("ExecStart", *files).split()[0].lstrip("/")
    program.parent.mkdir(parents=True)
    program.touch(mode=0o755)
    return tmp_path


def analyze(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["systemd-analyze", *words], capture_output=True, text=True, check=False, timeout=60
    )


@pytest.mark.ops
@needs_systemd
def test_systemd_finds_nothing_wrong(system):
    ran = analyze("verify", f"--root={system}", "--man=no", "croupier.service")
    assert (ran.returncode, ran.stdout + ran.stderr) == (0, "")


@pytest.mark.ops
@needs_systemd
def test_a_misspelt_setting_is_found(system):
    unit = system / "etc/systemd/system/croupier.service"
    unit.write_text(unit.read_text().replace("ProtectHome=", "ProtectHouse="))
    ran = analyze("verify", f"--root={system}", "--man=no", "croupier.service")
    assert "ProtectHouse" in ran.stderr


@pytest.mark.ops
@needs_systemd
def test_systemd_calls_it_little_exposed(system):
    flags = ["--offline=true", f"--threshold={EXPOSURE_MOST}", f"--root={system}"]
    ran = analyze("security", *flags, "croupier.service")
    assert ran.returncode == 0, ran.stdout
    assert "Overall exposure level for croupier.service" in ran.stdout


def calls_of(group: str) -> set[str]:
    """Return the system calls of a group, as systemd knows it."""
    found: set[str] = set()
    for line in analyze("syscall-filter", group).stdout.splitlines():
        name = line.strip()
        if name.startswith("@"):
            found |= calls_of(name) if name != group else set()
        elif name and not name.startswith("#"):
            found.add(name)
    return found


CONFINED = """
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
if libc.prctl(65, 1, 0, 0, 0):  # PR_SET_MDWE: no memory is written and executed
    sys.exit(f"prctl: {os.strerror(ctypes.get_errno())}")
os.umask(0o077)
os.execvp(sys.argv[1], sys.argv[1:])
"""


@pytest.mark.ops
@needs_systemd
@pytest.mark.skipif(not shutil.which("strace"), reason="the package strace is not on this machine")
def test_confined_as_the_unit_says_it_serves_and_makes_no_forbidden_call(image: Image, data: Path):
    assert last("MemoryDenyWriteExecute", UNIT) == "yes"
    assert (last("ProtectProc", UNIT), last("ProcSubset", UNIT)) == ("invisible", "pid")
    hidden = ",hidepid=invisible,subset=pid"
    confined = ["python", "-c", CONFINED]
    with image.container(*confined, proc=hidden) as container:
        well = image.run(*image.stage.healthcheck)
        assert (well.returncode, well.stdout) == (0, "SERVING\n"), well.stderr
        assert container.stop(signal.SIGTERM) == 0
    # The demonstration serves and plays whole games, so it makes every call that serving takes.
    trace = ["strace", "--follow-forks", "--quiet=all", "--output=/data/trace"]
    demo = [*trace, *confined, "croupier", "demo", "--data=/data/demo"]
    words = image.words(demo, first=True, proc=hidden, TMPDIR="/data")
    ran = subprocess.run(words, capture_output=True, text=True, check=False, timeout=300)
    assert ran.returncode == 0, ran.stderr
    lines = (data / "trace").read_text()
    made = set(re.findall(r"^\d+ +(\w+)\(", lines, re.MULTILINE))
    assert {"fsync", "fdatasync", "flock"} & made
    assert made - allowed_calls() == set()


def allowed_calls() -> set[str]:
    """Return the system calls that the unit lets through."""
    allowed = calls_of("@default")
    for value in every("SystemCallFilter", UNIT):
        groups = {call for group in value.lstrip("~").split() for call in calls_of(group)}
        allowed = allowed - groups if value.startswith("~") else allowed | groups
    return allowed
