"""Shows a service that runs on this machine, with the programs that this machine has.

`python deploy/dashboards.py [HOST:PORT ...]`, the addresses of its metrics; without any, the ports
from 9464 on that answer. Prometheus is started beside it with the deployed rules, and Grafana with
the deployed dashboards, each on a free port of loopback, until interrupted. What they keep is gone
with them.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from urllib.error import URLError
from urllib.parse import quote
from urllib.request import urlopen

import yaml

DEPLOY = Path(__file__).resolve().parent
FIRST_PORT = 9464
WORKERS_MAX = 64
READY_TIMEOUT_S = 30
PAUSE_S = 0.1
WORDS = 10
"""Lines that are shown of a program that ended."""

COMPOSE = "docker compose -f deploy/compose.yaml up"
GRAPHS = {
    "commands recorded": "sum(rate(croupier_commands_total[1m]))",
    "latency, 99th percentile": "histogram_quantile(0.99, "
    "sum by (method, le) (rate(croupier_call_seconds_bucket[1m])))",
    "trial balance": "max by (ledger, currency) (croupier_ledger_trial_balance_minor_units)",
}
GRAFANA_HOMES = ("/usr/share/grafana", "/usr/local/share/grafana", "/opt/homebrew/share/grafana")


def answers(url: str) -> bool:
    """Return whether something answers there, and well."""
    try:
        with urlopen(url, timeout=2) as answer:  # noqa: S310  # http, and of this machine
            return bool(answer.status == 200)
    except (URLError, OSError):
        return False


def free_port() -> int:
    """Return a port of loopback that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def found(asked: list[str]) -> list[str]:
    """Return the addresses at which a service shows its metrics."""
    if asked:
        return [one for one in asked if answers(f"http://{one}/metrics")]
    targets: list[str] = []
    for port in range(FIRST_PORT, FIRST_PORT + WORKERS_MAX):
        if not answers(f"http://127.0.0.1:{port}/metrics"):
            break
        targets.append(f"127.0.0.1:{port}")
    return targets


class Program:
    """A program that is started here, and ended here."""

    def __init__(self, command: list[str], log: Path, env: dict[str, str] | None = None) -> None:
        """Start it; its words go to a file."""
        self._log = log
        with log.open("wb") as file:
            self._process = subprocess.Popen(command, stdout=file, stderr=file, env=env)  # noqa: S603

    @property
    def runs(self) -> bool:
        """Return whether it has not ended."""
        return self._process.poll() is None

    @property
    def last_words(self) -> str:
        """Return the end of what it said."""
        return "\n".join(self._log.read_text(errors="replace").splitlines()[-WORDS:])

    def wait_until_ready(self, url: str) -> None:
        """Wait until it answers, or end with what it said."""
        deadline = time.monotonic() + READY_TIMEOUT_S
        while not answers(url):
            if not self.runs or time.monotonic() > deadline:
                self.stop()
                sys.exit(f"dashboards: nothing answers at {url}\n{self.last_words}")
            time.sleep(PAUSE_S)

    def stop(self) -> None:
        """Ask it to end, and wait until it has."""
        if self.runs:
            self._process.terminate()
        self._process.wait()


def prometheus(targets: list[str], folder: Path) -> tuple[Program, str]:
    """Start Prometheus and return where it is."""
    config = yaml.safe_load((DEPLOY / "prometheus" / "prometheus.yml").read_text())
    config["rule_files"] = [str(DEPLOY / "prometheus" / one) for one in config["rule_files"]]
    config["scrape_configs"][0]["static_configs"] = [{"targets": targets}]
    file = folder / "prometheus.yml"
    file.write_text(yaml.safe_dump(config))
    url = f"http://127.0.0.1:{free_port()}"
    command = [
        "prometheus",
        f"--config.file={file}",
        f"--storage.tsdb.path={folder / 'prometheus'}",
        f"--web.listen-address={url.removeprefix('http://')}",
        "--enable-feature=exemplar-storage",
    ]
    program = Program(command, folder / "prometheus.log")
    program.wait_until_ready(f"{url}/-/ready")
    return program, url


