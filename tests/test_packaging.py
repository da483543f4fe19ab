"""House rules of the tree that no tool knows: where code may live, and what may stand in it."""

import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SOURCE_ROOTS = ("domain", "services", "proto")
PORTIONS = ("domain/croupier/domain", "services/croupier/services", "proto/croupier/v1")

# A reader keeps one module in mind; past this, two modules are waiting to be split.
LINES_MAX = 400

# Composed, so that this file does not contain what it looks for.
REGISTRIES = ("py" + "pi", "python" + "hosted", "npm" + "js", "deb" + "ian")
REGISTRY_ADDRESS = re.compile(r"https?://[\w.-]*(?:" + "|".join(REGISTRIES) + r")\.")


def is_stub(path: Path) -> bool:
    """Whether protoc wrote this file; its size and style are not ours to judge."""
    return "_pb2" in path.name


def tracked_files() -> list[Path]:
    """Every file that git tracks; without git (a source archive), every file that could be."""
    git = ["git", "-c", f"safe.directory={ROOT}", "-C", str(ROOT), "ls-files", "-z"]
    try:
        listed = subprocess.run(git, check=True, capture_output=True, text=True).stdout
    except (OSError, subprocess.CalledProcessError):
        tops = (*SOURCE_ROOTS, "tests", "requirements", "deploy", "docs")
        found = [path for top in tops for path in (ROOT / top).rglob("*")]
        found += ROOT.glob("*.*")
        return [p for p in found if p.is_file() and "__pycache__" not in p.parts]
    return [path for name in listed.split("\0") if name and (path := ROOT / name).is_file()]


def hits(pattern: re.Pattern[str]) -> list[str]:
    """Each `file:line` of a tracked text file in which the pattern occurs."""
    found = []
    for path in tracked_files():
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue  # an image or a database
        found += [
            f"{path.relative_to(ROOT)}:{number}"
            for number, line in enumerate(text.splitlines(), start=1)
            if pattern.search(line)
        ]
    return found


@pytest.mark.parametrize("root", SOURCE_ROOTS)
def test_croupier_stays_a_namespace(root):
    intruder = ROOT / root / "croupier" / "__init__.py"
    assert not intruder.exists(), (
        f"{intruder.relative_to(ROOT)} would hide the other portions of croupier; delete it"
    )


@pytest.mark.parametrize("portion", PORTIONS)
def test_each_portion_says_it_is_typed(portion):
    assert (ROOT / portion / "py.typed").is_file(), "a namespace root cannot carry py.typed for all"


def test_the_wheel_ships_only_croupier(tmp_path):
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    code = {name for name in names if ".dist-info/" not in name}
    assert {name.split("/")[0] for name in code} == {"croupier"}
    assert "croupier/__init__.py" not in code
    for portion in PORTIONS:
        assert f"{portion.partition('/')[2]}/py.typed" in code


def test_no_registry_address_is_tracked():
    assert hits(REGISTRY_ADDRESS) == [], "every site installs from its own index: lock without one"


@pytest.mark.parametrize("lock", ["run", "dev"])
def test_the_lock_names_no_index_and_no_place(lock):
    text = (ROOT / "requirements" / f"{lock}.txt").read_text(encoding="utf-8")
    assert "://" not in text
    assert "--hash=sha256:" in text
    assert not re.search(r"^\s*(-i|-f|--(extra-)?index-url|--find-links)\b", text, re.MULTILINE)


def test_no_path_of_this_machine_is_tracked():
    # A checkout at /app, or a home at /, is no clue: such short paths stand in deployments too.
    places = [str(place) for place in (ROOT, Path.home()) if len(place.parts) > 2]
    if not places:
        return
    outside = r"(?<![\w.])(?:" + "|".join(map(re.escape, places)) + r")(?![\w.-])"
    assert hits(re.compile(outside)) == [], "write paths relative to the checkout"


def test_the_domain_imports_with_nothing_else_on_the_path():
    program = """
import importlib, pkgutil, sys
sys.path.append(sys.argv[1])
package = importlib.import_module("croupier.domain")
modules = [m.name for m in pkgutil.walk_packages(package.__path__, "croupier.domain.")]
for module in modules:
    importlib.import_module(module)
print(len(modules))
"""
    # -I and -S: neither the environment, the current folder nor site-packages can help.
    isolated = [sys.executable, "-I", "-S", "-c", program, str(ROOT / "domain")]
    ran = subprocess.run(isolated, check=False, capture_output=True, text=True)
    assert ran.returncode == 0, f"the domain needs the standard library only:\n{ran.stderr}"
    assert int(ran.stdout) > 0


def test_who_does_not_use_redis_loads_no_driver():
    """It costs every start a tenth of a second and ten megabytes."""
    program = "import sys, croupier.services.cli; print([*sys.modules])"
    ran = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    )
    loaded = ran.stdout.split("'")
    assert "croupier.services.server" in loaded
    assert "redis" not in loaded


def test_no_module_outgrows_its_reader():
    long = []
    for top in (*SOURCE_ROOTS, "tests"):
        for path in sorted((ROOT / top).rglob("*.py")):
            lines = len(path.read_text(encoding="utf-8").splitlines())
            if not is_stub(path) and lines > LINES_MAX:
                long.append(f"{path.relative_to(ROOT)} has {lines} lines")
    assert long == [], f"split along a seam of meaning; the limit is {LINES_MAX} lines"
