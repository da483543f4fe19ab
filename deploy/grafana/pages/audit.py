"""What the log has to be, rounds that are open, the background check."""

from panels import Dashboard, Panel, hourly, rate, worst

AUDIT = Dashboard(
    "croupier-audit",
    "croupier: audit",
    {
        "The log": [
            Panel(
                "Head position",
                "short",
                "The last position of each log; it grows while commands arrive.",
                {"{{ledger}}": worst("croupier_ledger_head_position", "ledger")},
            ),
            Panel(
                "Since the last event",
                "s",
                "How long each log has been silent.",
                {"{{ledger}}": "time() - max by (ledger) (croupier_ledger_head_time_seconds)"},
            ),
            Panel(
                "Fenced ledgers",
                "short",
                "1 is not served: what is stored is not what was seen.",
                {"{{ledger}}": worst("croupier_ledger_fenced", "ledger")},
            ),
        ],
        "Rounds": [
            Panel(
                "Open rounds",
                "short",
                "Rounds that are neither paid nor void.",
                {"{{ledger}}": worst("croupier_ledger_open_rounds", "ledger")},
            ),
            Panel(
                "The oldest of them",
                "s",
                "How long ago it began. A round that nobody ends keeps its stakes.",
                {"{{ledger}}": worst("croupier_ledger_oldest_round_age_seconds", "ledger")},
            ),
            Panel(
                "Rounds made void within an hour",
                "short",
                "By operators; each has its reason on the record.",
                {"{{game}}": hourly("croupier_rounds_voided_total", "game")},
            ),
        ],
        "The background check, and snapshots": [
            Panel(
                "Events left to check",
                "short",
                "Events that a start took from a snapshot and are being read again; falls to 0.",
                {"{{ledger}}": worst("croupier_ledger_unchecked_events", "ledger")},
            ),
            Panel(
                "Snapshots compared with the log",
                "short",
                "Within an hour. A different one fences its ledger.",
                {
                    "{{kind}} {{result}}": hourly(
                        "croupier_rechecked_snapshots_total", "kind", "result"
                    )
                },
            ),
            Panel(
                "Snapshots saved, and not used",
                "cps",
                "Saved with commits; not used where in doubt, since the log has it all.",
                {
                    "saved {{kind}}": rate("croupier_saved_snapshots_total", "kind"),
                    "{{kind}} {{reason}}": rate(
                        "croupier_dropped_snapshots_total", "kind", "reason"
                    ),
                },
            ),
        ],
    },
)
