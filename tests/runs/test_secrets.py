"""The values of a run's secrets are found, also when the variables that held them are no longer set."""

from __future__ import annotations

import pytest

from mlecore.runs import secrets
from mlecore.runs.secrets import FILE, Search, TooManyPlaces, fingerprint, remember, search

KEY = "sk-real-0123456789abcdef"


def test_remembered_after_the_variable_is_gone(tmp_path):
    remember(tmp_path, ["MY_KEY", "NOT_SET"], {"MY_KEY": KEY})
    look, unknown = search(tmp_path, ["MY_KEY", "NOT_SET"], {})
    assert unknown == ("NOT_SET",)
    path = tmp_path / "log"
    path.write_text(f"a {KEY} b {KEY[:-1]} c {KEY}")
    assert look.names_in(path) == look.mask(path) == ("MY_KEY",)
    assert path.read_text() == f"a {'*' * len(KEY)} b {KEY[:-1]} c {'*' * len(KEY)}"
    stored = (tmp_path / FILE).read_text()
    assert KEY not in stored and KEY[:5] not in stored and (tmp_path / FILE).stat().st_mode & 0o077 == 0


def test_another_value_of_a_later_attempt_does_not_replace_the_first(tmp_path):
    remember(tmp_path, ["MY_KEY"], {"MY_KEY": KEY})
    remember(tmp_path, ["MY_KEY"], {"MY_KEY": "sk-another-0123456789"})
    look, _ = search(tmp_path, ["MY_KEY"], {})
    assert len(list(look.in_bytes(f"{KEY} sk-another-0123456789".encode()))) == 2


def test_another_user_knows_that_nothing_is_known(tmp_path, monkeypatch):
    remember(tmp_path, ["MY_KEY"], {"MY_KEY": KEY})
    monkeypatch.setenv("MLECORE_STATE", str(tmp_path / "other"))
    look, unknown = search(tmp_path, ["MY_KEY"], {})
    assert not look and unknown == ("MY_KEY",)
    assert search(tmp_path, ["MY_KEY"], {"MY_KEY": KEY})[1] == ()


@pytest.mark.parametrize("size", [1, 5, 23, 24, 1000])
def test_across_chunks(size):
    text = (f"{KEY[:9]}{KEY}{KEY}x" * 3).encode()
    found = Search([fingerprint("K", KEY)]).in_chunks(text[at : at + size] for at in range(0, len(text), size))
    assert sorted({at for at, _, _ in found}) == [9, 33, 67, 91, 125, 149]


@pytest.mark.parametrize("size", [1, 3, 7, 1000])
def test_a_stream_is_masked_and_only_what_may_be_a_key_is_held_back(size):
    longer = KEY + "-and-more"
    look = Search([fingerprint("KEY", KEY), fingerprint("LONGER", longer), fingerprint("TAIL", "abcdef-and")])
    text = f"one {KEY}, sk- {longer} {KEY[:-1]}\n{KEY}-an".encode()
    chunks = [text[at : at + size] for at in range(0, len(text), size)]
    stars = "*" * len(KEY)
    expected = f"one {stars}, sk- {'*' * len(longer)} {KEY[:-1]}\n{stars}-an"
    assert b"".join(look.masked(chunks)).decode() == expected
    assert next(look.masked([b"a line\n", b"more"])) == b"a line\n"
    assert next(look.masked([b"a line s", b"k"])) == b"a line "


def test_an_agent_that_writes_beginnings_of_keys_cannot_hold_things_up(tmp_path, monkeypatch):
    monkeypatch.setattr(secrets, "_MOST_LOOKS", 1000)
    path = tmp_path / "log"
    path.write_bytes(KEY[:4].encode() * 2000)
    with pytest.raises(TooManyPlaces):
        Search([fingerprint("K", KEY)]).mask(path)


def test_nothing_is_stored_where_nothing_was_given(tmp_path):
    remember(tmp_path, ["NOT_SET"], {})
    remember(tmp_path, ["SHORT"], {"SHORT": "abc"})
    assert not list(tmp_path.iterdir())
