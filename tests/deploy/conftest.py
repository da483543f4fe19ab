"""The image, built once for all that run it: see `tests.support.image`."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from tests.support.image import Held, Image


@pytest.fixture(scope="session")
def image(tmp_path_factory):
    """The image with its root read only."""
    if os.geteuid() != 0 or not shutil.which("nsenter"):
        pytest.skip("namespaces and overlays take root and util-linux")
    folder = tmp_path_factory.mktemp("image")
    with Held(folder) as held:
        built = Image(held)
        built.root.seal()
        yield built
    # Its mounts were in a namespace that is gone: nothing of this machine lies below it.
    assert str(folder) not in Path("/proc/self/mounts").read_text()
    shutil.rmtree(folder)


@pytest.fixture
def data(image: Image):
    """A new volume for what the image writes."""
    with image.volumes() as volumes:
        yield volumes["/data"]
