"""Who calls: tokens from the command line, what each caller sees, and TLS."""

from __future__ import annotations

import json
import stat
from hashlib import sha256
from pathlib import Path

import grpc
import pytest
import trustme
from grpc_health.v1 import health_pb2

from croupier.domain.errors import Reason
from croupier.services.rpc.callers import TokenFileError
from croupier.v1 import admin_pb2, audit_pb2, tables_pb2
from tests.support.cli import croupier
from tests.support.processes import ServerProcess
from tests.support.refusals import assert_refused
from tests.support.serving import Client, Serve, Tokens, serving
from tests.support.stories import create_ledger, deposit, furnish, open_table, play_round


def new_token(
    file: Path,
    name: str,
    *roles: str,
    ledgers: tuple[str, ...] = (),
    players: tuple[str, ...] = (),
) -> str:
    """Return a token that the command line made."""
    flags = [f"--role={role}" for role in roles] + [f"--ledger={ledger}" for ledger in ledgers]
    flags += [f"--player={player}" for player in players]
    ran = croupier("token", "new", name, *flags, f"--file={file}")
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.strip()


# --- tokens -----------------------------------------------------------------------------------


async def test_a_token_from_the_command_line_opens_the_service(tmp_path: Path):
    file = tmp_path / "tokens.json"
    olga, audrey = new_token(file, "olga", "operator"), new_token(file, "audrey", "auditor")
    with ServerProcess(tmp_path / "data", f"--tokens={file}") as process:
        operator, auditor = Client(process.address, olga), Client(process.address, audrey)
        stranger = Client(process.address)
        await furnish(operator)
        await play_round(operator)
        info = await auditor.ask(admin_pb2.GetServerInfoRequest())
        assert (info.caller, list(info.roles)) == ("audrey", ["auditor"])
        turned_away = await stranger.refusal(admin_pb2.GetServerInfoRequest())
        assert_refused(turned_away, Reason.TOKEN_MISSING)
        assert_refused(await auditor.refusal(deposit("house", 1)), Reason.ROLE_NOT_ALLOWED)
        # Probes carry no token.
        probe = await stranger.raw("/grpc.health.v1.Health/Check", b"")
        serving_now = health_pb2.HealthCheckResponse.SERVING
        assert health_pb2.HealthCheckResponse.FromString(probe).status == serving_now
        for client in (operator, auditor, stranger):
            await client.channel.close()
        assert process.stop() == 0


def test_the_token_file_holds_hashes_and_is_its_owners_alone(tmp_path: Path):
    file = tmp_path / "tokens.json"
    made = [new_token(file, "olga", "operator", ledgers=("casino",)) for _ in range(2)]
    text = file.read_text()
    assert len(set(made)) == 2
    assert all(len(token) >= 43 and token not in text for token in made)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    entries = json.loads(text)["callers"]
    assert [entry["sha256"] for entry in entries] == [
        sha256(token.encode()).hexdigest() for token in made
    ]
    assert [entry["ledgers"] for entry in entries] == [["casino"], ["casino"]]


@pytest.mark.parametrize(
    "words, code, said",
    [
        (("a b", "--role=operator"), 2, "not an id of a caller"),
        (("olga", "--role=operator", "--ledger=a/b"), 2, "not an id of a ledger"),
        (("olga", "--role=king"), 2, "king"),
        (("olga", "--role=player"), 2, "has players"),
        (("olga", "--role=dealer", "--player=anna"), 2, "no other role has any"),
        (("olga", "--role=player", "--player=a/b"), 2, "not an id of a player"),
        (("olga",), 2, "--role"),
    ],
)
def test_a_caller_that_cannot_be_gets_no_token(
    tmp_path: Path, words: tuple[str, ...], code: int, said: str
):
    file = tmp_path / "tokens.json"
    ran = croupier("token", "new", *words, f"--file={file}")
    assert ran.returncode == code
    assert said in ran.stderr
    assert not file.exists()


async def test_an_old_token_serves_until_it_is_taken_out(serve: Serve, tokens: Tokens):
    old, new = (tokens.new("olga", "auditor", "dealer") for _ in range(2))
    served = await serve(tokens=tokens.file)
    for token in (old, new):
        info = await (await served.client(token)).ask(admin_pb2.GetServerInfoRequest())
        assert (info.caller, list(info.roles)) == ("olga", ["auditor", "dealer"])


