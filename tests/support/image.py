"""An image without an engine: the steps of the Dockerfile, carried out in a root of their own.

Each stage is a folder that becomes the root of its steps. In place of the base image it has this
machine's `/usr` and `/etc` and this interpreter, each under an overlay, so that what a step writes
stays in the stage. All of it is in a mount namespace and a network namespace of
its own, which end with the process that holds them. It takes root and util-linux.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Self

import psutil

from tests.support.dockerfile import BASE_PATH, Instruction, Stage, context, stages

STEP_TIMEOUT_S = 600
ANSWER_TIMEOUT_S = 60

DEVICES = ("null", "zero", "full", "random", "urandom")
FOLDERS = ("dev", "proc", "tmp", "run", "var/tmp", "root", "opt")

HOLD = """
import fcntl, socket, struct, sys
with socket.socket() as any:
    up = struct.pack("16sh", b"lo", 0x1 | 0x40)
    fcntl.ioctl(any, 0x8914, up)  # SIOCSIFFLAGS: loopback is up
print("held", flush=True)
sys.stdin.read()
"""

PASSED_ON = ("PIP_", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "SSL_CERT_", "REQUESTS_CA_")
"""Variables that tell a step where this site has its packages, as an engine's arguments do."""


def base_path() -> str:
    """Return where a root finds its programs, this interpreter first."""
    return f"{sys.base_prefix}/bin:{BASE_PATH}"


