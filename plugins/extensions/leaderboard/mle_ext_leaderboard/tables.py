"""What the site shows, as values: a table for each set of comparable conditions, and every entry's standing."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence, Set
from concurrent.futures import ThreadPoolExecutor
from typing import Literal

from attrs import evolve, field, frozen
from mle_ext_report.percentile import mean_marks
from mle_ext_report.rates import MEDALS, PERCENTILE, Outcome, counts, left_out, split_rates, unranked
from mle_ext_sharing.bundle import OpenBundle
from mle_ext_sharing.signed import has_second_party

from mle_ext_leaderboard.board import Board
from mle_ext_leaderboard.checking import Check, check_rules, guarded, signatures
from mle_ext_leaderboard.disclosures import HARDWARE
from mle_ext_leaderboard.duplicates import Known, known_of
from mle_ext_leaderboard.ranking import Ranked, rank_entries
from mle_ext_leaderboard.results import Results, RunResult
from mle_ext_leaderboard.rules import covered_sets, rejection, table_key
from mlecore.errors import MlecoreError

Goal = Literal["any_medal", "beats_sample"]

TAGS: Mapping[str, str] = {
    "signed": "signed by who ran it",
    "regraded": "graded again by a second party: another key and another name than who ran it",
    "claimed": "scores are claims: no second party has graded them again",
    "reran": "run again, at least in part, by a second party",
    "source": "source available",
    "no-hidden-scores": "claims not to have used hidden scores",
    "no-human": "claims no human help",
    "no-outside-data": "claims no outside data",
    "no-knowledge": "claims no knowledge base",
    "no-prompts": "claims no competition-specific prompts",
    "no-web": "no web, by the records",
    "first-seeds": "seeds 0, 1, 2 ...: none was left out",
    "judged": "every run judged by each detector",
    "unflagged": "every run judged, and none flagged",
}
"""Columns of transparency."""


@frozen(kw_only=True)
class Standing:
    """An entry, what was found, and what became of it."""

    check: Check
    corrected_by: str = ""  # name of a newer entry
    retracted_by: str = ""  # name of the retraction

    @property
    def name(self) -> str:
        return self.check.name

    @property
    def ranked(self) -> bool:
        """Is it in a table?"""
        return bool(self.check.results) and not (self.check.exit_code or self.corrected_by or self.retracted_by)

    @property
    def why(self) -> str:
        """Why it is in no table."""
        if self.retracted_by:
            return f"retracted by {self.retracted_by}"
        if self.corrected_by:
            return f"corrected by {self.corrected_by}"
        errors = [remark for remark in self.check.remarks if remark.level in ("error", "undecided")]
        return "; ".join(f"{remark.check}: {remark.words}" for remark in errors[:3])

    @property
    def tags(self) -> tuple[str, ...]:
        return tuple(tag for tag in TAGS if _has(tag, self.check))


def _has(tag: str, check: Check) -> bool:
    entry, results = check.entry, check.results
    if entry is None or results is None or entry.disclosures is None:
        return False
    said = entry.disclosures
    regraded = has_second_party(check.signed, "graded again")
    judged = bool(results.judged) and all(judged == of for judged, of in results.judged.values())
    web = next((line for line in check.lines if line.name == "web"), None)
    return {
        "signed": any(signed.statement.predicate.role == "ran" for signed in check.signed),
        "regraded": regraded,
        "claimed": not regraded,
        "reran": has_second_party(check.signed, "ran again"),
        "source": "source" in entry.links,
        "no-hidden-scores": not said.hidden_scores,
        "no-human": not said.human_help,
        "no-outside-data": not said.outside_data,
        "no-knowledge": not said.knowledge_base,
        "no-prompts": not said.competition_prompts,
        "no-web": said.web == "none" and web is not None and web.verdict == "recorded",
        "first-seeds": results.has_first_seeds,
        "judged": judged,
        "unflagged": judged and not any(run.flagged for run in results.runs),
    }[tag]


@frozen(kw_only=True)
class Row:
    """An entry in a table."""

    standing: Standing
    ranked: Ranked
    like: tuple[str, ...]  # names of the entries that it cannot be told apart from
    seeds: int
    runs: int
    medals: tuple[tuple[str, float], ...]  # ("gold", 12.5) ...: they add up to the rate; empty without medals
    percentile: float | None  # mean among human teams; None: not known for all competitions that the rate counts
    valid: float  # % of runs
    hours: float | None  # used per run, where known
    usd: float | None  # of all runs, where known
    known_usd: int  # runs that know their cost


@frozen(kw_only=True)
class Table:
    """Entries of the same conditions, the best first."""

    title: str  # what is compared, such as "Low, 24 h, 8 CPUs, 1 x NVIDIA A10, v1"; no two are the same
    conditions: tuple[tuple[str, str], ...]
    ids: tuple[str, ...]  # of the competitions
    goal: Goal
    left_out: str = ""  # which of them its rates leave out
    marks: Mapping[str, float] = field(factory=dict)  # mean percentiles of the sample submission, median human, medals
    rows: tuple[Row, ...] = field(factory=tuple)

    @property
    def shared_tags(self) -> tuple[str, ...]:
        """Tags that all entries have, which tell none from another."""
        return tuple(tag for tag in TAGS if all(tag in row.standing.tags for row in self.rows))

    @property
    def telling(self) -> bool:
        """Does a tag tell two entries apart?"""
        return any(map(self.telling_tags, self.rows))

    def telling_tags(self, row: Row) -> list[str]:
        """Tags of an entry that others lack."""
        return [tag for tag in row.standing.tags if tag not in self.shared_tags]


def standings(board: Board) -> list[Standing]:
    """Every entry, by name, with its signatures but without opening its export."""
    known = known_of(board)
    with ThreadPoolExecutor() as threads:  # they wait for ssh-keygen
        checks = list(threads.map(lambda name: guarded(name, lambda: _check(board, name, known)), board.names()))
    corrected: dict[str, str] = {}
    retracted: dict[str, str] = {}
    for check in checks:
        if check.entry and check.entry.about and not check.exit_code:
            place = corrected if check.entry.kind == "correction" else retracted
            place.setdefault(check.entry.about, check.name)
    return [
        Standing(check=check, corrected_by=corrected.get(check.name, ""), retracted_by=retracted.get(check.name, ""))
        for check in checks
    ]


def _check(board: Board, name: str, known: Known) -> Check:
    """With the signatures of its export."""
    check = check_rules(board, name, known)
    entry = check.entry
    if entry is None or entry.export is None or check.results is None:
        return check
    try:
        with OpenBundle(board.export(check.name, entry.export.signed), entry.export.sha256) as export:
            signed, wrong = signatures(board, export, None)
    except MlecoreError as error:
        wrong = [rejection("hashes", error.message)]
        signed = []
    return evolve(check, signed=tuple(signed), remarks=[*check.remarks, *wrong])


def tables(board: Board, found: Sequence[Standing]) -> list[Table]:
    """In the order of the board's sets, the fullest first."""
    by_key: dict[tuple[tuple[str, str], ...], list[Standing]] = {}
    ids: dict[tuple[tuple[str, str], ...], tuple[str, ...]] = {}
    for standing in found:
        results = standing.check.results
        if standing.ranked and results:
            for name in covered_sets(board.sets, results):
                key = table_key(name, board.sets[name], results)
                by_key.setdefault(key, []).append(standing)
                ids[key] = board.sets[name]
    order = [f"{name} ({len(wanted)})" for name, wanted in board.sets.items()]
    keys = sorted(by_key, key=lambda key: (order.index(key[0][1]), -len(by_key[key]), key))
    named = titles([dict(key) for key in keys])
    return [_table(title, key, ids[key], by_key[key]) for title, key in zip(named, keys, strict=True)]


