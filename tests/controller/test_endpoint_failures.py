"""A model that cannot be reached is not the agent's failure, and an agent earns no retries by calls that fail."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from mlecore.controller.api import run_group
from mlecore.controller.context import Timing
from mlecore.controller.ending import End, availability, blame
from mlecore.model.model_access import ModelAccess
from mlecore.model.record import Ended, RunRecord
from mlecore.runs.planning import make_plan
from mlecore.runs.store import load_group
from mlecore_gateway.calls import Call, Tokens
from mlecore_testing.models import Answer, Model, Script, scripted_model

HOUR, DAY = 3600.0, 86400.0
ACCESS = ModelAccess(endpoint="https://models.example.org/v1", models=("m",))
DOWN = "the endpoint fails (status 503: Overloaded.)"


class Log:
    """A gateway's log, written call by call; times are seconds after its start."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.touch()

    def add(self, at: float, seconds: float = 1.0, *, path: str = "/v1/chat/completions", **values) -> None:
        day, rest = divmod(int(at), 86400)
        time = f"2026-01-{1 + day:02}T{rest // 3600:02}:{rest // 60 % 60:02}:{rest % 60:02}+00:00"
        call = Call(time=time, method="POST", path=path, asked="m", seconds=seconds, **{"outcome": "passed", **values})
        with self.path.open("ab") as file:
            file.write(msgspec.json.encode(call) + b"\n")

    def answer(self, at: float, seconds: float = 1.0) -> None:
        self.add(at, seconds, status=200, usage="counted", tokens=Tokens(input=1, output=1))

    def fail(self, at: float, seconds: float = 1.0) -> None:
        self.add(at, seconds, status=503, fault=DOWN)

    def verdict(self, ended: Ended = "finished", handed_in: bool = True, may_doubt: bool = True) -> End:
        found = availability(self.path, ACCESS)
        assert found is not None
        return blame(End(ended=ended), found, DAY, handed_in=handed_in, may_doubt=may_doubt)

    def reason(self) -> str:
        """Why the attempt is repeated."""
        verdict = self.verdict()
        return verdict.reason if verdict.infra_failure else ""


@pytest.fixture
def log(tmp_path: Path) -> Log:
    return Log(tmp_path / "gateway.jsonl")


def test_no_call_was_answered(log):
    log.fail(10)
    log.fail(4 * HOUR)
    assert log.reason() == f"none of 2 model calls was answered: {DOWN}"


def test_the_endpoint_failed_for_most_of_the_time(log):
    log.answer(10)
    for at in range(100, 30_000, 500):
        log.fail(at, 30.0)
    assert log.reason() == f"model calls failed for 8h 12m, 34% of the time limit: {DOWN}"
    log.answer(40_000)
    assert log.reason(), "it was another test, whatever came after"


def test_an_agent_that_works_on_without_its_model_keeps_its_result(log):
    log.answer(10)
    log.fail(HOUR)
    log.fail(20 * HOUR)  # what was between, nobody knows
    assert log.reason() == ""


@pytest.mark.parametrize(
    ("ended", "handed_in", "seconds", "may_doubt", "in_doubt"),
    [
        ("crashed", True, 100, True, True),  # as an agent does that gives up after some minutes
        ("finished", False, 100, True, True),
        ("finished", True, 100, True, False),
        ("oom", False, 100, True, False),
        ("crashed", True, 30, True, False),
        ("crashed", True, 100, False, False),
    ],
)
def test_a_bad_end_while_the_endpoint_failed_is_in_doubt(log, ended, handed_in, seconds, may_doubt, in_doubt):
    log.answer(10)
    log.fail(HOUR)
    log.fail(HOUR + seconds)
    verdict = log.verdict(ended, handed_in, may_doubt)
    assert (verdict.infra_failure, verdict.in_doubt) == (in_doubt, in_doubt)
    assert verdict.reason == f"its last model calls failed: {DOWN}"
    log.answer(HOUR + 200)
    assert log.verdict(ended, handed_in, may_doubt) == End(ended=ended)


def test_long_calls_that_failed_at_the_same_time_count_once(log):
    log.answer(0)
    for _ in range(10):
        log.fail(HOUR, HOUR)
    found = availability(log.path, ACCESS)
    assert found and found.failing_seconds == HOUR and (found.tried, found.answered, found.failed) == (11, 1, 10)


@pytest.mark.parametrize(
    "own",
    [
        {"status": 400},  # malformed
        {"status": 500},  # a crash that no other request causes
        {"status": 404, "unplanned": True},  # a model of its own invention
        {"outcome": "failed", "status": 502, "reason": "the endpoint answered in 'br'"},
    ],
)
def test_an_agent_that_makes_its_calls_fail_earns_nothing(log, own):
    for at in range(0, 80_000, 100):
        log.add(at, **own)
    assert log.reason() == ""
    log.fail(80_001)
    assert log.reason() == "", "it had no answer, and a real failure at last"


