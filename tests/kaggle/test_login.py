"""Logging in with what the kaggle package knows: token, kaggle.json, nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mlecore.data.kaggle.client import entered, login, username
from mlecore.data.kaggle.errors import KaggleUnreachable, NoLogin


def test_no_credentials_come_with_where_to_get_them(kaggle: Any, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(NoLogin, match=r"kaggle\.com/settings") as caught:
        login()
    assert caught.value.exit_code == 2
    assert capsys.readouterr().out == ""  # the kaggle package prints a page of help


def test_kaggle_json_works(kaggle: Any, home: Path) -> None:
    path = home / ".kaggle" / "kaggle.json"
    path.write_text(json.dumps({"username": "ada", "key": "0123456789abcdef"}))
    path.chmod(0o600)
    kaggle.accepted = {"a", "b", "c", "d", "e"}
    assert username() == "ada"
    assert entered() == {"a", "b", "c", "d", "e"}  # over three pages


def test_a_kaggle_that_is_away_is_no_lack_of_a_login(
    token: None, quick: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KAGGLE_API_ENVIRONMENT", "LOCALHOST")  # port 80: nobody there
    with pytest.raises(KaggleUnreachable) as caught:
        login()
    assert caught.value.exit_code == 3


@pytest.mark.parametrize(
    ("text", "words"), [('{"username": "ada", "k', "it is torn"), ('{"username": "ada"}', "lacks key")]
)
def test_a_torn_kaggle_json_is_called_torn(kaggle: Any, home: Path, text: str, words: str) -> None:
    (home / ".kaggle" / "kaggle.json").write_text(text)
    with pytest.raises(NoLogin, match=words):
        login()


def test_a_refused_login_is_not_tried_again_for_each_of_many(
    kaggle: Any, token: None, fault: Any, quick: list[float]
) -> None:
    kaggle.faults["IntrospectToken"] = [fault(503)] * 8
    for _ in range(3):
        with pytest.raises(KaggleUnreachable):
            login()
    assert kaggle.count("IntrospectToken") == 8
