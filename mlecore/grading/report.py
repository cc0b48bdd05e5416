"""Grade one submission and place it among humans."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from attrs import asdict

from mlecore.data.prepared import Prepared
from mlecore.errors import DataError, GradingError, InvalidSubmission, MlecoreError
from mlecore.grading.medals import thresholds_for
from mlecore.grading.rank import rank_of, read_leaderboard
from mlecore.model.competition import Competition
from mlecore.model.facts import Facts, Thresholds
from mlecore.model.report import Report
from mlecore.model.sample import open_sample

DECIMALS = 5
"""Scores are rounded to so many decimals before they meet thresholds, as the published benchmark does."""


def award(facts: Facts, score: float, thresholds: Thresholds | None) -> dict[str, Any]:
    """The part of a report that follows from a score: medals are reached at the threshold, the median must be beaten.

    NaN earns nothing; infinities are compared.
    """
    rounded = _rounded(score)
    gold = thresholds is not None and facts.reaches(rounded, thresholds.gold)
    silver = thresholds is not None and not gold and facts.reaches(rounded, thresholds.silver)
    bronze = thresholds is not None and not (gold or silver) and facts.reaches(rounded, thresholds.bronze)
    return {
        "score": rounded if math.isfinite(rounded) else None,
        "score_text": repr(score),
        "gold_medal": gold,
        "silver_medal": silver,
        "bronze_medal": bronze,
        "any_medal": gold or silver or bronze,
        "above_median": thresholds is not None and facts.better(rounded, thresholds.median),
    }


def _among_agents(facts: Facts, score: float | None, data: Prepared) -> dict[str, Any]:
    """Where a score stands among the reference scores of agents, if those are of the same data."""
    known = facts.reference
    if known is None or data.manifest is None or known.data != data.digest:
        return {}
    earned = {} if score is None else award(facts, score, known)
    places = [name for name in ("gold", "silver", "bronze") if earned.get(f"{name}_medal")]
    places += ["median"] * bool(earned.get("above_median"))
    return {"reference": known, "reference_place": next(iter(places), None)}


def _rounded(score: float) -> float:
    return round(score, DECIMALS) if math.isfinite(score) else score


_FALSE = ("gold_medal", "silver_medal", "bronze_medal", "any_medal", "above_median")
_NOTHING: Mapping[str, Any] = {"score": None, **dict.fromkeys(_FALSE, False)}


Sample = tuple[str, float]
"""The source of the plugin that graded the sample submission, and its score."""


def grade(competition: Competition, submission: Path | None, data: Prepared, sample: Sample | None = None) -> Report:
    """Grade one submission against the answers of ``data``, and place it on the human leaderboard.

    On published data: medals, and the rank where the whole leaderboard is at hand. In any case the sample submission's
    score to compare with (``sample``, where it is known), unless grading that too could break the time limit. An
    invalid or missing submission makes a report that says so; GradingError is raised only for what is not the
    submission's fault.
    """
    from mlecore.data.recheck import require_grading_data
    from mlecore.model.provenance import plugin_use

    facts = competition.facts
    try:
        require_grading_data(facts, data)
    except DataError as error:
        raise GradingError(error.message, fix=error.fix) from error
    kind = data.kind(facts)
    thresholds = thresholds_for(facts) if kind == "published" and facts.comparability != "none" else None
    score: float | None = None
    began = time.monotonic()
    if submission is None or not os.path.lexists(submission):
        result: dict[str, Any] = {**_NOTHING, "status": "none", "reason": "there is no submission"}
    else:
        try:
            score = competition.grade(submission, data.private, data.public)
            result = {**award(facts, score, thresholds), "status": "graded"}
        except InvalidSubmission as error:
            result = {**_NOTHING, "status": "invalid", "reason": str(error)}
    source = plugin_use(competition.plugin).source
    base = sample[1] if sample and sample[0] == source else None
    if base is None and time.monotonic() - began < facts.limits.seconds / 3:
        base = _sample_score(competition, data)
    compared = {} if base is None else _against(facts, score, base)
    compared |= _with_humans(facts, score, base, thresholds, data) if thresholds else _among_agents(facts, score, data)
    return Report(
        competition_id=facts.id,
        gold_threshold=thresholds.gold if thresholds else None,
        silver_threshold=thresholds.silver if thresholds else None,
        bronze_threshold=thresholds.bronze if thresholds else None,
        median_threshold=thresholds.median if thresholds else None,
        submission_exists=result["status"] != "none",
        valid_submission=result["status"] == "graded",
        is_lower_better=facts.lower_is_better,
        created_at=datetime.now(UTC).isoformat(timespec="seconds"),
        submission_path="" if submission is None else str(submission),
        edition=competition.edition,
        comparability=facts.comparability,
        data_kind=kind,
        plugin=f"{competition.plugin.distribution} {competition.plugin.version}",
        plugin_source=source,
        **result,
        **compared,
    )


def _sample_score(competition: Competition, data: Prepared) -> float | None:
    """What the sample submission scores; None if it is missing or cannot be graded."""
    try:
        with open_sample(competition.facts, data.public) as sample:
            return competition.grade(sample, data.private, data.public)
    except MlecoreError:
        return None


def _against(facts: Facts, score: float | None, base: float) -> dict[str, Any]:
    # the sample's score may be undefined, as a correlation with one and the same value everywhere: nothing to beat
    beats = None if score is None or math.isnan(base) else facts.better(score, base)
    return {"sample_score": base if math.isfinite(base) else None, "beats_sample": beats}


def _with_humans(
    facts: Facts, score: float | None, sample: float | None, thresholds: Thresholds, data: Prepared
) -> dict[str, Any]:
    """The rank on the leaderboard that was fetched with the data, else on the competition's own; and the percentiles of
    the thresholds and of the sample submission there."""
    files = [path for path in (data.leaderboard, facts.folder / "leaderboard.csv") if path and path.is_file()]
    scores = read_leaderboard(files[0]) if files else []
    marks = asdict(thresholds) | ({} if sample is None else {"sample": sample})
    ranks = {name: rank_of(_rounded(mark), scores, facts.lower_is_better) for name, mark in marks.items()}
    placed = {name: rank.percentile if rank else 0.0 for name, rank in ranks.items()}  # NaN: no team is worse
    own = None if score is None else rank_of(_rounded(score), scores, facts.lower_is_better)
    found = {"sample_percentile": placed.pop("sample", None), "threshold_percentiles": placed} if scores else {}
    return found | (asdict(own) if own else {})
