"""Processes that were started by hand share a folder: addresses, lists, gauges."""

from __future__ import annotations

import pytest
from google.protobuf.json_format import MessageToDict

from croupier.services.assignment import best
from croupier.v1 import accounts_pb2, admin_pb2
from tests.support.serving import fresh

PEERS = ("casino-a:7001", "casino-b:7002", "casino-c:7003")
LEDGERS = [f"ledger-{number:02}" for number in range(30)]


@pytest.fixture
async def servers(serve, tmp_path):
    """Return three servers that share a folder, by how others reach them."""
    return {one: await serve(tmp_path, advertise=one, peers=PEERS) for one in PEERS}


async def create(client, ledger):
    await client.ask(admin_pb2.CreateLedgerRequest(ledger_id=ledger, request_id=fresh()))


async def test_every_server_says_who_it_is_and_who_is_best(servers):
    for address, served in servers.items():
        client = await served.client()
        for ledger in LEDGERS:  # none of which exists yet
            name = f"ledgers/{ledger}"
            info = await client.ask(admin_pb2.GetServerInfoRequest(ledger=name))
            assert info.best_address == best(PEERS, ledger)
            assert (info.address, tuple(info.addresses)) == (address, PEERS)
        info = await client.ask(admin_pb2.GetServerInfoRequest())
        assert (info.address, info.best_address) == (address, "")


@pytest.mark.parametrize("name", ["main", "ledgers/", "ledgers/a b", "ledgers/main/tables/t1"])
async def test_a_bad_name_is_refused_with_its_field(serve, name):
    client = await (await serve()).client()
    refusal = await client.refusal(admin_pb2.GetServerInfoRequest(ledger=name))
    assert (refusal.code.name, refusal.fields) == ("INVALID_ARGUMENT", ("ledger",))


async def test_where_a_ledger_is_served_is_not_told_to_whom_it_does_not_concern(serve, tokens):
    token = tokens.new("desk", "dealer", ledgers=["main"])
    client = await (await serve(tokens=tokens.file)).client(token)
    info = await client.ask(admin_pb2.GetServerInfoRequest(ledger="ledgers/main"))
    assert info.best_address == info.address
    refusal = await client.refusal(admin_pb2.GetServerInfoRequest(ledger="ledgers/other"))
    assert (refusal.code.name, refusal.reason) == ("PERMISSION_DENIED", "LEDGER_NOT_ALLOWED")
    info = await client.ask(admin_pb2.GetServerInfoRequest())
    assert info.best_address == ""


async def test_every_server_lists_all_ledgers_alike(servers):
    clients = [await served.client() for served in servers.values()]
    for number, ledger in enumerate(LEDGERS):
        await create(clients[number % len(clients)], ledger)
    lists = [MessageToDict(await client.ask(admin_pb2.ListLedgersRequest())) for client in clients]
    assert [one["name"] for one in lists[0]["ledgers"]] == [f"ledgers/{one}" for one in LEDGERS]
    for one, same, again in zip(*(said["ledgers"] for said in lists), strict=True):
        assert one == same == again


def reported(served):
    """Return the value of each ledger's gauges that a server reports."""
    return {
        (family.name, sample.labels["ledger"]): sample.value
        for family in served.server.registry.collect()
        for sample in family.samples
        if "ledger" in sample.labels
    }


async def test_each_ledger_is_reported_by_the_one_server_it_is_assigned_to(servers):
    # All through one, which serves others' ledgers as well as its own.
    client = await servers[PEERS[0]].client()
    for ledger in LEDGERS:
        await create(client, ledger)
        await client.ask(
            accounts_pb2.DepositRequest(
                account=f"ledgers/{ledger}/accounts/house",
                currency="EUR",
                amount=5,
                request_id=fresh(),
            )
        )
    for address, served in servers.items():
        served.server.ledgers.recover()  # as every few seconds
        served.server.take_gauges()
        own = {one for one in LEDGERS if best(PEERS, one) == address}
        gauges = reported(served)
        assert {ledger for _, ledger in gauges} == own
        for ledger in own:
            assert gauges["croupier_ledger_head_position", ledger] == 2
            assert gauges["croupier_ledger_trial_balance_minor_units", ledger] == 0
            assert gauges["croupier_ledger_fenced", ledger] == 0


@pytest.mark.sqlite("its file is taken away")
async def test_a_fence_is_reported_by_whoever_put_it_up(servers, tmp_path):
    ledger = next(one for one in LEDGERS if best(PEERS, one) != PEERS[0])
    served = servers[PEERS[0]]
    client = await served.client()
    await create(client, ledger)
    for file in tmp_path.glob(f"{ledger}.db*"):
        file.unlink()
    request = accounts_pb2.DepositRequest(
        account=f"ledgers/{ledger}/accounts/house", currency="EUR", amount=5, request_id=fresh()
    )
    assert (await client.refusal(request)).reason == "LEDGER_FENCED"
    served.server.take_gauges()
    assert reported(served)["croupier_ledger_fenced", ledger] == 1


async def test_servers_look_for_what_was_created_elsewhere_and_close_what_is_not_theirs(
    servers, monkeypatch
):
    monkeypatch.setattr("croupier.services.server.IDLE_S", 0.0)
    client = await servers[PEERS[0]].client()
    for ledger in LEDGERS:
        await create(client, ledger)
    for address, served in servers.items():
        await served.server.look_after_ledgers()
        assert {one.id for one in served.server.ledgers} == {
            one for one in LEDGERS if best(PEERS, one) == address
        }
