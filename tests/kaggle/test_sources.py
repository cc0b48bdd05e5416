"""What a competition needs besides Kaggle's archive: fetched from where its facts say, or named when it is missing."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mlecore.data.http import add_sources
from mlecore.errors import DataError
from mlecore.model.facts import Facts, Source

Make = Callable[..., Facts]


@pytest.fixture
def source(kaggle: Any) -> Source:
    kaggle.add("extra", {"labels.csv": b"a,b\n" * 20_000})
    content = (kaggle.folder / "extra.zip").read_bytes()
    url = "http://localhost:7777/storage/extra.zip?download=1"
    return Source(url=url, path="more/extra.zip", sha256=hashlib.sha256(content).hexdigest())


@pytest.fixture
def raw(tmp_path: Path) -> Path:
    (tmp_path / "raw").mkdir()
    return tmp_path / "raw"


def test_it_is_fetched_once_to_its_place(
    kaggle: Any, source: Source, raw: Path, tmp_path: Path, make_facts: Make, fault: Any, quick: list[float]
) -> None:
    kaggle.faults["storage"] = [fault(429), fault(503)]
    facts = make_facts(sources=(source,))
    add_sources(facts, tmp_path, raw, None)
    assert (raw / "more/extra.zip").read_bytes() == (kaggle.folder / "extra.zip").read_bytes()
    asked = len(kaggle.requests)
    add_sources(facts, tmp_path, raw, None)  # it is there
    (raw / "more/extra.zip").unlink()
    add_sources(facts, tmp_path, raw, None)  # it is kept
    assert len(kaggle.requests) == asked


def test_an_unknown_file_is_kept_and_both_values_are_shown(
    kaggle: Any, source: Source, raw: Path, tmp_path: Path, make_facts: Make
) -> None:
    kaggle.add("extra", {"labels.csv": b"changed"})
    with pytest.raises(DataError, match=rf"SHA-256 [0-9a-f]{{64}}, expected {source.sha256}"):
        add_sources(make_facts(sources=(source,)), tmp_path, raw, None)
    assert (tmp_path / "sources/extra.zip.wrong").exists() and not (raw / "more/extra.zip").exists()


def test_a_server_that_has_it_no_more(kaggle: Any, raw: Path, tmp_path: Path, make_facts: Make, fault: Any) -> None:
    gone = Source(url="http://localhost:7777/storage/extra.zip", path="extra.zip")
    kaggle.faults["storage"] = [fault(410)]
    with pytest.raises(DataError, match="responded with 410"):
        add_sources(make_facts(sources=(gone,)), tmp_path, raw, None)


def test_no_source_leaves_the_raw_folder(kaggle: Any, raw: Path, tmp_path: Path, make_facts: Make) -> None:
    evil = Source(url="http://localhost:7777/storage/extra.zip", path="../evil")
    with pytest.raises(DataError, match="would be outside the raw folder"):
        add_sources(make_facts(sources=(evil,)), tmp_path, raw, None)
    assert kaggle.requests == []


@pytest.mark.slow
def test_a_raw_folder_that_lacks_it_says_what_to_put_where(
    cli: Any, tmp_path: Path, raw_files: dict[str, bytes]
) -> None:
    more = 'sources = [{ url = "https://example.org/extra.zip", path = "extra.zip" }]'
    cli.install("tiny", "0" * 32, more)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/train.csv").write_bytes(raw_files["train.csv"])
    done = cli("prepare", "tiny", "--raw", str(tmp_path / "mine"))
    assert done.returncode == 2 and "Put https://example.org/extra.zip there as extra.zip" in done.stderr
    (tmp_path / "mine/extra.zip").write_bytes(b"")
    assert cli("prepare", "tiny", "--raw", str(tmp_path / "mine")).returncode == 0
