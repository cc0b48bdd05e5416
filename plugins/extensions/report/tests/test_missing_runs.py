"""A group with planned runs missing, reported in the terminal, as a page, as JSON, as CSV and from Python.

Two agents were to work on nine competitions with two seeds each. Every figure but the intervals, which
test_statistics.py tests, is worked out in this file from the table of results below, without mlecore's reports.
"""

from __future__ import annotations

import csv
import io
import itertools
import json
import math
import re
import shutil
import statistics
from collections.abc import Mapping, Sequence
from html import unescape
from pathlib import Path
from typing import Any

import mle_ext_report
import pytest
from click.testing import CliRunner
from mle_ext_report.statistics import mean_interval, paired_difference, rate_interval

import mlecore
from mlecore.cli import main
from mlecore.runs.planning import parse_plan
from mlecore.runs.store import create_group, load_group
from mlecore_testing import drawn_groups

# Per competition and agent, seeds 0 and 1: M a medal, + valid, x invalid, f failed, . never begun, c cancelled,
# ? its run.json is damaged. Five of the seven competitions that "baseline" got to have a medal with each seed: 5/7 is
# 71.4 %, and of the nine that were planned 55.6 %.
RESULTS = {
    "aerial-cactus-identification": ("MM", "M+"),
    "aptos2019-blindness-detection": ("MM", "++"),
    "denoising-dirty-documents": ("MM", "+x"),
    "detecting-insults-in-social-commentary": ("MM", "++"),
    "dog-breed-identification": ("MM", "+."),
    "dogs-vs-cats-redux-kernels-edition": ("++", "++"),
    "histopathologic-cancer-detection": ("x+", ".M"),
    "jigsaw-toxic-comment-classification-challenge": ("f.", "MM"),
    "leaf-classification": ("c?", "ff"),
}
AGENTS = ("baseline", "dummy")
GRADED = "M+x"
PLANNED = 18  # runs of each agent


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    plan = parse_plan(
        f"competitions = {json.dumps(list(RESULTS))}\nseeds = 2\n"
        + "".join(f'[[agents]]\nname = "{agent}"\n' for agent in AGENTS)
    )
    group = create_group(folder, "g", plan)
    for record in load_group(group.folder):
        fate = RESULTS[record.competition][AGENTS.index(record.agent.name)][record.seed]
        if fate == ".":
            continue
        drawn_groups.write_result(record, fate)
    return folder


def invoke(runs: Path, *words: str) -> str:
    result = CliRunner().invoke(main, ["report", "g", "--runs", str(runs), *words], env={"COLUMNS": "300"})
    assert result.exit_code == 0, result.output
    return result.output


def plain(markdown: str) -> str:
    """Without what Markdown adds to the cells of tables and to what it would interpret."""
    return re.sub(r" \| |^\| | \|$", " ", markdown, flags=re.MULTILINE).replace("\\", "")


Outcomes = dict[str, list[int]]


def outcomes(agent: int, kind: str, pad: bool) -> Outcomes:
    """Competition -> 1 or 0 for each run that counts."""
    found = {}
    for id, fates in RESULTS.items():
        kept = [fate for fate in fates[agent] if pad or fate in GRADED]
        if kept:
            found[id] = [int(fate in kind) for fate in kept]
    return found


KINDS = {"any_medal": "M", "valid": "M+", "made": "M+x"}


def share(found: Outcomes) -> float:
    return 100 * statistics.fmean(statistics.fmean(each) for each in found.values())


def pass_at(k: int, found: Outcomes) -> float | None:
    choices = [list(itertools.combinations(each, k)) for each in found.values() if len(each) >= k]
    return 100 * statistics.fmean(statistics.fmean(map(any, each)) for each in choices) if choices else None


@pytest.fixture(scope="module", params=[False, True], ids=["left out", "padded"])
def said(request: pytest.FixtureRequest, runs: Path) -> Said:
    pad = request.param
    words = ["--pad-missing"] * pad
    page = runs / f"page-{pad}.html"
    invoke(runs, *words, "--output", str(page))
    text = plain(invoke(runs, *words, "--format", "markdown"))
    found = json.loads(invoke(runs, *words, "--format", "json"))
    return Said(pad, text, page.read_text(), found, invoke(runs, *words, "--format", "csv"))