def titles(keys: Sequence[Mapping[str, str]]) -> list[str]:
    """The set, time limit, hardware and edition; more conditions where these do not tell two tables apart."""
    parts = [_words(key, "competitions", "time limit", HARDWARE, "edition") for key in keys]
    for more in ("data", "network", "data digest"):
        values: dict[tuple[str, ...], set[str]] = defaultdict(set)
        for part, key in zip(parts, keys, strict=True):
            values[(*part,)].add(key[more])
        parts = [
            [*part, *_words(key, more)] if len(values[(*part,)]) > 1 else part
            for part, key in zip(parts, keys, strict=True)
        ]
    return [", ".join(part) for part in parts]


def _words(key: Mapping[str, str], *names: str) -> list[str]:
    """Conditions as a title names them."""
    found = []
    for name in names:
        value = key[name]
        if name == "competitions":
            value = value.partition(" (")[0]
            value = value[:1].upper() + value[1:]
        elif name == "time limit":
            value = re.sub(r"(?<=\d)(?=[a-z])", " ", value)
        found.append(f"{name} {value}" if value == "unknown" or name in ("network", "data digest") else value)
    return found


def _table(title: str, key: tuple[tuple[str, str], ...], ids: Sequence[str], members: Sequence[Standing]) -> Table:
    runs = {each.name: runs_of(each.check.results, ids) for each in members if each.check.results}
    without = unranked(ids, dict(key)["edition"])
    medals = any(run.ranked for of in runs.values() for run in of if run.competition not in without)
    goal: Goal = "any_medal" if medals else "beats_sample"
    counted = {*ids} - {*without} if medals else {*ids}
    ranked = rank_entries(
        [
            counts(((run.competition, run.outcome) for run in runs[each.name] if run.competition in counted), goal)
            for each in members
        ]
    )
    rows = [
        _row(
            each,
            place,
            tuple(members[other].name for other in place.like),
            runs[each.name],
            sorted(counted) if medals else (),
        )
        for each, place in zip(members, ranked, strict=True)
    ]
    rows.sort(key=lambda row: (row.ranked.rank, row.standing.name))
    return Table(
        title=title,
        conditions=key,
        ids=tuple(ids),
        goal=goal,
        left_out=left_out(ids, without) if medals else "",
        marks=_marks(members, counted) if any(row.percentile is not None for row in rows) else {},
        rows=tuple(rows),
    )


