"""Text, Markdown, CSV and JSON say the same, and nothing that a run left can take over a terminal or a page."""

from __future__ import annotations

import csv
import io
import json
import os
import shutil
import statistics
from pathlib import Path

import pytest
from attrs import evolve
from click.testing import CliRunner
from mlecore_testing import drawn_groups

from mlecore.cli import main
from mlecore.reports.sections import sections
from mlecore.reports.sources import read_sources
from mlecore.reports.summary import summarise
from mlecore.reports.text import as_csv, markdown
from mlecore.reports.tidy import to_csv, to_frame
from mlecore.runs.record import Limits
from mlecore.runs.store import load_group

SOME = ("leaf-classification", "AI4Code", "mlsp-2013-birds")


def report(*words: str):
    return CliRunner().invoke(main, ["report", *words])


def test_the_terminal_shows_a_screen_or_two(two_groups) -> None:
    """Two groups of 225 runs of 75 competitions: the result, the setups, and where they differ most."""
    shown = report("good", "bad", "--runs", str(two_groups))
    assert shown.exit_code == 0 and len(shown.output.splitlines()) <= 40, shown.output
    assert shown.output.startswith("baseline 1.0 vs dummy 1.0 on 75 competitions\ngroups: good, bad; edition: v1;")
    found = json.loads(report("good", "bad", "--runs", str(two_groups), "--json").output)
    for setup in found["setups"]:
        planned = next(row for row in setup["rates"] if row["rates"]["split"] == "All")["rates"]["rates"]["any_medal"]
        assert f"{planned['mean']:.1f} ± {planned['sem']:.1f}" in shown.output
    lines = [line for setup in found["setups"] for line in setup["runs"]]
    cells = {line.split()[0]: line for line in shown.output.splitlines() if line.endswith(")")}
    listed = [name for name in {line["competition"] for line in lines} if name in cells]
    assert len(listed) == 10
    for competition in listed:
        scores = [line["score"] for line in found["setups"][0]["runs"] if line["competition"] == competition]
        assert f"  {statistics.fmean(score for score in scores if score is not None):.5f} (" in cells[competition]


def test_few_competitions_are_all_in_the_terminal(two_groups) -> None:
    chosen = [word for name in SOME for word in ("--competition", name)]
    shown = report("good", "--runs", str(two_groups), *chosen).output
    rows = {line.split()[0]: line for line in shown.splitlines() if line.endswith(")")}
    (setup,) = json.loads(report("good", "--runs", str(two_groups), *chosen, "--json").output)["setups"]
    for name in SOME:
        gold = sum(line["medal"] == "gold" for line in setup["runs"] if line["competition"] == name)
        assert (f"{gold} gold" in rows[name]) == bool(gold)


def test_markdown_and_json_say_the_same(two_groups) -> None:
    text = report("good", "--runs", str(two_groups), "--markdown")
    assert text.exit_code == 0, text.output
    found = json.loads(report("good", "--runs", str(two_groups), "--json").output)
    (setup,) = found["setups"]
    for row in setup["rates"]:
        rate = row["rates"]["rates"]["any_medal"]
        assert f"{rate['mean']:.1f} ± {rate['sem']:.1f}" in text.output
    assert len(setup["runs"]) == 225
    for line in setup["runs"][:20]:
        assert line["score"] is None or f"{line['score']:.5f}" in text.output


def test_no_medals_is_no_number_in_any_form(graded, without_thresholds) -> None:
    document = summarise([graded(data_kind="synthetic", made=without_thresholds(0.6))])
    found = json.loads(json.dumps(document.to_json()))
    assert found["setups"][0]["rates"][0]["rates"]["rates"]["any_medal"] is None
    assert found["setups"][0]["runs"][0]["medal"] is None
    header = next(section.header for section in sections(document) if section.id == "rates")
    assert "ANY MEDAL %" not in header and "VALID %" in header
    (row,) = csv.DictReader(io.StringIO(to_csv(document)))
    assert row["medal"] == "" and row["above_median"] == ""


@pytest.mark.parametrize("graded_too", [True, False])
def test_runs_without_a_grade_earn_no_medals_either_where_there_are_none(
    graded, without_thresholds, graded_too: bool
) -> None:
    waiting = graded("leaf-classification", data_kind="synthetic", state="collected", made=None)
    others = [graded(data_kind="synthetic", made=without_thresholds(0.6))] * graded_too
    document = summarise([waiting, *others])
    for row in document.setups[0].rates:
        assert {row.rates.rates[name] for name in ("any_medal", "gold", "above_median")} == {None}
    assert "No medals" in markdown(document) and "MEDAL %" not in markdown(document)


