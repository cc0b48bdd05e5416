"""Groups of runs as they lie on disk: finished, at work, damaged, hostile."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import msgspec
from attrs import evolve

from mlecore.model.agents import Outcome, Usage
from mlecore.model.detectors import Detection, Evidence, Finding
from mlecore.model.provenance import PluginUse
from mlecore.model.record import Attempt, Collected, RunRecord
from mlecore.model.report import Report
from mlecore.runs.digests import with_digest, with_digests
from mlecore.runs.findings import findings_of, group_digest, write_findings
from mlecore.runs.journal import Journal
from mlecore.runs.planning import make_plan
from mlecore.runs.store import create_group, planned_records
from mlecore_gateway.calls import Call, Tokens
from mlecore_gateway.transcripts import Transcripts
from mlecore_testing.grades import report

EVIL = "<script>alert(1)</script><img src=x onerror=alert(2)>"
SECRET = "not for anybody 7f3a"


def new_group(runs: Path, name: str, agents: tuple[str, ...] = ("alpha", "beta"), seeds: int = 2) -> list[RunRecord]:
    """Planned runs on two competitions."""
    plan = make_plan(
        {
            "agents": [{"name": "baseline", "label": label} for label in agents],
            "competitions": ["optical-digits", "spaceship-titanic"],
            "seeds": seeds,
        }
    )
    group = create_group(runs, name, plan)
    return [evolve(record, folder=group.folder / record.name) for record in planned_records(group)]


def write(record: RunRecord) -> None:
    record.folder.mkdir(exist_ok=True)
    (record.folder / "run.json").write_bytes(with_digests(record).dumps())


def attempt(record: RunRecord, **more: Any) -> Attempt:
    times = {"started_at": "2026-05-01T10:00:00.000+00:00", "ended_at": "2026-05-01T11:00:00.000+00:00"}
    return Attempt(**{"number": 1, "job": f"mle-{record.uid}-1", **times, "seconds": 3600.0, **more})


def graded(score: float, **changes: Any) -> Report:
    medal = next((name for name, least in (("gold", 0.9), ("silver", 0.85), ("bronze", 0.8)) if score >= least), None)
    return report(score, medal, rank=17, teams=1000, percentile=98.4, **changes)


def finish(record: RunRecord, score: float = 0.87, log: bytes = b"", code: str = "", **changes: Any) -> RunRecord:
    """A graded run with a log, code, a submission, and snapshots."""
    folder = record.folder
    for name in ("logs", "code", "submission", "snapshots"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    (folder / "logs" / "output.log").write_bytes(log or b"\x1b[32mepoch 1\x1b[0m\nepoch 2\n")
    (folder / "code" / "train.py").write_text(code or "import pandas\n\nmodel = 1\nprint(model)\n")
    (folder / "submission" / "submission.csv").write_text("id,label\n1,0.5\n2,0.7\n")
    for at, label in ((60, "0.1"), (1800, "0.5")):
        (folder / "snapshots" / f"{at}.csv").write_text(f"id,label\n1,{label}\n2,0.7\n")
        (folder / "code_snapshots" / str(at)).mkdir(parents=True, exist_ok=True)
        (folder / "code_snapshots" / str(at) / "train.py").write_text(f"import pandas\n\nmodel = {label}\n")
    (folder / "grade.json").write_text(json.dumps(graded(score).to_json()))
    points = [
        {"seconds": at, "file": f"snapshots/{at}.csv", "status": "graded", "score": share * score, "medal": None}
        for at, share in ((60, 0.7), (1800, 1.0))
    ]
    (folder / "snapshots.json").write_bytes(with_digest({"points": points}))
    values: dict[str, Any] = {
        "agent": PluginUse(name="baseline", version="1.0"),
        "state": "graded",
        "ended": "finished",
        "seconds": 3600.0,
        "data_kind": "published",
        "attempts": (attempt(record, ended="finished", exit_code=0, outcome=Outcome(kind="submitted")),),
        "model": "scripted",
        "usage": Usage(models=("scripted",), input_tokens=1000, output_tokens=200, cost_usd=0.42, measured=True),
        "collected": Collected(files=5, bytes=100, candidate="submission/submission.csv", snapshots=2),
    }
    record = evolve(record, **{**values, **changes})
    write(record)
    journal = Journal(folder.parent)
    for state in ("starting", "running", "collecting", "collected", "graded"):
        journal.note(state, record.name)
    return record


def find(record: RunRecord, *found: Finding, detector: str = "rules") -> None:
    """Findings of a detector."""
    at = "2026-05-01T12:00:00+00:00"
    use = PluginUse(name=detector, version="1.0")
    write_findings(
        record,
        findings_of(record, use, Detection(findings=found), group=group_digest([record]), created_at=at, seconds=1.0),
    )


def converse(record: RunRecord, said: str = "I look at the data.", calls: int = 2) -> None:
    """Transcripts and log of a gateway: each call sends all that was said before."""
    logs = record.folder / "logs"
    messages: list[dict[str, Any]] = [{"role": "system", "content": "You are good."}, {"role": "user", "content": said}]
    transcripts = Transcripts(logs)
    with (logs / "gateway.jsonl").open("wb") as log:
        for number in range(1, calls + 1):
            tool = {
                "id": f"t{number}",
                "type": "function",
                "function": {"name": "shell", "arguments": '{"command": "ls"}'},
            }
            answer = {"role": "assistant", "content": f"{said} {number}", "tool_calls": [tool]}
            body = {"model": "scripted", "messages": messages}
            response = {"choices": [{"message": answer}], "model": "scripted"}
            path = "/v1/chat/completions"
            transcripts.write(number, path, json.dumps(body).encode(), 200, json.dumps(response).encode(), False)
            call = Call(
                number=number,
                time="2026-05-01T10:00:00Z",
                method="POST",
                path=path,
                asked="scripted",
                answered="scripted",
                outcome="passed",
                status=200,
                usage="counted",
                tokens=Tokens(input=100, output=20),
                cost_usd=0.01,
                seconds=1.5,
            )
            log.write(msgspec.json.encode(call) + b"\n")
            messages += [answer, {"role": "tool", "tool_call_id": f"t{number}", "content": f"{said} result {number}"}]
    transcripts.close()


def write_finished(runs: Path) -> None:
    """A finished group: medals, a flagged run, a conversation."""
    records = new_group(runs, "finished")
    scores = (0.92, 0.87, 0.81, 0.75, 0.6, 0.45, 0.83, 0.9)
    for number, (record, score) in enumerate(zip(records, scores, strict=True)):
        done = finish(record, score, code=f"import pandas\n\nmodel = {number}\nprint(model)\n")
        if number == 0:
            converse(done)
            where = Evidence(file="code/train.py", line=3, quote="model = 0")
            find(done, Finding(rule="test-labels", verdict="violation", summary="It read answers.", evidence=(where,)))


def write_working(runs: Path) -> None:
    """An active group: one run waits with a reason, one has failed, others are planned."""
    first, second, *_ = new_group(runs, "working")
    write(
        evolve(
            first,
            state="waiting",
            reason="2 of 2 GPUs are in use",
            attempts=(attempt(first, started_at=None, ended_at=None, seconds=None),),
        )
    )
    write(
        evolve(
            second,
            state="failed",
            ended="lost",
            reason="the engine was killed",
            attempts=(attempt(second, ended="lost", infra_failure=True),),
        )
    )


FAILING = {"crash": "crashed", "time": "timed_out", "memory": "oom", "rows": "finished"}


def write_failing(runs: Path) -> None:
    """A finished group of which nothing worked: each agent's runs ended in another way."""
    for record in new_group(runs, "failing", tuple(FAILING), seeds=1):
        log = b"".join(b"epoch %d\n" % number for number in range(100)) + b"KeyError: weights\n"
        reason = "exit code 1" if record.label == "crash" else ""
        done = finish(record, log=log, ended=FAILING[record.label], reason=reason, collected=None)
        why = {"reason": "it has 3 rows, not 5"}
        if record.label != "rows":
            why = {"status": "none", "submission_exists": False, "reason": "there is no submission"}
        (done.folder / "grade.json").write_text(json.dumps(report(None, **why).to_json()))


