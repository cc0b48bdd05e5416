"""The output of an active run: what its backend has so far, its secrets masked, and then what was collected."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import groups_on_disk
import pytest
from attrs import evolve
from mle_ext_view import output
from mle_ext_view.app import make_app
from starlette.testclient import TestClient

from mlecore.errors import BackendUnreachable
from mlecore.model.backends import Handle
from mlecore.model.record import RunRecord
from mlecore.runs.secrets import remember

KEY = "sk-0123456789abcdef"


class Job:
    """A backend with the output of one job."""

    def __init__(self) -> None:
        self.printed = b""
        self.asked: list[int] = []
        self.gone = False

    def logs(self, handle: Handle, offset: int) -> Iterator[bytes]:
        if self.gone:
            raise BackendUnreachable("the engine does not answer")
        self.asked.append(offset)
        yield self.printed[offset:]


@pytest.fixture
def job(monkeypatch: pytest.MonkeyPatch) -> Job:
    made = Job()
    monkeypatch.setattr(output, "open_backend", lambda name, options: SimpleNamespace(backend=made))
    return made


@pytest.fixture
def running(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunRecord:
    monkeypatch.setenv("MLECORE_STATE", str(tmp_path / "state"))
    monkeypatch.setenv("THE_KEY", KEY)
    record, *_ = groups_on_disk.new_group(tmp_path / "runs", "live")
    name = f"mle-{record.uid}-1"
    attempt = groups_on_disk.attempt(record, ended_at=None, seconds=None, handle=Handle(name=name, id="1"))
    record = evolve(record, state="running", attempts=(attempt,), given_secrets=("THE_KEY",))
    groups_on_disk.write(record)
    remember(record.folder, ["THE_KEY"])
    return record


def test_a_log_grows_and_keeps_its_place_when_it_is_collected(tmp_path: Path, job: Job, running: RunRecord) -> None:
    client = TestClient(make_app(tmp_path / "runs", "t"), base_url="http://127.0.0.1/t/")
    run = f"g/live/{running.name}"
    job.printed = f"one {KEY} <b>\ntwo ".encode()
    page = client.get(f"{run}/log.html").text
    assert "one ******************* &lt;b&gt;" in page and "two" not in page  # half a line may be half a secret
    assert f'data-tail="log.part" data-end="{len(job.printed) - 4}"' in page
    job.printed += f"{KEY[:8]}".encode()
    part = client.get(f"{run}/log.part", params={"from": len(job.printed) - 12}).json()
    assert part == {"html": "", "end": len(job.printed) - 12, "ended": False}
    job.printed += f"{KEY[8:]}\n".encode()
    part = client.get(f"{run}/log.part", params={"from": part["end"]}).json()
    assert part["html"] == "two *******************" and not part["ended"]
    assert job.asked[-1] > 0  # only what is new was fetched
    job.gone = True
    assert "the engine does not answer" in client.get(f"{run}/log.html").text
    groups_on_disk.write(evolve(running, state="collecting"))
    assert client.get(f"{run}/log.part", params={"from": part["end"]}).json()["ended"] is False
    (running.folder / "logs").mkdir()
    (running.folder / "logs" / "output.log").write_bytes(
        job.printed.replace(KEY.encode(), b"*" * len(KEY)) + b"three\n"
    )
    groups_on_disk.write(evolve(running, state="graded"))
    part = client.get(f"{run}/log.part", params={"from": part["end"]}).json()
    assert part["html"] == "three"
    assert client.get(f"{run}/log.part", params={"from": part["end"]}).json()["ended"] is True


def test_a_job_of_another_run_is_not_looked_at(tmp_path: Path, job: Job, running: RunRecord) -> None:
    attempt = evolve(running.attempts[0], job="mle-other-1")
    groups_on_disk.write(evolve(running, attempts=(attempt,)))
    client = TestClient(make_app(tmp_path / "runs", "t"), base_url="http://127.0.0.1/t/")
    assert client.get(f"g/live/{running.name}/log.html").status_code == 404
    assert job.asked == []
