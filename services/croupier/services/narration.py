"""Events and tables in words, for people. No I/O, and nothing here is read back by a program."""

from __future__ import annotations

from collections.abc import Iterable

from croupier.domain.money import CURRENCIES
from croupier.domain.settlement import RESERVE_RETURNED
from croupier.services import narration_cards
from croupier.services.store.mapper import kind_of
from croupier.v1 import events_pb2, tables_pb2, values_pb2

FACES = "⚀⚁⚂⚃⚄⚅"
PICTURES = ("🐟 fish", "🦐 prawn", "🎃 gourd", "🪙 coin", "🦀 crab", "🐓 rooster")
COLOURS = {"red": "🔴", "green": "🟢", "blue": "🔵"}
_COLOUR_OF_FACE = ("red", "green", "blue", "blue", "green", "red")

_READINGS = {
    "four_five_six": "four-five-six",
    "one_two_three": "one-two-three",
    "meaningless": "nothing, so again",
    "high_storm": "High Storm",
    "low_storm": "Low Storm",
}

_FACES = {
    "trips": "trips, three {}s",
    "storm": "a Storm of {}",
    "order": "{} for the rolling order",
}

_RULES = {
    "banker_automatic_win": "the banker's automatic win",
    "banker_automatic_loss": "the banker's automatic loss",
    "four_five_six": "4-5-6",
    "one_two_three": "1-2-3",
    "equal_point": "equal points, a push",
    "uncovered_returned": "nobody covered it",
    "bank_left": "what was left in the bank",
    "table_closed": "the table closes",
    "round_voided": "the round is void",
    "best_throw": "the best throw",
    "instant_456": "4-5-6, which ends the round at once",
    "target": "the target is reached",
    "highest_total": "the highest total as a round starts",
    "last_player_left": "the last player left in the game",
    "high_storm": "a High Storm",
    "throw_voided": "the throw is void",
    RESERVE_RETURNED: "the reserve, not needed any more",
}

_BANKING = {
    "broken": "the bank is broken: every bet won, so it passes to the left: {next} banks",
    "hot": "{next} won with a hot throw and banks next",
    "retained": "{next} keeps the bank",
    "choice": "{old} lost by his own throw and chooses: keep the bank or pass it to the left",
    "no_action": "nobody covered anything: no throw; {next} banks next",
}

_CHOSEN = {
    "kept": "{old} keeps the bank",
    "passed": "{old} passes the bank to his left: {next} banks",
    "resigned": "{old} resigns the bank: {next}, on his left, banks",
}


def money(amount: int, currency: str) -> str:
    """Return minor units as major ones: 1234 EUR is "12.34 EUR"."""
    return f"{major(amount, currency)} {currency}"


def major(amount: int, currency: str, *, sign: bool = False) -> str:
    """Return minor units as major ones without the currency, with "+" for a gain if asked for."""
    exponent = CURRENCIES.get(currency, 0)
    digits = str(abs(amount)).rjust(exponent + 1, "0")
    whole, cents = digits[: len(digits) - exponent], digits[len(digits) - exponent :]
    before = "-" if amount < 0 else "+" if sign and amount > 0 else ""
    return f"{before}{int(whole):,}".replace(",", " ") + (f".{cents}" if cents else "")


def dice(values: Iterable[int]) -> str:
    """Return dice as faces and as digits, in the order observed."""
    thrown = tuple(values)
    return f"{''.join(FACES[face - 1] for face in thrown)} {'-'.join(map(str, thrown))}"


def reading(name: str) -> str:
    """Return a reading in words."""
    kind, _, face = name.partition("_")
    if kind == "triple":
        return f"three {face}s"
    if kind in _FACES:
        return _FACES[kind].format(face)
    return _READINGS.get(name, name.replace("_", " "))


def pictures(values: Iterable[int]) -> str:
    """Return picture dice: what each shows and in which colour, and their total."""
    thrown = tuple(values)
    shown = (f"{PICTURES[face - 1]} {COLOURS[_COLOUR_OF_FACE[face - 1]]}" for face in thrown)
    return f"{', '.join(shown)}: total {sum(thrown)}"


