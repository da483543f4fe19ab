"""URLs of Redis: what they say, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from croupier.services.store.redis.servers import connection_options, sentinel_options
from croupier.services.store.redis_address import Address, parse


def test_a_url_says_where_and_who():
    address = parse("redis://cage:p%40ss%23@10.0.0.1:7000/3?prefix=site-1&timeout_ms=250")
    assert (address.kind, address.tls, address.hosts) == ("server", False, (("10.0.0.1", 7000),))
    assert (address.username, address.password) == ("cage", "p@ss#")
    assert (address.database, address.prefix, address.timeout_s) == (3, "site-1", 0.25)


def test_what_is_not_said_is_as_safe_as_it_can_be_on_one_server():
    address = parse("redis://cache")
    assert address == Address("server", tls=False, hosts=(("cache", 6379),))
    assert (address.fsync, address.replicas, address.prefix) == ("always", 0, "croupier")


@pytest.mark.parametrize(
    "options, wait_ms",
    [
        ("", 500),
        ("replicas=1", 500),
        ("fsync=everysec", 500),
        ("fsync=wait", 2500),
        ("fsync=wait&wait_ms=1000", 1000),
        ("replicas=1&wait_ms=5", 5),
    ],
)
def test_who_waits_for_a_disk_that_is_written_once_a_second_waits_longer(options, wait_ms):
    assert parse(f"redis://h?{options}").wait_ms == wait_ms


def test_sentinels_and_clusters_have_several_hosts():
    watched = parse("redis+sentinel://:pw@a,b:1,[::1]:2/mymaster?database=4")
    assert watched.hosts == (("a", 26379), ("b", 1), ("::1", 2))
    assert (watched.kind, watched.service, watched.database) == ("sentinel", "mymaster", 4)
    spread = parse("rediss+cluster://a:1,b:2?ca=/etc/ca.pem")
    assert (spread.kind, spread.tls, spread.ca) == ("cluster", True, Path("/etc/ca.pem"))


@pytest.mark.parametrize(
    "url, shown",
    [
        ("redis://u:secret@h:1/2", "redis://h:1/2"),
        ("rediss://:secret@[::1]:1", "rediss://[::1]:1"),
        ("redis+sentinel://u:secret@a:1,b:2/main", "redis+sentinel://a:1,b:2/main"),
        ("rediss+cluster://u:secret@a:1", "rediss+cluster://a:1"),
    ],
)
def test_no_representation_has_the_password(url, shown):
    address = parse(url)
    assert address.shown == shown
    for text in (address.shown, repr(address), str(address)):
        assert "secret" not in text


def test_a_password_may_be_in_a_file(tmp_path):
    file = tmp_path / "password"
    file.write_text("pa ss\n")
    assert parse(f"redis://cage@h?password_file={file}").password == "pa ss"  # noqa: S105
    with pytest.raises(OSError, match="missing"):
        parse(f"redis://h?password_file={tmp_path}/missing")
    (tmp_path / "empty").write_text("\n")
    with pytest.raises(ValueError, match="empty is empty"):
        parse(f"redis://h?password_file={tmp_path}/empty")


def test_sentinels_may_ask_who_we_are(tmp_path):
    file = tmp_path / "password"
    file.write_text("secret")
    given = f"sentinel_user=watch&sentinel_password_file={file}"
    address = parse(f"redis+sentinel://:pw@h/main?{given}")
    assert (address.sentinel_username, address.sentinel_password) == ("watch", "secret")
    assert "secret" not in f"{address!r} {address.shown}"
    options = sentinel_options(address)
    assert (options["username"], options["password"]) == ("watch", "secret")
    assert connection_options(address)["password"] == "pw"  # noqa: S105
    with pytest.raises(ValueError, match=r"redis\+sentinel"):
        parse(f"redis://h?{given}")


@pytest.mark.parametrize(
    "url, said",
    [
        ("", "scheme"),
        ("http://h", "scheme"),
        ("redis:", "hosts are"),
        ("redis://", "hosts are"),
        ("redis://:secret@", "hosts are"),
        ("redis://h:0", "hosts are"),
        ("redis://h:70000", "hosts are"),
        ("redis://h:secret", "hosts are"),
        ("redis://se cret", "hosts are"),
        ("redis://a,b", "several hosts"),
        ("redis://h/main", "number of a database"),
        ("redis://h#secret", "%23"),
        ("redis+sentinel://h", "service"),
        ("redis+sentinel://h/a/b", "service"),
        ("redis+cluster://h/1", "no databases"),
        ("redis+cluster://h?database=1", "no databases"),
        ("redis://h?nope=secret", "no option nope"),
        ("redis://h?replicas=1&replicas=2", "twice"),
        ("redis://h?replicas=-1", "replicas is a number"),
        ("redis://h?replicas=x", "replicas is a number"),
        ("redis://h?wait_ms=0", "wait_ms is a number"),
        ("redis://h?fsync=wait&wait_ms=999", "once a second.*wait_ms is at least 1000"),
        ("redis://h?timeout_ms=5", "timeout_ms is a number"),
        ("redis://h?fsync=no", "fsync is one of"),
        ("redis://h?replicas_fsync=yes", "needs replicas"),
        ("redis://h?replicas_fsync=1&replicas=1", "yes or no"),
        ("redis://h?prefix=a:b", "prefix has"),
        ("redis://h?prefix=", "prefix has"),
        ("redis://h?ca=/x", "rediss"),
        ("rediss://h?certificate=/x", "go together"),
    ],
)
def test_what_is_no_url_of_redis_is_refused_and_not_repeated(url, said):
    with pytest.raises(ValueError, match=said) as refused:
        parse(url)
    assert "secret" not in str(refused.value)
