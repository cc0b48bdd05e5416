"""Model calls of an active run: fetched from its backend, again only after a while, and never by a list."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace

import groups_on_disk
import pytest
from attrs import evolve
from mle_ext_view import live
from mle_ext_view.app import _version, make_app
from mle_ext_view.group_page import group_page
from mle_ext_view.run_page import run_page
from mle_ext_view.site import Site
from starlette.testclient import TestClient

from mlecore.errors import BackendUnreachable
from mlecore.model.backends import Handle
from mlecore.model.model_access import ModelAccess
from mlecore.model.record import RunRecord
from mlecore_jobs.fetching import Fetched


class Job:
    """A backend with the gateway's files of one job."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.fetches = 0
        self.gone = False

    def fetch(self, handle: Handle, globs: Sequence[str], into: Path, max_bytes: int, max_files: int) -> Fetched:
        self.fetches += 1
        if self.gone:
            raise BackendUnreachable("the engine does not answer")
        into.mkdir()
        for name in globs:
            (into / name).parent.mkdir(exist_ok=True)
            shutil.copy(self.folder / name, into / name)
        return Fetched(files=2, bytes=1)


@pytest.fixture
def running(tmp_path: Path) -> RunRecord:
    record, *_ = groups_on_disk.new_group(tmp_path / "runs", "live")
    handle = Handle(name=f"mle-{record.uid}-1", id="1")
    attempt = groups_on_disk.attempt(record, ended_at=None, seconds=None, handle=handle)
    access = ModelAccess(endpoint="https://x.example/v1", key="THE_KEY")
    record = evolve(record, state="running", attempts=(attempt,), access=access)
    groups_on_disk.write(record)
    return record


@pytest.fixture
def job(running: RunRecord, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Job:
    made = Job(tmp_path / "job")
    (tmp_path / "job" / "logs").mkdir(parents=True)
    groups_on_disk.converse(evolve(running, folder=tmp_path / "job"), calls=2)
    monkeypatch.setattr(live, "open_backend", lambda name, options: SimpleNamespace(backend=made))
    monkeypatch.setattr(live, "_INTERVAL", 3600.0)  # however long a busy machine takes for a page
    return made


def test_calls_and_cost_are_shown_while_it_works(tmp_path: Path, running: RunRecord, job: Job) -> None:
    client = TestClient(make_app(tmp_path / "runs", "t"), base_url="http://127.0.0.1/t/")
    page = client.get(f"g/live/{running.name}/index.html").text
    assert "Model calls so far" in page and "2 calls" in page and "$0.0200" in page
    assert "I look at the data. 2" in client.get(f"g/live/{running.name}/calls.html").text
    assert job.fetches == 1, "what is known is not fetched again at once"


def test_new_calls_appear_and_stay_while_the_backend_is_away(
    tmp_path: Path, running: RunRecord, job: Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live, "_INTERVAL", 0.0)
    monkeypatch.setattr(live, "_REST", 0)
    site = Site(tmp_path / "runs")
    before = _version(site, "live", running.name)
    assert before == _version(site, "live", running.name)
    shutil.rmtree(job.folder / "logs")
    (job.folder / "logs").mkdir()
    groups_on_disk.converse(evolve(running, folder=job.folder), calls=3)
    after = _version(site, "live", running.name)
    assert after != before and "3 calls" in run_page(site, "live", running.name)
    job.gone = True
    assert after == _version(site, "live", running.name)


def test_a_list_shows_what_is_known_and_asks_no_backend(tmp_path: Path, running: RunRecord, job: Job) -> None:
    site = Site(tmp_path / "runs")
    assert "$0.02" not in group_page(site, "live", {}) and job.fetches == 0
    before = _version(site, "live", "")  # the page's event stream looks
    assert "$0.02" in group_page(site, "live", {}) and job.fetches == 1
    assert before == _version(site, "live", "") and job.fetches == 1
