"""Commands decided: which facts a command causes, or which rule it breaks.

Checked in this order: the dice, the phase, whose turn it is, the amounts.
"""

from __future__ import annotations

from croupier.domain.commands import (
    Command,
    Decline,
    Fade,
    KeepBank,
    PassBank,
    PostBank,
    ResignBank,
    Roll,
)
from croupier.domain.dice import check_dice
from croupier.domain.errors import Reason, Refused
from croupier.domain.events import (
    BankerChosen,
    BankPosted,
    BetDecided,
    Fact,
    Faded,
    FadeDeclined,
    Rolled,
)
from croupier.domain.games.ceelo_bank.state import (
    BANK_CHOICE,
    BANK_OPEN,
    BANKER_THROWS,
    FADING,
    PLAYER_THROWS,
    Bet,
    State,
)
from croupier.domain.games.ceelo_bank.verdicts import banker_verdict, player_verdict
from croupier.domain.games.ceelo_throws import MEANINGLESS, read
from croupier.domain.money import AMOUNT_MAX, check_amount

DICE = 3


def decide(state: State, command: Command) -> tuple[Fact, ...]:
    """Return the facts that `command` causes, or refuse."""
    match command:
        case PostBank():
            return (_post_bank(state, command),)
        case Fade():
            return (_fade(state, command),)
        case Decline():
            _check_offered(state, command.player)
            return (FadeDeclined(player=command.player),)
        case Roll():
            return _roll(state, command)
        case KeepBank() | PassBank():
            return (_choose(state, command),)
        case ResignBank():
            return (_resign(state, command),)


def _refuse(reason: Reason, message: str, rule: str, **metadata: str) -> Refused:
    return Refused(reason, message, field=None, rule=rule, **metadata)


def _check_phase(state: State, phase: str, rule: str) -> None:
    if state.phase != phase:
        message = f"the table is in {state.phase}, not in {phase}"
        raise _refuse(Reason.WRONG_PHASE, message, rule, phase=state.phase)


def _check_banker(state: State, player: str, rule: str) -> None:
    if player != state.banker:
        raise _refuse(Reason.NOT_YOUR_TURN, f"{state.banker} banks", rule, to_act=state.banker)


def _post_bank(state: State, command: PostBank) -> BankPosted:
    _check_phase(state, BANK_OPEN, "bank_is_posted_once")
    _check_banker(state, command.player, "only_the_banker_posts")
    try:
        check_amount(command.amount, least=0 if state.bank else 1)
        bank = check_amount(state.bank + command.amount)
        reserve = state.terms.bank_reserve(bank)
        check_amount(bank + reserve)
    except Refused as refusal:
        raise refusal.at("post_bank.amount") from None
    return BankPosted(
        player=command.player, bank=bank, carried=state.bank, added=command.amount, reserve=reserve
    )


def _check_offered(state: State, player: str) -> None:
    """Refuse whoever is not the one seat that is offered the bank now."""
    _check_phase(state, FADING, "fading_is_not_open")
    if player == state.banker:
        raise _refuse(
            Reason.NOT_YOUR_TURN,
            "the banker does not bet against himself",
            "banker_cannot_fade",
            to_act=state.next_offer,
        )
    if player != state.next_offer:
        raise _refuse(
            Reason.NOT_YOUR_TURN,
            f"{state.next_offer} is offered the bank; every seat once, clockwise",
            "one_offer_each_clockwise",
            to_act=state.next_offer,
        )


def _fade(state: State, command: Fade) -> Faded:
    _check_offered(state, command.player)
    try:
        check_amount(command.stake)
    except Refused as refusal:
        raise refusal.at("fade.stake") from None
    if command.stake > state.uncovered:
        raise Refused(
            Reason.STAKE_ABOVE_LIMIT,
            f"{state.uncovered} of the bank is uncovered, {command.stake} is more",
            field="fade.stake",
            rule="fade_is_limited_by_what_is_uncovered",
            limit=state.uncovered,
        )
    reserve = state.terms.fade_reserve(command.stake)
    if command.stake + reserve > AMOUNT_MAX:
        raise Refused(
            Reason.AMOUNT_OUT_OF_RANGE,
            f"a fade of {command.stake} needs {command.stake + reserve} in escrow",
            field="fade.stake",
            amount=command.stake + reserve,
            most=AMOUNT_MAX,
        )
    return Faded(player=command.player, stake=command.stake, reserve=reserve)


def _roll(state: State, command: Roll) -> tuple[Fact, ...]:
    dice = check_dice(command.dice, DICE)
    reading = read(dice)
    rolled = Rolled(player=command.player, dice=dice, source=command.source, reading=reading)
    if state.phase == BANKER_THROWS:
        _check_banker(state, command.player, "the_banker_throws_first")
        return (rolled, *_banker_decides(state, reading))
    _check_phase(state, PLAYER_THROWS, "players_do_not_throw")
    bet = state.next_bet
    if bet is None or bet.player != command.player:
        thrower = bet.player if bet else ""
        raise _refuse(
            Reason.NOT_YOUR_TURN,
            f"{thrower} throws; faders throw in order, each until a throw decides",
            "only_the_fader_in_turn_throws",
            to_act=thrower,
        )
    if reading == MEANINGLESS:
        return (rolled,)
    return (rolled, _decided(bet, *player_verdict(state.terms, state.point, reading)))


def _banker_decides(state: State, reading: str) -> tuple[BetDecided, ...]:
    verdict = banker_verdict(state.terms, reading)
    return tuple(_decided(bet, *verdict) for bet in state.bets) if verdict else ()


def _decided(bet: Bet, result: str, line: str) -> BetDecided:
    return BetDecided(player=bet.player, stake=bet.stake, result=result, line=line)


def _choose(state: State, command: KeepBank | PassBank) -> BankerChosen:
    if state.phase != BANK_CHOICE:
        raise _refuse(
            Reason.NOT_OFFERED,
            "the banker chooses only after his automatic loss, where the table plays so",
            "no_choice_is_offered",
            phase=state.phase,
        )
    _check_banker(state, command.player, "only_the_banker_chooses")
    keeps = isinstance(command, KeepBank)
    return BankerChosen(
        previous=state.banker,
        banker=state.banker if keeps else state.left_neighbour,
        rule="kept" if keeps else "passed",
    )


def _resign(state: State, command: ResignBank) -> BankerChosen:
    _check_phase(state, BANK_OPEN, "the_bank_is_resigned_before_posting")
    _check_banker(state, command.player, "only_the_banker_resigns")
    if not state.terms.may_resign:
        raise _refuse(
            Reason.NOT_OFFERED, "this table does not allow resigning", "resignation_not_allowed"
        )
    return BankerChosen(previous=state.banker, banker=state.left_neighbour, rule="resigned")
