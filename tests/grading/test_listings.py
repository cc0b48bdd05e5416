"""Listings of submissions as people write them: read, or rejected with what is wrong and where."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mlecore.errors import UsageError
from mlecore.grading.batch import Line, read_jsonl

A = {"competition_id": "optical-digits", "submission_path": "good.csv"}
B = {"competition_id": "optical-digits", "submission_path": None}
LINE = json.dumps(A) + "\n"
PAGE = "https://www.kaggle.com"


def listing(folder: Path, content: str | bytes) -> Path:
    path = folder / "listing.jsonl"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.parametrize(
    "content",
    [
        *(LINE, LINE.strip(), "\ufeff" + LINE, LINE.replace("\n", "\r\n"), LINE.encode("utf-16"), f"\n{LINE}\n\n"),
        *(json.dumps([A]), json.dumps([A], indent=1), json.dumps(A, indent=2), json.dumps({"submissions": [A]})),
        *(
            LINE.strip() + ",\n",
            f"// mine\n{LINE}",
            f"# mine\n{LINE}",
            json.dumps({**A, "seed": 3, "score": float("nan")}),
        ),
        *(
            LINE.replace("optical-digits", url)
            for url in (
                f"{PAGE}/c/optical-digits",
                f"{PAGE}/competitions/optical-digits/",
                f"{PAGE}/competitions/optical-digits/overview?x=c/titanic#rules",
                "https://example.org/optical-digits",
            )
        ),
    ],
)
def test_a_listing_as_people_write_it(content: str | bytes, tmp_path: Path) -> None:
    (tmp_path / "good.csv").touch()
    assert read_jsonl(listing(tmp_path, content)) == [Line("optical-digits", tmp_path / "good.csv")]


def test_where_a_submission_is_looked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    path = listing(tmp_path, LINE + json.dumps(B) + "\n" + LINE.replace("good", "~/good"))
    assert [line.submission_path for line in read_jsonl(path)] == [Path("good.csv"), None, Path.home() / "good.csv"]
    (tmp_path / "good.csv").touch()
    assert read_jsonl(path)[0].submission_path == tmp_path / "good.csv"
    (tmp_path / "here/good.csv").touch()
    assert read_jsonl(path)[0].submission_path == Path("good.csv")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        *((empty, "lists no submissions") for empty in ("", "\n \n", "# none\n", "[]", '{"submissions": []}')),
        (LINE + '{"competition_id": "opt', "line 2: it is not JSON: Unterminated string .* column 20"),
        ("competition_id,submission_path\noptical-digits,good.csv\n", "line 1: it is not JSON"),
        ('{"competition": "optical-digits", "submission": "x"}', "'competition_id' is missing; it has 'competition'"),
        ('{"competition_id": "optical-digits"}', "'submission_path' is missing"),
        (f'{LINE}["optical-digits", "good.csv"]', "line 2: expected an object"),
        ('["optical-digits", "good.csv"]', "item 1: expected an object"),
        ('{"competition_id": null, "submission_path": "x"}', "competition_id must be text"),
        ('{"competition_id": "x", "submission_path": 3}', "submission_path text or null"),
        ("[" * 100_000, "line 1: "),
    ],
)
def test_a_listing_that_says_nothing_is_wrong_usage(content: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=words) as caught:
        read_jsonl(listing(tmp_path, content))
    assert caught.value.exit_code == 2
