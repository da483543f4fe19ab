"""How the service stops: in order, in time, and nobody is left without an answer that was due."""

from __future__ import annotations

import asyncio
import signal
from contextlib import asynccontextmanager

import grpc
import psutil
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from croupier.domain.errors import Reason
from croupier.services.server import SERVICES
from croupier.services.store.lock import FileLock
from croupier.v1 import audit_pb2, play_pb2
from tests.support.api import LEDGER, Api, details, new_id
from tests.support.processes import ServerProcess
from tests.support.workers import Workers

SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING
SOON_S = 8.0
"""Well below the time of grace, for a loaded machine."""


@asynccontextmanager
async def connected(server):
    channel = grpc.aio.insecure_channel(
        server.address, options=[("grpc.use_local_subchannel_pool", 1)]
    )
    async with channel:
        yield channel


async def until(condition):
    async def held():
        await asyncio.sleep(0)  # somebody else's turn
        return condition()

    async with asyncio.timeout(30):
        while not await held():
            pass


async def to_its_end(stream):
    while await stream.read() is not grpc.aio.EOF:
        pass


class Held:
    """The lock of the ledger `main`, as another process would hold it: turns have to wait."""

    def __init__(self, folder):
        self._lock = FileLock(folder / "main.db")
        self._lock.acquire()

    def release(self):
        self._lock.release()
        self._lock.close()


async def waiting(server, count):
    """Wait until so many commands wait for a turn."""
    line = f"croupier_queue_commands {count}.0\n"
    async with asyncio.timeout(30):
        while line not in await asyncio.to_thread(server.metrics):
            pass


async def test_health_of_every_service_says_so_before_calls_are_refused(tmp_path):
    with ServerProcess(tmp_path, "--lame-duck-s=5", "--grace-s=20") as server:
        async with connected(server) as channel:
            api, health = Api(channel), health_pb2_grpc.HealthStub(channel)
            await api.create()
            watches = [
                health.Watch(health_pb2.HealthCheckRequest(service=name))
                for name in ("", *SERVICES)
            ]
            for watch in watches:
                assert (await watch.read()).status == SERVING
            calling, calls = True, 0

            async def call():
                nonlocal calls
                while calling:
                    await api.deposit("anna", 1)
                    calls += 1

            callers = [asyncio.ensure_future(call()) for _ in range(4)]
            await until(lambda: calls)
            stopping = asyncio.ensure_future(asyncio.to_thread(server.stop))
            for watch in watches:
                assert (await watch.read()).status == NOT_SERVING
            # Callers have not left yet, and are served.
            said = calls
            await until(lambda: calls >= said + 20)
            calling = False
            await asyncio.gather(*callers)
            # Who only watches health is told that there is no more, and keeps nobody waiting.
            for watch in watches:
                with pytest.raises(grpc.aio.AioRpcError) as caught:
                    await watch.read()
                assert caught.value.code() is grpc.StatusCode.UNAVAILABLE
                assert details(caught.value)["ErrorInfo"].reason == Reason.SERVER_STOPPING
            assert await asyncio.wait_for(stopping, SOON_S) == 0


@pytest.mark.sqlite("its lock is held")
async def test_calls_in_flight_are_answered_also_where_others_are_refused_meanwhile(tmp_path):
    with ServerProcess(tmp_path, "--grace-s=30") as server:
        async with connected(server) as channel:
            api = Api(channel)
            await api.create()
            await api.deposit("anna", 50)
            held = Held(tmp_path)
            accepted = [asyncio.ensure_future(api.deposit("bert", 1)) for _ in range(8)]
            refused = [asyncio.ensure_future(api.withdraw("anna", 99)) for _ in range(8)]
            await waiting(server, 16)
            stopping = asyncio.ensure_future(asyncio.to_thread(server.stop))
            watch = health_pb2_grpc.HealthStub(channel).Watch(health_pb2.HealthCheckRequest())
            while (await watch.read()).status != NOT_SERVING:
                pass
            held.release()
            assert {(await one).receipt.position for one in accepted} == set(range(3, 11))
            for one in refused:
                with pytest.raises(grpc.aio.AioRpcError) as caught:
                    await one
                assert details(caught.value)["ErrorInfo"].reason == Reason.INSUFFICIENT_FUNDS
            assert await stopping == 0


