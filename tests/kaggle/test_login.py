"""Logging in with what the kaggle package knows: token, kaggle.json, nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mlecore.data import http
from mlecore.data.http import Unreachable
from mlecore.data.kaggle.client import entered, login, username
from mlecore.data.kaggle.errors import KaggleUnreachable, NoLogin
from mlecore.errors import DataError


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


def test_a_token_that_kaggle_does_not_know_is_named(kaggle: Any, home: Path) -> None:
    (home / ".kaggle" / "access_token").write_text("KGAT_old")
    with pytest.raises(NoLogin, match="does not know the token of access_token"):
        login()


def test_a_key_that_kaggle_refuses_is_no_login(kaggle: Any, home: Path) -> None:
    (home / ".kaggle" / "kaggle.json").write_text(json.dumps({"username": "ada", "key": "wrong"}))
    with pytest.raises(NoLogin, match="Kaggle rejects the login"):
        entered()


def test_logging_in_is_patient(kaggle: Any, token: None, fault: Any, quick: list[float]) -> None:
    kaggle.faults["IntrospectToken"] = [fault(503), fault(429, headers={"Retry-After": "7"}), fault(drop_after=0)]
    assert username() == "ada"
    assert [int(seconds) for seconds in quick] == [1, 7, 4]


def test_a_kaggle_that_is_away_is_no_lack_of_a_login(
    token: None, quick: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KAGGLE_API_ENVIRONMENT", "LOCALHOST")  # port 80: nobody there
    with pytest.raises(KaggleUnreachable) as caught:
        login()
    assert caught.value.exit_code == 3


@pytest.mark.parametrize("arrived", [b"", b"some"])
def test_a_download_gives_up_soon_only_if_nothing_has_ever_arrived(
    arrived: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also with a kaggle.json, whose login asks nobody: the download is the first call."""
    clock = [0.0]
    monkeypatch.setattr("time.monotonic", lambda: clock[0])
    monkeypatch.setattr(http, "sleep", lambda wait: clock.__setitem__(0, clock[0] + wait))

    def away(offset: int, validator: str | None) -> http.Body:
        raise Unreachable("nobody is there")

    target = tmp_path / "data.zip"
    http._partial(target)[0].write_bytes(arrived)
    with pytest.raises(DataError, match="Try again"):
        http.fetch_file(away, target)
    assert (clock[0] <= 10.0) == (not arrived)


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
