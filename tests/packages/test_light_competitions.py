"""No competition imports anything heavy: the short form of their kit leaves it to this one process for all of them."""

from __future__ import annotations

from mlecore.plugins.competitions import all_competitions
from mlecore_testing.light import light


def test_competitions_import_nothing_heavy() -> None:
    plugins = [competition.plugin for competition in all_competitions()]
    assert len(plugins) > 80
    assert not list(map(str, light(*plugins)))