class Held:
    """Namespaces of their own, and what runs in them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        unshared = ["unshare", "--mount", "--net", "--propagation", "private"]
        self._holder = subprocess.Popen(
            [*unshared, sys.executable, "-c", HOLD],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._holder.stdout is not None
        assert self._holder.stdout.readline() == "held\n"

    def enter(self, *, network: bool) -> list[str]:
        """Return the words that run a command in the namespaces, in the network only if asked."""
        target = [f"--target={self._holder.pid}", "--mount"]
        return ["nsenter", *target, *(["--net"] if network else []), "--"]

    def run(self, *words: str) -> None:
        """Run a command there, outside any root."""
        command = [*self.enter(network=False), *words]
        ran = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
        assert ran.returncode == 0, f"{words}: {ran.stderr}"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        assert self._holder.stdin is not None
        self._holder.stdin.close()
        self._holder.wait(ANSWER_TIMEOUT_S)
        assert self._holder.stdout is not None
        self._holder.stdout.close()


class Root:
    """The root file system of a stage."""

    def __init__(self, held: Held, name: str) -> None:
        self.held = held
        self.path = held.folder / name / "root"
        self._layers = held.folder / name / "layers"
        for folder in FOLDERS:
            (self.path / folder).mkdir(parents=True)
        for link in ("bin", "sbin", "lib", "lib64"):
            if (there := Path("/") / link).is_symlink():
                (self.path / link).symlink_to(there.readlink())
        self._mounted = ["usr", "etc"]
        if not Path(sys.base_prefix).is_relative_to("/usr"):
            # It finds its libraries by this path.
            self._mounted.append(sys.base_prefix[1:])
        for place in self._mounted:
            self._overlay(f"/{place}", place)
        python = f"python{sys.version_info[0]}.{sys.version_info[1]}"
        held.run("ln", "-sfn", python, f"{self.path}{sys.base_prefix}/bin/python")
        held.run("mount", "-t", "proc", "proc", str(self.path / "proc"))
        for device in DEVICES:
            (self.path / "dev" / device).touch()
            held.run("mount", "--bind", f"/dev/{device}", str(self.path / "dev" / device))

    def _overlay(self, lower: str, place: str) -> None:
        upper, work = (self._layers / place.replace("/", "-") / one for one in ("upper", "work"))
        upper.mkdir(parents=True)
        work.mkdir()
        (self.path / place).mkdir(parents=True, exist_ok=True)
        options = f"lowerdir={lower},upperdir={upper},workdir={work}"
        target = str(self.path / place)
        self.held.run("mount", "-t", "overlay", "overlay", "-o", options, target)

    def step(self, command: str, env: Mapping[str, str], folder: str) -> str:
        """Carry out a RUN, as root, with the network of this machine; return what it said."""
        site = {k: v for k, v in os.environ.items() if k.upper().startswith(PASSED_ON)}
        given = [f"{k}={v}" for k, v in {**site, **env, "HOME": "/root"}.items()]
        words = ["chroot", str(self.path), "env", "-i", f"--chdir={folder}", *given]
        ran = subprocess.run(
            [*self.held.enter(network=False), *words, "/bin/sh", "-c", command],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=STEP_TIMEOUT_S,
        )
        assert ran.returncode == 0, f"RUN {command}\n{ran.stdout}"
        return ran.stdout

    def seal(self) -> None:
        """Make everything read only."""
        self.held.run("mount", "--rbind", str(self.path), str(self.path))
        for place in ["", *self._mounted]:
            self.held.run("mount", "-o", "remount,bind,ro", str(self.path / place))


class Image:
    """The last stage of the Dockerfile, built, with its root read only."""

    def __init__(self, held: Held, **build_args: str) -> None:
        self.held = held
        self._roots: dict[str, Root] = {}
        self._volumes = 0
        for number, stage in enumerate(stages(path=base_path(), **build_args)):
            root = Root(held, f"stage-{number}")
            self._build(stage, root)
            self._roots[stage.name or str(number)] = root
            self.root, self.stage = root, stage

    def _build(self, stage: Stage, root: Root) -> None:
        folder = "/"
        for one in stage.instructions:
            match one.name:
                case "WORKDIR":
                    folder = str(PurePosixPath(folder, one.words[0]))
                    self._inside(root, folder).mkdir(parents=True, exist_ok=True)
                case "COPY":
                    self._copy(one, root, folder)
                case "RUN":
                    root.step(one.value, one.env | one.args, folder)
                case _:
                    pass  # it says how to run the image, not what is in it

    def _inside(self, root: Root, place: str) -> Path:
        assert place.startswith("/")
        return root.path / place[1:]

    def _copy(self, one: Instruction, root: Root, folder: str) -> None:
        flags = [word for word in one.words if word.startswith("--")]
        *sources, target = (word for word in one.words if not word.startswith("--"))
        place = self._inside(root, str(PurePosixPath(folder, target)))
        if flags:
            (flag,) = flags
            stage = self._roots[flag.removeprefix("--from=")]
            (source,) = sources
            self.held.run("cp", "-a", str(self._inside(stage, source)), str(place))
            return
        for source in sources:
            files = list(context(source))
            assert files, f"COPY {source}: nothing is let in"
            for file, where in files:
                inside = os.path.relpath(where, source)
                to = place / source if target.endswith("/") else place
                to = to if inside == "." else to / inside
                to.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(file, to)

    # --- containers --------------------------------------------------------------------------

    @contextmanager
    def volumes(self) -> Iterator[dict[str, Path]]:
        """Mount a new folder at every volume of the image, with the rights the image gives it."""
        self._volumes += 1
        mounted = {}
        for one in self.stage.all("VOLUME"):
            place = self._inside(self.root, one.words[0])
            folder = self.held.folder / f"volume-{self._volumes}{one.words[0].replace('/', '-')}"
            folder.mkdir()
            rights = place.stat()
            os.chown(folder, rights.st_uid, rights.st_gid)
            folder.chmod(rights.st_mode & 0o777)
            self.held.run("mount", "--bind", str(folder), str(place))
            mounted[one.words[0]] = folder
        try:
            yield mounted
        finally:
            for place in mounted:
                self.held.run("umount", str(self._inside(self.root, place)))

    def words(
        self, command: Sequence[str], *, first: bool = False, proc: str = "", **environment: str
    ) -> list[str]:
        """Return the words that run a command as a container of this image would.

        It has the image's user and environment, no rights, and loopback alone. As the `first`
        process it has process ids of its own, and may have a `/proc` with these options.
        """
        uid, gid = self.stage.user
        ids = [f"--reuid={uid}", f"--regid={gid}", "--clear-groups", "--no-new-privs"]
        rights = ["--bounding-set=-all", "--inh-caps=-all"]
        apart = [
            "unshare",
            "--pid",
            "--fork",
            "--kill-child",
            f"--mount-proc={self.root.path}/proc",
        ]
        given = [f"{k}={v}" for k, v in {**self.stage.env, **environment}.items()]
        return [
            *self.held.enter(network=True),
            *(apart if first else []),
            *("chroot", str(self.root.path), "setpriv", *ids, *rights),
            *("env", "-i", *given, *command),
        ]

    def run(self, *command: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run a command to its end."""
        return subprocess.run(
            self.words(command, **environment),
            capture_output=True,
            text=True,
            check=False,
            timeout=ANSWER_TIMEOUT_S,
        )

    @contextmanager
    def container(self, *before: str, proc: str = "", **environment: str) -> Iterator[Container]:
        """Run the image's command until it says that it serves, and end it.

        Words `before` it run it: something that watches or confines it.
        """
        command = [*before, *self.stage.command]
        words = self.words(command, first=True, proc=proc, **environment)
        with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
            container = Container(process)
            try:
                container.wait_until_it_serves()
                yield container
            finally:
                container.kill()


class Container:
    """The image's command as the first process of its own process ids."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self.said: list[str] = []

    def wait_until_it_serves(self) -> None:
        """Read what it says until the last line of it."""
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self.said.append(line)
            if line.startswith("  callers"):
                return
        raise AssertionError(f"it ended with {self._process.wait()}: {self.said}")

    @property
    def main(self) -> psutil.Process:
        """Return the service's process: what `unshare` started."""
        (child,) = psutil.Process(self._process.pid).children()
        return child

    def stop(self, number: int) -> int:
        """Send the signal that stops it and return its exit code."""
        self.main.send_signal(number)
        return self.wait()

    def wait(self) -> int:
        """Return its exit code when it has ended."""
        return self._process.wait(ANSWER_TIMEOUT_S)

    def kill(self) -> None:
        """End it in any case; what it started ends with it."""
        if self._process.poll() is None:
            for child in psutil.Process(self._process.pid).children():
                child.kill()
        self._process.wait(ANSWER_TIMEOUT_S)
