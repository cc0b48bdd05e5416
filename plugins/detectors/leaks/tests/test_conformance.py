"""The kit, whole."""

from mlecore_testing import check_detector


def test_the_kit():
    assert check_detector("leaks") == []
