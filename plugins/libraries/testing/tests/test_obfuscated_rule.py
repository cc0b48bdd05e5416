"""The kit's rule obfuscated: what gives a competition away is found, and words of the data may stand in code."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from attrs import evolve

from mlecore.model.facts import Obfuscated
from mlecore_testing.competitions.harness import Harness
from mlecore_testing.competitions.obfuscated import obfuscated, signs, telling
from mlecore_testing.facts import some_facts
from mlecore_testing.rules import Undecided

Judge = Callable[..., list[str]]
FILE = "description_obfuscated.md"
FACTS = some_facts("aerial-cactus-2019", title="Aerial Cacti of the North", obfuscated=Obfuscated(words=("Acme Corp",)))


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("It shows a cactus.", "'cactus'"),
        ("Kaggle's data.", "'kaggle'"),
        ("By ACME CORP.", "'acme corp'"),
        ("Made in 2019.", "'2019'"),
        ("See https://example.org/x.", "'https://example.org/x.'"),
        ("The file `cactus_list.csv`.", "its code says 'cactus'"),
    ],
)
def test_a_sign_is_found(text: str, what: str) -> None:
    assert any(what in str(found) for found in signs(text, FACTS, "id,has_thing"))


@pytest.mark.parametrize(
    "text",
    [
        "Tell from an image which class it has. Scored by the area under the ROC curve, 2,019 rows, 0.2019 at best.",
        "The column `has_cactus` is 1 or 0.\n```\nid,has_cactus\n1,0\n```\n",
        "The cactuslike thing is no word of the title.",
    ],
)
def test_what_gives_nothing_away_passes(text: str) -> None:
    assert list(signs(text, FACTS, "id,has_cactus")) == []


def test_general_words_of_a_title_are_free() -> None:
    facts = evolve(FACTS, id="image-classification-of-x", title="Detecting Signals: Image Classification Challenge")
    assert set(telling(facts)) == {"kaggle", "medal", "leaderboard", "competition", "contest", "acme corp"}


def test_the_metric_must_not_tell_either() -> None:
    assert [str(found) for found in signs("x", evolve(FACTS, metric="cactus-score"), "")] == [
        f"{FILE}: it says 'cactus'"
    ]


def test_a_file_that_is_not_named_and_a_title_in_it_are_found(judge: Judge) -> None:
    found = judge("obfuscated", {FILE: ("`test.csv`", "`other.csv`")})
    assert f"{FILE}: it names other.csv, which is missing from the public data" in found
    assert f"{FILE}: it does not name test.csv, which the agent gets" in found


def test_a_name_in_the_table_of_words_is_found(judge: Judge) -> None:
    edits = {"competition.toml": ("words = []", 'words = ["square"]')}
    assert judge("obfuscated", edits) == [f"{FILE}: it says 'square'"]


def test_without_such_a_description_there_is_nothing_to_judge(
    harness_of: Callable[..., Harness], tmp_path: Path
) -> None:
    harness = harness_of()
    (harness.facts.folder / FILE).unlink()
    with pytest.raises(Undecided, match="ring has no description_obfuscated"):
        list(obfuscated(harness))
