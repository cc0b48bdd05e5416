"""Helpers for `prepare` hooks, so that a competition's module reads like its rules."""