def test_what_the_gateway_refused_and_its_client_gave_up(log):
    log.add(0, outcome="refused", status=429, reason="the run's budget of 5calls is used up")
    log.add(1, outcome="cut", reason="the client hung up before its call was passed on")
    log.add(2, status=429)
    found = availability(log.path, ACCESS)
    assert found and (found.tried, found.answered, found.failed, found.rejected) == (2, 0, 0, 0)
    assert log.verdict().in_doubt and log.reason() == "none of 2 model calls was answered: no answer came"
    log.fail(3)
    assert log.reason() == f"none of 3 model calls was answered: {DOWN}" and not log.verdict().in_doubt
    log.add(4, outcome="cut", status=200, first_byte=0.1)
    assert log.reason() == "", "a part of an answer came"


def test_other_paths_are_no_calls_to_a_model(log):
    log.add(0, path="/v1/models", status=200)
    log.fail(1)
    assert log.reason() == f"none of 1 model call was answered: {DOWN}"


# Whole runs

KEY = "sk-real-0123456789abcdef"
AGENT = """
import json, os, shutil, sys, urllib.error, urllib.request
shutil.copy("data/sample_submission.csv", "submission/submission.csv")
def ask(content, stream, path="/chat/completions"):
    body = {"model": "scripted", "messages": [{"role": "user", "content": content}], "input": content, "stream": stream}
    headers = {"Authorization": "Bearer " + os.environ["OPENAI_API_KEY"], "Content-Type": "application/json"}
    url = os.environ["OPENAI_BASE_URL"] + path
    request = urllib.request.Request(url, json.dumps(body).encode(), headers)
    try:
        return urllib.request.urlopen(request, timeout=60).read()
    except urllib.error.HTTPError:
        return None
"""
CRASHES = (
    AGENT
    + """
os.makedirs("logs", exist_ok=True)
open("logs/gateway.jsonl", "w").write('{"outcome": "passed", "status": 200}')
for stream in (False, True):
    if ask("hello", stream) is None:
        sys.exit("the model does not answer")
"""
)
FAST = Timing(attempt_delay=0.1, attempt_delay_max=0.1, poll_min=0.05, poll_max=0.2)


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MY_KEY", KEY)
    monkeypatch.setenv("MLECORE_VM_STATE", str(tmp_path / "state"))

    def start(endpoint: str, script: str) -> RunRecord:
        (tmp_path / "agent.py").write_text(script)
        plan = make_plan(
            {
                "agents": [{"name": "command", "options": {"argv": "python3 agent.py"}}],
                "competitions": ["optical-digits"],
                "model": {"name": "scripted", "endpoint": endpoint},
                "gateway": {"key": "MY_KEY", "budgets": ["2calls"]},
                "limits": {"time": "120s"},
                "execution": {"retries": 1, "model_check": False, "detect": False},
            }
        )
        done = run_group(plan, "g", tmp_path / "runs", [tmp_path / "data"], timing=FAST)
        (record,) = load_group(done.group.folder)
        assert done.outcome.complete == (record.state == "graded")
        return record

    return start


def serving(*answers: Answer) -> Model:
    return scripted_model(Script(answers=answers, key=KEY))


sandboxed = pytest.mark.sandbox


@sandboxed
def test_a_run_whose_endpoint_is_down_is_retried_and_failed(run):
    with serving(Answer(status=503, text="Overloaded.", times=0)) as model:
        record = run(model.url, CRASHES)
    assert record.state == "failed" and len(record.attempts) == 2
    assert record.reason.startswith("none of 1 model call was answered: ") and DOWN in record.reason
    assert record.reason.endswith("(attempt 2, no retry left)") and not (record.folder / "grade.json").exists()
    for attempt in record.attempts:
        found = attempt.availability
        assert attempt.infra_failure and attempt.ended == "crashed" and found is not None
        assert (found.tried, found.answered, found.failed, found.failed_last) == (1, 0, 1, True)
        assert DOWN in found.last_error
        kept = record.folder / "attempts" / str(attempt.number)
        assert (kept / "result/submission/submission.csv").is_file() and (kept / "rest/logs/gateway.jsonl").is_file()


@sandboxed
def test_a_run_succeeds_once_its_endpoint_is_back(run):
    """Its budget of two calls is whole: those that the endpoint did not answer are not counted."""
    script = AGENT + "sys.exit(None in [ask('hello', stream) for stream in (False, True)])"
    with serving(Answer(status=503, text="Overloaded.", times=2), Answer(text="fine", times=0)) as model:
        record = run(model.url, script)
    assert (record.state, record.ended) == ("graded", "finished")
    first, second = record.attempts
    assert first.infra_failure and first.reason.endswith(f"none of 2 model calls was answered: {DOWN}; exit code 1")
    assert second.availability and (second.availability.tried, second.availability.answered) == (2, 2)
    assert record.calls and (record.calls.calls, record.calls.exhausted) == (2, "2calls")
