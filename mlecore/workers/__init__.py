"""Processes that do plugins' work."""
