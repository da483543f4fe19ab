"""A start with something that is none: one clear line, a code, and nothing made or changed."""

from __future__ import annotations

import pytest
import trustme

from tests.support.cli import croupier


def tree(folder):
    """Return every file below a folder with its bytes."""
    return {str(one): one.read_bytes() for one in folder.rglob("*") if one.is_file()}


def _data_is_a_file(folder):
    (folder / "data").write_bytes(b"")
    return (), 1, "data"


def _data_cannot_be_made(folder):
    (folder / "in").write_bytes(b"")
    return (f"--data={folder / 'in' / 'data'}",), 1, "in/data"


def _short_key(folder):
    (folder / "key").write_bytes(b"short")
    return (f"--draw-key={folder / 'key'}",), 1, "a draw key has 16 bytes or more"


def _no_key(folder):
    return (f"--draw-key={folder / 'key'}",), 1, "No such file or directory"


def _token_file(content, said):
    def make(folder):
        if content is not None:
            (folder / "tokens").write_bytes(content)
        return (f"--tokens={folder / 'tokens'}",), 1, said

    return make


def _certificate_without_its_key(folder):
    one, other = (trustme.CA().issue_cert("localhost") for _ in range(2))
    one.cert_chain_pems[0].write_to_path(folder / "certificate")
    other.private_key_pem.write_to_path(folder / "key")
    flags = (f"--tls-certificate={folder / 'certificate'}", f"--tls-key={folder / 'key'}")
    return flags, 1, "no certificate and its key"


def _unknown_setting(folder):
    (folder / "croupier.toml").write_text('[grpc]\nlisten = "127.0.0.1:0"\n')
    return (f"--config={folder / 'croupier.toml'}",), 2, "settings: grpc: "


def _no_toml(folder):
    (folder / "croupier.toml").write_text("listen = \n")
    return (f"--config={folder / 'croupier.toml'}",), 2, "croupier.toml"


@pytest.mark.parametrize(
    "make",
    [
        _data_is_a_file,
        _data_cannot_be_made,
        _short_key,
        _no_key,
        _token_file(None, "the token file cannot be read"),
        _token_file(b"{", "not a token file"),
        _token_file(b'{"callers": [{"name": "a"}]}', "an entry is not a name, roles, sha256"),
        _token_file(b"\xff\xfe", "not a token file"),
        _certificate_without_its_key,
        _unknown_setting,
        _no_toml,
    ],
)
@pytest.mark.parametrize("workers", [1, 2])
def test_a_start_with_something_that_is_none_says_so_and_changes_nothing(tmp_path, make, workers):
    flags, code, said = make(tmp_path)
    before = tree(tmp_path)
    ran = croupier(
        "serve",
        "--listen=127.0.0.1:0",
        "--metrics-listen=",
        f"--workers={workers}",
        f"--data={tmp_path / 'data'}",
        *flags,
    )
    assert ran.returncode == code
    assert said in ran.stderr
    assert len(ran.stderr.splitlines()) == 1
    assert ran.stdout == ""
    assert tree(tmp_path) == before
