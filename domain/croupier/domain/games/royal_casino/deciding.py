"""Commands decided: which facts a command causes, or which rule it breaks.

Checked in this order: the phase, whose turn it is, the hand, then the ante, the deck or the move.
"""

from __future__ import annotations

from croupier.domain.card_commands import (
    AddToBuild,
    Capture,
    CreateBuild,
    Deal,
    RaiseBuild,
    Shuffle,
    Trail,
)
from croupier.domain.card_events import DeckBrought, DeckDrawn
from croupier.domain.cards import check_deck
from croupier.domain.commands import Ante, Command
from croupier.domain.cup_events import DrawCommitted
from croupier.domain.errors import Reason, Refused
from croupier.domain.events import Anted, Fact
from croupier.domain.games.royal_casino.legality import check
from croupier.domain.games.royal_casino.state import ANTE, DEAL, TURN, State
from croupier.domain.money import check_amount


def decide(state: State, command: Command) -> tuple[Fact, ...]:
    """Return the fact that `command` causes, or refuse."""
    match command:
        case Capture() | CreateBuild() | AddToBuild() | RaiseBuild() | Trail():
            _check_turn(state, command.player)
            return (check(state.position, command),)
        case Ante():
            return (_ante(state, command),)
        case Shuffle():
            return (_shuffle(state, command),)
        case Deal():
            return (_deal(state, command),)
        case _:
            raise Refused(
                Reason.COMMAND_NOT_IN_GAME,
                f"Royal Casino knows no {type(command).__name__}",
                rule="command_not_in_game",
                command=type(command).__name__,
            )


def _wrong_phase(state: State, needed: str, message: str, rule: str) -> Refused:
    return Refused(Reason.WRONG_PHASE, message, rule=rule, phase=state.phase, needed=needed)


# --- moves ----------------------------------------------------------------------------------------


def _check_turn(state: State, player: str) -> None:
    """Refuse a move while no hand is played, and one by anybody but the player whose turn it is."""
    if state.phase != TURN:
        rule = "antes_first" if state.phase == ANTE else "the_deal_comes_first"
        message = f"nobody has cards; the table is in {state.phase}"
        raise _wrong_phase(state, TURN, message, rule)
    if player != state.mover:
        raise Refused(
            Reason.NOT_YOUR_TURN,
            f"it is {state.mover}'s turn; turns go in play order",
            rule="turns_in_play_order",
            to_act=state.mover,
        )


# --- antes ----------------------------------------------------------------------------------------


def _ante(state: State, command: Ante) -> Anted:
    if state.phase != ANTE:
        message = f"antes are paid before a match begins; the table is in {state.phase}"
        raise _wrong_phase(state, ANTE, message, "antes_are_paid_at_the_start")
    owed_by = state.ante_owed_by
    if command.player not in owed_by:
        raise Refused(
            Reason.NOT_YOUR_TURN,
            "every player antes once",
            rule="one_ante_each",
            to_act=",".join(owed_by),
        )
    _check_ante(state, command.amount)
    return Anted(player=command.player, amount=command.amount)


def _check_ante(state: State, amount: int) -> None:
    """Refuse what can be no amount, and any amount but the one that all agreed on."""
    try:
        check_amount(amount)
    except Refused as refusal:
        metadata = {**refusal.metadata, "rule": "ante_is_at_least_one"}
        raise Refused(refusal.reason, refusal.message, field="ante.amount", **metadata) from None
    ante = state.terms.ante
    if amount != ante:
        above = amount > ante
        raise Refused(
            Reason.STAKE_ABOVE_LIMIT if above else Reason.STAKE_BELOW_LIMIT,
            f"the ante is {ante} for everybody, {amount} is {'more' if above else 'less'}",
            field="ante.amount",
            rule="the_same_ante_for_all",
            limit=ante,
            stake=amount,
        )


# --- decks ----------------------------------------------------------------------------------------


def _check_dealer(state: State, player: str, hand: int, command: str) -> None:
    """Refuse what only the dealer does, from anybody else and for any other hand than the next."""
    dealer = state.seats[state.dealer]
    if player != dealer:
        raise Refused(
            Reason.NOT_YOUR_TURN,
            f"{dealer} deals this hand",
            rule="only_the_dealer",
            to_act=dealer,
        )
    if hand != state.hand:
        raise Refused(
            Reason.HAND_MISMATCH,
            f"the command is for hand {hand}, the table is at hand {state.hand}",
            field=f"{command}.hand",
            rule="hands_in_order",
            hand=state.hand,
            asked=hand,
        )


def _shuffle(state: State, command: Shuffle) -> DrawCommitted:
    """Commit to the deck of a hand; to that of a match's first before anybody has staked on it."""
    if state.phase not in (ANTE, DEAL):
        message = f"a hand is being played; the table is in {state.phase}"
        raise _wrong_phase(state, DEAL, message, "the_hand_is_played_out_first")
    if not state.played and state.is_open:
        message = "a match's first deck is shuffled before the first ante; now a deck is brought"
        rule = "shuffle_before_antes"
        raise Refused(Reason.WRONG_PHASE, message, rule=rule, phase=state.phase)
    _check_dealer(state, command.player, command.hand, "shuffle")
    if state.sealed is not None:
        raise Refused(
            Reason.NOT_OFFERED,
            f"the deck of hand {state.hand} is shuffled and committed to",
            rule="one_shuffle_a_hand",
            hand=state.hand,
        )
    return DrawCommitted(commitment=command.draw.commitment, context=command.draw.context)


def _deal(state: State, command: Deal) -> DeckBrought | DeckDrawn:
    """Deal from the deck that was committed to, and from no other; or where none was, bring one."""
    if state.phase != DEAL:
        early = state.phase == ANTE
        message = f"no hand is to be dealt; the table is in {state.phase}"
        rule = "antes_first" if early else "the_hand_is_played_out_first"
        raise _wrong_phase(state, DEAL, message, rule)
    _check_dealer(state, command.player, command.hand, "deal")
    if command.nonce:
        _check_nonce(state, command.nonce)
        return DeckDrawn(hand=command.hand, dealer=command.player, nonce=command.nonce)
    if state.sealed is not None:
        raise Refused(
            Reason.NOT_OFFERED,
            "a deck was committed to and is dealt; if it is not known any more, void the round",
            field="deal.deck",
            rule="the_deck_is_the_one_committed_to",
        )
    deck = check_deck(command.deck, "deal.deck.cards")
    return DeckBrought(hand=command.hand, dealer=command.player, deck=deck, source=command.source)


def _check_nonce(state: State, nonce: bytes) -> None:
    if state.sealed is None:
        raise Refused(
            Reason.NOT_OFFERED,
            "no deck was shuffled for this hand; bring one",
            field="deal.draw",
            rule="no_deck_was_shuffled",
        )
    if not state.is_sealed(nonce):
        raise Refused(
            Reason.NOT_OFFERED,
            "the deck that was committed to is not known here; void the round",
            field="deal.draw",
            rule="the_deck_is_the_one_committed_to",
        )
