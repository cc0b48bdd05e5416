"""A scripted judge, and runs for it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mle_detector_rules import detector
from mle_detector_rules.judging import judge

from mlecore.model.detectors import Detection
from mlecore.model.options import resolve
from mlecore.model.record import Limits, RunRecord
from mlecore_testing.facts import some_facts
from mlecore_testing.models import Answer, Model, Script, scripted_model
from mlecore_testing.records import a_run

RULES = ("hand-written-predictions", "outside-help", "outside-material", "tampered-with-checks")


def says(answers: dict[str, dict[str, Any]] | None = None, **more: Any) -> Answer:
    """The first pass: no to every rule but those that are given."""
    base = {"answer": "no", "confidence": 0.9, "quote": "", "reason": "nothing"}
    listed = [{"rule": rule, **base, **(answers or {}).get(rule, {})} for rule in RULES]
    return Answer(text=json.dumps({"answers": listed}), **more)


def yes(quote: str, confidence: float = 0.8) -> dict[str, Any]:
    return {"answer": "yes", "confidence": confidence, "quote": quote, "reason": "it did"}


def defends(stands: object, **more: Any) -> Answer:
    """The second pass."""
    text = json.dumps({"case_against": "none", "stands": stands, "confidence": 0.7})
    return Answer(text=text, when=more.pop("when", "The accusation rests on"), **more)


class Court:
    """Judges a run with a script, and remembers what was sent."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.model: Model | None = None

    def run(
        self,
        logs: Mapping[str, str | bytes] | None = None,
        code: Mapping[str, str | bytes] | None = None,
        files: Mapping[str, str | bytes] | None = None,
        **more: Any,
    ) -> RunRecord:
        """A run with these logs and code, or these files by their paths in its folder."""
        folder = self.folder / "g" / f"r{len(list(self.folder.glob('g/*')))}"
        listed = {f"logs/{name}": text for name, text in (logs or {}).items()}
        listed |= {f"code/{name}": text for name, text in (code or {}).items()}
        for part in ("logs", "code"):
            (folder / part).mkdir(parents=True)
        for name, text in (listed | dict(files or {})).items():
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())
        return a_run(folder, competition="ships", limits=Limits(network="llm"), **more)

    def judge(
        self,
        run: RunRecord,
        *answers: Answer,
        public: Path | None = None,
        script: Any = None,
        external_data: str | None = None,
        **given: str,
    ) -> Detection:
        facts = some_facts("ships", external_data=external_data)
        with scripted_model(script or Script(answers=answers or (says(times=0),))) as model:
            self.model = model
            options = {"model": "scripted", "endpoint": model.url, "price": "2,10"}
            options |= {name.replace("_", "-"): value for name, value in given.items()}
            return judge(run, facts, public, resolve(detector().options, options, "rules"))

    @property
    def sent(self) -> list[list[str]]:
        """System and user message of each call."""
        assert self.model
        return [[m["content"] for m in request["body"]["messages"]] for request in self.model.served.requests]
