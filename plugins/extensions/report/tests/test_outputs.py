"""Text, Markdown, CSV and JSON say the same, and nothing that a run left can take over a terminal or a page."""

from __future__ import annotations

import csv
import io
import json
import statistics
from pathlib import Path

import pytest
from attrs import evolve
from click.testing import CliRunner
from mle_ext_report.export import as_csv
from mle_ext_report.formats import markdown, to_csv, to_frame
from mle_ext_report.sections import sections
from mle_ext_report.sources import read_sources
from mle_ext_report.summary import summarise

from mlecore.cli import main
from mlecore.model.record import Limits
from mlecore.runs.store import load_group
from mlecore_testing import drawn_groups


def report(*words: str):
    return CliRunner().invoke(main, ["report", *words])


def test_the_terminal_shows_a_screen_or_two(two_groups) -> None:
    """Two groups of 225 runs of 75 competitions: the result, the setups, and where they differ most."""
    shown = report("good", "bad", "--runs", str(two_groups))
    assert shown.exit_code == 0 and len(shown.output.splitlines()) <= 41, shown.output
    assert shown.output.startswith("baseline vs dummy on 75 competitions\ngroups: good, bad; edition: v1;")
    found = json.loads(report("good", "bad", "--runs", str(two_groups), "--format", "json").output)
    for setup in found["setups"]:
        planned = next(row for row in setup["rates"] if row["rates"]["split"] == "All")["rates"]["rates"]["any_medal"]
        assert f"{planned['mean']:.1f} ± {planned['sem']:.1f}" in shown.output
    lines = [line for setup in found["setups"] for line in setup["runs"]]
    cells = {line.split()[0]: line for line in shown.output.splitlines() if line}
    listed = [name for name in {line["competition"] for line in lines} if name in cells]
    assert len(listed) == 10
    for competition in listed:
        scores = [line["score"] for line in found["setups"][0]["runs"] if line["competition"] == competition]
        assert f"  {statistics.fmean(score for score in scores if score is not None):.5f}" in cells[competition]


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
        "setup name run group competition split metric edition comparability column state ended outcome reason "
        "obfuscation data_kind submission why score_text medal reference judged".split()
    )
    assert frame.score.mean() > 0 or kind == "nothing known"


def test_hostile_words_stay_words(graded, report) -> None:
    bad = report(status="invalid", valid_submission=False, reason="\x1b[2J<script>alert(1)</script>|x|")
    document = summarise([graded(made=bad, group="g\x1b[31m", name="run\x07")])
    cells = [cell for section in sections(document) for row in section.rows for cell in row]
    assert any("<script>" in cell for cell in cells)
    assert all(cell.isprintable() for cell in cells)
    out = markdown(document)
    assert "<script>" not in out and "\\<script\\>" in out and "\\|x\\|" in out


@pytest.mark.parametrize("suffix", [".txt", ".md", ".json", ".csv", ".html"])
def test_a_file_has_the_format_of_its_suffix(suffix: str, tmp_path: Path) -> None:
    folder = str(drawn_groups.write_group(tmp_path, "g", competitions=["leaf-classification"], seeds=1))
    path = tmp_path / f"report{suffix}"
    printed = report(folder, "--output", str(path)).output
    text = path.read_text()
    assert "Results by competition" in printed
    known = {
        ".txt": lambda: text == printed,
        ".md": lambda: "\n|---|" in text,
        ".json": lambda: json.loads(text)["setups"],
        ".csv": lambda: len(list(csv.DictReader(text.splitlines()))) == 1,
        ".html": lambda: text.startswith("<!doctype html>"),
    }
    assert known[suffix]()


def test_conditions_that_differ(tmp_path) -> None:
    folder = drawn_groups.write_group(tmp_path, "g", competitions=["leaf-classification"], seeds=2)
    assert report("g", "--runs", str(tmp_path)).exit_code == 0
    record = load_group(folder)[1]
    (record.folder / "run.json").write_bytes(evolve(record, limits=Limits(time=60.0)).dumps())
    result = report("g", "--runs", str(tmp_path))
    assert result.exit_code == 2 and "time limit  24h | 1m" in result.output and "±" not in result.output
    assert report("g", "--runs", str(tmp_path), "--mix").exit_code == 0


def test_the_same_run_counts_once(two_groups) -> None:
    found = json.loads(report("good", str(two_groups / "good"), "--runs", str(two_groups), "--format", "json").output)
    assert [len(setup["runs"]) for setup in found["setups"]] == [225]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "say what to report on"),
        (["nothing"], "there is no group 'nothing'"),
        (["good", "--split", "easy"], "unknown split 'easy'"),
        (["good", "--output", "report.pdf"], "the suffix of report.pdf is that of no format"),
        (["--grading-reports", "nothing.json"], "there is no grading report nothing.json"),
    ],
)
def test_wrong_usage(two_groups, words, said) -> None:
    result = report(*words, "--runs", str(two_groups))
    assert result.exit_code == 2 and said in result.output


@pytest.mark.parametrize(
    ("few", "form"), [("--split=high", "--format=json"), ("--competition=nosuch", "--output=x.html")]
)
def test_nothing_is_left_to_report(tmp_path: Path, few: str, form: str) -> None:
    folder = drawn_groups.write_group(tmp_path, "g", competitions=["leaf-classification"], seeds=1)
    result = report(str(folder), few, form)
    assert result.exit_code == 2 and "none of the runs is on" in result.output, result.output
