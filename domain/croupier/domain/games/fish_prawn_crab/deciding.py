"""Commands decided: which facts a command causes, or which rule it breaks.

Checked in this order: the dice, the phase, whose turn it is, the place, the stake.
"""

from __future__ import annotations

from croupier.domain.commands import (
    Command,
    Cover,
    LightOn,
    OpenCup,
    PlaceBet,
    PressHandle,
    RingBell,
)
from croupier.domain.cup_events import (
    BellRung,
    BetPlaced,
    CupCovered,
    CupOpened,
    DrawCommitted,
    DrawRevealed,
    HandlePressed,
    LightSwitchedOn,
    ThrowVoided,
)
from croupier.domain.dice import Dice, check_dice
from croupier.domain.errors import Reason, Refused, shown
from croupier.domain.events import (
    Fact,
)
from croupier.domain.games.fish_prawn_crab.dice import DICE
from croupier.domain.games.fish_prawn_crab.places import PLACES
from croupier.domain.games.fish_prawn_crab.state import (
    BETS_MAX,
    BETTING,
    COVERED,
    NO_MORE_BETS,
    PAYING,
    PRESSES,
    READY,
    SHAKEN,
    State,
)
from croupier.domain.money import check_amount
from croupier.domain.names import HOUSE

VOID_REASON_MAX = 200
"""The longest reason that a throw is void for, characters."""

_TOO_EARLY = (READY, COVERED, SHAKEN)


def decide(state: State, command: Command) -> tuple[Fact, ...]:
    """Return the facts that `command` causes, or refuse."""
    match command:
        case Cover():
            rule = "winners_are_paid_first" if state.phase == PAYING else "the_cup_is_covered_once"
            _check_dealer(state, command.player, READY, rule)
            return (CupCovered(carried=tuple(bet.number for bet in state.bets)),)
        case PressHandle():
            late = state.phase not in (READY, COVERED)
            rule = "exactly_three_presses" if late else "the_cup_is_covered_first"
            _check_dealer(state, command.player, COVERED, rule)
            return _press(state, command)
        case LightOn():
            early = state.phase in (READY, COVERED)
            rule = "three_presses_before_the_light" if early else "the_light_goes_on_once"
            _check_dealer(state, command.player, SHAKEN, rule)
            return (LightSwitchedOn(),)
        case PlaceBet():
            return (_place_bet(state, command),)
        case RingBell():
            early = state.phase in _TOO_EARLY
            rule = "the_bell_closes_the_betting" if early else "the_bell_rings_once"
            _check_dealer(state, command.player, BETTING, rule)
            return (BellRung(),)
        case OpenCup():
            return (_open_cup(state, command),)
        case _:
            raise Refused(
                Reason.COMMAND_NOT_IN_GAME,
                f"fish-prawn-crab knows no {type(command).__name__}",
                rule="command_not_in_game",
                command=type(command).__name__,
            )


def _press(state: State, command: PressHandle) -> tuple[Fact, ...]:
    """Press the handle; with the last press the cup is shaken, and a draw committed to."""
    pressed = HandlePressed(press=state.presses + 1)
    if pressed.press < PRESSES or command.draw is None:
        return (pressed,)
    draw = command.draw
    return (pressed, DrawCommitted(commitment=draw.commitment, context=draw.context))


def _check_phase(state: State, phase: str, rule: str) -> None:
    if state.phase != phase or state.is_moving:
        raise Refused(
            Reason.WRONG_PHASE,
            f"the table is in {state.phase}, not in {phase}",
            rule=rule,
            phase=state.phase,
            needed=phase,
        )


def _check_dealer(state: State, player: str, phase: str, rule: str) -> None:
    """Refuse an action out of its phase, and by anybody but the dealer."""
    _check_phase(state, phase, rule)
    if player != HOUSE:
        raise Refused(
            Reason.NOT_YOUR_TURN,
            f"only the dealer does this, as {HOUSE}",
            rule="only_the_dealer",
            to_act=HOUSE,
        )


def _place_bet(state: State, command: PlaceBet) -> BetPlaced:
    early = state.phase in _TOO_EARLY
    _check_phase(state, BETTING, "no_bet_before_the_light" if early else "no_bet_after_the_bell")
    if command.player == HOUSE:
        raise Refused(
            Reason.NOT_YOUR_TURN, "the house takes bets and makes none", rule="only_players_bet"
        )
    if command.place not in PLACES:
        raise Refused(
            Reason.UNKNOWN_PLACE,
            f"{shown(command.place)} is no place of the layout",
            field="place_bet.place",
            rule="the_layout_has_39_places",
            place=command.place[:64],
        )
    if len(state.bets) >= BETS_MAX:
        raise Refused(
            Reason.NOT_OFFERED,
            f"{BETS_MAX} bets stand, and there is room for no more",
            rule="the_layout_is_full",
            limit=BETS_MAX,
        )
    _check_stake(state, command)
    return BetPlaced(
        bet=state.next_bet, player=command.player, place=command.place, stake=command.stake
    )


def _check_stake(state: State, command: PlaceBet) -> None:
    """Refuse a stake beyond the table's limits, or one that the bankroll might not cover."""
    field, stake, terms = "place_bet.stake", command.stake, state.terms
    try:
        check_amount(stake)
    except Refused as refusal:
        raise refusal.at(field) from None
    if stake < terms.least:
        raise Refused(
            Reason.STAKE_BELOW_LIMIT,
            f"the table takes bets of {terms.least} and more, not of {stake}",
            field=field,
            rule="table_minimum",
            limit=terms.least,
            stake=stake,
        )
    limit = state.most(command.place)
    if stake > limit:
        within = stake <= terms.most
        raise Refused(
            Reason.STAKE_ABOVE_LIMIT,
            f"a bet on {command.place} may be {limit} now, {stake} is more",
            field=field,
            rule="the_bankroll_covers_every_outcome" if within else "table_maximum",
            limit=limit,
            stake=stake,
        )


def _open_cup(state: State, command: OpenCup) -> CupOpened | ThrowVoided | DrawRevealed:
    fact: CupOpened | ThrowVoided | DrawRevealed = ThrowVoided(reason=command.void)
    if command.void:
        _check_reason(command.void)
    elif command.nonce:
        fact = DrawRevealed(nonce=command.nonce)
    else:
        fact = CupOpened(dice=_flat(command.dice), source=command.source)
    opened = state.phase in (READY, PAYING) or state.is_moving
    rule = "the_cup_is_opened_once" if opened else "the_bell_rings_first"
    _check_dealer(state, command.player, NO_MORE_BETS, rule)
    if command.nonce and not state.is_sealed(command.nonce):
        raise Refused(
            Reason.NOT_OFFERED,
            "the draw that was committed to is not known here; bring dice, or void the throw",
            field="open_cup.draw",
            rule="the_draw_is_the_one_committed_to",
        )
    return fact


def _flat(dice: Dice) -> Dice:
    try:
        return check_dice(dice, DICE)
    except Refused as refusal:
        raise refusal.at("open_cup.dice") from None


def _check_reason(reason: str) -> None:
    if len(reason) > VOID_REASON_MAX or not reason.isprintable():
        raise Refused(
            Reason.INVALID_TEXT,
            f"a reason is up to {VOID_REASON_MAX} printable characters",
            field="open_cup.void",
            most=VOID_REASON_MAX,
        )
