"""Groups of runs as they lie on disk, with drawn results."""

from __future__ import annotations

import json
import random
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import numpy
from attrs import evolve
from mle_ext_report.benchmark import comparable, split_ids

from mlecore.model.agents import Usage
from mlecore.model.backends import Hardware
from mlecore.model.provenance import PluginUse
from mlecore.model.record import Collected, RunRecord, State
from mlecore.model.report import Report
from mlecore.runs.digests import with_digest, with_digests
from mlecore.runs.planning import parse_plan
from mlecore.runs.store import create_group, planned_records

from .grades import report

Fate = Literal["graded", "invalid", "none"]
WAYS = {"gold": 1.0, "silver": 0.93, "bronze": 0.88, "median": 0.75}  # of thresholds from the sample to gold
HARDWARE = Hardware(cpus=8, memory=64 * 2**30, gpus=("NVIDIA A10",))


def write_group(
    runs: Path,
    name: str,
    *,
    agent: str = "baseline",
    skill: float = 0.5,
    competitions: Sequence[str] = split_ids("all"),
    seeds: int = 3,
    medals: bool = True,
    edition: str = "v1",
) -> Path:
    """A finished group. ``skill`` in [0, 1]: how near to gold its agent comes. The same arguments, the same runs."""
    plan = parse_plan(
        f"competitions = {json.dumps(list(competitions))}\nseeds = {seeds}\n[[agents]]\nname = {json.dumps(agent)}\n"
        f"[data]\nedition = {json.dumps(edition)}\nsynthetic = {'false' if medals else 'true'}\n"
    )
    group = create_group(runs, name, plan)
    for record in planned_records(group):
        draw = random.Random(zlib.crc32(f"{agent} {record.competition} {record.seed}".encode()))
        write_run(evolve(record, folder=group.folder / record.name), draw, skill, medals)
    return group.folder


def write_run(record: RunRecord, draw: random.Random, skill: float, medals: bool) -> None:
    """One run's folder: record, grade, graded snapshots; some without a valid submission."""
    fates: tuple[Fate, ...] = ("graded", "invalid", "none")
    fate = draw.choices(fates, (20, 2, 1))[0]
    graded = drawn_report(record.competition, draw, skill, fate, medals)
    if not comparable(record.competition, record.edition):
        graded = evolve(drawn_report(record.competition, draw, skill, fate, False), comparability="none")
        graded = evolve(graded, data_kind="published")
    graded = evolve(graded, edition=record.edition)
    used = draw.uniform(0.1, 1.0) * record.limits.time
    record = evolve(
        record,
        agent=PluginUse(name=record.agent.name, version="1.0", source="5" * 64),
        state="graded",
        ended=draw.choices(("finished", "timed_out", "crashed", "oom"), (16, 3, 1, 1))[0],
        seconds=used,
        hardware=HARDWARE,
        data_digest=f"{zlib.crc32(record.competition.encode()):08x}",
        usage=Usage(
            input_tokens=draw.randrange(10**6), output_tokens=draw.randrange(10**5), cost_usd=draw.random() * 9
        ),
        collected=Collected(files=1, bytes=1, candidate="submission/submission.csv") if fate != "none" else None,
    )
    record.folder.mkdir(exist_ok=True)
    if fate != "none":
        (record.folder / "submission").mkdir()
        (record.folder / "submission" / "submission.csv").write_text("\n")
    (record.folder / "grade.json").write_text(json.dumps(graded.to_json()))
    (record.folder / "run.json").write_bytes(with_digests(record).dumps())
    write_history(record, graded, used)


def write_history(record: RunRecord, report: Report, used: float) -> None:
    """Three snapshots on the way: half of the way, most of it, all of it."""
    points: list[dict[str, Any]] = []
    for share, time in ((0.5, 0.1), (0.8, 0.5), (1.0, 0.9)) if report.status == "graded" else ():
        assert report.score is not None and report.sample_score is not None
        score = report.sample_score + share * (report.score - report.sample_score)
        medal = report.medal if share == 1.0 else None
        seconds = time * used
        points.append({"seconds": seconds, "file": "x", "status": "graded", "score": score, "medal": medal})
    (record.folder / "snapshots.json").write_bytes(with_digest({"points": points}))


def drawn_report(competition: str, draw: random.Random, skill: float, fate: Fate, medals: bool = True) -> Report:
    """Thresholds are drawn by the competition's name, so that all runs on it have the same."""
    scale = random.Random(competition)
    lower = scale.random() < 0.4
    gold, sample = (0.1, 1.0) if lower else (scale.uniform(0.85, 0.99), 0.5)

    def at(way: float) -> float:
        return round(sample + way * (gold - sample), 5)

    thresholds = {name: at(way) for name, way in WAYS.items()}
    way = min(1.1, max(-0.1, draw.gauss(0.55 + 0.4 * skill, 0.2)))
    score = at(way) if fate == "graded" else None

    def reaches(name: str) -> bool:
        if score is None or not medals:
            return False
        return score <= thresholds[name] if lower else score >= thresholds[name]

    medal = next((name for name in ("gold", "silver", "bronze") if reaches(name)), None)
    return report(
        score,
        medal,
        competition_id=competition,
        **{f"{name}_threshold": reached if medals else None for name, reached in thresholds.items()},
        above_median=reaches("median") and score != thresholds["median"],
        submission_exists=fate != "none",
        is_lower_better=lower,
        status=fate,
        reason=f"it has {draw.randrange(99)} rows, not 100" if fate == "invalid" else "",
        data_kind="published" if medals else "synthetic",
        sample_score=sample,
        beats_sample=None if score is None else way > 0,
        **({} if score is None or not medals else drawn_rank(way)),
        **(drawn_marks() if medals else {}),
    )


def drawn_rank(way: float) -> dict[str, Any]:
    """Among 1,000 teams, spread evenly between the thresholds."""
    ways, better = (0.0, *reversed(WAYS.values()), 1.1), (0.95, 0.5, 0.1, 0.05, 0.01, 0.0)
    rank = 1 + round(1000 * float(numpy.interp(way, ways, better)))
    return {"rank": rank, "teams": 1000, "percentile": (1001 - rank) / 10}


def drawn_marks() -> dict[str, Any]:
    """Where the thresholds and the sample submission are among those teams."""
    placed = {name: drawn_rank(way)["percentile"] for name, way in WAYS.items()}
    return {"threshold_percentiles": placed, "sample_percentile": drawn_rank(0.0)["percentile"]}


def write_result(record: RunRecord, fate: str) -> None:
    """One run's folder by a letter: M gold (0.9), + valid (0.6), x invalid, f failed, c cancelled, ? damaged."""
    states: dict[str, State] = {"f": "failed", "c": "cancelled"}
    record = evolve(
        record,
        agent=PluginUse(name=record.agent.name, version="1.0", source="5" * 64),
        state=states.get(fate, "graded"),
        data_kind="published",
        ended="finished",
        seconds=3600.0,
    )
    record.folder.mkdir()
    if record.state == "graded":
        (record.folder / "grade.json").write_text(json.dumps(_report_of(record, fate).to_json()))
    (record.folder / "run.json").write_bytes(b"{" if fate == "?" else with_digests(record).dumps())


def _report_of(record: RunRecord, fate: str) -> Report:
    score = {"M": 0.9, "+": 0.6}.get(fate)
    return report(
        score,
        "gold" if fate == "M" else None,
        competition_id=record.competition,
        reason="too few rows" if score is None else "",
    )
