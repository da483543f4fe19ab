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
from croupier.domain.money import check_amount

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
        case _:
            raise _refuse(
                Reason.COMMAND_NOT_IN_GAME,
                f"banked cee-lo knows no {type(command).__name__}",
                "command_not_in_game",
                command=type(command).__name__,
            ).at("command")


def _refuse(reason: Reason, message: str, rule: str, **metadata: str) -> Refused:
    return Refused(reason, message, rule=rule, **metadata)


def _check_phase(state: State, phase: str, rule: str) -> None:
    if state.phase != phase:
        message = f"the table is in {state.phase}, not in {phase}"
        raise _refuse(Reason.WRONG_PHASE, message, rule, phase=state.phase, needed=phase)


def _check_banker(state: State, player: str, rule: str) -> None:
    if player != state.banker:
        raise _refuse(Reason.NOT_YOUR_TURN, f"{state.banker} banks", rule, to_act=state.banker)


def _check_amount(amount: int, field: str, *, least_rule: str = "", least: int = 1) -> None:
    """Refuse what can be no amount of minor units, naming the request's field and the rule."""
    try:
        check_amount(amount, least=least)
    except Refused as refusal:
        rule = least_rule if amount < least else "amount_too_large"
        metadata = {**refusal.metadata, "rule": rule}
        raise Refused(refusal.reason, refusal.message, field=field, **metadata) from None


def _post_bank(state: State, command: PostBank) -> BankPosted:
    _check_phase(state, BANK_OPEN, "bank_is_posted_once")
    _check_banker(state, command.player, "only_the_banker_posts")
    field, carried = "post_bank.amount", state.bank
    least, rule = (0, "bank_may_not_be_drawn_down") if carried else (1, "bank_is_at_least_one")
    _check_amount(command.amount, field, least_rule=rule, least=least)
    bank = carried + command.amount
    reserve = state.terms.bank_reserve(bank)
    _check_amount(bank + reserve, field)
    return BankPosted(
        player=command.player, bank=bank, carried=carried, added=command.amount, reserve=reserve
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
    _check_amount(command.stake, "fade.stake", least_rule="fade_is_at_least_one")
    if command.stake > state.uncovered:
        raise Refused(
            Reason.STAKE_ABOVE_LIMIT,
            f"{state.uncovered} of the bank is uncovered, {command.stake} is more",
            field="fade.stake",
            rule="over_fade",
            limit=state.uncovered,
            stake=command.stake,
        )
    reserve = state.terms.fade_reserve(command.stake)
    _check_amount(command.stake + reserve, "fade.stake")
    return Faded(player=command.player, stake=command.stake, reserve=reserve)


def _roll(state: State, command: Roll) -> tuple[Fact, ...]:
    dice = check_dice(command.dice, DICE)
    _check_thrower(state, command.player)
    reading = read(dice)
    rolled = Rolled(player=command.player, dice=dice, source=command.source, reading=reading)
    if state.phase == BANKER_THROWS:
        return (rolled, *_banker_decides(state, reading))
    bet = state.next_bet
    if bet is None or reading == MEANINGLESS:
        return (rolled,)
    return (rolled, _decided(bet, *player_verdict(state.terms, state.point, reading)))


def _check_thrower(state: State, player: str) -> None:
    """Refuse a throw by anybody but the one whose turn it is to throw."""
    if state.phase == BANKER_THROWS:
        _check_banker(state, player, "the_banker_throws_first")
        return
    bettors = {bet.player for bet in state.bets}  # between rounds, those of the round just over
    if player == state.banker and player not in bettors:
        early = {BANK_OPEN: "bank_not_posted", FADING: "fading_is_not_closed"}
        _check_phase(state, PLAYER_THROWS, early.get(state.phase, "the_banker_has_to_choose"))
    _check_phase(state, PLAYER_THROWS, "players_do_not_throw")
    bet = state.next_bet
    thrower = bet.player if bet else ""
    if player == thrower:
        return
    waiting = any(one.player == player and not one.result for one in state.bets)
    if player == state.banker:
        rule = "the_banker_has_his_point"
    else:
        rule = "faders_throw_in_order" if waiting else "players_do_not_throw"
    raise _refuse(
        Reason.NOT_YOUR_TURN,
        f"{thrower} throws; faders throw in order, each until a throw decides",
        rule,
        to_act=thrower,
    )


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
