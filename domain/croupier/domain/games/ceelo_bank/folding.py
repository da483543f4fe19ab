"""Facts folded into state. Nothing is decided again: facts say what was read and decided."""

from __future__ import annotations

from croupier.domain.events import (
    BankDecided,
    BankerChosen,
    BankPosted,
    BetDecided,
    Collected,
    Fact,
    Faded,
    FadeDeclined,
    FadingClosed,
    PaidOut,
    Rolled,
    RoundVoided,
)
from croupier.domain.evolve import evolve
from croupier.domain.games.ceelo_bank.state import (
    BANK_CHOICE,
    BANK_OPEN,
    BANKER_THROWS,
    FADING,
    NO_ACTION,
    PLAYER_THROWS,
    SETTLE,
    Bet,
    State,
)
from croupier.domain.games.ceelo_throws import point_of
from croupier.domain.settlement import RESERVE_RETURNED, RETURNED, Claim

UNCOVERED_RETURNED = "uncovered_returned"
BANK_LEFT = "bank_left"


def fold(state: State, fact: Fact) -> State:
    """Return the state after a recorded fact."""
    match fact:
        case BankPosted():
            return _posted(state, fact)
        case Faded():
            bet = Bet(fact.player, fact.stake, fact.reserve, fact.stake + fact.reserve)
            return evolve(
                state,
                bets=(*state.bets, bet),
                faded=state.faded + fact.stake,
                offered=state.offered + 1,
            )
        case FadeDeclined():
            return evolve(state, declined=(*state.declined, fact.player), offered=state.offered + 1)
        case FadingClosed():
            return _closed(state, fact)
        case Rolled():
            return _rolled(state, fact)
        case BetDecided():
            return _decided(state, fact)
        case Collected():
            return evolve(
                state,
                bets=_released(state, fact.player, fact.amount),
                bank=state.bank + fact.amount,
            )
        case PaidOut():
            return _paid(state, fact)
        case BankDecided():
            return _bank_decided(state, fact)
        case BankerChosen():
            return _banker_chosen(state, fact)
        case RoundVoided():
            return State(state.terms, state.seats, state.banker, last_rule="voided")
        case _:
            return state


def _posted(state: State, fact: BankPosted) -> State:
    return evolve(
        state,
        phase=FADING,
        round_open=True,
        bank=fact.bank,
        carried=fact.carried,
        reserve=fact.reserve,
        faded=0,
        offered=0,
        declined=(),
        bets=(),
        point=0,
        last_reading="",
        last_roller="",
    )


def _closed(state: State, fact: FadingClosed) -> State:
    """The uncovered rest, and the reserve that stood for it, are the banker's again."""
    reserve = state.reserve * fact.faded // max(state.bank, 1)
    return evolve(
        state,
        phase=BANKER_THROWS if fact.faded else NO_ACTION,
        bank=fact.faded,
        reserve=reserve,
        due=_claims(
            state.banker,
            (UNCOVERED_RETURNED, fact.uncovered),
            (RESERVE_RETURNED, state.reserve - reserve),
        ),
    )


def _claims(player: str, *owed: tuple[str, int]) -> tuple[Claim, ...]:
    return tuple(Claim(player, rule, RETURNED, amount) for rule, amount in owed if amount)


def _rolled(state: State, fact: Rolled) -> State:
    state = evolve(state, last_reading=fact.reading, last_roller=fact.player)
    if state.phase == BANKER_THROWS and 2 <= point_of(fact.reading) <= 5:
        return evolve(state, phase=PLAYER_THROWS, point=point_of(fact.reading))
    return state


def _decided(state: State, fact: BetDecided) -> State:
    by_banker = state.last_roller == state.banker
    bets = tuple(
        evolve(
            bet,
            result=fact.result,
            line=fact.line,
            reading=state.last_reading,
            by_banker=by_banker,
        )
        if bet.player == fact.player
        else bet
        for bet in state.bets
    )
    done = all(bet.result for bet in bets)
    return evolve(state, bets=bets, phase=SETTLE if done else state.phase)


def _released(state: State, player: str, amount: int) -> tuple[Bet, ...]:
    """Return the bets with `amount` less held for a player's."""
    return tuple(
        evolve(bet, held=bet.held - amount) if bet.player == player else bet for bet in state.bets
    )


def _paid(state: State, fact: PaidOut) -> State:
    """Money left escrow: of a bet at settlement, of what was due to a banker, or of anything."""
    for claim in state.due:
        if (claim.player, claim.rule, claim.stake) == (fact.player, fact.rule, fact.returned):
            due = tuple(other for other in state.due if other is not claim)
            over = not due and state.phase in (BANK_OPEN, BANK_CHOICE)
            return evolve(state, due=due, round_open=state.round_open and not over)
    if state.phase == SETTLE and any(b.player == fact.player and b.held for b in state.bets):
        return evolve(
            state,
            bets=_released(state, fact.player, fact.returned),
            bank=state.bank - fact.winnings,
            reserve=state.reserve - fact.top_up,
        )
    return _given_back(state, fact)


def _given_back(state: State, fact: PaidOut) -> State:
    """The table returned one whole holding: it closes, or the round is void."""
    if fact.player == state.banker and fact.returned == state.bank:
        return evolve(state, bank=0, carried=0)
    if fact.player == state.banker and fact.returned == state.reserve:
        return evolve(state, reserve=0)
    bets = tuple(
        evolve(bet, held=0) if (bet.player, bet.held) == (fact.player, fact.returned) else bet
        for bet in state.bets
    )
    return evolve(state, bets=bets)


def _bank_decided(state: State, fact: BankDecided) -> State:
    due = _claims(
        fact.banker,
        (BANK_LEFT, fact.bank_left - fact.carried),
        (RESERVE_RETURNED, state.reserve),
    )
    return evolve(
        state,
        phase=BANK_OPEN if fact.next_banker else BANK_CHOICE,
        round_open=bool(due),
        banker=fact.next_banker or state.banker,
        bank=fact.carried,
        carried=fact.carried,
        reserve=0,
        faded=0,
        point=0,
        last_rule=fact.rule,
        due=due,
    )


def _banker_chosen(state: State, fact: BankerChosen) -> State:
    return evolve(
        state,
        phase=BANK_OPEN,
        banker=fact.banker,
        bank=0,
        carried=0,
        last_rule=fact.rule,
        due=_claims(fact.previous, (BANK_LEFT, state.bank)),
    )