def grafana(source: str, folder: Path) -> tuple[Program, str] | None:
    """Start Grafana with the dashboards and return where it is; None where there is none."""
    names = (shutil.which("grafana"), shutil.which("grafana-server"))
    binary = next((one for one in names if one), None)
    if binary is None:
        return None
    home = os.environ.get("GF_PATHS_HOME") or next(
        (one for one in GRAFANA_HOMES if Path(one).exists()), GRAFANA_HOMES[0]
    )
    provisioning = folder / "provisioning"
    for kind, file in (("datasources", "prometheus.yml"), ("dashboards", "croupier.yml")):
        given = yaml.safe_load((DEPLOY / "grafana" / "provisioning" / kind / file).read_text())
        if kind == "datasources":
            given["datasources"][0]["url"] = source
        else:
            given["providers"][0]["options"]["path"] = str(DEPLOY / "grafana" / "dashboards")
        (provisioning / kind).mkdir(parents=True, exist_ok=True)
        (provisioning / kind / file).write_text(yaml.safe_dump(given))
    port = free_port()
    env = os.environ | {
        "GF_PATHS_PROVISIONING": str(provisioning),
        "GF_PATHS_DATA": str(folder / "grafana"),
        "GF_PATHS_LOGS": str(folder / "grafana"),
        "GF_SERVER_HTTP_ADDR": "127.0.0.1",
        "GF_SERVER_HTTP_PORT": str(port),
        # On loopback, for whoever sits here: no name and no password.
        "GF_AUTH_ANONYMOUS_ENABLED": "true",
        "GF_ANALYTICS_REPORTING_ENABLED": "false",
    }
    command = [binary, *(["server"] if Path(binary).name == "grafana" else []), "--homepath", home]
    program = Program(command, folder / "grafana.log", env)
    url = f"http://127.0.0.1:{port}"
    program.wait_until_ready(f"{url}/api/health")
    return program, url


def show(targets: list[str], folder: Path) -> None:
    """Start what there is, say where it is, and wait until interrupted or one of it ends."""
    programs: list[Program] = []
    try:
        program, source = prometheus(targets, folder)
        programs.append(program)
        say(f"watches    {', '.join(targets)}")
        say(f"Prometheus {source}/alerts")
        for title, expression in GRAPHS.items():
            say(f"           {source}/graph?g0.tab=0&g0.expr={quote(expression)}  ({title})")
        shown = grafana(source, folder)
        if shown is None:
            say("Grafana    was not found; install it, or run it in a container with Prometheus:")
            say(f"           {COMPOSE}")
        else:
            programs.append(shown[0])
            say(f"Grafana    {shown[1]}/d/croupier-overview")
        say("interrupt to stop")
        while all(one.runs for one in programs):
            time.sleep(PAUSE_S)
        said = "\n".join(one.last_words for one in programs if not one.runs)
        sys.exit(f"dashboards: a program ended\n{said}")
    except KeyboardInterrupt:
        say("stopping")
    finally:
        for one in programs:
            one.stop()


def say(line: str) -> None:
    """Tell whoever watches."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def main(asked: list[str]) -> None:
    """Show the services that answer."""
    targets = found(asked)
    if not targets:
        where = ", ".join(asked) or f"127.0.0.1:{FIRST_PORT}"
        sys.exit(
            f"dashboards: no service shows its metrics at {where}; start one with `make run`, "
            "or say where: make dashboards METRICS=HOST:PORT"
        )
    if shutil.which("prometheus") is None:
        sys.exit(
            "dashboards: Prometheus was not found; install the distribution's package prometheus, "
            f"or run it in a container, with Grafana:\n  {COMPOSE}"
        )
    with tempfile.TemporaryDirectory(prefix="croupier-dashboards-") as folder:
        show(targets, Path(folder))


if __name__ == "__main__":
    # Also where whoever started it in the background has interrupts ignored.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    main(sys.argv[1:])
