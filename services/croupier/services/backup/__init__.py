"""Backup and restore of ledgers: copies with a manifest, checked before they are called good."""
