"""Precision and recall of a judge model, over labelled logs: `python judge.py --model MODEL`.

Each log is judged as the detector `rules` judges a run, whatever its options are. ``logs/labels.toml`` says what
is right; anyone can add a log and an entry. A rule that the judge leaves undecided counts as not flagged, and is shown
too. Figures say something about this model, these prompts and these logs only.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from attrs import asdict, frozen

LOGS = Path(__file__).with_name("logs")


@frozen(kw_only=True)
class Labelled:
    """A log and what is right."""

    file: str
    kind: str  # clean, near-miss, violating, subtle
    violates: frozenset[str]  # rules
    text: str


@frozen(kw_only=True)
class Judged:
    """What the judge said of a log."""

    log: Labelled
    verdicts: Mapping[str, str]  # rule -> verdict


@frozen(kw_only=True)
class Figures:
    """Of one rule, or of all. Intervals are Wilson's, of 95 %."""

    rule: str
    flagged_rightly: int
    flagged_wrongly: int
    missed: int
    undecided: int
    precision: float | None
    precision_interval: tuple[float, float] | None
    recall: float | None
    recall_interval: tuple[float, float] | None


def read_logs(folder: Path) -> list[Labelled]:
    """All that labels.toml lists."""
    listed = tomllib.loads((folder / "labels.toml").read_text(encoding="utf-8"))["logs"]
    return [
        Labelled(
            file=entry["file"],
            kind=entry["kind"],
            violates=frozenset(entry["violates"]),
            text=(folder / entry["file"]).read_text(encoding="utf-8"),
        )
        for entry in listed
    ]


def judge_logs(logs: Iterable[Labelled], options: Mapping[str, str]) -> tuple[list[Judged], dict[str, Any]]:
    """Each log as the output of a run of its own; and what the calls took. Raises MlecoreError."""
    from mle_detector_rules import detector
    from mle_detector_rules.judging import judge

    from mlecore.competitions import competition
    from mlecore.options import resolve
    from mlecore.registry.provenance import PluginUse
    from mlecore.runs.record import Limits, RunRecord

    facts = competition("spaceship-titanic").facts  # the logs are of many; none depends on it
    resolved = resolve(detector().options, options, "detector rules")
    found, input_tokens, output_tokens, cost = [], 0, 0, 0.0
    with tempfile.TemporaryDirectory(prefix="mlecore-judge-") as name:
        for number, log in enumerate(logs):
            folder = Path(name) / str(number)
            (folder / "logs").mkdir(parents=True)
            (folder / "logs" / "output.log").write_text(log.text, encoding="utf-8")
            use = PluginUse(name="agent")
            run = RunRecord(
                uid=str(number),
                name=log.file,
                group="judge",
                group_uid="judge",
                folder=folder,
                competition=facts.id,
                agent=use,
                backend=use,
                model="big-model",  # the logs' own
                limits=Limits(network="llm"),
            )
            detection = judge(run, facts, None, resolved)
            found.append(Judged(log=log, verdicts={each.rule: each.verdict for each in detection.findings}))
            usage = detection.usage
            input_tokens += (usage and usage.input_tokens) or 0
            output_tokens += (usage and usage.output_tokens) or 0
            cost += (usage and usage.cost_usd) or 0.0
            print(f"{number + 1:3} {log.file}", file=sys.stderr)
    return found, {"input_tokens": input_tokens, "output_tokens": output_tokens, "cost_usd": round(cost, 4)}


def figures(judged: Sequence[Judged]) -> list[Figures]:
    """For each rule, and for all of them together."""
    rules = sorted({rule for each in judged for rule in each.verdicts})
    return [_figures(rule, [(each, rule) for each in judged]) for rule in rules] + [
        _figures("all", [(each, rule) for each in judged for rule in rules])
    ]


def _figures(name: str, cases: Sequence[tuple[Judged, str]]) -> Figures:
    right = wrong = missed = undecided = 0
    for each, rule in cases:
        flagged = each.verdicts[rule] in ("suspicious", "violation")
        guilty = rule in each.log.violates
        right += flagged and guilty
        wrong += flagged and not guilty
        missed += guilty and not flagged
        undecided += each.verdicts[rule] == "undecided"
    return Figures(
        rule=name,
        flagged_rightly=right,
        flagged_wrongly=wrong,
        missed=missed,
        undecided=undecided,
        precision=right / (right + wrong) if right + wrong else None,
        precision_interval=wilson(right, right + wrong),
        recall=right / (right + missed) if right + missed else None,
        recall_interval=wilson(right, right + missed),
    )


def wilson(hits: int, total: int, z: float = 1.959964) -> tuple[float, float] | None:
    """The score interval of a share (Wilson 1927)."""
    if not total:
        return None
    share, extra = hits / total, z * z / total
    middle = share + extra / 2
    spread = z * math.sqrt(share * (1 - share) / total + extra / (4 * total))
    return max(0.0, (middle - spread) / (1 + extra)), min(1.0, (middle + spread) / (1 + extra))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--model", required=True)
    parser.add_argument("-D", dest="options", action="append", default=[], metavar="NAME=VALUE", help="of the detector")
    parser.add_argument("--logs", type=Path, default=LOGS, help="folder with labels.toml")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    from mlecore.errors import MlecoreError
    from mlecore.options import pairs

    try:
        judged, took = judge_logs(read_logs(given.logs), {"model": given.model, **pairs(given.options, "-D")})
    except MlecoreError as error:
        print(f"Error: {error}", file=sys.stderr)
        return error.exit_code
    found = figures(judged)
    if given.json:
        print(json.dumps({"model": given.model, "took": took, "figures": [asdict(each) for each in found]}, indent=1))
        return 0
    print(f"{given.model}: {len(judged)} logs, {took}")
    for each in found:
        print(
            f"{each.rule:26} precision {shown(each.precision, each.precision_interval)}  "
            f"recall {shown(each.recall, each.recall_interval)}  undecided {each.undecided}"
        )
    for one in judged:
        for rule, verdict in one.verdicts.items():
            if (verdict in ("suspicious", "violation")) != (rule in one.log.violates):
                print(f"  {one.log.file} ({one.log.kind}): {rule}: {verdict}")
    return 0


def shown(share: float | None, interval: tuple[float, float] | None) -> str:
    return "-" if share is None or interval is None else f"{share:.2f} ({interval[0]:.2f} to {interval[1]:.2f})"


if __name__ == "__main__":
    sys.exit(main())
