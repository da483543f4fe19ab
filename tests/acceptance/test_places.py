"""Files and folders that the service is told to use and cannot: it does not start, and says why."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import trustme

from croupier.services.files import read, writable_folder
from tests.support.cli import croupier

ANYWHERE = ("--listen=127.0.0.1:0", "--metrics-listen=")

AS_ROOT = os.geteuid() == 0
"""Rights do not stop root, so his tests take a place that no right opens."""


def said(tmp_path: Path, *flags: str) -> str:
    """Return what `serve` says when it cannot start; nothing else may come of it."""
    ran = croupier("serve", *ANYWHERE, f"--data={tmp_path / 'data'}", *flags)
    assert (ran.returncode, ran.stdout) == (1, "")
    assert "Traceback" not in ran.stderr
    return ran.stderr


def test_a_data_folder_that_cannot_be_made_is_named_with_the_setting(tmp_path: Path):
    (tmp_path / "file").touch()
    below = tmp_path / "file" / "ledgers"
    assert said(tmp_path, f"--data={below}") == (
        f"data: the folder {below} cannot be made: Not a directory\n"
    )


def test_a_data_folder_that_is_a_file_is_named_with_the_setting(tmp_path: Path):
    (tmp_path / "file").touch()
    assert said(tmp_path, f"--data={tmp_path / 'file'}") == (
        f"data: {tmp_path / 'file'} is no folder\n"
    )


@pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="this system has no /proc")
def test_a_data_folder_that_takes_no_files_starts_no_service(tmp_path: Path):
    # The key lies elsewhere and there is no ledger: nothing but the check itself would notice.
    key = tmp_path / "draw.key"
    key.write_bytes(bytes(32))
    lines = said(tmp_path, f"--data=/proc/{os.getpid()}", f"--draw-key={key}")
    assert lines.startswith(
        f"data: the folder /proc/{os.getpid()} cannot be written by the user who serves: "
    )


@pytest.mark.skipif(AS_ROOT, reason="root may write everywhere")
def test_a_data_folder_without_rights_is_named(tmp_path: Path):
    folder = tmp_path / "closed"
    folder.mkdir(mode=0o500)
    with pytest.raises(OSError, match=r"^data: .*closed cannot be written .*Permission denied$"):
        writable_folder(folder, "data")


def test_looking_whether_a_folder_takes_files_leaves_none(tmp_path: Path):
    assert writable_folder(tmp_path / "a" / "b", "data") == tmp_path / "a" / "b"
    assert list((tmp_path / "a" / "b").iterdir()) == []


def test_a_draw_key_that_is_absent_is_named_with_the_setting(tmp_path: Path):
    absent = tmp_path / "absent.key"
    assert said(tmp_path, f"--draw-key={absent}") == (
        f"draw_key: {absent} cannot be read: No such file or directory\n"
    )


def test_a_tls_file_that_is_absent_is_named_with_the_setting(tmp_path: Path):
    issued = trustme.CA().issue_cert("localhost")
    issued.private_key_pem.write_to_path(tmp_path / "key.pem")
    absent = tmp_path / "absent.pem"
    flags = (f"--tls-certificate={absent}", f"--tls-key={tmp_path / 'key.pem'}")
    assert said(tmp_path, *flags) == (
        f"tls_certificate: {absent} cannot be read: No such file or directory\n"
    )


def test_what_is_no_file_cannot_be_read(tmp_path: Path):
    with pytest.raises(OSError, match=r"^draw_key: .* cannot be read: Is a directory$"):
        read(tmp_path, "draw_key")
