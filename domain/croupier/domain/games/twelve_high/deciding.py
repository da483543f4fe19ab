"""Commands decided: which facts a command causes, or which rule it breaks.

Checked in this order: the phase, whose turn it is, the dice or the amount.
"""

from __future__ import annotations

from collections.abc import Iterable

from croupier.domain.commands import Ante, ChooseDeathRoll, ChooseWin, Command, Roll
from croupier.domain.dice import check_dice
from croupier.domain.errors import Reason, Refused
from croupier.domain.events import (
    Anted,
    Fact,
    Rolled,
)
from croupier.domain.games.twelve_high.racing import BY_DEATH_ROLL, WIN
from croupier.domain.games.twelve_high.state import (
    ANTE,
    DEATH_ROLL,
    HOUSE_OPTION,
    ORDER,
    TURN,
    State,
)
from croupier.domain.games.twelve_high.throws import read, read_order
from croupier.domain.money import check_amount
from croupier.domain.race_events import (
    HouseOptionChosen,
)

ORDER_DICE = 1
DICE = 3


def dice_of(state: State) -> int:
    """Return how many dice are thrown now: one for the rolling order, else three."""
    return ORDER_DICE if state.phase == ORDER else DICE


def decide(state: State, command: Command) -> tuple[Fact, ...]:
    """Return the fact that `command` causes, or refuse."""
    match command:
        case Ante():
            return (_ante(state, command),)
        case Roll():
            return (_roll(state, command),)
        case ChooseWin() | ChooseDeathRoll():
            return (_choose(state, command),)
        case _:
            raise Refused(
                Reason.COMMAND_NOT_IN_GAME,
                f"Two Alike 12 High knows no {type(command).__name__}",
                rule="command_not_in_game",
                command=type(command).__name__,
            )


def _not_your_turn(to_act: Iterable[str], message: str, rule: str) -> Refused:
    return Refused(Reason.NOT_YOUR_TURN, message, rule=rule, to_act=",".join(to_act))


def _ante(state: State, command: Ante) -> Anted:
    if state.phase != ANTE:
        raise Refused(
            Reason.WRONG_PHASE,
            f"antes are paid before a game begins; the table is in {state.phase}",
            rule="antes_are_paid_at_the_start",
            phase=state.phase,
            needed=ANTE,
        )
    if command.player not in state.ante_owed_by:
        raise _not_your_turn(state.ante_owed_by, "every player antes once", "one_ante_each")
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


def _roll(state: State, command: Roll) -> Rolled:
    _check_thrower(state, command.player)
    dice = check_dice(command.dice, dice_of(state))
    reading = read_order(dice[0]) if state.phase == ORDER else read(dice)
    return Rolled(player=command.player, dice=dice, source=command.source, reading=reading)


def _check_thrower(state: State, player: str) -> None:
    """Refuse a throw by anybody but those whose turn it is to throw."""
    if state.phase not in (ORDER, TURN, DEATH_ROLL):
        waits = (
            "the_high_storm_waits_for_a_choice" if state.phase == HOUSE_OPTION else "antes_first"
        )
        raise Refused(
            Reason.WRONG_PHASE,
            f"nobody throws now; the table is in {state.phase}",
            rule=waits,
            phase=state.phase,
        )
    if state.phase == ORDER:
        if player not in state.called:
            raise _not_your_turn(
                state.called,
                f"{player} has thrown; only ties throw again",
                "only_ties_throw_again_for_places",
            )
        return
    thrower = state.next_thrower
    if player == thrower:
        return
    if state.racer(player).is_out:
        rule, message = "eliminated_players_do_not_throw", f"{player} is out of the game"
    elif state.phase == DEATH_ROLL:
        rule = (
            "the_starter_does_not_throw" if player == state.starter else "one_throw_each_in_order"
        )
        message = f"{thrower} throws; each other player once, in rolling order from the starter"
    else:
        rule, message = "turns_in_rolling_order", f"{thrower} throws; turns go in rolling order"
    raise _not_your_turn((thrower,), message, rule)


def _choose(state: State, command: ChooseWin | ChooseDeathRoll) -> HouseOptionChosen:
    if state.phase != HOUSE_OPTION:
        raise Refused(
            Reason.NOT_OFFERED,
            "only the thrower of a High Storm chooses, where the house rule applies",
            rule="no_choice_is_offered",
            phase=state.phase,
        )
    if command.player != state.thrower:
        message = f"{state.thrower} threw the High Storm and chooses"
        raise _not_your_turn((state.thrower,), message, "only_the_thrower_chooses")
    choice = WIN if isinstance(command, ChooseWin) else BY_DEATH_ROLL
    return HouseOptionChosen(player=command.player, choice=choice)
