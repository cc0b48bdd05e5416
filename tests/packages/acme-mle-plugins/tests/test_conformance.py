"""Acme's plugins hold to mlecore's rules."""

from mlecore.testing import check_agent, check_competition


def test_parcels() -> None:
    check_competition("acme-parcels")


def test_distance() -> None:
    check_agent("acme-distance")
