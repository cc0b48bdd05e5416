"""Runs: one agent on one competition with one seed on one backend; those of one experiment form a group on disk."""
