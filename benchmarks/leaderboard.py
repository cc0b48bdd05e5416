"""How long `mlecore leaderboard build` takes, and how much memory: by default 200 signed entries of 225 runs.

    .venv/bin/python benchmarks/leaderboard.py [--entries 200] [--seeds 3] [--split all] [--rounds 2]

One drawn group is exported and signed; every entry has that export, and results in which other runs earned medals.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
from pathlib import Path

import tomli_w
from _measure import rounds, run, scratch, table
from attrs import evolve
from mle_ext_leaderboard.creating import create_board
from mle_ext_leaderboard.results import results_of
from mlecore_testing import drawn_groups

from mlecore.child_environment import child_environment
from mlecore.reports.benchmark import split_ids
from mlecore.sharing.bundle import OpenBundle, head_digest
from mlecore.sharing.exporting import export_group
from mlecore.sharing.signed import add_signature

FORM = {
    **dict.fromkeys(("hidden_scores", "human_help", "outside_data", "knowledge_base", "competition_prompts"), False),
    "web": "none",
    "hardware": "8 CPUs, 1 x NVIDIA A10",
    "hours": 24.0,
}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--entries", type=int, default=200)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--split", default="all", choices=["low", "medium", "high", "all"])
    parser.add_argument("--rounds", type=int, default=2)
    asked = parser.parse_args()
    with scratch() as folder:
        fill(folder, asked.entries, asked.seeds, asked.split)
        argv = [sys.executable, "-m", "mlecore", "leaderboard", "build", "--board", "board", "--to", "site"]
        os.chdir(folder)
        size = f"{asked.entries} entries of {asked.seeds * len(split_ids(asked.split))} runs"
        measured = rounds({size: lambda: run(argv)}, asked.rounds)
        print(table(measured))
        megabytes = sum(path.stat().st_size for path in Path("site").rglob("*")) / 1e6
        print(f"the site has {megabytes:.1f} MB, its first page {Path('site/index.html').stat().st_size / 1e6:.2f} MB")


def fill(folder: Path, entries: int, seeds: int, split: str) -> None:
    """A leaderboard whose entries differ in their medals."""
    group = drawn_groups.write_group(folder / "runs", "g", seeds=seeds, competitions=split_ids(split))
    key, export, board = folder / "key", folder / "g.zip", folder / "board"
    words = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)]
    subprocess.run(words, check=True, env=child_environment())
    export_group(group, export)
    add_signature(export, group, key)
    create_board(board, "Benchmark")
    rules = (board / "leaderboard.toml").read_text().replace('data = "published"', 'data = "any"')
    (board / "leaderboard.toml").write_text(rules.replace("seeds = 3", f"seeds = {seeds}"))
    (board / "allowed_signers").write_text(f"me@example.org {key.with_suffix('.pub').read_text()}")
    with OpenBundle(export) as opened:
        sha256 = head_digest(opened)
    results, draw = results_of(group, sha256), random.Random(1)
    for number in range(entries):
        place = board / "entries" / f"entry-{number:03d}"
        place.mkdir()
        os.link(export, place / "export.zip")
        chance = draw.random()
        runs = tuple(
            evolve(
                each,
                medal="gold" if draw.random() < chance else "",
                score=str(draw.random()),
                submission_sha256=draw.randbytes(32).hex(),
            )
            for each in results.runs
        )
        (place / "results.json").write_bytes(evolve(results, runs=runs, group_uid=str(number)).dumps())
        values = {"authors": ["Somebody"], "date": "2026-01-31", "agent": f"agent {number}", "version": "1"}
        values |= {"export": {"file": "export.zip", "sha256": sha256}}
        values |= {"disclosures": {**FORM, "seeds": list(range(seeds))}}
        (place / "entry.toml").write_text(tomli_w.dumps(values))


if __name__ == "__main__":
    main()