class Said:
    def __init__(self, pad: bool, text: str, page: str, found: Any, table: str) -> None:
        self.pad, self.text, self.page, self.json, self.csv = pad, text, page, found, table
        cells = [re.sub(r"<[^>]*>", " ", row) for row in re.findall(r"<tr.*?</tr>", page, re.DOTALL)]
        self.rows = [" ".join(unescape(row).split()) for row in cells]

    def everywhere(self, *words: str) -> None:
        """The words of a line of the terminal's text, and of a row of the page."""
        flat = [" ".join(line.split()) for line in self.text.splitlines()]
        assert any(" ".join(words) in line for line in flat), words
        assert any(" ".join(words) in row for row in self.rows), words

    def sentence(self, words: str) -> None:
        assert words in " ".join(self.text.split())
        assert words in self.page.replace("&#34;", '"')


def setup_of(said: Said, agent: int) -> Mapping[str, Any]:
    return said.json["setups"][agent]


@pytest.mark.parametrize("agent", [0, 1])
def test_the_denominator_is_named(said: Said, agent: int) -> None:
    fates = [fate for each in RESULTS.values() for fate in each[agent]]
    graded = sum(fate in GRADED for fate in fates)
    states = {"cancelled": fates.count("c"), "failed": fates.count("f") + fates.count("?"), "planned": fates.count(".")}
    coverage = setup_of(said, agent)["coverage"]
    assert coverage["planned_runs"] == PLANNED == len(fates)
    assert (coverage["graded_runs"], coverage["planned_competitions"]) == (graded, 9)
    assert coverage["missing"] == {state: number for state, number in states.items() if number}
    assert coverage["without_runs"] == [id for id, each in RESULTS.items() if not set(each[agent]) & set(GRADED)]
    assert coverage["padded"] == said.pad
    if said.pad:
        said.sentence(
            "Denominator: all 18 runs that were planned, on 9 competitions. Missing and counted as failures ("
        )
    else:
        said.sentence(f"Denominator: the {graded} graded of 18 runs that were planned, on 9 competitions.")


@pytest.mark.parametrize("agent", [0, 1])
def test_the_rates(said: Said, agent: int) -> None:
    row = setup_of(said, agent)["rates"][-1]
    rates = row["rates"]
    columns = [[each[agent][seed] for each in RESULTS.values()] for seed in (0, 1)]
    lacking = {str(seed): sum(fate not in GRADED for fate in column) for seed, column in enumerate(columns)}
    assert (rates["split"], rates["competitions"], rates["ids"]) == ("these", 9, list(RESULTS))
    assert rates["incomplete"] == lacking and all(lacking.values())
    if not said.pad:
        assert rates["seeds"] == [] and set(rates["rates"].values()) == {None}
        said.everywhere("these", "9", "0")
        return
    assert rates["seeds"] == ["0", "1"]
    for kind, fates in KINDS.items():
        shares = [100 * sum(fate in fates for fate in column) / 9 for column in columns]
        error = abs(shares[0] - shares[1]) / 2  # of two values: their distance / √2, over √2
        assert rates["rates"][kind] == {"mean": pytest.approx(statistics.fmean(shares)), "sem": pytest.approx(error)}
        wins = [[int(fate in fates) for fate in each[agent]] for each in RESULTS.values()]
        assert row["intervals"][kind] == pytest.approx(interval_of(wins))
        said.everywhere(f"{statistics.fmean(shares):.1f} ± {error:.1f}")
    low = next(each["rates"] for each in setup_of(said, agent)["rates"] if each["rates"]["split"] == "Low")
    medals = [100 * column.count("M") / 22 for column in columns]  # the other 13 of the split were never planned
    assert low["rates"]["any_medal"]["mean"] == pytest.approx(statistics.fmean(medals))
    said.everywhere("Low", "22", "2", f"{statistics.fmean(medals):.1f}")


@pytest.mark.parametrize("agent", [0, 1])
def test_pass_at_k(said: Said, agent: int) -> None:
    found = outcomes(agent, "M", said.pad)
    rows = setup_of(said, agent)["pass_at_k"]
    assert [row["k"] for row in rows] == [1, 2]
    for row in rows:
        enough = sum(len(each) >= row["k"] for each in found.values())
        assert (row["competitions"], row["planned"]) == (enough, 9)
        assert row["share"] == pytest.approx(pass_at(row["k"], found))
        over = "9" if said.pad else f"{enough} of 9"
        said.everywhere(str(row["k"]), over, f"{row['share']:.1f}")


