"""A Dockerfile as its engine reads it: stages of instructions, with variables put in."""

from __future__ import annotations

import io
import json
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from dockerfile_parse import DockerfileParser
from dockerfile_parse.util import WordSplitter, extract_key_values

ROOT = Path(__file__).resolve().parents[2]
DOCKERFILE = ROOT / "deploy" / "Dockerfile"

KNOWN = frozenset(
    (
        *("ARG", "CMD", "COPY", "ENTRYPOINT", "ENV", "EXPOSE", "FROM", "HEALTHCHECK", "LABEL"),
        *("RUN", "STOPSIGNAL", "USER", "VOLUME", "WORKDIR"),
    )
)
BASE_PATH = "/usr/local/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


@dataclass(frozen=True, slots=True)
class Instruction:
    """One instruction with its value as written, and the variables that hold where it stands."""

    name: str
    value: str
    args: dict[str, str]
    env: dict[str, str]

    @property
    def words(self) -> list[str]:
        """Return the words of the value, with variables put in."""
        return [
            WordSplitter(word, args=self.args, envs=self.env).dequote()
            for word in shlex.split(self.value, posix=False)
        ]

    @property
    def exec_form(self) -> list[str]:
        """Return the words of a command that is written as a list, and so needs no shell."""
        return json.loads(self.value)


@dataclass(slots=True)
class Stage:
    """One stage: its base, its instructions in order, and the variables at its end."""

    base: str
    name: str | None
    instructions: list[Instruction] = field(default_factory=list)
    args: dict[str, str] = field(default_factory=dict)
    env: dict[str, str] = field(default_factory=dict)
    labels: dict[str, str] = field(default_factory=dict)

    def all(self, name: str) -> list[Instruction]:
        """Return the instructions of a kind, in order."""
        return [one for one in self.instructions if one.name == name]

    def last(self, name: str) -> Instruction:
        """Return the one of a kind that holds."""
        return self.all(name)[-1]

    @property
    def user(self) -> tuple[int, int]:
        """Return the numbers of the user and the group that the last stage runs as."""
        uid, _, gid = self.last("USER").value.partition(":")
        return int(uid), int(gid)

    @property
    def command(self) -> list[str]:
        """Return what a container of this stage runs."""
        return self.last("ENTRYPOINT").exec_form + self.last("CMD").exec_form

    @property
    def healthcheck(self) -> list[str]:
        """Return the command that tells whether a container is well."""
        return json.loads(self.last("HEALTHCHECK").value.partition("CMD ")[2])


def stages(path: str = BASE_PATH, **build_args: str) -> list[Stage]:
    """Return the stages of the Dockerfile, on bases with this PATH, built with these arguments."""
    found: list[Stage] = []
    outside: dict[str, str] = {}
    for one in DockerfileParser(fileobj=io.BytesIO(DOCKERFILE.read_bytes())).structure:
        name, value = one["instruction"], one["value"]
        if name == "COMMENT":
            continue
        assert name in KNOWN, f"this reader does not know {name}"
        if name == "FROM":
            words = Instruction(name, value, outside, {}).words
            name = words[2] if len(words) == 3 else None
            found.append(Stage(words[0], name, env={"PATH": path}))
            continue
        if not found:
            assert name == "ARG"
            key, _, default = value.partition("=")
            outside[key] = build_args.get(key, default)
            continue
        _add(found[-1], name, value, outside | build_args)
    return found


def _add(stage: Stage, name: str, value: str, given: dict[str, str]) -> None:
    stage.instructions.append(Instruction(name, value, dict(stage.args), dict(stage.env)))
    if name == "ARG":
        key, _, default = value.partition("=")
        stage.args[key] = given.get(key, default)
    elif name in {"ENV", "LABEL"}:
        target = stage.env if name == "ENV" else stage.labels
        pairs = extract_key_values(
            env_replace=True, args=stage.args, envs=stage.env, instruction_value=value
        )
        target.update(pairs)


def let_in(path: PurePosixPath, ignore: Path = ROOT / ".dockerignore") -> bool:
    """Return whether `.dockerignore` lets a path of the repository into a build.

    The last line that matches the path or a folder it is in decides.
    """
    inside = True
    for line in ignore.read_text().splitlines():
        pattern = line.strip()
        if not pattern or pattern.startswith("#"):
            continue
        matcher = re.compile(_regex(pattern.removeprefix("!")))
        if any(matcher.fullmatch(str(one)) for one in (path, *path.parents)):
            inside = pattern.startswith("!")
    return inside


def _regex(pattern: str) -> str:
    parts = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    pieces = re.split(r"(\*\*/|\*\*|\*|\?|\[[^]]*\])", pattern)
    return "".join(
        parts.get(one) or (one if one.startswith("[") else re.escape(one)) for one in pieces
    )


def context(source: str) -> Iterator[tuple[Path, PurePosixPath]]:
    """Yield the files that a COPY of `source` takes from the repository, with their places."""
    top = ROOT / source
    for file in sorted(top.rglob("*")) if top.is_dir() else [top]:
        place = PurePosixPath(file.relative_to(ROOT).as_posix())
        if file.is_file() and let_in(place):
            yield file, place
