"""No secret reaches a message, a record or a log, wherever a user puts it and whatever quotes it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from mle_ext_setup.examination import Finding

from mlecore.cli import main
from mlecore.errors import BackendError, MlecoreError, redacted
from mlecore.model.backends import JobStatus, Problem
from mlecore.model.model_access import ModelAccess, gateway
from mlecore_testing.models import Answer, Script, scripted_model

SECRET = "Zq7-planted/Secret+0123456789"
WORD = "zq7planted0123456789"  # one that could be a variable's name
KEY = "sk-Zq7planted0123456789"


@pytest.fixture
def everything(lab: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> Iterator[list[str]]:
    """What a test adds, and every file below its folder, must be without secrets at its end."""
    monkeypatch.chdir(lab.root)
    said: list[str] = []
    given = set(lab.root.rglob("*.toml"))
    yield said
    for path in {path for path in lab.runs.rglob("*") if path.is_file()} - given:
        said.append(path.read_bytes().decode(errors="replace"))
    text = "\n".join([*said, *lab.display.said, caplog.text])
    assert not [secret for secret in (SECRET, SECRET[:12], WORD, KEY, "hunter2x") if secret in text], text


def plan(text: str) -> list[str]:
    Path("given.toml").write_text(f'competitions = ["coins"]\n[[agents]]\nname = "worker"\n{text}\n')
    return ["--plan", "given.toml"]


MODEL = ["--model", "m", "--endpoint", "http://127.0.0.1:9/v1"]
MISTAKES: dict[str, list[str]] = {
    "key": [*MODEL, "-G", f"key={SECRET}"],
    "key like a name": [*MODEL, "-G", f"key={WORD}"],
    "key without a model": ["-G", f"key={KEY}"],
    "key without its name": ["-G", KEY],
    "secret": ["--secret", SECRET],
    "secret like a name": ["--secret", WORD],
    "secret with its name": ["--secret", f"MY_TOKEN={SECRET}"],
    "password in the endpoint": ["--model", "m", "--endpoint", f"https://me:{WORD}@models.example.org/v1"],
    "key as the user of the endpoint": ["--model", "m", "--endpoint", f"https://{KEY}@models.example.org/v1"],
    "brackets in the endpoint": ["--model", "m", "--endpoint", f"https://me:{WORD}@[models/v1"],
    "query of the endpoint": ["--model", "m", "--endpoint", f"https://models.example.org/v1?api-key={WORD}"],
    "key for an endpoint": ["--model", "m", "--endpoint", SECRET],
    "key for a model": ["--model", KEY, "--endpoint", "http://127.0.0.1:9/v1"],
    "mcp query": ["--mcp", f"lab=https://mcp.example.org/mcp?token={WORD}"],
    "mcp without a name": ["--mcp", f"https://mcp.example.org/{SECRET}"],
    "agent's option": ["-A", f"note=--api-key={KEY}"],
    "backend's option": ["-B", f"root=//me:{WORD}@registry.example.org"],
    "detector's option": ["-D", f"rules.key={SECRET}"],
    "another flag's value": ["--seeds", KEY],
    "label": ["--label", f"{KEY}--x"],
}


@pytest.mark.parametrize("place", MISTAKES)
def test_a_secret_given_in_a_wrong_place_is_rejected_unseen(place: str, lab: Any, everything: list[str]) -> None:
    given = MISTAKES[place]
    detect = [] if "-D" in given else ["--no-detect"]
    base = ["run", "--agent", "worker", "--competition", "coins", "--backend", "folders", *detect]
    more = ["-B", f"root={lab.backend_root}", "--data", str(lab.data), "--runs", str(lab.runs)]
    result = CliRunner().invoke(main, [*base, *more, *given])
    everything.append(result.output)
    assert isinstance(result.exception, SystemExit) and result.exit_code == 2, result.output
    assert not lab.runs.exists()


@pytest.mark.parametrize(
    "text",
    [
        f'[gateway]\nkey = "{SECRET}"',
        f'[limits]\nsecrets = [["{SECRET}"]]',
        f'[limits.mcp.lab]\nurl = "http://localhost:9/"\nheaders = {{ Authorization = "Bearer {SECRET}" }}',
        f'[limits.mcp.lab]\nurl = "http://localhost:9/"\nheaders = {{ "Bearer {SECRET}" = "MY_KEY" }}',
        f'[model]\nname = "m"\nendpoint = "https://me:{WORD}@models.example.org"',
        f'[backend.options]\nhost = "me:{WORD}@gpu1"',
    ],
)
def test_a_secret_in_a_plan_is_rejected_unseen(text: str, lab: Any, everything: list[str]) -> None:
    result = CliRunner().invoke(main, ["run", *plan(text), "--runs", str(lab.runs), "--data", str(lab.data)])
    everything.append(result.output)
    assert isinstance(result.exception, SystemExit) and result.exit_code == 2, result.output
    assert not lab.runs.exists()


def test_a_provider_that_quotes_the_key(lab: Any, everything: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ODD_NAME", SECRET)
    told = f"Incorrect API key provided: {SECRET}. You can find yours at ..."
    with scripted_model(Script(answers=[Answer(status=401, text=told)])) as running:
        more = ["--model", "m", "--endpoint", running.url, "-G", "key=ODD_NAME"]
        base = ["run", "--agent", "worker", "--competition", "coins", "--backend", "folders", "--no-detect"]
        where = ["-B", f"root={lab.backend_root}", "--data", str(lab.data), "--runs", str(lab.runs)]
        result = CliRunner().invoke(main, [*base, *where, *more])
    everything.append(result.output)
    assert result.exit_code in (2, 3), result.output


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("MY_KEY", f"{KEY}\n{SECRET}"),
        ("MY_KEY", f"{SECRET} # laptop"),
        ("HTTPS_PROXY", f"http://me:{WORD}@[127.0.0.1:9"),
        ("HTTPS_PROXY", "me:hunter2x@127.0.0.1:9"),
    ],
)
def test_a_key_or_a_proxy_that_cannot_be_used(
    variable: str, value: str, everything: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("NO_PROXY", "no_proxy", "https_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("MY_KEY", "good")
    monkeypatch.setenv(variable, value)
    with pytest.raises(BackendError) as caught:
        gateway(ModelAccess(endpoint="https://models.example.org/v1", key="MY_KEY"), "job", listen="", folder="")
    everything += [str(caught.value), repr(caught.value.__cause__), redacted(f"InvalidURL: {value}")]


class Chatty:
    """Quotes what it should not: as a grader, and as extensions."""

    error = RuntimeError(f"Invalid header value b'Bearer {SECRET}\\n'")

    def grade(self, *arguments: object) -> Any:
        raise self.error

    def __getattr__(self, name: str) -> Any:
        raise self.error


def test_an_error_with_a_secret_is_recorded_without_it(
    lab: Any, everything: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """grade_error.json, run.json, events.jsonl, what is shown, and the result."""
    monkeypatch.setenv("LAB_PASSWORD", SECRET)
    lab.make(("worker", {}), execution={"retries": 0})
    lab.grader = Chatty()
    everything += lab.run().unfinished
    assert "Bearer ***" in (lab.folder("worker--coins--0") / "grade_error.json").read_text()
    assert "Bearer ***" in (lab.group.folder / "events.jsonl").read_text()


def test_what_backends_and_checks_tell_has_no_secret(everything: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    proxy = f"http://me:{WORD}@proxy.example.org:3128"
    monkeypatch.setenv("HTTPS_PROXY", proxy)
    monkeypatch.setenv("MLECORE_TEST_TOKEN", SECRET)
    problem = Problem(description=f"no route through {proxy}", fix=f"export MLECORE_TEST_TOKEN={SECRET}")
    everything += [
        problem.description,
        problem.fix,
        str(JobStatus(phase="pending", reason=f"login me:{WORD}@registry")),
    ]
    everything += [str(Finding(area="x", state="problem", what=f"{proxy}: {SECRET}", fix=proxy))]
    everything += [str(MlecoreError(f"ssh me:hunter2x@gpu1 failed: {SECRET}", fix=f"Look at {proxy}."))]


def test_a_traceback_has_no_secret(everything: list[str]) -> None:
    code = f"from mlecore import cli\ncli.click.Group.invoke = lambda *_: 1 / 0 * len('{SECRET}')\ncli.main(['doctor'])"
    environment = {"MY_KEY": SECRET, "PATH": "/usr/bin:/bin"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    everything.append(done.stderr)
    assert done.returncode == 1 and "ZeroDivisionError" in done.stderr


@pytest.mark.parametrize(
    "text",
    [
        "export OPENAI_API_KEY=...",
        "https://example.org:8080/@scope/package?api-version=2024-06-01",
        "python:3.12@sha256:5f4dcc3b5aa765d61d8327deb882cf99",
        "expected a token of at least 16 characters; basic authentication",
        "hf_hub_download of sk-learn, monkey=banana7, C:/Users/me@home",
        json.dumps({"tokens": 12345678, "key": None}),
    ],
)
def test_other_texts_stay_as_they_are(text: str) -> None:
    assert redacted(text, {}) == text and redacted(text + f" {KEY}", {}) == text + " ***"
