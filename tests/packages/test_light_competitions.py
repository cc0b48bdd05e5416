"""No competition imports anything heavy: the short form of their kit leaves it to this one process for all of them."""

from __future__ import annotations

from mlecore_testing.light import light

from mlecore.competitions import installed


def test_competitions_import_nothing_heavy() -> None:
    plugins = [competition.plugin for competition in installed()]
    assert len(plugins) > 80
    assert not list(map(str, light(*plugins)))
