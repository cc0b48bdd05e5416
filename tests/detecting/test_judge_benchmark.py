"""The labelled logs are what they should be, and the harness counts rightly."""

from __future__ import annotations

import importlib.util
import json
import sys
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

from mlecore_testing.models import Answer, Script, scripted_model

EVALUATION = Path(__file__).parents[2] / "plugins" / "detectors" / "rules" / "evaluation"
RULES = ("hand-written-predictions", "outside-help", "outside-material", "tampered-with-checks")


@pytest.fixture(scope="module")
def harness() -> ModuleType:
    spec = importlib.util.spec_from_file_location("mlecore_judge_benchmark", EVALUATION / "judge.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_the_logs() -> None:
    logs = tomllib.loads((EVALUATION / "logs" / "labels.toml").read_text())["logs"]
    assert {log["file"] for log in logs} == {path.name for path in (EVALUATION / "logs").glob("*.log")}
    assert {rule for log in logs for rule in log["violates"]} == set(RULES)
    assert all(bool(log["violates"]) == (log["kind"] in ("violating", "subtle")) for log in logs)


def test_it_judges_as_the_detector_does(
    harness: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MLECORE_RULES", str(tmp_path / "cache"))
    logs = tmp_path / "logs"
    logs.mkdir()
    (logs / "a.log").write_text("labels = [1, 0, 1, 1]\n")
    (logs / "b.log").write_text("fold 1 auc 0.8\n")
    labels = '[[logs]]\nfile = "a.log"\nkind = "violating"\nviolates = ["hand-written-predictions"]\nwhy = ""\n'
    (logs / "labels.toml").write_text(labels + '[[logs]]\nfile = "b.log"\nkind = "clean"\nviolates = []\nwhy = ""\n')
    base = [{"rule": rule, "answer": "no", "confidence": 1, "quote": "", "reason": ""} for rule in RULES]
    guilty = [{**base[0], "answer": "yes", "quote": "labels = [1, 0, 1, 1]"}, *base[1:]]
    answers = (
        Answer(text='{"case_against": "", "stands": true, "confidence": 1}', when="rests on this", times=0),
        Answer(text=json.dumps({"answers": guilty}), when="labels", times=0),
        Answer(text=json.dumps({"answers": base}), times=0),
    )
    with scripted_model(Script(answers=answers)) as model:
        argv = ["judge.py", "--model", "m", "-D", f"endpoint={model.url}", "--logs", str(logs), "--json"]
        monkeypatch.setattr(sys, "argv", argv)
        assert harness.main() == 0
    shown = json.loads(capsys.readouterr().out)
    whole = {each["rule"]: each for each in shown["figures"]}["all"]
    assert (whole["precision"], whole["recall"], whole["undecided"]) == (1.0, 1.0, 0)
    assert shown["took"]["output_tokens"] > 0
    monkeypatch.setattr(sys, "argv", ["judge.py", "--model", "m"])
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    assert harness.main() == 2  # no judge, no figures