def place(name: str) -> str:
    """Return a place of the layout in words, with the picture or the colour that it is of."""
    kind, _, on = name.rpartition("_")
    marks = {picture.split()[1]: picture for picture in PICTURES}
    marks |= {colour: f"{mark} {colour}" for colour, mark in COLOURS.items()}
    return f"{kind.replace('_', ' ')} {marks.get(on, on)}".strip()


def rule(name: str) -> str:
    """Return the rule of a payout in words."""
    return _RULES.get(name, name.replace("_", " "))


def odds(paid: values_pb2.Odds) -> str:
    """Return odds as they are called: "3 to 1"."""
    return f"{paid.profit} to {paid.per or 1}"


def happened(event: events_pb2.Event, currency: str) -> str:
    """Return what an event says, in one line; `currency` is its table's."""
    match kind_of(event):
        case "ledger_created":
            return f"ledger {event.ledger_created.ledger} begins"
        case "ledger_unfenced":
            return _unfenced(event.ledger_unfenced)
        case "deposited":
            deposit = event.deposited
            return f"{deposit.account} deposits {money(deposit.amount, deposit.currency)}"
        case "withdrawn":
            withdrawal = event.withdrawn
            amount = money(withdrawal.amount, withdrawal.currency)
            return f"{withdrawal.account} withdraws {amount}"
        case "table_opened":
            return _opened(event.table_opened)
        case "round_started":
            return f"round {event.round_started.round} begins"
        case "round_settled":
            return _settled(event.round_settled, currency)
        case "round_voided":
            voided = event.round_voided
            return f"round {voided.round} is void ({voided.reason}); every stake went back"
        case "table_closed":
            closed = event.table_closed
            back = major(closed.bankroll, currency) if closed.bankroll else ""
            returns = f"; {back} go back to the house" if back else ""
            return f"table {closed.table} is closed{returns}"
        case _:
            return _played(event, currency)


def _played(event: events_pb2.Event, currency: str) -> str:
    match kind_of(event):
        case "bank_posted":
            return _posted(event.bank_posted, currency)
        case "faded":
            fade = event.faded
            reserve = f", with {major(fade.reserve, currency)} in reserve" if fade.reserve else ""
            return f"{fade.player} fades {major(fade.stake, currency)}{reserve}"
        case "fade_declined":
            return f"{event.fade_declined.player} covers nothing"
        case "fading_closed":
            closed = event.fading_closed
            back = f", {major(closed.uncovered, currency)} is not" if closed.uncovered else ""
            return f"fading ends: {major(closed.faded, currency)} is covered{back}"
        case "rolled":
            return _rolled(event.rolled)
        case "bet_decided":
            bet = event.bet_decided
            return f"{bet.player}'s {major(bet.stake, currency)} {_RESULTS[bet.result]}"
        case "bank_decided":
            decided = event.bank_decided
            left = f"{major(decided.bank_left, currency)} left in the bank"
            how = _BANKING.get(decided.rule, "{next} banks next")
            return f"{left}; {how.format(old=decided.banker, next=decided.next_banker)}"
        case "banker_chosen":
            chosen = event.banker_chosen
            how = _CHOSEN.get(chosen.rule, "{next} banks next")
            return how.format(old=chosen.previous, next=chosen.banker)
        case "collected":
            return _collected(event.collected, currency)
        case "paid_out":
            return _paid(event.paid_out, currency)
        case _:
            return _dealt(event, currency)


