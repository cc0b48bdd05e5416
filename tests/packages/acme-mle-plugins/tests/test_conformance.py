"""Acme's agent holds to mlecore's rules; pytest finds the competition by its competition.toml."""

from mlecore_testing import check_agent


def test_distance() -> None:
    check_agent("acme-distance")
