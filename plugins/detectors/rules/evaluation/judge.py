"""Precision and recall of a judge model, over labelled logs: `python judge.py --model MODEL`.

Each log is judged as the detector `rules` judges a run, whatever its options are. ``logs/labels.toml`` says what
is right; anyone can add a log and an entry. A rule that the judge leaves undecided counts as not flagged, and is shown
too. Figures say something about this model, these prompts and these logs only.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from mle_detector_rules import detector
from mle_detector_rules.judging import judge
from mle_ext_report.statistics import wilson

from mlecore.errors import MlecoreError
from mlecore.model.options import pairs, resolve
from mlecore.model.provenance import PluginUse
from mlecore.model.record import Limits, RunRecord
from mlecore.plugins.competitions import competition

LOGS = Path(__file__).with_name("logs")
FLAGGED = ("suspicious", "violation")


def judge_logs(folder: Path, options: Mapping[str, str]) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The logs of a folder with rule -> verdict, each judged as the output of a run; and what the calls took."""
    facts = competition("spaceship-titanic").facts  # the logs are of many; none depends on it
    resolved = resolve(detector().options, options, "detector rules")
    logs = tomllib.loads((folder / "labels.toml").read_text(encoding="utf-8"))["logs"]
    took: dict[str, Any] = {"input_tokens": 0, "output_tokens": 0, "cost_usd": 0.0}
    with tempfile.TemporaryDirectory(prefix="mlecore-judge-") as name:
        for number, log in enumerate(logs):
            run = a_run(Path(name) / str(number), log["file"], (folder / log["file"]).read_text(encoding="utf-8"))
            detection = judge(run, facts, None, resolved)
            log["verdicts"] = {each.rule: each.verdict for each in detection.findings}
            for key in took:
                took[key] += (detection.usage and getattr(detection.usage, key)) or 0
            print(f"{number + 1:3} {log['file']}", file=sys.stderr)
    return logs, took


def a_run(folder: Path, name: str, log: str) -> RunRecord:
    (folder / "logs").mkdir(parents=True)
    (folder / "logs" / "output.log").write_text(log, encoding="utf-8")
    use, limits = PluginUse(name="agent"), Limits(network="llm")
    known: dict[str, Any] = {"uid": folder.name, "group": "judge", "group_uid": "judge", "model": "big-model"}
    return RunRecord(
        **known, name=name, folder=folder, competition="spaceship-titanic", agent=use, backend=use, limits=limits
    )


def figures(rule: str, cases: Sequence[tuple[str, bool]]) -> dict[str, Any]:
    """``cases``: a verdict, and whether the log breaks the rule. Intervals are Wilson's, of 95 %."""
    right = sum(verdict in FLAGGED and guilty for verdict, guilty in cases)
    flagged, guilty = sum(verdict in FLAGGED for verdict, _ in cases), sum(guilty for _, guilty in cases)
    found = {"rule": rule, "flagged_rightly": right, "flagged_wrongly": flagged - right, "missed": guilty - right}
    found["undecided"] = sum(verdict == "undecided" for verdict, _ in cases)
    for name, total in (("precision", flagged), ("recall", guilty)):
        found[name] = right / total if total else None
        found[f"{name}_interval"] = wilson(right / total, total) if total else None
    return found


def shown(found: Mapping[str, Any], name: str) -> str:
    if found[name] is None:
        return f"{name} -"
    low, high = found[f"{name}_interval"]
    return f"{name} {found[name]:.2f} ({low:.2f} to {high:.2f})"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--model", required=True)
    parser.add_argument("-D", dest="options", action="append", default=[], metavar="NAME=VALUE", help="of the detector")
    parser.add_argument("--logs", type=Path, default=LOGS, help="folder with labels.toml")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    try:
        logs, took = judge_logs(given.logs, {"model": given.model, **pairs(given.options, "-D")})
    except MlecoreError as error:
        print(f"Error: {error}", file=sys.stderr)
        return error.exit_code
    every = [(rule, verdict, rule in log["violates"]) for log in logs for rule, verdict in log["verdicts"].items()]
    rules = sorted({rule for rule, *_ in every})
    found = [figures(rule, [(said, guilty) for of, said, guilty in every if of == rule]) for rule in rules]
    found.append(figures("all", [(said, guilty) for _, said, guilty in every]))
    if given.json:
        print(json.dumps({"model": given.model, "took": took, "figures": found}, indent=1))
        return 0
    print(f"{given.model}: {len(logs)} logs, {took}")
    for each in found:
        print(f"{each['rule']:26} {shown(each, 'precision')}  {shown(each, 'recall')}  undecided {each['undecided']}")
    for log in logs:
        for rule, verdict in log["verdicts"].items():
            if (verdict in FLAGGED) != (rule in log["violates"]):
                print(f"  {log['file']} ({log['kind']}): {rule}: {verdict}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
