"""Prices of models and of tools on the command line."""

from __future__ import annotations

import pytest

from mlecore.cli.run import _price
from mlecore.errors import UsageError


def test_prices_of_models_and_tools():
    assert _price("org/m=2.5,10") == ("org/m", {"input": 2.5, "output": 10.0})
    assert _price("web_search=0.01") == ("web_search", {"use": 0.01})


@pytest.mark.parametrize("text", ["m", "m=", "m=x", "m=1,2,3", "m=1,x"])
def test_what_is_no_price(text):
    with pytest.raises(UsageError, match="invalid --price"):
        _price(text)
