"""Plugins: found without importing them, and loaded when they are used."""
