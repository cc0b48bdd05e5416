"""What each table of a report's page must say."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping
from typing import Any

Cells = dict[str, Any]
"""Heading of a column -> what its cell must say; WORDS where it is no figure, if there is such a column."""

WORDS = object()
FLAGGED = "flagged as failures %"
RATES = {
    "any_medal": "any medal %",
    "gold": "gold %",
    "silver": "silver %",
    "bronze": "bronze %",
    "above_median": "above median %",
    "valid": "valid %",
    "made": "made %",
    "beats_sample": "beats sample %",
}


KEYS = "ABCDEFGH"


def table_rows(expected: Mapping[str, Any]) -> Iterator[tuple[str, dict[tuple[str, ...], Cells]]]:
    """Title of a table -> its rows, by the first cells of each."""
    setups = dict(zip(KEYS, expected["setups"], strict=False))
    goal = expected["setups"][0]["goal"]
    medals = goal == "any_medal"
    yield "Setups", _overview(setups)
    yield "Rates by split", {row: cells for key, setup in setups.items() for row, cells in _rates(key, setup, medals)}
    yield "Medals by competition" if medals else "Results by competition", _matrix(setups)
    yield "Scores" if medals else "Scores without medals", _strips(setups)
    yield (
        f"Best of k runs: {RATES[goal].removesuffix(' %')}",
        {
            (key, str(row["k"])): {
                "competitions": row["competitions"],
                "pass@k %": row["share"],
                FLAGGED: row["without_flagged"],
            }
            for key, setup in setups.items()
            if len(setup["pass_at_k"]) > 1
            for row in setup["pass_at_k"]
        },
    )
    yield (
        "By kind of competition",
        {
            (key, *kind): {
                "competitions": row["competitions"],
                "runs": row["runs"],
                RATES[goal]: row["goal"],
                FLAGGED: row["goal_without_flagged"],
                "95 % interval": row["interval"],
                "valid %": row["valid"],
                "position": row["position"],
            }
            for key, setup in setups.items()
            for kind, row in setup["slices"].rows.items()
        },
    )
    yield (
        "Over time",
        {
            (key, _duration(row["seconds"])): {
                "runs": row["runs"],
                RATES[goal]: row[goal],
                "valid %": row["valid"],
                "position": row["position"],
            }
            for key, setup in setups.items()
            for row in setup["progress"]
        },
    )
    yield "Runs without a valid submission", _failures(setups)
    yield "How the agents' processes ended", _endings(setups)
    yield "What the findings change", _flagged(setups)
    yield (
        "Findings of detectors",
        {
            (key, row["run"], found["detector"], found["verdict"], _sure(found), found["rule"]): {
                "summary": WORDS,
                "where": WORDS,
            }
            for key, setup in setups.items()
            for row in setup["runs"].rows.values()
            for found in (*row["suspicions"], *row["remarks"])
        },
    )
    yield (
        "Detectors",
        {
            (key, *name): _detector(row)
            for key, setup in setups.items()
            for name, row in setup["detectors"].rows.items()
        },
    )
    yield (
        "Runs",
        {
            (key, id, str(seed)): _run(row)
            for key, setup in setups.items()
            for (id, seed), row in setup["runs"].rows.items()
        },
    )
    yield "Pairs of setups", {row: cells for found in expected["comparisons"] for row, cells in _pair(found)}
    if expected["published"]:
        yield "Any medal, among the published entries", _published(expected)


def _rates(key: str, setup: Mapping[str, Any], medals: bool) -> Iterator[tuple[tuple[str, ...], Cells]]:
    names = [name for name in RATES if name != "beats_sample"] if medals else ["beats_sample", "valid", "made"]
    column = f"95 % interval of {RATES[names[0]].removesuffix(' %')}"
    for row in setup["rates"]:
        rates = row["rates"]
        if not rates["seeds"] and rates["split"] != "these":
            continue
        start = {"competitions": rates["competitions"], "seeds": len(rates["seeds"])}
        figures = {RATES[name]: rates["rates"][name] for name in names}
        yield (key, rates["split"]), {**start, **figures, column: row["intervals"][names[0]]}
        if row["without_flagged"]:
            clean = {RATES[name]: row["without_flagged"][name] for name in names}
            yield (key, f"{rates['split']}, flagged as failures"), {**start, **clean, column: None}


def _matrix(setups: Mapping[str, Mapping[str, Any]]) -> dict[tuple[str, ...], Cells]:
    """A sign per seed, then the mean score."""
    signs: dict[tuple[str, str], list[str]] = {}
    scores: dict[tuple[str, str], list[float]] = {}
    for key, setup in setups.items():
        for (id, _), row in sorted(setup["runs"].rows.items()):
            if row["submission"] != "valid":
                sign = "×"
            elif row["medal"] in ("gold", "silver", "bronze"):
                sign = row["medal"][0].upper()
            else:
                better = row["above_median"] if row["medal"] else row["beats_sample"]
                sign = "+" if better else "·"
            signs.setdefault((id, key), []).append(sign)
            scores.setdefault((id, key), []).extend([] if row["score"] is None else [row["score"]])
    found: dict[tuple[str, ...], Cells] = {}
    for (id, key), each in signs.items():
        known = scores[id, key]
        found.setdefault((id,), {})[key.lower()] = " ".join(
            [*each, *([f"{statistics.fmean(known):.5f}"] if known else [])]
        )
    return found


def _strips(setups: Mapping[str, Mapping[str, Any]]) -> dict[tuple[str, ...], Cells]:
    """Their thresholds; the dots are looked at by themselves."""
    found: dict[tuple[str, ...], Cells] = {}
    for setup in setups.values():
        for (id, _), row in setup["runs"].rows.items():
            if row["score"] is not None:
                ends = {"sample": row["sample_score"], "gold": row["gold_threshold"]}
                scale = "sample median bronze silver gold best human" if row["gold_threshold"] else "sample best run"
                found[(id,)] = {"metric": WORDS, **ends, scale: WORDS}
    return found


def _overview(setups: Mapping[str, Mapping[str, Any]]) -> dict[tuple[str, ...], Cells]:
    """Rates over the planned competitions and by split, and sums over the runs."""
    found: dict[tuple[str, ...], Cells] = {}
    for key, setup in setups.items():
        goal = setup["goal"]
        planned = len({id for id, _ in setup["runs"].rows})
        row = next(row for row in setup["rates"] if row["rates"]["competitions"] == planned)
        costs = {unit: cost["total"] for (unit,), cost in setup["costs"].rows.items()}
        complete = [each["rates"] for each in setup["rates"] if each["rates"]["seeds"]]
        splits = {f"{each['split'].lower()} %": each["rates"][goal] for each in complete}
        found[(key,)] = {
            "agent": WORDS,
            "runs": len(setup["runs"].rows),
            RATES[goal]: row["rates"]["rates"][goal],
            "95 % interval": row["intervals"][goal],
            **{RATES[medal]: row["rates"]["rates"].get(medal) for medal in ("gold", "silver", "bronze")},
            "valid %": row["rates"]["rates"]["valid"],
            "time": _duration(3600 * costs["hours"]),
            "us dollars": costs["US dollars"],
            "tokens": costs["input tokens"] + costs["output tokens"],
            "flagged": setup["flagged"] if setup["detectors"].rows else None,
            **(splits if len(splits) > 1 else {}),
        }
    return found


def _failures(setups: Mapping[str, Mapping[str, Any]]) -> dict[tuple[str, ...], Cells]:
    found: dict[tuple[str, ...], list[tuple[str, list[str]]]] = {}
    for key, setup in setups.items():
        for kind, row in setup["failures"].rows.items():
            found.setdefault(kind, []).append((key, row["runs"]))
    return {
        kind: {
            "runs": sum(len(runs) for _, runs in each),
            "by setup": ", ".join(f"{key} {len(runs)}" for key, runs in each) if len(setups) > 1 else None,
            "for example": each[0][1][0],
        }
        for kind, each in found.items()
    }


def _endings(setups: Mapping[str, Mapping[str, Any]]) -> dict[tuple[str, ...], Cells]:
    shown = {key: of for key, of in setups.items() if of["process_ends"].keys() > {"finished"}}
    every = {how for of in shown.values() for how in of["process_ends"]}
    return {(key,): {how: of["process_ends"].get(how, 0) for how in every} for key, of in shown.items()}


def _flagged(setups: Mapping[str, Mapping[str, Any]]) -> dict[tuple[str, ...], Cells]:
    found: dict[tuple[str, ...], Cells] = {}
    for key, setup in setups.items():
        planned = len({id for id, _ in setup["runs"].rows})
        row = next(row for row in setup["rates"] if row["rates"]["competitions"] == planned)
        if setup["flagged"]:
            rates = {"all runs %": row["rates"]["rates"][setup["goal"]], FLAGGED: row["without_flagged"][setup["goal"]]}
            found[(key,)] = {"flagged": setup["flagged"], "rate": WORDS, **rates}
    return found


def _detector(row: Mapping[str, Any]) -> Cells:
    names = ("violation", "suspicious", "failed", "undecided", "note", "clean")
    return {
        "version": WORDS,
        **{name: row["outcomes"].get(name, 0) for name in names},
        "not judged": row["runs"] - sum(row["outcomes"].values()),
        "tokens": row["tokens"],
        "us dollars": row["cost_usd"],
    }


def _sure(found: Mapping[str, Any]) -> str:
    return "-" if found["confidence"] is None else f"{100 * found['confidence']:.0f}"


def _run(row: Mapping[str, Any]) -> Cells:
    return {
        "score": row["score"] if row["score"] is not None else row["score_text"],
        "metric": WORDS,
        "medal": "no medal" if row["medal"] == "none" else row["medal"],
        **{name: row[f"{name}_threshold"] for name in ("gold", "silver", "bronze", "median")},
        "sample": row["sample_score"],
        "beats sample": {True: "yes", False: "no"}.get(row["beats_sample"]),
        "position": row["position"],
        "rank": f"{row['rank']} of {row['teams']}" if row["rank"] else None,
        "submission": WORDS,
        "group": WORDS,
    }


def _pair(found: Mapping[str, Any]) -> Iterator[tuple[tuple[str, ...], Cells]]:
    for row in found["differences"]:
        rate = RATES[row["rate"]].removesuffix(" %") + ", flagged as failures" * row["without_flagged"]
        yield (
            ("A - B", rate),
            {
                "competitions": found["competitions"],
                "first %": row["a"],
                "second %": row["b"],
                "difference": row["difference"],
                "95 % interval": row["interval"],
                "p": _p(row["p"]),
                "smallest p": _p(row["smallest_p"]),
                "wins by score": found["a_wins"],
                "95 % interval of wins": found["a_wins_interval"],
            },
        )


def _published(expected: Mapping[str, Any]) -> dict[tuple[str, ...], Cells]:
    """By agent, models and Low: an agent has several entries."""
    words = dict.fromkeys(("date", "known leak", "reports"), WORDS)
    found: dict[tuple[str, ...], Cells] = {}
    for (agent, models, hours), entry in expected["published"].rows.items():
        rates = {split: {"mean": mean, "sem": sem} for split, (mean, sem) in entry["rates"].items()}
        others = {f"{split} %": rates[split] for split in ("medium", "high", "all")}
        found[agent, models, _plus_minus(rates["low"])] = {**others, "hours": hours, **words}
    for key, own in zip("ABCDEFGH", expected["own"], strict=False):
        others = {f"{split} %": own["rates"].get(split) for split in ("medium", "high", "all")}
        found[f"→ {key}", "", _plus_minus(own["rates"].get("low"))] = {**others, "hours": "", **words}
    return found


def _p(value: float) -> float | str:
    return value if value >= 0.0001 else "< 0.0001"


def _plus_minus(rate: Mapping[str, float | None] | None) -> str:
    if rate is None:
        return "-"
    return f"{rate['mean']:.2f}" + (f" ± {rate['sem']:.2f}" if rate["sem"] is not None else "")


def _duration(seconds: float) -> str:
    """The largest unit, and the next one if any is left: 2d 4h, 28h, 3m 20s; days from two on."""
    units = {**({"d": 86400} if seconds >= 172800 else {}), "h": 3600, "m": 60, "s": 1}
    counts, rest = {}, int(seconds)
    for name, length in units.items():
        counts[name], rest = divmod(rest, length)
    first = next(number for number, name in enumerate(units) if counts[name])
    return " ".join(f"{counts[name]}{name}" for name in list(units)[first : first + 2] if counts[name])
