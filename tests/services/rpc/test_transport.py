"""The transport's options: the library takes a misspelt one in silence, so it is heard here."""

from __future__ import annotations

from pathlib import Path

from grpc._cython import cygrpc

from croupier.services.client import routes
from croupier.services.config import Settings
from croupier.services.rpc.transport import options_of


def test_the_library_knows_every_option_that_it_is_given():
    library = Path(cygrpc.__file__).read_bytes()
    names = {name for name, _ in (*options_of(Settings()), *routes._OPTIONS)}
    assert len(names) > 10
    assert {name for name in names if name.encode() + b"\0" not in library} == set()
