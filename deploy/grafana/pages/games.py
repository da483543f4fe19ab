"""Each game: its rounds, its money, its bets against their theory."""

from panels import Dashboard, Panel, hourly, rate

GAME = '{game=~"$game"}'
BET = "{{game}} {{paytable}} {{currency}}"

GAMES = Dashboard(
    "croupier-games",
    "croupier: games",
    {
        "Play": [
            Panel(
                "Events by kind",
                "cps",
                "Rolls, fades, payouts and all else, as they are committed.",
                {"{{kind}} {{game}}": rate("croupier_events_total", "kind", "game", where=GAME)},
            ),
            Panel(
                "Rounds",
                "cps",
                "Begun, ended and paid, ended void.",
                {
                    "begun {{game}}": rate("croupier_rounds_started_total", "game", where=GAME),
                    "settled {{game}}": rate("croupier_rounds_settled_total", "game", where=GAME),
                    "void {{game}}": rate("croupier_rounds_voided_total", "game", where=GAME),
                },
            ),
            Panel(
                "Stakes and payouts",
                "short",
                "Minor units per second, own money returned included.",
                {
                    "at risk {{game}} {{currency}}": rate(
                        "croupier_stakes_minor_units_total", "game", "currency", where=GAME
                    ),
                    "paid {{game}} {{currency}}": rate(
                        "croupier_payouts_minor_units_total", "game", "currency", where=GAME
                    ),
                },
            ),
        ],
        "Against theory": [
            Panel(
                "What its places return by the odds",
                "percentunit",
                "The least and the most generous place of each paytable, exactly.",
                {
                    "{{game}} {{paytable}} {{bound}}": f"max by (game, paytable, bound) "
                    f"(croupier_theory_return_ratio{GAME})"
                },
            ),
            Panel(
                "Won and lost within an hour, and by the odds",
                "short",
                "Net of the players, and what it is on average for the bets that were made.",
                {
                    "net {{game}}": hourly(
                        "croupier_bet_wins_minor_units_total", "game", where=GAME
                    )
                    + " - "
                    + hourly("croupier_bet_losses_minor_units_total", "game", where=GAME),
                    "odds {{game}}": hourly(
                        "croupier_bet_expected_wins_minor_units_total", "game", where=GAME
                    )
                    + " - "
                    + hourly("croupier_bet_expected_losses_minor_units_total", "game", where=GAME),
                },
            ),
            Panel(
                "Deviation within a day, in standard deviations",
                "short",
                "Luck keeps it within 2 most of the time, and hardly ever lets it pass 4.",
                {
                    BET: f"croupier:bet_deviation_minor_units:1d{GAME} / "
                    f"sqrt(croupier:bet_variance_square_minor_units:increase1d{GAME} > 0)"
                },
            ),
        ],
        "Bets": [
            Panel(
                "Bets by how they ended",
                "cps",
                "Bets that chance decided.",
                {"{{game}} {{result}}": rate("croupier_bets_total", "game", "result", where=GAME)},
            ),
            Panel(
                "Variance of an hour's bets",
                "short",
                "Of wins less losses, minor units squared, by the odds.",
                {
                    BET: hourly(
                        "croupier_bet_variance_square_minor_units_total",
                        *("game", "paytable", "currency"),
                        where=GAME,
                    )
                },
            ),
            Panel(
                "The furthest that one round could be from its mean",
                "short",
                "Of all rounds since each process began, minor units.",
                {
                    BET: f"max by (game, paytable, currency) "
                    f"(croupier_bet_furthest_deviation_minor_units{GAME})"
                },
            ),
        ],
    },
    choices={"game": "croupier_rounds_started_total"},
)