@pytest.mark.parametrize(
    "more",
    [("--role=auditor",), ("--role=operator", "--role=dealer"), ("--role=operator", "--ledger=a")],
)
def test_one_name_is_one_caller_and_may_not_do_more_with_another_token(
    tmp_path: Path, more: tuple[str, ...]
):
    file = tmp_path / "tokens.json"
    new_token(file, "olga", "operator")
    before = file.read_bytes()
    ran = croupier("token", "new", "olga", *more, f"--file={file}")
    assert ran.returncode == 1
    assert ran.stderr == f"{file}: two entries of olga differ in what he may do\n"
    assert (ran.stdout, file.read_bytes()) == ("", before)


def test_a_token_file_that_cannot_be_written_is_said_clearly(tmp_path: Path):
    file = tmp_path / "absent" / "tokens.json"
    ran = croupier("token", "new", "olga", "--role=operator", f"--file={file}")
    assert ran.returncode == 1
    assert ran.stderr == f"{file}: the token file cannot be written: No such file or directory\n"


GOOD = {"name": "olga", "roles": ["operator"], "sha256": "00" * 32}


@pytest.mark.parametrize(
    "content",
    [
        "",
        "{",
        "[]",
        "{}",
        '{"callers": {}}',
        '{"callers": [1]}',
        *(
            json.dumps({"callers": [entry]})
            for entry in (
                {**GOOD, "name": "a b"},
                {**GOOD, "name": 7},
                {**GOOD, "roles": "operator"},
                {**GOOD, "roles": ["king"]},
                {**GOOD, "roles": None},
                {**GOOD, "sha256": "zz"},
                {**GOOD, "sha256": "00"},
                {**GOOD, "sha256": 7},
                {**GOOD, "ledgers": "casino"},
                {**GOOD, "ledgers": None},
                {**GOOD, "ledgers": ["a/b"]},
                # Misspelt, it would open every ledger.
                {**GOOD, "ledger": ["casino"]},
                {**GOOD, "roles": ["player"]},
                {**GOOD, "roles": ["player"], "players": []},
                {**GOOD, "roles": ["player"], "players": None},
                {**GOOD, "roles": ["player"], "players": "anna"},
                {**GOOD, "roles": ["player"], "players": {"anna": 1}},
                {**GOOD, "roles": ["player"], "players": ["a/b"]},
                {**GOOD, "roles": ["player"], "players": [7]},
                {**GOOD, "roles": ["player"], "players": ["anna", "*"]},
                {**GOOD, "roles": ["player"], "player": ["anna"]},
                # With another role it would say nothing, and somebody meant something by it.
                {**GOOD, "players": ["anna"]},
                {"name": "olga", "roles": ["operator"]},
            )
        ),
        json.dumps({"callers": [GOOD, GOOD]}),
        # One name, two tokens: both have to open the same doors.
        json.dumps({"callers": [GOOD, {**GOOD, "sha256": "01" * 32, "roles": ["auditor"]}]}),
        json.dumps({"callers": [GOOD, {**GOOD, "sha256": "01" * 32, "ledgers": ["casino"]}]}),
    ],
)
async def test_a_broken_token_file_keeps_the_service_from_starting(
    tmp_path: Path, tokens: Tokens, content: str
):
    tokens.file.write_text(content)
    with pytest.raises(TokenFileError, match=str(tokens.file)):
        async with serving(tmp_path / "data", tokens=tokens.file):
            pass


def test_a_broken_or_missing_token_file_is_said_clearly(tmp_path: Path):
    for name, content, said in (
        ("broken.json", "{", "not a token file"),
        ("missing.json", None, "the token file cannot be read: No such file or directory"),
    ):
        file = tmp_path / name
        if content is not None:
            file.write_text(content)
        flags = (f"--tokens={file}", f"--data={tmp_path / 'data'}", "--listen=127.0.0.1:0")
        ran = croupier("serve", *flags, "--metrics-listen=")
        assert ran.returncode == 1
        assert ran.stderr.startswith(f"{file}: {said}")
        assert "Traceback" not in ran.stderr


# --- what each caller sees and leaves ----------------------------------------------------------


async def test_the_caller_and_the_actor_are_in_every_record(serve: Serve, tokens: Tokens):
    olga, dana = tokens.new("olga", "operator"), tokens.new("dana", "dealer")
    served = await serve(tokens=tokens.file)
    operator, dealer = await served.client(olga), await served.client(dana)
    await furnish(operator)
    await dealer.ask(open_table("t1", actor="dora", correlation_id="shift-7"))
    listed = await operator.ask(audit_pb2.ListEventsRequest(parent="ledgers/casino"))
    assert [event.caller for event in listed.events] == ["olga"] * 4 + ["dana"]
    opened = listed.events[-1]
    assert (opened.actor, opened.correlation_id) == ("dora", "shift-7")
    assert all(event.request_id and len(event.request_digest) == 32 for event in listed.events)