def test_many_agents_stand_side_by_side(graded) -> None:
    items = [
        graded(score=0.9, medal="gold", group="first"),
        graded(score=0.5, model="m", group="second"),
        graded(score=0.8, medal="bronze", model="n", group="second"),
        graded("leaf-classification", score=0.7, model="n", group="second"),
    ]
    document = summarise(items)
    (table,) = (section for section in sections(document) if section.id == "results")
    assert table.header == ("COMPETITION", "METRIC", "SAMPLE", "BRONZE", "GOLD", "A", "B", "C")
    rows = {row[0]: row[5:] for row in table.rows}
    assert rows["spaceship-titanic"] == ("0.90000 (1 gold)", "0.50000 (1 none)", "0.80000 (1 bronze)")
    assert rows["leaf-classification"] == ("-", "-", "0.70000 (1 none)")


def test_csv_has_a_row_a_run(two_groups) -> None:
    out = report("good", "bad", "--runs", str(two_groups), "--csv").output
    rows = list(csv.DictReader(io.StringIO(out)))
    assert len(rows) == 450 and {row["setup"] for row in rows} == {"A", "B"}
    assert {row["medal"] for row in rows} == {"gold", "silver", "bronze", "none"}


@pytest.mark.parametrize("text", ["=1+1", "+cmd|' /C calc'!A0", "-cmd", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "\uff1d1"])
def test_no_cell_is_a_formula(graded, text: str) -> None:
    """Whatever a group from elsewhere is called, and whatever its agent says; numbers stay numbers."""
    document = summarise([graded(group=text, reason=text, score=-0.5, model=text)])
    (row,) = csv.DictReader(io.StringIO(to_csv(document), newline=""))
    assert row["group"] == row["reason"] and row["group"] in (f"'{text}", r"\r=1") and row["score"] == "-0.5"
    assert not any(value.startswith(("=", "+", "@", "\t", "\r")) for value in row.values())


def test_numbers_and_intervals_are_no_formulas() -> None:
    cells = ["-", "-0.5", "+1e-9", "-inf", "-3.0 ± 1.0", "-1.5 to +2", -0.5, None]
    assert next(csv.reader([as_csv(cells, ())])) == [*map(str, cells[:-1]), ""]


def test_from_a_notebook(two_groups) -> None:
    import mlecore

    frame = mlecore.report("good", two_groups / "bad", runs=two_groups)
    assert len(frame) == 450 and set(frame.setup) == {"A", "B"}
    rates = frame.attrs["report"]["setups"][0]["rates"][-1]["rates"]["rates"]
    assert rates["any_medal"]["mean"] == pytest.approx(100 * (frame[frame.setup == "A"].medal != "none").mean())
    with pytest.raises(mlecore.MlecoreError, match="there is no group"):
        mlecore.report("nothing", runs=two_groups)


def test_groups_from_python(two_groups, monkeypatch: pytest.MonkeyPatch) -> None:
    import mlecore

    monkeypatch.setenv("MLECORE_RUNS", str(two_groups))
    one = mlecore.report("good", "bad")
    assert len(one) == 450 and mlecore.report(["good", "bad"]).equals(one)
    few = mlecore.report("good", competitions=["leaf-classification"])
    assert set(few.competition) == {"leaf-classification"} and len(few) == 3
    with pytest.raises(mlecore.MlecoreError, match="there is no group"):
        mlecore.report("good", runs="elsewhere")


NUMERIC = {
    "score sample_score gold_threshold silver_threshold bronze_threshold median_threshold position percentile "
    "best_human hours cost_usd": "float64",
    "rank teams input_tokens output_tokens": "Int64",
    "lower_is_better above_median beats_sample": "boolean",
    "seed suspicions": "int64",
}


@pytest.mark.parametrize("kind", ["nothing known", "all known"])
def test_numbers_are_in_numeric_columns(graded, two_groups, kind: str) -> None:
    """The same types for every report: of a run that failed, too, of which there is no number at all."""
    nothing = summarise([graded(state="failed", made=None, seconds=None, ended=None)])
    frame = to_frame(nothing if kind == "nothing known" else summarise(read_sources(["good"], [], two_groups)))
    for names, dtype in NUMERIC.items():
        assert {name: str(frame[name].dtype) for name in names.split()} == dict.fromkeys(names.split(), dtype)
    texts = set(frame.columns) - {name for names in NUMERIC for name in names.split()}
    assert texts == set(
        "setup title run group competition split metric edition comparability column state ended outcome reason "
        "obfuscation data_kind submission why score_text medal judged".split()
    )
    assert frame.score.mean() > 0 or kind == "nothing known"


