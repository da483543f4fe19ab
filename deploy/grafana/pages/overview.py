"""The first look: is anything wrong, and what is going on."""

from panels import STAT, Dashboard, Panel, quantiles, rate, worst

OVERVIEW = Dashboard(
    "croupier-overview",
    "croupier: overview",
    {
        "Is anything wrong": [
            Panel(
                "Alerts",
                "short",
                "How many alerts fire. Each names its page in docs/runbooks.",
                {"firing": 'count(ALERTS{alertstate="firing"}) or vector(0)'},
                STAT,
            ),
            Panel(
                "Processes that answer",
                "short",
                "Of all that are scraped.",
                {"up": 'sum(up{job="croupier"})', "of": 'count(up{job="croupier"})'},
                STAT,
            ),
            Panel(
                "Books and fences",
                "short",
                "The worst trial balance and the fenced ledgers: 0, or something is very wrong.",
                {
                    "off by": "max(abs(croupier_ledger_trial_balance_minor_units))",
                    "fenced": "sum(max by (ledger) (croupier_ledger_fenced))",
                },
                STAT,
            ),
            Panel(
                "Left to check",
                "short",
                "Events that a start took from snapshots and that are being read again.",
                {"events": "sum(max by (ledger) (croupier_ledger_unchecked_events))"},
                STAT,
            ),
        ],
        "What happens": [
            Panel(
                "Commands and events recorded",
                "cps",
                "Commands, and the rolls, fades, payouts and all else that they caused.",
                {
                    "commands": rate("croupier_commands_total"),
                    "events": rate("croupier_events_total"),
                },
            ),
            Panel(
                "Calls and refusals",
                "cps",
                "Calls that ended, and calls and commands that were refused.",
                {
                    "calls": rate("croupier_calls_total"),
                    "refusals": rate("croupier_refusals_total"),
                },
            ),
            Panel(
                "Latency of single commands",
                "s",
                "From taking a call to its end: half of all, and all but one of a hundred.",
                quantiles("croupier_call_seconds", '{method="PlayService/Play"}'),
            ),
            Panel(
                "Waiting",
                "short",
                "Commands before their turn, calls before they begin. Both return to 0.",
                {
                    "commands": "sum(croupier_queue_commands)",
                    "calls": "sum(croupier_backlog_calls)",
                },
            ),
        ],
        "Money and room": [
            Panel(
                "Put at risk and paid out",
                "short",
                "Minor units a second, all games and currencies together.",
                {
                    "at risk": rate("croupier_stakes_minor_units_total"),
                    "paid": rate("croupier_payouts_minor_units_total"),
                },
            ),
            Panel(
                "Open rounds",
                "short",
                "Rounds that are neither paid nor void.",
                {"{{ledger}}": worst("croupier_ledger_open_rounds", "ledger")},
            ),
            Panel(
                "Busy",
                "percentunit",
                "The share of each process's time that goes into turns; beyond it nothing fits.",
                {"{{instance}}": "rate(croupier_turn_seconds_total[1m])"},
            ),
            Panel(
                "Room on the volume",
                "percentunit",
                "What is left of the volume of the ledgers' files.",
                {"{{instance}}": "croupier_data_free_bytes / croupier_data_size_bytes"},
            ),
        ],
    },
)