async def test_without_a_token_file_everybody_is_local(serve: Serve):
    client = await (await serve()).client("no token anybody asks for")
    info = await client.ask(admin_pb2.GetServerInfoRequest())
    assert info.caller == "local"
    assert list(info.roles) == ["auditor", "dealer", "operator", "ops"]


async def test_an_auditor_reads_everything_and_changes_nothing(serve: Serve, tokens: Tokens):
    olga, audrey = tokens.new("olga", "operator"), tokens.new("audrey", "auditor")
    served = await serve(tokens=tokens.file)
    operator, auditor = await served.client(olga), await served.client(audrey)
    await furnish(operator)
    await play_round(operator)
    before = await operator.evidence("casino")
    assert await auditor.evidence("casino") == before
    replayed = await auditor.ask(audit_pb2.ReplayTableRequest(name="ledgers/casino/tables/t1"))
    assert replayed[-1].table.version == len(replayed)
    for request in (create_ledger("own"), open_table("t2"), deposit("house", 1)):
        assert_refused(await auditor.refusal(request), Reason.ROLE_NOT_ALLOWED)
    assert await operator.evidence("casino") == before


async def test_a_caller_of_some_ledgers_does_not_see_the_others(serve: Serve, tokens: Tokens):
    everywhere = tokens.new("olga", "operator")
    here = tokens.new("helen", "operator", ledgers=["b", "d", "absent"])
    served = await serve(tokens=tokens.file)
    olga, helen = await served.client(everywhere), await served.client(here)
    for ledger in "abcd":
        await olga.ask(create_ledger(ledger))

    async def listed(client: Client) -> list[str]:
        token, found = "", []
        while True:
            request = admin_pb2.ListLedgersRequest(page_size=1, page_token=token)
            page = await client.ask(request)
            found += [ledger.name.removeprefix("ledgers/") for ledger in page.ledgers]
            token = page.next_page_token
            if not token:
                return found

    assert await listed(olga) == list("abcd")
    assert await listed(helen) == ["b", "d"]
    assert_refused(
        await helen.refusal(tables_pb2.ListTablesRequest(parent="ledgers/a")),
        Reason.LEDGER_NOT_ALLOWED,
    )
    assert_refused(await helen.refusal(create_ledger("e")), Reason.LEDGER_NOT_ALLOWED)
    await helen.ask(create_ledger("absent"))
    assert await listed(helen) == ["absent", "b", "d"]


# --- TLS ------------------------------------------------------------------------------------------


@pytest.fixture
def certificate(tmp_path: Path) -> tuple[Path, Path, bytes]:
    """Return a certificate for localhost, its key, and the root that vouches for it."""
    authority = trustme.CA()
    issued = authority.issue_cert("localhost")
    chain, key = tmp_path / "chain.pem", tmp_path / "key.pem"
    chain.write_bytes(b"".join(one.bytes() for one in issued.cert_chain_pems))
    key.write_bytes(issued.private_key_pem.bytes())
    return chain, key, authority.cert_pem.bytes()


async def test_over_tls_the_service_is_who_it_says(
    serve: Serve, tokens: Tokens, certificate: tuple[Path, Path, bytes]
):
    chain, key, root = certificate
    token = tokens.new("olga", "operator")
    served = await serve(tokens=tokens.file, tls_certificate=chain, tls_key=key)
    client = await served.client(token, grpc.ssl_channel_credentials(root))
    await furnish(client)
    assert (await client.ask(deposit("player:anna", 1))).account.balance == 100_001
    assert "TLS" in "".join(served.server.banner())
    trusting_another = grpc.ssl_channel_credentials(trustme.CA().cert_pem.bytes())
    for credentials in (None, trusting_another):
        wrong = await served.client(token, credentials)
        refusal = await wrong.refusal(admin_pb2.GetServerInfoRequest())
        assert refusal.code is grpc.StatusCode.UNAVAILABLE


def test_a_certificate_that_is_none_is_said_clearly(
    tmp_path: Path, certificate: tuple[Path, Path, bytes]
):
    chain, key, _ = certificate
    broken = tmp_path / "broken.pem"
    broken.write_text("no certificate")
    for one, other in ((broken, key), (chain, broken), (tmp_path / "missing.pem", key)):
        ran = croupier(
            "serve",
            f"--tls-certificate={one}",
            f"--tls-key={other}",
            f"--data={tmp_path / 'data'}",
            "--listen=127.0.0.1:0",
            "--metrics-listen=",
        )
        assert ran.returncode == 1
        assert "Traceback" not in ran.stderr
        assert "is another service there" not in ran.stderr
        assert ".pem" in ran.stderr
