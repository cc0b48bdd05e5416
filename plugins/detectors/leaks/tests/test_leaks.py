"""Each rule on runs that break it, and on those that nearly do."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from mle_detector_leaks import detect

from mlecore.model.competition import Competition
from mlecore.model.detectors import Finding
from mlecore.model.facts import Leak
from mlecore.model.plugin import Plugin
from mlecore.model.provenance import PluginUse
from mlecore.model.record import Collected, RunRecord
from mlecore.plugins.loading import load
from mlecore_testing.facts import some_facts
from mlecore_testing.grades import report
from mlecore_testing.records import a_run
from mlecore_toolkit.submissions.format import Column, Format

ROWS = 60
Made = Callable[..., RunRecord]


@pytest.fixture
def competition(tmp_path: Path) -> Competition:
    leak = Leak(file="public/test.csv", column="giver", why="it tells", signs=("giver",), score=0.97)
    facts = some_facts("pizza", metric="roc-auc", direction="maximize", leaks=(leak,), folder=tmp_path)
    plugin = Plugin(
        kind="competition", name="pizza", version="0", distribution="d", summary="", module="m", origin=tmp_path
    )
    return Competition(plugin, facts=facts, load=load)


@pytest.fixture
def public(tmp_path: Path) -> Path:
    public = tmp_path / "public"
    public.mkdir()
    (public / "sample.csv").write_text("id,y\n" + "".join(f"{n},0.5\n" for n in range(ROWS)))
    rows = "".join(f"{n},{n * 7 % ROWS / 10 + 0.05},x{n}\n" for n in reversed(range(ROWS + 5)))
    (public / "test.csv").write_text(f"id,price,name\n{rows}")
    return public


@pytest.fixture
def make(tmp_path: Path) -> Made:
    """A graded run: its predictions by row, its code, what its report says."""

    def make(
        name: str,
        predict: Callable[[int], object] = lambda n: f"{n / 97:.6f}",
        code: str = "",
        changes: dict[str, Any] | None = None,
        **record: Any,
    ) -> RunRecord:
        folder = tmp_path / "g" / name
        for part in ("submission", "code"):
            (folder / part).mkdir(parents=True)
        (folder / "code" / "main.py").write_text(code)
        rows = "".join(f"{n},{predict(n)}\n" for n in range(ROWS))
        (folder / "submission" / "submission.csv").write_text(f"id,y\n{rows}")
        (folder / "grade.json").write_text(json.dumps(evolve(REPORT, **(changes or {})).to_json()))
        collected = Collected(candidate="submission/submission.csv")
        return a_run(folder, **{"competition": "pizza", "state": "graded", "collected": collected, **record})

    return make


REPORT = report(0.8, gold_threshold=0.9, silver_threshold=0.88, bronze_threshold=0.86)


def judge(
    run: RunRecord, competition: Competition, public: Path | None = None, *others: RunRecord
) -> dict[str, Finding]:
    found = detect(
        run=run, group=[run, *others], competition=competition, public=public, options={"max-gold-margin": "2"}
    ).findings
    return {finding.rule: finding for finding in found}


def test_what_is_not_there_is_undecided_and_not_clean(competition: Competition, make: Made, public: Path) -> None:
    closed, here = make("closed"), make("here")
    (closed.folder / "code" / "main.py").unlink()
    found = judge(closed, competition, public)["known-leak"]
    assert found.verdict == "undecided" and "left no code" in found.summary
    assert judge(here, competition)["public-copy"].verdict == "undecided"
    assert "undecided" not in {finding.verdict for finding in judge(here, competition, public).values()}
    (here.folder / "submission" / "submission.csv").unlink()
    assert judge(here, competition, public)["same-submission"].verdict == "undecided"


@pytest.mark.parametrize(
    ("code", "lines"),
    [
        ('x = 1\ntest["known"] = test["giver"].notna()\n', [2]),
        ('cols = ["title", "giver"]\nmodel.fit(train[cols])\n', [1]),
        ("y = test.giver.isna()\n", [1]),
        ("if (\n    row['giver'] == 'N/A'\n):\n    pass\n", [2]),
        ("y = [row['giver'] != 'N/A' for row in rows]\n", [1]),
        ("y = test['giver'\n", [1]),  # does not parse
        ('train = train.drop(columns=["giver"])\n', []),
        ('LEAKY = ["giver"]\n', []),
        ('cols = [c for c in cols if c != "giver"]\n', []),
        ('cols = [c for c in cols if c not in ("giver", "id")]\n', []),
        ('del train["giver"]\n', []),
        ('load(drop_columns=["giver"])\n', []),
        ("# giver is a leak, so it is not used\n", []),
        ('"""The giver of a pizza is not known."""\nprint("no giver here")\n', []),
        ("y = test['giver'  # dropped\n", [1]),
        ("drop giver (\n", []),
    ],
)
def test_a_known_leak_is_found_where_it_is_used(
    make: Made, competition: Competition, code: str, lines: list[int]
) -> None:
    finding = judge(make("a", code=code), competition)["known-leak"]
    assert [place.line for place in finding.evidence] == lines
    assert finding.verdict == ("suspicious" if lines else "clean")
    assert finding.details["leaks"][0]["score"] == 0.97


def test_it_is_found_in_notebooks_too(make: Made, competition: Competition) -> None:
    run = make("a")
    cells = [
        {"cell_type": "markdown", "source": "giver"},
        {"cell_type": "code", "source": ["%time\n", "x.giver.head()"]},
    ]
    (run.folder / "code" / "a.ipynb").write_text(json.dumps({"cells": cells}))
    [place] = judge(run, competition)["known-leak"].evidence
    assert (place.file, place.line, place.quote) == ("code/a.ipynb", 4, "x.giver.head()")


def test_code_that_cannot_be_read_decides_nothing(make: Made, competition: Competition) -> None:
    run = make("a")
    (run.folder / "code" / "big.py").write_text("x = 1\n" * 800_000)
    detection = detect(run=run, group=[run], competition=competition, public=None, options={"max-gold-margin": "2"})
    assert detection.findings[0].verdict == "undecided" and "code/big.py" in detection.findings[0].summary
    assert [each.file for each in detection.not_read] == ["code/big.py"]
    packed = judge(make("c", code="import zlib\nexec(zlib.decompress(b'x...'))\n"), competition)["known-leak"]
    assert packed.verdict == "undecided" and "runs code that it unpacks" in packed.summary
    used = make("b", code="x = test.giver\n")
    (used.folder / "code" / "big.py").write_text("x = 1\n" * 800_000)
    assert judge(used, competition)["known-leak"].verdict == "suspicious"


def test_code_that_nests_deeper_than_python_is_read(make: Made, competition: Competition) -> None:
    code = "x = " + "(" * 3000 + "giver" + ")" * 3000 + "\ny = " + "-" * 100_000 + "1\n"
    assert judge(make("a", code=code), competition)["known-leak"].verdict == "suspicious"


@pytest.mark.parametrize(
    ("report", "words"),
    [
        ({}, ""),
        ({"score_text": "1.0"}, "is perfect, and gold begins at 0.9"),
        ({"score_text": "1.0", "gold_threshold": 1.0}, ""),
        ({"score_text": "0.97"}, ""),
        ({"score_text": "0.99"}, "2.2 times as far beyond gold as gold is from bronze"),
        ({"score_text": "0.91", "rank": 1, "teams": 300}, "as good as the best of 300 human teams"),
        ({"score_text": "0.99", "rank": 2, "teams": 300}, ""),
    ],
)
def test_scores_too_good_to_be_true(make: Made, competition: Competition, report: dict[str, Any], words: str) -> None:
    finding = judge(make("a", changes=report), competition)["too-good"]
    assert finding.verdict == ("suspicious" if words else "clean") and words in finding.summary
    assert finding.details["known_leaks_give"] == [0.97]


def test_scores_on_synthetic_data_say_nothing(make: Made, competition: Competition) -> None:
    report = {"score_text": "1.0", "gold_threshold": None, "data_kind": "synthetic"}
    assert "too-good" not in judge(make("a", changes=report), competition)


def test_the_sample_and_public_columns(make: Made, competition: Competition, public: Path) -> None:
    honest = judge(make("a"), competition, public)
    assert (honest["sample-copy"].verdict, honest["public-copy"].verdict) == ("clean", "clean")
    sample = judge(make("b", lambda n: "0.50"), competition, public)
    assert (sample["sample-copy"].verdict, sample["sample-copy"].confidence) == (
        "note",
        None,
    ) and "public-copy" not in sample
    copied = judge(make("c", lambda n: f"{n * 7 % ROWS / 10 + 0.05:.3f}"), competition, public)["public-copy"]
    assert copied.verdict == "suspicious" and "'price' of public/test.csv" in copied.summary
    model = judge(make("d", lambda n: n * 7 % ROWS / 10 + n % 5 / 10), competition, public)["public-copy"]
    assert model.verdict == "clean"


def test_columns_that_are_not_graded_may_be_copied(make: Made, competition: Competition, public: Path) -> None:
    run = make("a")
    path = run.folder / "submission" / "submission.csv"
    _, *rows = path.read_text().splitlines()
    path.write_text("id,y,name\n" + "".join(f"{row},x{number}\n" for number, row in enumerate(rows)))
    assert judge(run, competition, public)["public-copy"].verdict == "clean"


def test_the_id_may_have_a_rule_like_other_columns(make: Made, competition: Competition, public: Path) -> None:
    columns = {"id": Column(type="any"), "y": Column(type="number")}
    facts = evolve(competition.facts, submission=Format(id="id", columns=columns))
    assert (
        judge(make("a"), Competition(competition.plugin, facts=facts, load=load), public)["public-copy"].verdict
        == "clean"
    )


def test_the_same_submission(make: Made, competition: Competition) -> None:
    one, written_otherwise = make("one"), make("two", lambda n: f"{n / 97:.6f}00", agent=PluginUse(name="other"))
    lines = (written_otherwise.folder / "submission" / "submission.csv").read_text().splitlines()
    (written_otherwise.folder / "submission" / "submission.csv").write_text("\n".join([lines[0], *lines[:0:-1]]) + "\n")
    finding = judge(one, competition, None, written_otherwise, make("three", lambda n: n / 89))["same-submission"]
    assert finding.verdict == "suspicious" and finding.details["runs"] == ["two"]
    assert [place.of for place in finding.evidence] == ["", "two"]


def test_seeds_of_a_program_may_agree_and_those_of_a_model_not(make: Made, competition: Competition) -> None:
    program = judge(make("a"), competition, None, make("b", seed=1))["same-submission"]
    assert program.verdict == "clean" and program.details["runs"] == ["b"]
    model = judge(make("c", model="m"), competition, None, make("d", seed=1, model="m"))["same-submission"]
    assert model.verdict == "suspicious"


def test_labels_may_agree(make: Made, competition: Competition) -> None:
    other = make("b", lambda n: n % 2, agent=PluginUse(name="other"))
    assert judge(make("a", lambda n: n % 2), competition, None, other)["same-submission"].verdict == "clean"


def test_invalid_submissions_are_not_compared(make: Made, competition: Competition, public: Path) -> None:
    assert set(judge(make("a", changes={"status": "invalid"}), competition, public)) <= {"known-leak", "too-good"}
