"""Acme's plugins for mlecore."""