def test_a_data_frame(graded) -> None:
    frame = to_frame(summarise([graded(medal="gold"), graded(seed=1)]))
    assert list(frame.medal) == ["gold", "none"] and list(frame.seed) == [0, 1]


def test_markdown(two_groups) -> None:
    out = report("good", "--runs", str(two_groups), "--split", "lite", "--markdown").output
    assert "| SETUP | SPLIT | COMPETITIONS |" in out and "| A | these | 22 | 3 |" in out
    rows = [line for line in out.splitlines() if line.startswith("| A | leaf-classification |")]
    assert len(rows) == 3


def test_hostile_words_stay_words(graded, report) -> None:
    bad = report(status="invalid", valid_submission=False, reason="\x1b[2J<script>alert(1)</script>|x|")
    document = summarise([graded(made=bad, group="g\x1b[31m", name="run\x07")])
    cells = [cell for section in sections(document) for row in section.rows for cell in row]
    assert any("<script>" in cell for cell in cells)
    assert all(cell.isprintable() for cell in cells)
    out = markdown(document)
    assert "<script>" not in out and "\\<script\\>" in out and "\\|x\\|" in out


def test_conditions_that_differ(tmp_path) -> None:
    folder = drawn_groups.write_group(tmp_path, "g", competitions=["leaf-classification"], seeds=2)
    assert report("g", "--runs", str(tmp_path)).exit_code == 0
    record = load_group(folder)[1]
    (record.folder / "run.json").write_bytes(evolve(record, limits=Limits(time=60.0)).dumps())
    result = report("g", "--runs", str(tmp_path))
    assert result.exit_code == 2 and "time limit  24h | 1m" in result.output and "±" not in result.output
    assert report("g", "--runs", str(tmp_path), "--mix").exit_code == 0


def test_seeds_that_lack_a_run(tmp_path) -> None:
    """They are left out, or padded with failures, and the report says so. Of a chosen list only its runs count."""
    listed = ["leaf-classification", "AI4Code"]
    folder = drawn_groups.write_group(tmp_path, "g", competitions=listed, seeds=2)
    shutil.rmtree(next(folder.glob("*AI4Code--1")))
    names = [word for name in listed for word in ("--competition", name)]
    for more, seeds, said in (
        ((), "1", "left out are the seeds 1 (1 missing). --pad-missing counts"),
        (("--pad-missing",), "2", "missing runs count as failures in the seeds 1 (1 missing)."),
    ):
        out = report("g", "--runs", str(tmp_path), "--markdown", *names, *more).output
        assert f"| these | 2 | {seeds} |" in out and said in out.replace("\\", "")
    alone = report("g", "--runs", str(tmp_path), "--markdown", "--competition", listed[0]).output
    assert "| these | 1 | 2 |" in alone and "AI4Code" not in alone
    assert "missing" not in alone.partition("## How the figures")[0]


def test_the_same_run_counts_once(two_groups) -> None:
    found = json.loads(report("good", str(two_groups / "good"), "--runs", str(two_groups), "--json").output)
    assert [len(setup["runs"]) for setup in found["setups"]] == [225]


def test_against_published(two_groups) -> None:
    out = report("good", "--runs", str(two_groups), "--against", "published").output
    assert "→ A" in out and "77.78 ± 0.44" in out and "closed to entries in April 2026" in out
    assert "Why setups do not compare with the published entries" in out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "say what to report on"),
        (["nothing"], "there is no group 'nothing'"),
        (["good", "--split", "easy"], "unknown split 'easy'"),
        (["good", "--json", "--csv"], "give one of --json"),
        (["--grading-reports", "nothing.json"], "there is no grading report nothing.json"),
    ],
)
def test_wrong_usage(two_groups, words, said) -> None:
    result = report(*words, "--runs", str(two_groups))
    assert result.exit_code == 2 and said in result.output


@pytest.mark.parametrize("form", ["--mix", "--markdown", "--json", "--csv", f"--html={os.devnull}", "--pad-missing"])
@pytest.mark.parametrize("few", ["--split=high", "--competition=nosuch"])
def test_nothing_is_left_to_report(tmp_path: Path, few: str, form: str) -> None:
    folder = drawn_groups.write_group(tmp_path, "g", competitions=["leaf-classification"], seeds=1)
    result = report(str(folder), few, form)
    assert result.exit_code == 2 and "none of the runs is on" in result.output, result.output