@pytest.mark.parametrize("agent", [0, 1])
def test_kinds_of_competitions(said: Said, agent: int) -> None:
    """By the size of the download: a fact of each competition, read from its own package here."""
    medals, valid = outcomes(agent, "M", said.pad), outcomes(agent, "M+", said.pad)
    rows = [row for row in setup_of(said, agent)["slices"] if row["by"] == "modality"]
    assert sum(row["planned_competitions"] for row in rows) == 9 and sum(row["planned_runs"] for row in rows) == 18
    for row in rows:
        of = [id for id in RESULTS if mlecore.competition(id).facts.modality == row["value"]]
        kept = {id: medals[id] for id in of if id in medals}
        assert (row["planned_competitions"], row["planned_runs"]) == (len(of), 2 * len(of))
        assert (row["competitions"], row["runs"]) == (len(kept), sum(map(len, kept.values())))
        assert row["goal"] == (pytest.approx(share(kept)) if kept else None)
        assert row["valid"] == (pytest.approx(share({id: valid[id] for id in kept})) if kept else None)
        expected = interval_of(list(kept.values()))
        assert row["interval"] == (None if expected is None else pytest.approx(expected))
        counts = [
            str(n) if n == all_ else f"{n} of {all_}" for n, all_ in ((len(kept), len(of)), (row["runs"], 2 * len(of)))
        ]
        said.everywhere("modality", row["value"], *counts, f"{row['goal']:.1f}" if kept else "-")


def counts_of(outcomes: Sequence[Sequence[int]]) -> dict[str, tuple[int, int]]:
    return {str(n): (sum(each), len(each)) for n, each in enumerate(outcomes)}


def interval_of(outcomes: Sequence[Sequence[int]]) -> tuple[float, float] | None:
    return rate_interval(counts_of(outcomes))


def test_the_comparison(said: Said) -> None:
    (found,) = said.json["comparisons"]
    a, b = outcomes(0, "M", said.pad), outcomes(1, "M", said.pad)
    both = [id for id in RESULTS if id in a and id in b]
    assert (found["competitions"], found["planned"]) == (len(both), 9)
    row = found["differences"][0]
    of_a, of_b = ([of[id] for id in both] for of in (a, b))
    differences = [statistics.fmean(x) - statistics.fmean(y) for x, y in zip(of_a, of_b, strict=True)]
    assert row["rate"] == "any_medal"
    assert row["a"] == pytest.approx(100 * statistics.fmean(map(statistics.fmean, of_a)))
    assert row["difference"] == pytest.approx(100 * statistics.fmean(differences))
    sums = [
        abs(sum(s * d for s, d in zip(signs, differences, strict=True)))
        for signs in itertools.product((1, -1), repeat=len(both))
    ]
    p = statistics.fmean(value >= abs(sum(differences)) - 1e-9 for value in sums)
    assert row["p"] == pytest.approx(p)
    assert row["smallest_p"] == pytest.approx(2 / 2 ** sum(d != 0 for d in differences))
    assert row["interval"] == pytest.approx(paired_difference(counts_of(of_a), counts_of(of_b)).interval)
    low, high = row["interval"]
    said.everywhere(
        "any medal",
        "9" if said.pad else f"{len(both)} of 9",
        f"{row['a']:.1f}",
        f"{row['b']:.1f}",
        f"{row['difference']:+.1f}",
        f"{low:.1f} to {high:.1f}",
        f"{p:.4f}",
    )
    wins = {id: _wins(RESULTS[id], said.pad) for id in both}
    assert found["a_wins"] == pytest.approx(statistics.fmean(wins.values()))
    pairs = sum(min(len(x), len(y)) for x, y in zip(of_a, of_b, strict=True))
    assert found["a_wins_interval"] == pytest.approx(mean_interval(list(wins.values()), pairs))


SCORES = {"M": 0.9, "+": 0.6}


def _wins(fates: Sequence[str], pad: bool) -> float:
    """How often a run of the first agent scores better than one of the second; half for a tie."""
    scores = [[SCORES.get(fate, -math.inf) for fate in each if pad or fate in GRADED] for each in fates]
    duels = [(x > y) + 0.5 * (x == y) for x in scores[0] for y in scores[1]]
    return statistics.fmean(duels)


