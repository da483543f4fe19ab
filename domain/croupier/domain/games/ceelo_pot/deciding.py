"""Commands decided: which facts a command causes, or which rule it breaks.

Checked in this order: the dice, the phase, whose turn it is, the amount.
"""

from __future__ import annotations

from croupier.domain.commands import Ante, Command, Roll
from croupier.domain.dice import check_dice
from croupier.domain.errors import Reason, Refused
from croupier.domain.events import (
    Anted,
    Fact,
    Rolled,
)
from croupier.domain.games.ceelo_pot.state import ANTE, RE_ANTE, THROWING, State
from croupier.domain.games.ceelo_throws import read
from croupier.domain.money import check_amount

DICE = 3
AMOUNT = "ante.amount"


def decide(state: State, command: Command) -> tuple[Fact, ...]:
    """Return the facts that `command` causes, or refuse."""
    match command:
        case Ante():
            return (_ante(state, command),)
        case Roll():
            return (_roll(state, command),)
        case _:
            raise Refused(
                Reason.COMMAND_NOT_IN_GAME,
                f"winner-take-all cee-lo knows no {type(command).__name__}",
                field="command",
                rule="command_not_in_game",
                command=type(command).__name__,
            )


def _ante(state: State, command: Ante) -> Anted:
    if state.phase not in (ANTE, RE_ANTE):
        raise Refused(
            Reason.WRONG_PHASE,
            f"the table is in {state.phase}; antes are paid before anybody throws",
            rule="antes_are_paid_before_throwing",
            phase=state.phase,
            needed=ANTE,
        )
    player = command.player
    if player not in state.order:
        raise _not_your_turn(state, f"{player} is out of the shoot-out", "out_of_the_shoot_out")
    if player not in state.owing:
        raise _not_your_turn(state, f"{player} has paid this ante", "one_ante_each")
    _check_ante(command.amount, state.terms.ante)
    return Anted(player=player, amount=command.amount)


def _check_ante(amount: int, ante: int) -> None:
    """Refuse any amount but the one that all agreed on."""
    try:
        check_amount(amount)
    except Refused as refusal:
        rule = "ante_is_at_least_one" if amount < 1 else "amount_too_large"
        metadata = {**refusal.metadata, "rule": rule}
        raise Refused(refusal.reason, refusal.message, field=AMOUNT, **metadata) from None
    if amount != ante:
        above = amount > ante
        raise Refused(
            Reason.STAKE_ABOVE_LIMIT if above else Reason.STAKE_BELOW_LIMIT,
            f"the ante is {ante} for everybody, {amount} is {'more' if above else 'less'}",
            field=AMOUNT,
            rule="the_same_ante_for_all",
            limit=ante,
            stake=amount,
        )


def _roll(state: State, command: Roll) -> Rolled:
    dice = check_dice(command.dice, DICE)
    if state.phase != THROWING:
        raise Refused(
            Reason.WRONG_PHASE,
            f"the table is in {state.phase}; nobody throws before all antes are in the pot",
            rule="antes_are_not_all_paid",
            phase=state.phase,
            needed=THROWING,
        )
    player = command.player
    if player != state.thrower:
        said, rule = _why_not_throw(state, player)
        raise _not_your_turn(state, f"{said}; {state.thrower} throws", rule)
    return Rolled(player=player, dice=dice, source=command.source, reading=read(dice))


def _why_not_throw(state: State, player: str) -> tuple[str, str]:
    """Return in words and by which rule one who is seated does not throw now."""
    if player not in state.order:
        return f"{player} is out of the shoot-out", "out_of_the_shoot_out"
    if player in state.waiting:
        return f"{player} throws later in this pass", "players_throw_in_order"
    return f"{player} has his throw of this pass", "one_decisive_throw_each"


def _not_your_turn(state: State, message: str, rule: str) -> Refused:
    """Return the refusal, which names the first who has to act."""
    to_act = state.thrower or state.owing[0]
    return Refused(Reason.NOT_YOUR_TURN, message, rule=rule, to_act=to_act)
