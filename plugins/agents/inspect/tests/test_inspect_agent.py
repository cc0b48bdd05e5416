"""inspect's react, and an agent from a wheel, against a scripted model, in graded runs."""

from __future__ import annotations

import base64
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

import mlecore
from mlecore.data.layout import DataDirs
from mlecore.data.preparing import prepare
from mlecore.data.sources import Fetch
from mlecore_gateway.transcripts import read_transcripts
from mlecore_testing import check_agent, scripted_run
from mlecore_testing.answers_hunt import found, program
from mlecore_testing.models import Answer, Tool
from mlecore_testing.package_index import serving

SOLVE = "cp $MLECORE_OPT/sample.csv $MLECORE_HOME/submission/submission.csv"
SUBMIT = Answer(tools=(Tool(name="submit", arguments={"answer": "done"}),))
OWN = """
from inspect_ai.agent import Agent, agent, react
from inspect_ai.tool import bash

@agent
def terse() -> Agent:
    return react(prompt="Answer in one word.", tools=[bash(timeout=600)])
"""


def test_conformance() -> None:
    check_agent("inspect")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One folder, so that the runs share their environment, which takes most of the time."""
    return tmp_path_factory.mktemp("inspect")


@pytest.fixture(scope="module")
def options(place: Path) -> Iterator[Mapping[str, str]]:
    """With the package own-agents from an index of its own."""
    packages = place / "packages"
    packages.mkdir()
    facts = "own_agents-1.0.dist-info"
    with zipfile.ZipFile(packages / "own_agents-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr("own_agents.py", OWN)
        wheel.writestr(f"{facts}/METADATA", "Metadata-Version: 2.1\nName: own-agents\nVersion: 1.0\n")
        wheel.writestr(f"{facts}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{facts}/entry_points.txt", "[inspect_ai]\nown_agents = own_agents\n")
        wheel.writestr(f"{facts}/RECORD", "")
    with serving(packages) as at:
        (place / "needed.txt").write_text(f"--extra-index-url http://{at}/simple\nown-agents\n")
        yield {"pip": str(place / "needed.txt")}


def command(line: str) -> Answer:
    return Answer(tools=(Tool(name="bash", arguments={"command": line}),))


@pytest.mark.sandbox
@pytest.mark.network
def test_react_submits_through_the_gateway(place: Path, options: Mapping[str, str]) -> None:
    done = scripted_run("inspect", [command(SOLVE), SUBMIT], place, options={"agent": "react", **options})
    record = done.record
    assert record.report is not None and record.report.valid_submission, record.reason
    assert record.outcome is not None and record.outcome.kind == "submitted"
    assert record.calls is not None and record.calls.calls == 2
    assert record.usage_difference == ""
    assert list((record.folder / "logs" / "inspect").glob("*.eval"))
    assert done.leaks == ()


@pytest.mark.sandbox
@pytest.mark.network
def test_an_agent_of_another_package_hunts_for_answers_in_vain(place: Path, options: Mapping[str, str]) -> None:
    prepare(mlecore.competition("optical-digits"), DataDirs.of([place / "data"]), Fetch())
    prepared = mlecore.open_data(mlecore.competition("optical-digits"), [place / "data"])
    hunt = f"cat >/tmp/hunt.py <<'END'\n{program(prepared)}\nEND\npython3 /tmp/hunt.py >$MLECORE_HOME/logs/hunt.txt"
    planted = base64.b64encode(next(prepared.private.glob("*.csv")).read_bytes()).decode()  # inspect keeps each command
    plant = f"base64 -d >/tmp/planted <<'END'\n{planted}\nEND"
    done = scripted_run(
        "inspect",
        [command(line) for line in (plant, hunt, SOLVE)] + [SUBMIT],
        place,
        options={"agent": "own_agents/terse", **options},
        gateway={"transcripts": True},
    )
    record = done.record
    assert record.report is not None and record.report.valid_submission, record.reason
    assert record.calls is not None and record.calls.calls == 4
    calls = list(read_transcripts(record.folder / "logs" / "transcripts.jsonl.zst"))
    assert "Answer in one word." in calls[0]["request"]["messages"][0]["content"]
    hunted = found((record.folder / "logs" / "hunt.txt").read_text())
    assert (hunted.answers, hunted.reached) == (["/tmp/planted"], [])  # and no others
    assert done.leaks == ()