@pytest.mark.parametrize("agent", [0, 1])
def test_positions(said: Said, agent: int) -> None:
    """A medal lies at gold (0.9), a valid score of 0.6 a quarter of the way to it from 0.5, all else at 0."""
    places = {"M": 1.0, "+": 0.25}
    by_id = {
        id: [places.get(fate, 0.0) for fate in each[agent] if said.pad or fate in GRADED]
        for id, each in RESULTS.items()
    }
    means = [statistics.fmean(each) for each in by_id.values() if each]
    setup = setup_of(said, agent)
    assert setup["position"] == pytest.approx(statistics.fmean(means))
    assert setup["position_competitions"] == len(means)
    assert setup["position_interval"] == pytest.approx(mean_interval(means, sum(map(len, by_id.values()))))
    said.sentence(f"mean position over {len(means)} competitions")


def test_every_planned_run_has_a_row(said: Said, runs: Path) -> None:
    rows = list(csv.DictReader(io.StringIO(said.csv)))
    frame = mle_ext_report.report("g", runs=runs, pad_missing=said.pad)
    assert len(rows) == len(frame) == 2 * PLANNED
    assert frame.attrs["report"]["setups"][0]["coverage"]["graded_runs"] == 14
    for agent, key in enumerate("AB"):
        medals = sum(fate == "M" for each in RESULTS.values() for fate in each[agent])
        assert sum(row["setup"] == key and row["medal"] == "gold" for row in rows) == medals
        assert ((frame.setup == key) & (frame.medal == "gold")).sum() == medals
    damaged = next(row for row in rows if row["run"] == "baseline--leaf-classification--1")
    assert (damaged["state"], damaged["reason"], damaged["score"]) == ("failed", "its run.json cannot be read", "")


def test_an_agent_without_any_run_is_not_forgotten(runs: Path, tmp_path: Path) -> None:
    shutil.copytree(runs / "g", tmp_path / "g")
    for folder in (tmp_path / "g").glob("dummy--*"):
        shutil.rmtree(folder)
    found = json.loads(invoke(tmp_path, "--format", "json"))
    assert [setup["coverage"]["graded_runs"] for setup in found["setups"]] == [14, 0]
    (comparison,) = found["comparisons"]
    assert (comparison["competitions"], comparison["planned"], comparison["differences"]) == (0, 9, [])
    text = " ".join(plain(invoke(tmp_path, "--format", "markdown")).split())
    assert (
        "Not compared, as no competition has graded runs of both: A - B." in text
        and "Denominator: the 0 graded of 18 runs" in text
    )
    padded = json.loads(invoke(tmp_path, "--format", "json", "--pad-missing"))
    assert padded["setups"][1]["rates"][-1]["rates"]["rates"]["any_medal"] == {"mean": 0.0, "sem": 0.0}
    assert padded["comparisons"][0]["differences"][0]["a"] == pytest.approx(500 / 9)


def test_two_groups_have_both_plans(tmp_path: Path) -> None:
    ids = list(RESULTS)
    drawn_groups.write_group(tmp_path, "g", competitions=ids[:3], seeds=1)
    other = drawn_groups.write_group(tmp_path, "h", competitions=ids[3:6], seeds=1)
    shutil.rmtree(next(other.glob(f"*{ids[4]}--0")))
    (setup,) = json.loads(invoke(tmp_path, "h", "--format", "json"))["setups"]
    assert setup["coverage"]["planned_runs"] == 6
    row = setup["rates"][-1]["rates"]
    assert row["ids"] == sorted(ids[:6]) and row["incomplete"] == {"0": 1}


def test_no_medals_where_every_run_of_a_competition_is_missing(graded, without_thresholds) -> None:
    """Data that earn none earn none on a competition that nobody got to."""
    from mle_ext_report.summary import summarise

    items = [
        graded("a", data_kind="unverified", made=without_thresholds(0.6, data_kind="unverified")),
        graded("b", data_kind=None, state="planned", made=None),
    ]
    (setup,) = summarise(items, pad_missing=True).setups
    rates = setup.rates[0].rates.rates
    assert rates["any_medal"] is None
    assert rates["beats_sample"] is not None and rates["beats_sample"].mean == 50.0
    assert rates["beats_sample"] == rates["valid"]