def _dealt(event: events_pb2.Event, currency: str) -> str:
    """Return what happened around the cup."""
    match kind_of(event):
        case "cup_covered":
            numbers = ", ".join(map(str, event.cup_covered.carried))
            return "the cup is covered" + (f"; these bets stand: {numbers}" if numbers else "")
        case "handle_pressed":
            return f"the handle is pressed: {event.handle_pressed.press}"
        case "draw_committed":
            return f"the service commits to a draw: {event.draw_committed.commitment.hex()[:16]}…"
        case "draw_revealed":
            return f"the draw is revealed: {event.draw_revealed.nonce.hex()[:16]}…"
        case "light_switched_on":
            return "the light goes on: place your bets"
        case "bet_placed":
            bet = event.bet_placed
            staked = f"{major(bet.stake, currency)} on {place(bet.place)}"
            return f"{bet.player} bets {staked} (bet {bet.bet})"
        case "bell_rung":
            return "the bell rings: no more bets"
        case "cup_opened":
            opened = event.cup_opened
            return f"the cup opens on {pictures(opened.dice)} ({_by(opened.source)})"
        case "throw_voided":
            return f"the throw is void: {event.throw_voided.reason}; nobody wins or loses"
        case "places_lit":
            return f"lit: {', '.join(map(place, event.places_lit.places))}"
        case _:
            return _in_pot(event, currency)


def _in_pot(event: events_pb2.Event, currency: str) -> str:
    """Return what happened in a game for a pot."""
    match kind_of(event):
        case "anted":
            return f"{event.anted.player} antes {major(event.anted.amount, currency)}"
        case "shoot_out_called":
            return _shoot_out(event.shoot_out_called)
        case _:
            return _raced(event)


def _raced(event: events_pb2.Event) -> str:
    """Return what happened in a points race with Death Rolls."""
    match kind_of(event):
        case "places_tied":
            tied = " and ".join(event.places_tied.players)
            return f"{tied} are equal and throw again for the places they share"
        case "rolling_order_settled":
            return f"the rolling order is {', '.join(event.rolling_order_settled.players)}"
        case "game_round_started":
            return f"round {event.game_round_started.number} of the game: a turn for each still in"
        case "points_added":
            added = event.points_added
            return f"{added.player} scores {added.points} and has {added.total}"
        case "dice_passed":
            return f"{event.dice_passed.player} scores nothing; the dice pass on"
        case "house_option_offered":
            offered = event.house_option_offered
            return f"{offered.player} chooses by the house rule: the win, or a Death Roll"
        case "house_option_chosen":
            chosen = event.house_option_chosen
            what = "the win" if chosen.choice == "win" else "the Death Roll"
            return f"{chosen.player} chooses {what}"
        case _:
            return _in_death_roll(event)


def _in_death_roll(event: events_pb2.Event) -> str:
    match kind_of(event):
        case "death_roll_started":
            started = event.death_roll_started
            return (
                f"Death Roll: trips of {started.bar} or more, or a Storm above {started.bar}; "
                f"who throws neither is out, {started.player} is safe"
            )
        case "death_roll_survived":
            survived = event.death_roll_survived
            award = f"{survived.award} points when the next round starts"
            return f"{survived.player} survives the Death Roll: {award}"
        case "eliminated":
            out = event.eliminated
            how = "with a Low Storm" if out.rule == "low_storm" else "by the Death Roll"
            return f"{out.player} is out {how}"
        case "death_roll_awarded":
            awarded = event.death_roll_awarded
            return (
                f"{awarded.player} gets {awarded.points} for the Death Roll and has {awarded.total}"
            )
        case "race_won":
            return f"{event.race_won.player} wins the game: {rule(event.race_won.rule)}"
        case kind:
            return narration_cards.happened(event) or kind.replace("_", " ")


_BANKED = ("ceelo_bank",)
"""The games in which one of the players banks."""

_RESULTS = {"won": "wins", "lost": "loses", "pushed": "is a push"}


def _unfenced(said: events_pb2.LedgerUnfenced) -> str:
    lost = "nothing is lost"
    if said.lost_last:
        lost = f"positions {said.lost_first or '?'} to {said.lost_last} are lost"
    return f"the ledger is served again, {lost}: {said.reason}"


