"""What becomes of commands whose acknowledgement is lost, for every engine.

Whatever is cut and whenever: who asks again with the same request id gets the receipt of the one
recording that there is.
"""

from __future__ import annotations

import asyncio
import random
from abc import ABC, abstractmethod

import pytest

from croupier.domain.errors import Reason, Refused
from tests.support.ledgers import House
from tests.support.lines import Cut

CUTS = (Cut.BEFORE, Cut.DURING, Cut.AFTER)
LONG = 6
"""For how many attempts an engine is away that is away for long."""

PATIENCE_S, RETRY_S = 30, 0.005
SEED = 20_270_102
CALLERS = 6
COMMANDS = 20


class AcknowledgementConformance(ABC):
    """Each test has an engine of its own behind a line that is cut."""

    @abstractmethod
    def cuttable(self, folder):
        """Return an engine and its line; called again, the same engine by another line.

        What is to be done at the end is added to `_lines`.
        """

    @pytest.fixture(autouse=True)
    async def _houses(self, tmp_path):
        self._folder = tmp_path
        self._open, self._lines = [], []
        self.house, self.line = self._another_house()
        await self.house.create()
        yield
        for house in self._open:
            house.close()
            house.ledgers.engine.close()
        for close in self._lines:
            close()

    def _another_house(self):
        engine, line = self.cuttable(self._folder)
        house = House(self._folder, engine=engine)
        self._open.append(house)
        return house, line

    async def _ask(self, house, player, amount, request_id):
        """Ask once, and return the receipt, or None for the answer that leaves it unknown."""
        try:
            return await house.deposit(player, amount, request_id)
        except Refused as refusal:
            if refusal.reason is not Reason.STORE_UNAVAILABLE:
                raise
            return None

    async def _insist(self, house, player, amount, request_id):
        """Ask as a caller does, again until there is a receipt."""
        async with asyncio.timeout(PATIENCE_S):
            while True:
                receipt = await self._ask(house, player, amount, request_id)
                if receipt is not None:
                    return receipt
                await asyncio.sleep(RETRY_S)

    def _recordings(self, request_id):
        """Return the events of a request, read by a process that was never cut off."""
        fresh, _ = self._another_house()
        log = fresh.ledger.events(0, 1_000_000)
        assert [event.position for event in log] == list(range(1, len(log) + 1))
        return [event for event in log if event.request_id == request_id]

    @pytest.mark.parametrize("moment", CUTS)
    async def test_a_commit_that_was_cut_is_recorded_once_for_who_insists(self, moment):
        self.line.cut(moment)
        receipt = await self._insist(self.house, "anna", 5, "d")
        assert self.line.cuts == 1
        assert self._recordings("d") == list(receipt.events)
        again = await self.house.deposit("anna", 5, "d")
        assert again == receipt
        assert self.house.ledger.balance("player:anna", "EUR") == 5

    @pytest.mark.parametrize("moment", CUTS)
    async def test_a_commit_that_was_cut_before_a_silence_is_recorded_once(self, moment):
        self.line.cut(moment, away=4)
        receipt = await self._insist(self.house, "anna", 5, "d")
        assert self._recordings("d") == list(receipt.events)
        assert self.house.ledger.balance("player:anna", "EUR") == 5

    @pytest.mark.parametrize("moment", CUTS)
    async def test_a_command_that_was_cut_off_here_is_recorded_once_through_another_process(
        self, moment
    ):
        self.line.cut(moment, away=LONG)
        receipt = await self._ask(self.house, "anna", 5, "d")
        other, _ = self._another_house()
        original = await other.deposit("anna", 5, "d")
        assert receipt in (None, original)
        assert self._recordings("d") == list(original.events)
        # And whoever was cut off learns the same.
        assert await self._insist(self.house, "anna", 5, "d") == original

    async def test_a_lost_answer_followed_by_somebody_elses_commit_resolves_to_the_original(self):
        self.line.cut(Cut.AFTER, away=LONG)
        first = await self._ask(self.house, "anna", 5, "d")
        other, _ = self._another_house()
        later = await other.deposit("bert", 7, "later")
        receipt = await self._insist(self.house, "anna", 5, "d")
        assert first in (None, receipt)
        assert receipt.last < later.first
        assert self._recordings("d") == list(receipt.events)
        assert self.house.ledger.balance("player:bert", "EUR") == 7

    async def test_after_a_lost_answer_another_body_with_the_same_id_is_refused(self):
        self.line.cut(Cut.AFTER, away=2)
        receipt = await self._insist(self.house, "anna", 5, "d")
        with pytest.raises(Refused) as caught:
            await self.house.deposit("anna", 6, "d")
        assert caught.value.reason is Reason.REQUEST_ID_REUSED
        assert self._recordings("d") == list(receipt.events)

    async def test_callers_at_two_processes_with_bad_lines_get_the_receipts_of_one_log(self):
        chance = random.Random(SEED)
        other, other_line = self._another_house()
        for line in (self.line, other_line):
            line.cut(*(chance.choice((*CUTS, Cut.NOT)) for _ in range(60)))
        receipts = {}

        async def call(caller):
            order = random.Random(f"{SEED}.{caller}")
            for number in range(COMMANDS):
                request_id = f"{caller}.{number}"
                # Now here, now there, and now and then at both at once.
                houses = [self.house, other]
                order.shuffle(houses)
                asked = houses[: order.choice((1, 1, 2))]
                got = await asyncio.gather(
                    *(self._insist(house, f"p{caller}", 3, request_id) for house in asked)
                )
                assert all(one == got[0] for one in got)
                receipts[request_id] = got[0]

        await asyncio.gather(*(call(caller) for caller in range(CALLERS)))
        assert self.line.cuts > 0
        assert other_line.cuts > 0
        fresh, _ = self._another_house()
        log = fresh.ledger.events(0, 1_000_000)
        assert [event.position for event in log] == list(range(1, len(log) + 1))
        by_id = {}
        for event in log[1:]:
            by_id.setdefault(event.request_id, []).append(event)
        assert by_id == {key: list(receipt.events) for key, receipt in receipts.items()}
        assert len(log) == 1 + CALLERS * COMMANDS
        for caller in range(CALLERS):
            assert fresh.ledger.balance(f"player:p{caller}", "EUR") == 3 * COMMANDS
