"""Turns, commits, and the processes that do them."""

from panels import Dashboard, Panel, mean, quantiles, rate, worst

ENGINE = Dashboard(
    "croupier-engine",
    "croupier: engine and processes",
    {
        "Turns": [
            Panel(
                "Turns by how they ended",
                "cps",
                "Lost ones are tried again by whoever asked; failed ones are faults.",
                {"{{outcome}}": rate("croupier_turns_total", "outcome")},
            ),
            Panel(
                "Busy",
                "percentunit",
                "The share of its time that a process spends in turns.",
                {"{{instance}}": "rate(croupier_turn_seconds_total[1m])"},
            ),
            Panel(
                "Waiting for a turn",
                "short",
                "Commands in the queues, and how many of one ledger may wait.",
                {
                    "{{instance}}": worst("croupier_queue_commands", "instance"),
                    "limit": "min(croupier_queue_limit_commands)",
                },
            ),
        ],
        "Commits": [
            Panel(
                "The engine's part of a commit",
                "s",
                "What the store takes. It grows with the disk's or the network's time.",
                quantiles("croupier_store_commit_seconds"),
            ),
            Panel(
                "A turn that records something",
                "s",
                "From the lock to the end of its commit. It grows with the batch as well.",
                quantiles("croupier_commit_seconds"),
            ),
            Panel(
                "Size of a commit",
                "short",
                "Batches form by load: what is recorded together costs one commit.",
                {
                    "commands": mean("croupier_commit_batch_commands"),
                    "events": mean("croupier_commit_batch_events"),
                },
            ),
        ],
        "Several processes": [
            Panel(
                "Waiting for another process",
                "s",
                "How long turns waited for a ledger's lock, when another process had it.",
                quantiles("croupier_lock_wait_seconds"),
            ),
            Panel(
                "Lost races",
                "cps",
                "Commits lost because another process was first.",
                {"{{instance}}": rate("croupier_commit_conflicts_total", "instance")},
            ),
            Panel(
                "Programs and engines",
                "short",
                "Processes by what they run; two versions at once are an update under way.",
                {
                    "{{version}} {{python}}": "sum by (version, python) (croupier_build_info)",
                    "{{engine}} {{durability}}": "sum by (engine, durability) "
                    "(croupier_engine_info)",
                },
            ),
        ],
        "Processes": [
            Panel(
                "Processor",
                "percentunit",
                "Of one core. A process uses no more than one.",
                {"{{instance}}": 'rate(process_cpu_seconds_total{job="croupier"}[1m])'},
            ),
            Panel(
                "Memory",
                "bytes",
                "Resident.",
                {"{{instance}}": 'process_resident_memory_bytes{job="croupier"}'},
            ),
            Panel(
                "In memory",
                "short",
                "The least used tables are let go, and loaded when next played.",
                {
                    "tables {{instance}}": worst("croupier_live_tables", "instance"),
                    "ledgers {{instance}}": worst("croupier_ledgers", "instance"),
                },
            ),
            Panel(
                "Open files",
                "percentunit",
                "Of those that a process may have.",
                {
                    "{{instance}}": 'process_open_fds{job="croupier"}'
                    ' / process_max_fds{job="croupier"}'
                },
            ),
            Panel(
                "Room on the volume",
                "bytes",
                "What is left, and the size of the whole.",
                {
                    "left {{instance}}": "croupier_data_free_bytes",
                    "size {{instance}}": "croupier_data_size_bytes",
                },
            ),
            Panel(
                "Up for",
                "s",
                "Since each process began.",
                {"{{instance}}": 'time() - process_start_time_seconds{job="croupier"}'},
            ),
        ],
    },
)
