"""What a connection may do and for how long: pings, age, and calls whose callers never give up."""

from __future__ import annotations

import asyncio
from collections import Counter

import grpc
import pytest
from grpc_channelz.v1 import channelz_pb2, channelz_pb2_grpc

from croupier.domain.errors import Reason
from croupier.services.client.routes import KEEPALIVE
from croupier.services.config import Settings
from croupier.services.rpc.transport import options_of
from croupier.services.store.lock import FileLock
from croupier.v1 import accounts_pb2, admin_pb2
from tests.support.refusals import assert_refused
from tests.support.serving import Serve, refusal_of

TIMEOUT_S = 30
PINGS = 6
COMPRESSED = 10
"""How much faster time passes for the pinger; the library pings once a second at most."""


async def until(condition):
    async with asyncio.timeout(TIMEOUT_S):
        while not await condition():
            pass


class Pinger:
    """A client that pings as ours does by default, every ten seconds, only faster."""

    def __init__(self, served):
        options = [
            (name, value // COMPRESSED if name == "grpc.keepalive_time_ms" else value)
            for name, value in KEEPALIVE
        ]
        self.target = f"127.0.0.1:{served.server.port}"
        self.channel = grpc.aio.insecure_channel(
            self.target,
            options=[
                *options,
                # The library pings by itself to measure the network: those are not counted.
                ("grpc.http2.bdp_probe", 0),
                ("grpc.use_local_subchannel_pool", 1),
            ],
        )

    async def ask(self):
        """Make a call once: what the library sends again was never begun by a server."""
        request = admin_pb2.GetServerInfoRequest()
        call = self.channel.unary_unary(
            "/croupier.v1.AdminService/GetServerInfo",
            request_serializer=admin_pb2.GetServerInfoRequest.SerializeToString,
            response_deserializer=admin_pb2.GetServerInfoResponse.FromString,
        )
        return await call(request, timeout=TIMEOUT_S)


class Sockets:
    """What the library says of the connections that a server has."""

    def __init__(self, client):
        self._stub = channelz_pb2_grpc.ChannelzStub(client.channel)

    async def of_server(self):
        """Return the sockets of the server that listens, by their ids."""
        servers = (await self._stub.GetServers(channelz_pb2.GetServersRequest())).server
        newest = max(one.ref.server_id for one in servers)
        found = await self._stub.GetServerSockets(
            channelz_pb2.GetServerSocketsRequest(server_id=newest)
        )
        return {ref.socket_id: ref.name for ref in found.socket_ref}

    async def of_client(self, target):
        """Return how many pings the connections to a target have sent, by socket."""
        pings = {}
        channels = (await self._stub.GetTopChannels(channelz_pb2.GetTopChannelsRequest())).channel
        for channel in channels:
            if not channel.data.target.endswith(target):
                continue
            for reference in await self._subchannels(channel):
                request = channelz_pb2.GetSubchannelRequest(subchannel_id=reference)
                subchannel = (await self._stub.GetSubchannel(request)).subchannel
                for socket in subchannel.socket_ref:
                    asked = channelz_pb2.GetSocketRequest(socket_id=socket.socket_id)
                    data = (await self._stub.GetSocket(asked)).socket.data
                    pings[socket.socket_id] = data.keep_alives_sent
        return pings

    async def _subchannels(self, channel):
        found = [one.subchannel_id for one in channel.subchannel_ref]
        for one in channel.channel_ref:
            nested = await self._stub.GetChannel(
                channelz_pb2.GetChannelRequest(channel_id=one.channel_id)
            )
            found += await self._subchannels(nested.channel)
        return found


async def pinged(served, watcher):
    """Ping for a while without any call; return the pinger and how its connection is doing."""
    sockets = Sockets(watcher)
    pinger = Pinger(served)
    await pinger.ask()
    ours = {}

    async def enough():
        found = await sockets.of_client(pinger.target)
        ours.update({one: pings for one, pings in found.items() if pings})
        return sum(ours.values()) >= PINGS

    await until(enough)
    return pinger, ours


async def test_a_caller_that_pings_every_ten_seconds_is_not_cut_off(serve: Serve):
    """Neither while it has calls nor, with many pings between two calls, while it has none."""
    allowed_s = Settings().min_recv_ping_interval_s
    assert dict(KEEPALIVE)["grpc.keepalive_time_ms"] >= 2 * 1000 * allowed_s
    served = await serve(min_recv_ping_interval_s=allowed_s / COMPRESSED)
    pinger, sockets = await pinged(served, await served.client())
    assert len(sockets) == 1, "it had to connect again"
    await pinger.ask()
    await pinger.channel.close()


async def test_a_caller_that_pings_faster_than_is_allowed_is_cut_off(serve: Serve):
    """Which shows that the pings of the test before are such as a server notices."""
    served = await serve(min_recv_ping_interval_s=3600)
    pinger = Pinger(served)
    await pinger.ask()
    states = []
    async with asyncio.timeout(TIMEOUT_S):
        state = pinger.channel.get_state()
        while state is grpc.ChannelConnectivity.READY or not states:
            await pinger.channel.wait_for_state_change(state)
            state = pinger.channel.get_state()
            states.append(state)
    assert states[-1] is not grpc.ChannelConnectivity.READY
    await pinger.channel.close()


async def test_whoever_may_not_ping_without_calls_is_cut_off(serve: Serve):
    served = await serve(min_recv_ping_interval_s=0.01, permit_without_calls=False)
    pinger = Pinger(served)
    await pinger.ask()
    async with asyncio.timeout(TIMEOUT_S):
        await pinger.channel.wait_for_state_change(grpc.ChannelConnectivity.READY)
    await pinger.channel.close()


async def test_connections_of_an_age_are_made_anew_without_a_failed_call(serve: Serve):
    served = await serve(max_connection_age_s=0.3, max_connection_age_grace_s=20.0)
    sockets = Sockets(await served.client())
    caller = Pinger(served)
    seen, done, answered = set(), False, Counter()

    async def ask(number):
        while not done:
            await caller.ask()  # once: one failed call fails the test
            answered[number] += 1

    callers = [asyncio.ensure_future(ask(number)) for number in range(8)]

    async def moved():
        await asyncio.sleep(0)
        seen.update(await sockets.of_server())
        return len(seen) >= 8 or any(one.done() for one in callers)

    await until(moved)
    done = True
    await asyncio.gather(*callers)
    assert len(seen) >= 8
    assert min(answered.values()) > 0
    await caller.channel.close()


def test_an_age_of_zero_is_none():
    assert "grpc.max_connection_age_ms" in dict(options_of(Settings()))
    never = dict(options_of(Settings(max_connection_age_s=0)))
    assert not {name for name in never if "connection_age" in name}


@pytest.mark.sqlite("its lock is held")
@pytest.mark.parametrize("wait_s", [None, 3600.0])
async def test_a_call_whose_caller_waits_for_ever_is_worked_on_for_so_long_and_no_longer(
    serve: Serve, tmp_path, wait_s
):
    served = await serve(deadline_max_s=0.2)
    client = await served.client()
    await client.ask(admin_pb2.CreateLedgerRequest(ledger_id="main", request_id="create"))
    before = await client.evidence("main")
    deposit = accounts_pb2.DepositRequest(
        account="ledgers/main/accounts/player:anna", currency="EUR", amount=1, request_id="once"
    )
    held = FileLock(tmp_path / "data" / "main.db")
    held.acquire()
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await client.ask(deposit, timeout=wait_s)
    refusal = refusal_of(caught.value)
    assert_refused(refusal, Reason.DEADLINE_PASSED)
    assert refusal.metadata == {"deadline_max_s": "0.2"}
    held.release()
    held.close()
    assert await client.evidence("main") == before
    assert (await client.ask(deposit)).receipt.position == 2