def runs_of(results: Results, ids: Sequence[str]) -> list[RunResult]:
    """Runs on these competitions."""
    wanted = {*ids}
    return [run for run in results.runs if run.competition in wanted]


def _marks(members: Sequence[Standing], counted: Set[str]) -> dict[str, float]:
    """Means over the competitions; empty where two entries disagree."""
    said = [each.check.results.marks for each in members if each.check.results and each.check.results.marks]
    agreed = all(marks.get(id, first) == first for marks in said for id, first in said[0].items()) if said else False
    return mean_marks(said[0], sorted(counted)) if agreed else {}


def _row(
    standing: Standing, ranked: Ranked, like: tuple[str, ...], runs: Sequence[RunResult], counted: Sequence[str]
) -> Row:
    """``counted``: the competitions of medal rates and the mean percentile, if there are any. All have the same seeds,
    so their rates are those of the report. An entry may not hide a percentile where it is low."""
    hours = [run.hours for run in runs if run.hours is not None]
    costs = [run.usd for run in runs if run.usd is not None]
    seeds: dict[str, dict[str, Outcome]] = defaultdict(dict)
    for run in runs:
        seeds[str(run.seed)][run.competition] = run.outcome
    found = split_rates("these", counted, seeds, kinds=(*MEDALS, PERCENTILE))
    rates = {kind: rate.mean for kind, rate in found.rates.items() if rate}
    return Row(
        standing=standing,
        ranked=ranked,
        like=like,
        seeds=len(seeds),
        runs=len(runs),
        medals=tuple((medal, rates[medal]) for medal in MEDALS if medal in rates),
        percentile=None if found.unplaced else rates.get(PERCENTILE),
        valid=100 * sum(run.submission == "valid" for run in runs) / len(runs),
        hours=sum(hours) / len(hours) if hours else None,
        usd=sum(costs) if costs else None,
        known_usd=len(costs),
    )
