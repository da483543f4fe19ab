"""The client for a ledger: at the best server, and elsewhere while that one is away."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack, asynccontextmanager

import grpc
import pytest
import trustme

from croupier.domain.errors import Reason, Refused
from croupier.services.assignment import ranked
from croupier.services.client import CallRefused, Client, Patience, account_name, table_name
from croupier.services.client.routes import AWAY_S, Channels, Route
from croupier.services.commands.workers import free_ports
from croupier.services.rpc.status import code_of, details_of
from croupier.v1 import accounts_pb2, admin_pb2, audit_pb2
from croupier.v1.accounts_pb2_grpc import (
    AccountServiceServicer,
    add_AccountServiceServicer_to_server,
)
from croupier.v1.admin_pb2_grpc import AdminServiceServicer, add_AdminServiceServicer_to_server
from croupier.v1.audit_pb2_grpc import AuditServiceServicer, add_AuditServiceServicer_to_server
from tests.support.serving import serving

QUICK = Patience(deadline_s=20.0, attempt_s=10.0, pause_s=0.001, pause_max_s=0.001)
ANNA = account_name("main", "player:anna")


class Fake(AdminServiceServicer, AccountServiceServicer, AuditServiceServicer):
    """One of several servers, which remembers what it was asked."""

    def __init__(self):
        self.addresses = ()
        self.deposits = []
        self.replays = []
        self.refuses = None
        self.unavailable = 0

    async def GetServerInfo(self, request, context):
        return admin_pb2.GetServerInfoResponse(addresses=self.addresses)

    async def Deposit(self, request, context):
        self.deposits.append(dict(context.invocation_metadata()))
        if self.refuses is not None:
            await context.abort(self.refuses, "no")
        if len(self.deposits) <= self.unavailable:
            refusal = Refused(Reason.STORE_UNAVAILABLE, "ask again")
            await context.abort(code_of(refusal), "ask again", details_of(refusal))
        return accounts_pb2.DepositResponse()

    async def ReplayTable(self, request, context):
        self.replays.append(dict(context.invocation_metadata()))
        for version in (1, 2, 3):
            if self.refuses is not None and version == 2:
                await context.abort(self.refuses, "no")
            yield audit_pb2.ReplayTableResponse(event={"version": version})


@asynccontextmanager
async def fakes(count):
    """Serve fakes that know of each other; yield them by address."""
    async with AsyncExitStack() as stack:
        found = {}
        for _ in range(count):
            server, fake = grpc.aio.server(), Fake()
            for add in (
                add_AdminServiceServicer_to_server,
                add_AccountServiceServicer_to_server,
                add_AuditServiceServicer_to_server,
            ):
                add(fake, server)
            found[f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"] = fake
            await server.start()
            stack.push_async_callback(server.stop, None)
        for fake in found.values():
            fake.addresses = tuple(found)
        yield found


async def deposit(client):
    await client.accounts.deposit(ANNA, "EUR", 1)


async def test_calls_go_to_the_best_server_and_carry_token_and_ledger():
    async with fakes(3) as servers:
        for address in servers:
            async with Client(address, "secret", patience=QUICK) as client:
                main = await client.for_ledger("main")
                assert main.ledger == "main"
                assert list(main.addresses) == ranked(list(servers), "main")
                await deposit(main)
        best = servers[ranked(list(servers), "main")[0]]
        assert [len(fake.deposits) for fake in servers.values() if fake is not best] == [0, 0]
        assert len(best.deposits) == 3
        for metadata in best.deposits:
            assert metadata["croupier-ledger"] == "main"
            assert metadata["authorization"] == "Bearer secret"


@pytest.mark.parametrize("code", ["UNAVAILABLE", "DEADLINE_EXCEEDED", "CANCELLED"])
async def test_while_the_best_server_is_away_the_next_best_is_called(code):
    async with fakes(3) as servers:
        first, second, _ = ranked(list(servers), "main")
        async with Client(first, patience=QUICK) as client:
            main = await client.for_ledger("main")
            servers[first].refuses = grpc.StatusCode[code]
            await deposit(main)
            await deposit(main)
            assert main.address == second
        assert [len(servers[one].deposits) for one in (first, second)] == [1, 2]


async def test_a_refusal_is_no_reason_to_go_elsewhere():
    async with fakes(2) as servers:
        first, second = ranked(list(servers), "main")
        async with Client(first, patience=QUICK) as client:
            main = await client.for_ledger("main")
            servers[first].refuses = grpc.StatusCode.FAILED_PRECONDITION
            with pytest.raises(CallRefused):
                await deposit(main)
            assert main.address == first
        assert servers[second].deposits == []


async def test_a_server_that_says_why_is_there_and_is_asked_again():
    async with fakes(2) as servers:
        first, second = ranked(list(servers), "main")
        servers[first].unavailable = 2
        async with Client(first, patience=QUICK) as client:
            await deposit(await client.for_ledger("main"))
        assert [len(servers[one].deposits) for one in (first, second)] == [3, 0]


async def test_a_stream_that_breaks_goes_on_at_the_next_best():
    async with fakes(2) as servers:
        first, second = ranked(list(servers), "main")
        async with Client(first, patience=QUICK) as client:
            main = await client.for_ledger("main")
            servers[first].refuses = grpc.StatusCode.UNAVAILABLE
            steps = [one async for one in main.audit.replay(table_name("main", "t1"))]
        assert [one.event.version for one in steps] == [1, 2, 3]
        assert [len(servers[one].replays) for one in (first, second)] == [1, 1]
        assert servers[second].replays[0]["croupier-ledger"] == "main"


async def test_a_stream_that_its_reader_has_enough_of_is_no_reason_to_go_elsewhere():
    async with fakes(2) as servers:
        first, _ = ranked(list(servers), "main")
        async with Client(first, patience=QUICK) as client:
            main = await client.for_ledger("main")
            steps = main.audit.replay(table_name("main", "t1"))
            await anext(steps)
            await steps.aclose()
            await deposit(main)
            assert main.address == first


async def test_the_best_server_is_called_again_after_a_while(monkeypatch):
    channels = Channels(None)
    route = Route(channels, ["a:1", "b:2", "a:1"])
    assert route.addresses == ("a:1", "b:2")
    loop = asyncio.get_running_loop()
    now = loop.time()
    monkeypatch.setattr("croupier.services.client.routes.now", lambda: now)
    lost = grpc.aio.AioRpcError(
        grpc.StatusCode.UNAVAILABLE, grpc.aio.Metadata(), grpc.aio.Metadata()
    )
    route.failed("a:1", lost)
    assert route.address() == "b:2"
    now += AWAY_S / 2
    route.failed("b:2", lost)
    assert route.address() == "a:1"  # all are away, this one for the longest time
    now += AWAY_S / 2
    assert route.address() == "a:1"
    await channels.close()


async def test_behind_a_proxy_calls_stay_where_they_go_and_say_for_which_ledger():
    async with fakes(2) as servers:
        proxy = ranked(list(servers), "main")[1]
        async with Client(proxy, patience=QUICK) as client:
            main = await client.for_ledger("main", by_proxy=True)
            await deposit(main)
        assert [one["croupier-ledger"] for one in servers[proxy].deposits] == ["main"]


async def test_one_server_alone_is_called_as_before_however_it_calls_itself():
    async with fakes(1) as servers:
        ((address, fake),) = servers.items()
        fake.addresses = ("inside:50051",)
        async with Client(address, patience=QUICK) as client:
            main = await client.for_ledger("main")
            await deposit(main)
            assert main.addresses == (address,)


async def test_servers_that_cannot_be_reached_by_their_names_leave_the_first_one():
    nobody = free_ports("127.0.0.1", 2)
    async with fakes(1) as servers:
        ((address, fake),) = servers.items()
        fake.addresses = (f"127.0.0.1:{nobody}", f"127.0.0.1:{nobody + 1}")
        async with Client(address, patience=QUICK) as client:
            main = await client.for_ledger("main")
            await deposit(main)
        assert len(fake.deposits) == 1


async def test_clients_for_ledgers_share_channels_and_are_closed_with_the_first():
    async with fakes(2) as servers:
        client = Client(next(iter(servers)), patience=QUICK)
        ledgers = [await client.for_ledger(f"ledger-{number}") for number in range(10)]
        for ledger in ledgers:
            await deposit(ledger)
        assert len(client._channels._open) == 2
        await client.close()
        for ledger in ledgers:
            with pytest.raises((grpc.aio.UsageError, asyncio.CancelledError)):
                await deposit(ledger)


async def test_tls_is_carried_along(tmp_path):
    authority = trustme.CA()
    pair = authority.issue_cert("localhost")
    chain, key = tmp_path / "chain.pem", tmp_path / "key.pem"
    chain.write_bytes(b"".join(blob.bytes() for blob in pair.cert_chain_pems))
    pair.private_key_pem.write_to_path(key)
    first = free_ports("localhost", 2)
    peers = tuple(f"localhost:{first + number}" for number in range(2))
    async with AsyncExitStack() as stack:
        for peer in peers:
            await stack.enter_async_context(
                serving(
                    tmp_path / "data", listen=peer, peers=peers, tls_certificate=chain, tls_key=key
                )
            )
        roots = authority.cert_pem.bytes()
        async with Client(peers[0], root_certificates=roots, patience=QUICK) as client:
            for number in range(4):
                ledger = await client.for_ledger(f"ledger-{number}")
                await ledger.admin.create_ledger(ledger.ledger)
                info = await ledger.admin.server_info(ledger.ledger)
                assert info.address == info.best_address == ledger.address
