"""What a backend must say about itself."""

from __future__ import annotations

import pytest

from mlecore.model.backends import LIMITS, Backend, Enforcement, Sandbox


def test_a_backend_that_says_nothing_about_its_sandbox_cannot_be_made() -> None:
    there = {name: lambda self: None for name in Backend.__abstractmethods__}
    type("Whole", (Backend,), there)()
    with pytest.raises(TypeError, match="describe"):
        type("Silent", (Backend,), {name: value for name, value in there.items() if name != "describe"})()


def test_a_sandbox_says_how_far_it_goes_with_every_limit() -> None:
    given = {name: Enforcement(level="absent") for name in LIMITS}
    assert Sandbox(isolation=None, user="x", **given).limits() == given
    for name in LIMITS:
        with pytest.raises(TypeError, match=name):
            Sandbox(isolation=None, user="x", **{key: value for key, value in given.items() if key != name})
