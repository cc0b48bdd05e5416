"""The kit, whole."""

from mlecore.testing import check_detector


def test_the_kit():
    assert check_detector("leaks") == []
