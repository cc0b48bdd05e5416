"""What each table of a report's page must say."""

from __future__ import annotations

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


def table_rows(expected: Mapping[str, Any]) -> Iterator[tuple[str, dict[tuple[str, ...], Cells]]]:
    """Title of a table -> its rows, by the first cells of each."""
    yield "Setups", _overview(expected)
    for key, setup in zip("ABCDEFGH", expected["setups"], strict=False):
        goal, medals = RATES[setup["goal"]], setup["goal"] == "any_medal"
        runs = setup["runs"].rows
        yield f"{key} Rates", _rates(setup, medals)
        yield f"{key} Medals of {key}", _matrix(runs)
        if len(setup["pass_at_k"]) > 1:
            yield (
                f"{key} Best of k runs: {goal.removesuffix(' %')}",
                {
                    (str(row["k"]),): {"competitions": row["competitions"], "pass@k %": row["share"]}
                    | ({FLAGGED: row["without_flagged"]} if setup["flagged"] else {})
                    for row in setup["pass_at_k"]
                },
            )
        yield (
            f"{key} By kind of competition",
            {
                kind: {
                    "competitions": row["competitions"],
                    "runs": row["runs"],
                    goal: row["goal"],
                    **({FLAGGED: row["goal_without_flagged"]} if setup["flagged"] else {}),
                    "95 % interval": row["interval"],
                    "valid %": row["valid"],
                    "position": row["position"],
                }
                for kind, row in setup["slices"].rows.items()
            },
        )
        yield (
            f"{key} Over time",
            {
                (_duration(row["seconds"]),): {
                    "runs": row["runs"],
                    goal: row[setup["goal"]],
                    "valid %": row["valid"],
                    "position": row["position"],
                }
                for row in setup["progress"]
            },
        )
        yield (
            f"{key} How the runs ended",
            {
                kind: {"runs": len(row["runs"]), "for example": row["runs"][0]}
                for kind, row in setup["failures"].rows.items()
            },
        )
        yield (
            f"{key} Findings of detectors",
            {
                (row["run"], found["detector"], found["verdict"], _sure(found), found["rule"]): {
                    "summary": WORDS,
                    "where": WORDS,
                }
                for row in runs.values()
                for found in (*row["suspicions"], *row["remarks"])
            },
        )
        yield f"{key} Detectors", {name: _detector(row) for name, row in setup["detectors"].rows.items()}
        yield f"{key} Runs", {(id, str(seed)): _run(row, runs, medals) for (id, seed), row in runs.items()}
    if expected["side_by_side"]:
        yield "Side by side", _side_by_side(expected["side_by_side"])
    for found in expected["comparisons"]:
        yield from _comparison(found)
    if expected["published"]:
        yield "Any medal, among the published entries", _published(expected)


def _rates(setup: Mapping[str, Any], medals: bool) -> dict[tuple[str, ...], Cells]:
    names = [name for name in RATES if name != "beats_sample"] if medals else ["beats_sample", "valid", "made"]
    column = f"95 % interval of {RATES[names[0]].removesuffix(' %')}"
    found = {}
    for row in setup["rates"]:
        rates = row["rates"]
        if not rates["seeds"] and rates["split"] != "these":
            continue
        start = {"competitions": rates["competitions"], "seeds": len(rates["seeds"])}
        figures = {RATES[name]: rates["rates"][name] for name in names}
        found[(rates["split"],)] = {**start, **figures, column: row["intervals"][names[0]]}
        if row["without_flagged"]:
            clean = {RATES[name]: row["without_flagged"][name] for name in names}
            found[(f"{rates['split']}, flagged as failures",)] = {**start, **clean, column: None}
    return found


def _matrix(runs: Mapping[tuple[str, int], Mapping[str, Any]]) -> dict[tuple[str, ...], Cells]:
    found: dict[tuple[str, ...], Cells] = {}
    for (id, seed), row in runs.items():
        if row["submission"] != "valid":
            mark = "×"
        elif row["medal"] in ("gold", "silver", "bronze"):
            mark = row["medal"][0].upper()
        else:
            mark = "+" if row["above_median"] or row["beats_sample"] else "·"
        found.setdefault((id,), {})[str(seed)] = mark
    return found


def _overview(expected: Mapping[str, Any]) -> dict[tuple[str, ...], Cells]:
    """Rates over the planned competitions, and sums over the runs."""
    found: dict[tuple[str, ...], Cells] = {}
    goals = " or ".join(sorted({RATES[setup["goal"]].removesuffix(" %") for setup in expected["setups"]})) + " %"
    for key, setup in zip("ABCDEFGH", expected["setups"], strict=False):
        planned = len({id for id, _ in setup["runs"].rows})
        row = next(row for row in setup["rates"] if row["rates"]["competitions"] == planned)
        costs = {unit: cost["total"] for (unit,), cost in setup["costs"].rows.items()}
        found[(key,)] = {
            "agent": WORDS,
            "runs": len(setup["runs"].rows),
            goals: row["rates"]["rates"][setup["goal"]],
            "95 % interval": row["intervals"][setup["goal"]],
            "valid %": row["rates"]["rates"]["valid"],
            "time": _duration(3600 * costs["hours"]),
            "tokens": costs["input tokens"] + costs["output tokens"],
            "us dollars": costs["US dollars"],
        }
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


def _run(row: Mapping[str, Any], runs: Mapping[Any, Mapping[str, Any]], medals: bool) -> Cells:
    cells: Cells = {"score": row["score"] if row["score"] is not None else row["score_text"], "metric": WORDS}
    if medals:
        cells["medal"] = "no medal" if row["medal"] == "none" else row["medal"]
        cells |= {name: row[f"{name}_threshold"] for name in ("gold", "silver", "bronze", "median")}
    else:
        cells |= {"sample": row["sample_score"], "beats sample": {True: "yes", False: "no"}.get(row["beats_sample"])}
    if any(each["position"] is not None for each in runs.values()):
        cells["position"] = row["position"]
    if any(each["rank"] for each in runs.values()):
        cells["rank"] = f"{row['rank']} of {row['teams']}" if row["rank"] else None
    return {**cells, "submission": WORDS, "group": WORDS}


def _comparison(found: Mapping[str, Any]) -> Iterator[tuple[str, dict[tuple[str, ...], Cells]]]:
    yield (
        "A against B",
        {
            (RATES[row["rate"]].removesuffix(" %") + ", flagged as failures" * row["without_flagged"],): {
                "a %": row["a"],
                "b %": row["b"],
                "difference": row["difference"],
                "95 % interval": row["interval"],
                "p": _p(row["p"]),
                "smallest p": _p(row["smallest_p"]),
            }
            for row in found["differences"]
        },
    )


def _side_by_side(found: Mapping[str, Any]) -> dict[tuple[str, ...], Cells]:
    rows = {}
    for id, of in found["rows"].items():
        scores = {f"{key.lower()} score": of[key]["score"] for key in of}
        shares = {f"{key.lower()} {RATES[found['goal']]}": of[key]["goal"] for key in of}
        rows[(id,)] = {**scores, **shares, "a - b": of["A"]["goal"] - of["B"]["goal"], "groups": WORDS}
    return rows


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
    """The largest unit, and the next one if any is left: 2d 4h, 4h, 3m 20s."""
    units = {"d": 86400, "h": 3600, "m": 60, "s": 1}
    counts, rest = {}, int(seconds)
    for name, length in units.items():
        counts[name], rest = divmod(rest, length)
    first = next(number for number, name in enumerate(units) if counts[name])
    return " ".join(f"{counts[name]}{name}" for name in list(units)[first : first + 2] if counts[name])
