"""Where logs are kept: one store per ledger, behind the eventsourcing library's interface."""
