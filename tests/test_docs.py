"""What the documentation says is so: its snippets run, its tables are complete."""

from __future__ import annotations

import ast
import re
from hashlib import sha256
from pathlib import Path

import pytest

from croupier.domain.draws import deck_of
from croupier.domain.errors import Kind, Reason
from croupier.services.audit.tree import Frontier, leaf_hash
from croupier.services.config import Settings
from croupier.services.rpc.status import CODES
from croupier.v1 import admin_pb2, play_pb2
from tests.support.cards import SEATS, TABLE, Room, brought, drawn, moved, shuffled
from tests.support.serving import serving

ROOT = Path(__file__).parents[1]
DOCS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("deploy/**/*.md")])


def snippets(page):
    """Return the Python of a page, one snippet after the other."""
    text = (ROOT / page).read_text()
    return re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", ["docs/integration.md", "docs/streams.md"])
async def test_the_snippets_of_the_guides_run(tmp_path, page):
    async with serving(tmp_path) as served:
        names = {"ADDRESS": served.address}
        assert snippets(page)
        for snippet in snippets(page):
            code = compile(snippet, page, "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
            if (waiting := eval(code, names)) is not None:  # noqa: S307  # our own documentation
                await waiting


def of_the_auditor():
    """Return what the auditor's guide defines."""
    names = {}
    for snippet in snippets("docs/audit.md"):
        exec(snippet, names)  # noqa: S102  # our own documentation
    return names


def test_the_auditors_deck_is_the_deck_of_the_nonce():
    guide = (ROOT / "docs/audit.md").read_text()
    deck = of_the_auditor()["deck_of"]
    for number in range(50):
        nonce = sha256(b"%d" % number).digest()
        assert tuple(deck(nonce)) == deck_of(nonce)
    assert " ".join(deck(bytes(range(32)))[:26]) in guide


@pytest.mark.parametrize("forged", [False, True])
async def test_the_auditor_checks_the_decks_of_a_table(tmp_path, forged):
    async with serving(tmp_path) as served:
        room = Room(served, {"operator": await served.client()})
        await room.seat()
        await room.act(SEATS[-1], play_pb2.Shuffle(hand=1))
        await room.ante()
        await room.act(SEATS[-1], drawn(1))
        while (table := await room.table()).phase == "TURN":
            page = await room.operator.ask(play_pb2.ListMovesRequest(table=TABLE))
            await room.operator.ask(moved(table.to_act[0], page.moves[-1]))
        await room.act(SEATS[0], brought(2, shuffled("second")))
        void = admin_pb2.VoidRoundRequest(table=TABLE, round=1, reason="late", request_id="void")
        await room.operator.ask(void)
        events = [event for event in await room.log() if event.stream == "tables/cards"]
        check = of_the_auditor()["check_decks"]
        if not forged:
            assert check(events) == 1
            return
        (first, *_) = (event for event in events if event.HasField("hand_dealt"))
        hands = first.hand_dealt.hands
        hands[0].cards[0], hands[1].cards[0] = hands[1].cards[0], hands[0].cards[0]
        with pytest.raises(AssertionError, match="from the front"):
            check(events)


async def test_the_auditors_root_of_a_served_ledger_is_the_one_it_says(tmp_path):
    names = of_the_auditor()
    async with serving(tmp_path) as served:
        client = await served.client()
        await client.ask(admin_pb2.CreateLedgerRequest(ledger_id="main", request_id="create"))
        said = await client.ask(admin_pb2.GetLedgerRequest(name="ledgers/main"))
        assert names["root"](names["leaves"](tmp_path / "main.db")) == said.ledger.root


def test_the_auditors_root_is_the_trees_root():
    names = of_the_auditor()
    frontier, leaves = Frontier(), []
    for number in range(40):
        assert names["root"](leaves) == frontier.root
        leaves.append(b"event %d" % number)
        frontier = frontier.append(leaf_hash(leaves[-1]))


def test_every_reason_is_documented_with_its_status():
    text = (ROOT / "docs/refusals.md").read_text()
    sections = {}
    for section in text.split("\n## ")[1:]:
        for row in re.findall(r"^\| `(\w+)` \|(.*)$", section, re.MULTILINE):
            sections[row[0]] = section.splitlines()[0] + row[1]
    assert set(sections) == set(Reason.__members__)
    for name, said in sections.items():
        kind = Reason[name].kind
        assert f"`{CODES[kind].name}`" in said, name


def test_every_kind_of_refusal_has_a_status():
    assert set(CODES) == set(Kind)


def test_every_setting_is_documented():
    text = (ROOT / "docs/operations.md").read_text()
    table = text.split("## Settings")[1].split("## Callers")[0]
    assert set(re.findall(r"`([a-z_]+)`(?=[,` |])", table)) >= set(Settings.model_fields)


@pytest.mark.parametrize("page", DOCS, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    for link in re.findall(r"\]\(([^)#]+)\)", page.read_text()):
        if not link.startswith("https://"):
            assert (page.parent / link).exists(), link
