"""A competition's published page and its deadline, with the user's own login."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from typing import Any

import pytest
from mle_ext_familiarity.kaggle_page import fetch_page

from mlecore.errors import DataError, MlecoreError, UsageError
from mlecore.model.facts import Facts

Make = Callable[..., Facts]


def test_what_says_the_task_is_joined_and_rules_are_not(kaggle: Any, make_facts: Make, token: Any) -> None:
    facts = make_facts()
    kaggle.pages[facts.kaggle] = {"rules": "Be good.", "Evaluation": "By accuracy.", "description": "<p>Tell cats.</p>"}
    page = fetch_page(facts)
    assert page.content == "<p>Tell cats.</p>\n\nBy accuracy." and page.ended == date(2019, 7, 8)
    assert kaggle.count("ListCompetitionPages") == kaggle.count("GetCompetition") == 1


def test_what_kaggle_does_not_have_is_named(kaggle: Any, make_facts: Make, token: Any) -> None:
    facts = make_facts()
    with pytest.raises(MlecoreError, match=facts.kaggle or ""):
        fetch_page(facts)
    kaggle.pages[facts.kaggle] = {"description": ""}
    with pytest.raises(DataError, match="has no page"):
        fetch_page(facts)
    with pytest.raises(UsageError, match="is not on Kaggle"):
        fetch_page(make_facts(kaggle=None))
