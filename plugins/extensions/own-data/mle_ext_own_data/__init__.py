"""Competitions of your own data: `mlecore new competition`."""