async def test_streams_are_told_how_far_they_came_and_where_to_go_on(tmp_path):
    with Workers(tmp_path, 2, "--grace-s=30") as servers:
        own, other = servers.addresses
        async with grpc.aio.insecure_channel(own) as channel:
            api = Api(channel)
            await api.create()
            for _ in range(5):
                await api.deposit("anna", 1)
            watch = api.audit.WatchEvents(audit_pb2.WatchEventsRequest(parent=LEDGER))
            seen = 0
            while seen < 6:
                seen = (await watch.read()).next_position - 1
            talk = api.plays.PlayStream()
            for _ in range(3):
                command = play_pb2.PlayRequest(
                    table=f"{LEDGER}/tables/none", round=1, player="anna", request_id=new_id()
                )
                command.decline.SetInParent()
                message = play_pb2.PlayStreamRequest(parent=LEDGER, commands=[command])
                await talk.write(message)
                await talk.read()
            servers.process(own).terminate()
            told = {}
            for name, stream in (("watch", watch), ("talk", talk)):
                with pytest.raises(grpc.aio.AioRpcError) as caught:
                    await to_its_end(stream)
                info = details(caught.value)["ErrorInfo"]
                assert info.reason == Reason.SERVER_STOPPING
                told[name] = dict(info.metadata)
        assert told == {
            "watch": {"next_position": "7", "elsewhere": other},
            "talk": {"messages": "3", "elsewhere": other},
        }


@pytest.mark.sqlite("its lock is held")
async def test_it_is_gone_when_its_grace_is_over_whoever_still_waits(tmp_path):
    with ServerProcess(tmp_path, "--grace-s=2") as server:
        async with connected(server) as channel:
            api = Api(channel)
            await api.create()
            held = Held(tmp_path)
            stuck = asyncio.ensure_future(api.deposit("anna", 1, "stuck"))
            await waiting(server, 1)
            began = asyncio.get_running_loop().time()
            assert await asyncio.to_thread(server.stop) == 0
            # Once for calls and ledgers together; the rest is a busy machine.
            assert asyncio.get_running_loop().time() - began < 2 + SOON_S
            with pytest.raises(grpc.aio.AioRpcError):
                await stuck
            held.release()


@pytest.mark.sqlite("its lock is held")
@pytest.mark.parametrize("second", [signal.SIGTERM, signal.SIGINT])
async def test_a_second_signal_ends_it_at_once(tmp_path, second):
    with ServerProcess(tmp_path, "--grace-s=600") as server:
        async with connected(server) as channel:
            api, health = Api(channel), health_pb2_grpc.HealthStub(channel)
            await api.create()
            watch = health.Watch(health_pb2.HealthCheckRequest())
            assert (await watch.read()).status == SERVING
            held = Held(tmp_path)
            stuck = asyncio.ensure_future(api.deposit("anna", 1, "stuck"))
            await waiting(server, 1)
            process = psutil.Process(server.pid)
            process.send_signal(signal.SIGTERM)
            assert (await watch.read()).status == NOT_SERVING
            process.send_signal(second)
            assert await asyncio.to_thread(server.wait) == -second
            with pytest.raises(grpc.aio.AioRpcError) as caught:
                await stuck
            assert caught.value.code() is grpc.StatusCode.UNAVAILABLE
            held.release()
    # What it had taken and not recorded is not there, and can be asked again.
    with ServerProcess(tmp_path) as server:
        async with connected(server) as channel:
            assert (await Api(channel).deposit("anna", 1, "stuck")).receipt.position == 2


@pytest.mark.sqlite("its lock is held")
async def test_a_second_signal_to_the_parent_ends_the_workers_too(tmp_path):
    with Workers(tmp_path, 2, "--grace-s=600") as workers:
        processes = workers.processes()
        async with grpc.aio.insecure_channel(workers.addresses[0]) as channel:
            api, health = Api(channel), health_pb2_grpc.HealthStub(channel)
            await api.create()
            watch = health.Watch(health_pb2.HealthCheckRequest())
            assert (await watch.read()).status == SERVING
            held = Held(tmp_path)
            stuck = asyncio.ensure_future(api.deposit("anna", 1))
            await waiting(workers, 1)
            parent = psutil.Process(workers.pid)
            parent.terminate()
            assert (await watch.read()).status == NOT_SERVING
            parent.terminate()
            assert await asyncio.to_thread(workers.wait) == -signal.SIGTERM
            assert psutil.wait_procs(processes, timeout=30)[1] == []
            with pytest.raises(grpc.aio.AioRpcError):
                await stuck
            held.release()


@pytest.mark.sqlite("its lock is held")
async def test_a_worker_that_stops_takes_no_notice_of_a_second_signal(tmp_path):
    """Its parent may send one, when all are to stop, after somebody restarted this one."""
    with Workers(tmp_path, 2, "--grace-s=60") as workers:
        worker = workers.process(workers.addresses[0])
        async with grpc.aio.insecure_channel(workers.addresses[0]) as channel:
            api, health = Api(channel), health_pb2_grpc.HealthStub(channel)
            await api.create()
            watch = health.Watch(health_pb2.HealthCheckRequest())
            assert (await watch.read()).status == SERVING
            held = Held(tmp_path)
            taken = asyncio.ensure_future(api.deposit("anna", 1))
            await waiting(workers, 1)
            worker.terminate()
            assert (await watch.read()).status == NOT_SERVING
            stopping = asyncio.ensure_future(asyncio.to_thread(workers.stop))
            held.release()
            assert (await taken).receipt.position == 2
            assert await stopping == 0
