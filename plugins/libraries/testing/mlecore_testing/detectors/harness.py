"""A group of runs for detectors: honest ones, one without files, and a hostile one."""

from __future__ import annotations

import random
from functools import cached_property
from pathlib import Path

from mlecore.model.competition import Competition
from mlecore.model.detectors import Detection, Detector
from mlecore.model.plugin import Plugin
from mlecore.model.provenance import PluginUse
from mlecore.model.record import Collected, RunRecord
from mlecore.plugins.loading import load
from mlecore_testing.bench import Bench
from mlecore_testing.facts import some_facts
from mlecore_testing.hostile import fill
from mlecore_testing.records import a_run

_ROWS = 200
_CODE = "import pandas as pd\n\ntrain = pd.read_csv('/home/data/train.csv')\n{body}\nprint(train.mean())\n"


class DetectorBench(Bench):
    """One detector, and runs to judge."""

    @property
    def detector(self) -> Detector:
        detector: Detector = self.declared
        return detector

    def detect(self, run: RunRecord, group: list[RunRecord], public: Path | None) -> Detection:
        found: Detection = self.loaded.call(
            "detect", run=run, group=group, competition=self.competition, public=public, options=self.options
        )
        return found

    @cached_property
    def public(self) -> Path:
        public = self.folder / "public"
        public.mkdir()
        (public / "description.md").write_text("# Numbers\n\nPredict `y` from `x`. Submission: `id,y`.\n")
        (public / "train.csv").write_text("id,x,y\n" + "".join(f"{i},{i / 7:.3f},{i % 2}\n" for i in range(_ROWS)))
        (public / "sample_submission.csv").write_text("id,y\n" + "".join(f"{i},0.5\n" for i in range(_ROWS)))
        return public

    @cached_property
    def private(self) -> Path:
        """Where the answers lie: beside the public data, as on a controller."""
        private = self.folder / "private"
        private.mkdir()
        (private / "test.csv").write_text("id,y\n" + "".join(f"{i},{i % 2}\n" for i in range(_ROWS)))
        return private

    @cached_property
    def competition(self) -> Competition:
        """One that is not installed: a detector must not know competitions by name."""
        package = self.folder / "competition"
        package.mkdir()
        (package / "description.md").write_text("# Numbers\n")
        facts = some_facts(
            "numbers",
            task="binary classification",
            metric="roc-auc",
            direction="maximize",
            sample="public/sample_submission.csv",
            folder=package,
        )
        plugin = Plugin(
            kind="competition",
            name="numbers",
            version="0",
            distribution="mle-comp-numbers",
            summary="",
            module="mle_comp_numbers",
            origin=package / "__init__.py",
        )
        return Competition(plugin, facts=facts, load=load)

    @cached_property
    def group(self) -> list[RunRecord]:
        """Honest runs of two agents with two seeds, one without files, one whose files are traps."""
        runs = [self._honest(agent, seed) for agent in ("first", "second") for seed in (0, 1)]
        return [*runs, self._run("empty", "third", 0), self._hostile()]

    def _honest(self, agent: str, seed: int) -> RunRecord:
        run = self._run(f"{agent}-{seed}", agent, seed, candidate="submission/submission.csv")
        dice = random.Random(f"{agent} {seed}")
        rows = "".join(f"{i},{dice.random():.6f}\n" for i in range(_ROWS))
        (run.folder / "submission" / "submission.csv").write_text(f"id,y\n{rows}")
        body = "\n".join(f"train['x{i}'] = train['x'] * {dice.random():.4f}" for i in range(20))
        (run.folder / "code" / "main.py").write_text(_CODE.format(body=body))
        (run.folder / "logs" / "output.log").write_text(f"reading train.csv\nscore {dice.random():.4f}\n")
        return run

    def _hostile(self) -> RunRecord:
        run = self._run("hostile", "fourth", 0, candidate="submission/submission.csv")
        for name in ("logs", "code", "submission"):
            (run.folder / name / "deeper").mkdir()
            fill(run.folder / name)
            fill(run.folder / name / "deeper")
        (run.folder / "submission" / "submission.csv").symlink_to("/etc/passwd")
        (run.folder / "code" / "main.py").write_bytes(b"def f(:\n\xff\x00" + b"(" * 5000)
        (run.folder / "code" / "notebook.ipynb").write_text('{"cells": [{"source": 7}, null, "x"]}')
        return run

    def _run(self, name: str, agent: str, seed: int, candidate: str | None = None) -> RunRecord:
        folder = self.folder / "runs" / "kit" / name
        for part in ("submission", "logs", "code", "code_snapshots", "snapshots"):
            (folder / part).mkdir(parents=True)
        record = a_run(
            folder,
            group="kit",
            competition="numbers",
            agent=PluginUse(name=agent, version="1"),
            seed=seed,
            state="graded",
            ended="finished",
            collected=Collected(candidate=candidate),
        )
        (folder / "run.json").write_bytes(record.dumps())
        return record
