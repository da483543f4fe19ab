"""The heart: one writer per ledger that decides commands in one order and records them."""
