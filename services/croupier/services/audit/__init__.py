"""Proof and verification: the tree over the log, replay, and what was found to be wrong."""
