"""Do check and grade give the same reason for the same submission, where both refuse it? Over all competitions.

    python benchmarks/same_reasons.py [--only ID ...] [--seed 0] [--seconds 300] [--show 3]

Each competition is prepared from its synthetic data, in a process of its own, and its sample and perfect submission are
mutated as in the conformance kit (``mlecore_testing.mutants``). Exit code 1 if a reason differs.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", default=[], metavar="ID", help="these competitions")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=300.0, help="of one competition; beyond that it is left out")
    parser.add_argument("--show", type=int, default=3, help="pairs of reasons that are shown, of each competition")
    parser.add_argument("--measure", metavar="ID", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(measure(options.measure, options.seed)))
        return 0
    from mlecore.competitions import installed

    totals = {"mutants": 0, "refused": 0, "different": 0}
    left_out = []
    for id in options.only or [facts.id for facts in installed()]:
        argv = [sys.executable, __file__, "--measure", id, "--seed", str(options.seed)]
        try:
            done = subprocess.run(argv, capture_output=True, text=True, timeout=options.seconds, check=False)
            found = json.loads(done.stdout)
        except (subprocess.TimeoutExpired, ValueError):
            left_out.append(id)
            print(f"{id}: left out", flush=True)
            continue
        for name in totals:
            totals[name] += found[name]
        print(f"{id}: {found['mutants']} mutants, {found['refused']} refused by both, {found['different']} differ")
        for name, checked, graded in found["pairs"][: options.show]:
            print(f"    {name}\n        check: {checked[:300]}\n        grade: {graded[:300]}", flush=True)
    words = f"{totals['mutants']} mutants, {totals['refused']} refused by check and grade"
    print(f"{words}, {totals['different']} for different reasons; left out: {', '.join(left_out) or 'none'}")
    return int(totals["different"] > 0)


def measure(id: str, seed: int) -> dict[str, object]:
    """One competition: how many mutants both refuse, and the pairs of reasons that differ."""
    from mlecore_testing.competitions.harness import Harness
    from mlecore_testing.trees import writable

    from mlecore import competition

    with tempfile.TemporaryDirectory() as folder:
        harness = Harness(competition(id, "v1"), Path(folder), seed=seed)
        harness.raw.mkdir()
        harness.make_raw(harness.raw)
        for part in (harness.public, harness.private):
            part.mkdir(parents=True)
        harness.competition.prepare(harness.raw, harness.public, harness.private)
        refused = [each for each in harness.verdicts if each.check.refusal and each.grade.refusal]
        pairs = [
            (each.mutant.name, each.check.refusal, each.grade.refusal)
            for each in refused
            if each.check.refusal != each.grade.refusal
        ]
        writable(Path(folder))
    return {"mutants": len(harness.verdicts), "refused": len(refused), "different": len(pairs), "pairs": pairs}


if __name__ == "__main__":
    sys.exit(main())