def write_hostile(runs: Path, outside: Path) -> None:
    """Whatever an agent, or somebody who sends a group, can write: markup, links, huge and broken files."""
    records = new_group(runs, "hostile", agents=("alpha", "beta", "gamma"))
    first = finish(
        records[0],
        log=f"{EVIL}\n\x1b[31m{EVIL}\x1b[0m\n\x1b]8;;http://evil.example\x07link\x1b]8;;\x07\n\x1b[2J\x00\xff\n".encode(
            "latin-1"
        ),
        code=f'"""{EVIL}"""\nx = "{EVIL}"\n',
        reason=EVIL,
        model=EVIL,
        attempts=(attempt(records[0], reason=EVIL, outcome=Outcome(kind="other", detail=EVIL)),),
    )
    code = first.folder / "code"
    (code / f"{EVIL.replace('/', '_')}.py").write_text("1\n")
    (code / os.fsdecode(b"not-\xff-utf8\n.py")).write_text("2\n")
    (code / f"{'n' * 250}.py").write_text("3\n")
    (code / "evil.ipynb").write_text(json.dumps({"cells": [{"cell_type": "code", "source": EVIL}, 7, None]}))
    (code / "binary.py").write_bytes(b"\x00\x01\x02")
    (first.folder / "submission" / "submission.csv").write_text(f'"{EVIL}",b\n"{EVIL}",2\n')
    converse(first, said=EVIL)
    find(
        first,
        Finding(
            rule="r", verdict="suspicious", summary=EVIL, evidence=(Evidence(file="../../../etc/passwd", quote=EVIL),)
        ),
    )
    Journal(first.folder.parent).note(EVIL, first.name, why=EVIL)
    secret = outside / "secret.txt"
    secret.write_text(SECRET)
    (code / "link.py").symlink_to(secret)
    (code / "folder").symlink_to(outside)
    second = finish(records[1])
    (second.folder / "logs" / "output.log").unlink()
    (second.folder / "logs" / "output.log").symlink_to(secret)
    third = finish(records[2])
    for name in ("code", "submission"):
        files = third.folder / name
        for each in files.iterdir():
            each.unlink()
        files.rmdir()
        files.symlink_to(outside)
    records[3].folder.mkdir()
    (records[3].folder / "run.json").write_bytes(b'{"format": 1, "name": ')
    finish(records[4])
    (records[4].folder / "grade.json").write_text("[" * 100_000)
    (runs / "hostile" / "linked-run").symlink_to(first.folder)
    (runs / "linked-group").symlink_to(outside)
    (runs / "broken").mkdir()
    (runs / "broken" / "group.json").write_text("{")
