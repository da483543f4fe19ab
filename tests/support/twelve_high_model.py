"""Two Alike 12 High a second time, as plain loops over numbers, to compare the game with.

Written from the rules, without the game's own code.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field


def storm(dice):
    """Return the storm score, 0 for what is none."""
    wanted = ({1, 2, 3}, {2, 3, 4}, {3, 4, 5}, {4, 5, 6}, {5, 6, 1}, {6, 1, 2})
    return sum(dice) // 3 if set(dice) in wanted else 0


def order_of(players, dice):
    """Return players by the first of their dice; who are equal by their next ones, and so on."""
    if len(players) <= 1:
        return list(players)
    placed = []
    for face in range(1, 7):
        equal = [player for player in players if dice[player][0] == face]
        placed += order_of(equal, {player: dice[player][1:] for player in equal})
    return placed


class _Ended(Exception):
    """The throws have run out, or the race is won."""


@dataclass
class Race:
    """What a race has come to: `winner` is "" while it runs or the throws have run out.

    A choice says whether the thrower of a High Storm starts a Death Roll.
    """

    options: dict
    order: list
    throws: Iterator
    choices: Iterator
    points: dict
    out: list = field(default_factory=list)
    winner: str = ""
    asked: list = field(default_factory=list)

    def throw(self, player):
        self.asked.append(player)
        for dice in self.throws:
            return dice
        raise _Ended

    def won(self, player):
        self.winner = player
        raise _Ended

    def still(self):
        left = [player for player in self.order if player not in self.out]
        if len(left) == 1:
            self.won(left[0])
        return left

    def play(self):
        awards, number = {}, 0
        while True:
            number += 1
            for player, award in awards.items():
                self.points[player] += award
            left = self.still()
            best = max(self.points[player] for player in left)
            ahead = [player for player in left if self.points[player] == best]
            if best >= self.options["target"] and len(ahead) == 1:
                self.won(ahead[0])
            awards = self.round(number)

    def round(self, number):
        """Play one round and return the awards of the Death Roll that ended it, if one did."""
        turns = self.still()
        for player in turns:
            dice = self.throw(player)
            while self.options["reroll_nothing"] and len(set(dice)) == 3 and not storm(dice):
                dice = self.throw(player)
            counted = Counter(dice)
            if len(counted) == 1:
                return self.death_roll(player, dice[0], dice[0])
            if len(counted) == 2:
                self.score(player, counted.most_common()[-1][0])
            elif sorted(dice) == [4, 5, 6]:
                early = number == 1 and len(self.order) >= 4 and player != turns[-1]
                if self.options["house_rule"] and early and self.chooses_death_roll():
                    return self.death_roll(player, self.options["house_bar"], 5)
                self.won(player)
            elif sorted(dice) == [1, 2, 3]:
                self.out.append(player)
                self.still()
            elif storm(dice) and self.options["storm_scores"]:
                self.score(player, storm(dice))
        return {}

    def chooses_death_roll(self):
        for chosen in self.choices:
            return chosen
        raise _Ended

    def score(self, player, points):
        self.points[player] += points
        others = [self.points[one] for one in self.still() if one != player]
        if self.points[player] >= self.options["target"] and self.points[player] > max(others):
            self.won(player)

    def death_roll(self, starter, bar, award):
        awards, at = {starter: award}, self.order.index(starter)
        for player in self.order[at + 1 :] + self.order[:at]:
            if player in self.out:
                continue
            dice = self.throw(player)
            trips = dice[0] if len(set(dice)) == 1 else 0
            if trips >= bar or storm(dice) > bar:
                awards[player] = trips or storm(dice)
                if self.options["bar"] == "rising":
                    bar = max(bar, awards[player])
            else:
                self.out.append(player)
        self.still()
        return awards


def race(options, order, throws, choices):
    """Return what a race in this order comes to with these throws and choices."""
    points = dict.fromkeys(order, 0)
    done = Race(options, order, iter(throws), iter(choices), points)
    with suppress(_Ended):
        done.play()
    return done
