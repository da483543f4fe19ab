"""What is put at risk, paid and held, and what bets return against their odds."""

from panels import Dashboard, Panel, hourly, rate, worst

BET = "{{game}} {{paytable}} {{currency}}"

MONEY = Dashboard(
    "croupier-money",
    "croupier: money",
    {
        "Movements, in minor units": [
            Panel(
                "Put at risk",
                "short",
                "Money put into escrow per second.",
                {
                    "{{game}} {{currency}}": rate(
                        "croupier_stakes_minor_units_total", "game", "currency"
                    )
                },
            ),
            Panel(
                "Paid to players",
                "short",
                "Money that tables paid per second; of it won, not returned.",
                {
                    "{{game}} {{currency}}": rate(
                        "croupier_payouts_minor_units_total", "game", "currency"
                    ),
                    "won {{game}} {{currency}}": rate(
                        "croupier_winnings_minor_units_total", "game", "currency"
                    ),
                },
            ),
            Panel(
                "In and out",
                "short",
                "Money brought in and taken out per second.",
                {
                    "in {{currency}}": rate("croupier_deposits_minor_units_total", "currency"),
                    "out {{currency}}": rate("croupier_withdrawals_minor_units_total", "currency"),
                },
            ),
        ],
        "What bets by odds returned": [
            Panel(
                "Return within a day, and what the odds say",
                "percentunit",
                "What came back of the stakes of decided bets, and what comes back on average.",
                {
                    BET: "croupier:bet_return_ratio:1d",
                    f"odds {BET}": "croupier:bet_theory_return_ratio:1d",
                },
            ),
            Panel(
                "Hold within an hour",
                "short",
                "What losing bets cost less what winning ones won: below 0 the players are ahead.",
                {
                    BET: hourly(
                        "croupier_bet_losses_minor_units_total", "game", "paytable", "currency"
                    )
                    + " - "
                    + hourly("croupier_bet_wins_minor_units_total", "game", "paytable", "currency")
                },
            ),
            Panel(
                "How far from the odds",
                "percentunit",
                "The deviation of a day and of a week as a share of the band that luck stays in. "
                "Beyond 100 % it is no luck.",
                {
                    f"day {BET}": "croupier:bet_deviation_minor_units:1d"
                    " / croupier:bet_band_minor_units:1d",
                    f"week {BET}": "croupier:bet_deviation_minor_units:7d"
                    " / croupier:bet_band_minor_units:7d",
                },
            ),
        ],
        "Bets and books": [
            Panel(
                "Bets by how they ended",
                "cps",
                "Bets that chance decided.",
                {"{{game}} {{result}}": rate("croupier_bets_total", "game", "result")},
            ),
            Panel(
                "Stakes of these bets",
                "short",
                "Minor units per second.",
                {
                    BET: rate(
                        "croupier_bet_stakes_minor_units_total", "game", "paytable", "currency"
                    )
                },
            ),
            Panel(
                "Trial balance",
                "short",
                "The sum of all balances. It is 0, or something is very wrong.",
                {
                    "{{ledger}} {{currency}}": worst(
                        "croupier_ledger_trial_balance_minor_units", "ledger", "currency"
                    )
                },
            ),
        ],
    },
)
