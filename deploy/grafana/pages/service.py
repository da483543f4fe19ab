"""Throughput and latency: rate, errors and duration of calls."""

from panels import Dashboard, Panel, quantiles, rate, worst

SERVICE = Dashboard(
    "croupier-service",
    "croupier: throughput and latency",
    {
        "Rate": [
            Panel(
                "Calls by method",
                "cps",
                "Calls that ended. A stream is one, however many commands it carries.",
                {"{{method}}": rate("croupier_calls_total", "method")},
            ),
            Panel(
                "Commands and requests",
                "cps",
                "What turns were asked for, and what was recorded: the rest was refused, "
                "repeated or only tried.",
                {
                    "asked": rate("croupier_turn_requests_total"),
                    "recorded": rate("croupier_commands_total"),
                },
            ),
            Panel(
                "Streams",
                "short",
                "Watchers and streams of commands that are open.",
                {"{{instance}}": worst("croupier_streams", "instance")},
            ),
        ],
        "Errors": [
            Panel(
                "Calls by how they ended",
                "cps",
                "OK, or the status that the caller got.",
                {"{{code}}": rate("croupier_calls_total", "code")},
            ),
            Panel(
                "Refusals by reason",
                "cps",
                "Each is explained by what callers do, or worth a look.",
                {"{{reason}}": rate("croupier_refusals_total", "reason") + " > 0"},
            ),
            Panel(
                "Strangers, faults, and too much",
                "cps",
                "Turned away at the door; faults of the program; refused for want of room.",
                {
                    "strangers": rate("croupier_authentication_failures_total"),
                    "INTERNAL": rate("croupier_refusals_total", where='{reason="INTERNAL"}'),
                    "QUEUE_FULL": rate("croupier_refusals_total", where='{reason="QUEUE_FULL"}'),
                },
            ),
        ],
        "Duration": [
            Panel(
                "All calls",
                "s",
                "From taking a call to its end. Streams end when their callers say so.",
                quantiles("croupier_call_seconds"),
            ),
            Panel(
                "99th percentile by method",
                "s",
                "All but one of a hundred calls of each method took less.",
                {
                    "{{method}}": "histogram_quantile(0.99, sum by (method, le) "
                    "(rate(croupier_call_seconds_bucket[1m]))) >= 0"
                },
            ),
            Panel(
                "Calls not begun",
                "short",
                "Calls that the transport has taken and the service has not begun.",
                {"{{instance}}": worst("croupier_backlog_calls", "instance")},
            ),
        ],
    },
)
