"""Banked cee-lo once more, written from the rules as numbers: a second opinion on every round.

Nothing of the product is used. Options are the resolved options of a table.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Result:
    """What a round comes to: nets by player, the banker's included, and who banks next."""

    nets: dict
    bank_left: int
    next_banker: str
    rule: str


def kind(dice):
    """Return "456", "123", "trips", "again", or the point as a number."""
    faces = sorted(dice)
    if faces == [4, 5, 6]:
        return "456"
    if faces == [1, 2, 3]:
        return "123"
    counts = {face: faces.count(face) for face in faces}
    if len(counts) == 1:
        return "trips"
    if len(counts) == 3:
        return "again"
    return next(face for face, count in counts.items() if count == 1)


def factor(options, dice):
    """Return what a throw is worth where it counts as a special win."""
    if options["payout"] == "even":
        return 1
    if kind(dice) == "trips":
        return options["factor_111"] if set(dice) == {1} else options["factor_triples"]
    return options["factor_456"]


def banker_throw(options, dice):
    """Return +factor where the banker collects at once, -1 where he pays, 0 with a point."""
    match kind(dice):
        case "456" | "trips":
            both = options["payout_applies_to"] == "both_sides"
            return factor(options, dice) if both else 1
        case 6:
            return 1
        case 1 | "123":
            return -1
    return 0


def player_throw(options, point, dice):
    """Return how many times his fade a player gains against the point, and if he threw hot."""
    own, is_reversed = kind(dice), options["roll_rules"] == "reversed"
    if isinstance(own, int):
        return (own > point) - (own < point), False
    if own == "trips":
        return (-1, False) if options["triples_lose"] else (factor(options, dice), True)
    if (own == "123") != is_reversed:
        return -1, False
    if is_reversed and not options["reversed_inherits"]:
        return 1, False
    return factor(options, dice), True


def play(options, seats, banker, fades, throws):
    """Return what a round comes to. `throws` are the decisive ones, the banker's first.

    `seats` are clockwise, `fades` in the order made.
    """
    at = seats.index(banker)
    left = seats[(at + 1) % len(seats)]
    if not fades:
        passes = options["zero_fade"] == "pass_left"
        return Result({}, 0, left if passes else banker, "no_action")
    automatic = banker_throw(options, throws[0])
    if automatic:
        gains = dict.fromkeys(fades, (-automatic, False))
    else:
        point = kind(throws[0])
        gains = {
            player: player_throw(options, point, dice)
            for player, dice in zip(fades, throws[1:], strict=True)
        }
    nets, bank = _pay(options, fades, gains)
    nets[banker] = -sum(nets.values())
    return Result(nets, max(bank, 0), *_next(options, banker, left, gains, automatic))


def _pay(options, fades, gains):
    bank = sum(fades.values())
    nets = {player: gains[player][0] * fade for player, fade in fades.items()}
    bank -= sum(net for net in nets.values() if net < 0)
    for player, net in nets.items():
        if net > 0:
            paid = min(net, bank) if options["over_bank_liability"] == "capped" else net
            nets[player] = paid
            bank -= paid
    return nets, bank


def _next(options, banker, left, gains, automatic):
    broken = all(gain > 0 for gain, _ in gains.values())
    if automatic < 0 and options["auto_loss_bank"] == "banker_choice":
        return "", "choice"
    hot = [player for player, (gain, is_hot) in gains.items() if is_hot and gain > 0]
    if broken and not (hot and options["bank_precedence"] == "hot_first"):
        return left, "broken"
    return (hot[0], "hot") if hot else (banker, "retained")