def _opened(opened: events_pb2.TableOpened) -> str:
    somebody = opened.game in _BANKED or opened.bankroll
    banks = f"; {opened.banker} banks" if somebody else ""
    preset = opened.options["preset"].string_value if "preset" in opened.options else "no preset"
    bankroll = f" with {major(opened.bankroll, opened.currency)}" if opened.bankroll else ""
    order = "in play order" if "direction" in opened.options else "clockwise"
    return (
        f"table {opened.table} opens: {opened.game} ({preset}) in {opened.currency}; "
        f"seats {order} {', '.join(opened.seats)}{banks}{bankroll}"
    )


def _settled(settled: events_pb2.RoundSettled, currency: str) -> str:
    stays = f"; {major(settled.carried, currency)} stays at risk" if settled.carried else ""
    return f"round {settled.round} is settled{stays}"


def _posted(posted: events_pb2.BankPosted, currency: str) -> str:
    made = f"{major(posted.carried, currency)} that stood + {major(posted.added, currency)} added"
    of = f" ({made})" if posted.carried else ""
    reserve = ""
    if posted.reserve:
        reserve = f", with {major(posted.reserve, currency)} in reserve for wins beyond it"
    return f"{posted.player} banks {major(posted.bank, currency)}{of}{reserve}"


def _rolled(rolled: events_pb2.Rolled) -> str:
    by = _by(rolled.source)
    return f"{rolled.player} throws {dice(rolled.dice)}: {reading(rolled.reading)} ({by})"


def _shoot_out(called: events_pb2.ShootOutCalled) -> str:
    *others, last = called.players
    tied = f"{', '.join(others)} and {last}" if others else last
    return (
        f"shoot-out {called.number}: {tied} share the best throw, {reading(called.reading)}; "
        f"only they throw again"
    )


def _by(source: values_pb2.Source) -> str:
    """Return where dice come from."""
    by_service = source.kind == "service"
    return "drawn by the service" if by_service else f"read by {source.kind} {source.id}"


def _collected(lost: events_pb2.Collected, currency: str) -> str:
    if lost.rule == "ante_lost":
        return f"{lost.player} loses his ante of {major(lost.amount, currency)} to the pot"
    loses = f"{lost.player} loses {major(lost.amount, currency)}"
    if lost.bet:
        return f"{loses} on {place(lost.rule)}"
    return f"{loses} to the bank: {rule(lost.rule)}, {odds(lost.odds)}"


def _paid(paid: events_pb2.PaidOut, currency: str) -> str:
    if not paid.HasField("odds") and paid.winnings:
        own, pot = major(paid.returned, currency), major(paid.returned + paid.winnings, currency)
        return f"{paid.player} takes {pot} from the pot, {own} of it his own: {rule(paid.rule)}"
    if not paid.HasField("odds"):
        return f"{paid.player} gets back {major(paid.returned, currency)}: {rule(paid.rule)}"
    won = paid.winnings + paid.top_up
    beyond = f", {major(paid.top_up, currency)} of it beyond the bank" if paid.top_up else ""
    short = f", of {major(paid.owed, currency)} owed" if paid.owed > won else ""
    why = place(paid.rule) if paid.bet else rule(paid.rule)
    return (
        f"{paid.player} is paid {major(won, currency)} and his {major(paid.returned, currency)} "
        f"back: {why}, {odds(paid.odds)}{beyond}{short}"
    )


def posting(one: events_pb2.Posting) -> str:
    """Return a posting in words."""
    return f"{one.source} -> {one.destination}  {money(one.amount, one.currency)}"


def standing(table: tables_pb2.Table) -> str:
    """Return how a table stands: phase, round, what is at risk, who has to do what."""
    state = "open" if table.round_open else "not begun"
    said = f"{table.phase}, round {table.round} {state}"
    if table.closed:
        said = "closed"
    said += f", at risk {money(table.at_risk, table.currency)}"
    holders = [f"{s.player} {major(s.at_risk, table.currency)}" for s in table.seats if s.at_risk]
    if holders:
        said += f" ({', '.join(holders)})"
    if table.to_act:
        said += f"; next: {', '.join(table.to_act)} ({' or '.join(table.expects)})"
    return said
