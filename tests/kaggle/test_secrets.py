"""A Kaggle token in a form that cannot be used: named for what it is, and shown nowhere."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mlecore.data.kaggle.client import entered, login
from mlecore.data.kaggle.errors import NoLogin
from mlecore.errors import MlecoreError

TOKEN = "KGAT_Zq7planted0123456789"
OLD = "9f8e7d6c5b4a39281706f5e4d3c2b1a0"

FILES = {
    "two tokens": (f"KGAT_old12345678\n{TOKEN}\n", "has 2 lines"),
    "a comment": (f"# laptop\n{TOKEN}\n", "has 2 lines"),
    "old line ends": (f"{TOKEN}\r{TOKEN}\r", "has 2 lines"),
    "a byte order mark": (f"\ufeff{TOKEN}\n", "byte order mark"),
    "UTF-16": (f"{TOKEN}\n".encode("utf-16"), "cannot be used"),
    "spaces": (f"KGAT {TOKEN}", "has spaces"),
    "quotes": (f'"{TOKEN}"\n', "in quotes"),
    "a line of a shell": (f"export KAGGLE_API_TOKEN={TOKEN}\n", "has a name"),
    "a variable": (f"KAGGLE_API_TOKEN={TOKEN}\n", "has a name"),
    "JSON": (json.dumps({"username": "ada", "key": TOKEN}, indent=1), "JSON"),
    "beyond ASCII": (f"{TOKEN}\u00e9\u2026", "beyond ASCII"),
    "unknown": (TOKEN, "does not know the token"),
}


def rejected(caught: MlecoreError) -> str:
    text = f"{caught} {caught!r} {caught.fix} {caught.__cause__!r}"
    assert not [secret for secret in (TOKEN, TOKEN[5:], OLD, "KGAT_old") if secret in text], text
    assert caught.exit_code == 2 and "kaggle.com/settings" in str(caught)
    return text


@pytest.mark.parametrize(
    ("form", "where"),
    [*((form, "access_token") for form in FILES), ("quotes", "access_token.txt"), ("two tokens", "KAGGLE_API_TOKEN")],
)
def test_a_token_that_cannot_be_used(
    form: str, where: str, kaggle: Any, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content, words = FILES[form]
    if where != "KAGGLE_API_TOKEN":
        (home / ".kaggle" / where).write_bytes(content if isinstance(content, bytes) else content.encode())
    else:
        assert isinstance(content, str)
        monkeypatch.setenv("KAGGLE_API_TOKEN", content)
    with pytest.raises(NoLogin) as caught:
        login()
    assert words in rejected(caught.value)


@pytest.mark.parametrize(
    ("key", "variable"),
    [(f"{OLD}\n# old", True), (f"\u201c{OLD}\u201d", False), ([OLD], False), (TOKEN, True), (OLD, False)],
)
def test_a_key_of_the_older_kind_that_cannot_be_used(
    key: Any, variable: bool, kaggle: Any, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if variable:
        monkeypatch.setenv("KAGGLE_USERNAME", "ada")
        monkeypatch.setenv("KAGGLE_KEY", str(key))
    else:
        (home / ".kaggle" / "kaggle.json").write_text(json.dumps({"username": "ada", "key": key}))
    with pytest.raises(NoLogin) as caught:
        entered()
    rejected(caught.value)


def test_a_token_in_another_folder_is_named(kaggle: Any, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from kaggle.api.kaggle_api_extended import KaggleApi

    (home / "elsewhere").mkdir()
    (home / "elsewhere" / "access_token").write_text(TOKEN)
    monkeypatch.setattr(KaggleApi, "config", str(home / "elsewhere" / "kaggle.json"))
    with pytest.raises(NoLogin, match=r"elsewhere/access_token is not read") as caught:
        login()
    rejected(caught.value)


def test_commands_do_not_show_it_either(cli: Any, kaggle: Any, home: Path, raw_files: dict[str, bytes]) -> None:
    (home / ".kaggle" / "access_token").write_text(FILES["two tokens"][0])
    cli.install("tiny", kaggle.add("tiny", raw_files))
    done = cli("prepare", "tiny")
    assert done.returncode == 2 and "has 2 lines" in done.stderr
    examined = cli("doctor", "tiny")
    assert (
        "has 2 lines" in examined.stdout
        and [
            path
            for path in home.rglob("*")
            if path.is_file() and path.name != "access_token" and TOKEN[5:] in path.read_text(errors="replace")
        ]
        == []
    )
    assert TOKEN[5:] not in done.stdout + done.stderr + examined.stdout + examined.stderr


def test_a_proxy_with_a_password(home: Path, monkeypatch: pytest.MonkeyPatch, quick: list[float]) -> None:
    (home / ".kaggle" / "access_token").write_text(TOKEN)
    monkeypatch.delenv("NO_PROXY")
    monkeypatch.setenv("KAGGLE_API_ENVIRONMENT", "QA")
    for proxy in ("http://me:hunter2x@127.0.0.1:9", "http://me:hunter2x@[127.0.0.1:9", "me:hunter2x@127.0.0.1:x"):
        from mlecore.data.kaggle.client import logout

        logout()
        monkeypatch.setenv("HTTPS_PROXY", proxy)
        with pytest.raises(MlecoreError) as caught:
            login()
        assert "hunter2x" not in str(caught.value) + repr(caught.value.__cause__)
