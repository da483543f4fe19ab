"""The image, built once for all that run it: see `tests.support.image`."""

from __future__ import annotations

import os
import shutil

import pytest

from tests.support.image import Held, Image


@pytest.fixture(scope="session")
def image(tmp_path_factory):
    """The image with its root read only."""
    if os.geteuid() != 0 or not shutil.which("nsenter"):
        pytest.skip("namespaces and overlays take root and util-linux")
    with Held(tmp_path_factory.mktemp("image")) as held:
        built = Image(held)
        built.root.seal()
        yield built


@pytest.fixture
def data(image: Image):
    """A new volume for what the image writes."""
    with image.volumes() as volumes:
        yield volumes["/data"]
