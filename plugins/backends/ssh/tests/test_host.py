"""A host is the backend vm at the other end of a link: the same job, the same files, whatever happens to the link."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from mle_backend_ssh import host as host_module
from mle_backend_ssh.host import Host
from mle_backend_ssh.hosts import HostSettings

from mlecore.errors import BackendError, BackendUnreachable, DiskError
from mlecore.model.agents import Recipe
from mlecore.model.backends import Dataset, Handle, Job, JobStatus, Resources
from mlecore.model.model_access import ModelAccess
from mlecore.runs.measured import measure
from mlecore_jobs import INSIDE
from mlecore_testing.models import Answer, Script, scripted_model
from mlecore_testing.models.client import ASK

pytestmark = pytest.mark.slow

INIT = INSIDE / "init"
KEY = "sk-real-0123456789abcdef"


@pytest.fixture(autouse=True)
def _hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host_module, "_PAUSE", 0.01)
    monkeypatch.setattr(host_module, "RETRY_PAUSE", 0.01)


@pytest.fixture
def dataset(tmp_path: Path) -> Dataset:
    public = tmp_path / "prepared" / "public"
    (public / "deeper").mkdir(parents=True)
    (public / "train.csv").write_text("id,y\n1,2\n")
    (public / "deeper" / "picture.bin").write_bytes(bytes(range(256)) * 4000)
    (public.parent / "private").mkdir()
    (public.parent / "private" / "answers.csv").write_text("id,y\n9,the-answer\n")
    return Dataset(competition="c", edition="v1", public=public, digest="d")


@pytest.fixture
def start(host: Host, dataset: Dataset, tmp_path: Path) -> Callable[..., Handle]:
    def run(*argv: str, on: Host = host, **words: Any) -> Handle:
        usual = {"name": "mle-test-1", "resources": Resources(time_limit=300.0, grace=1.0)}
        image, data = on.build(Recipe(), tmp_path / "build.log"), on.send(dataset, lambda *_: None)
        job = {"group": "g", "image": image, "dataset": dataset, "data": data, "argv": argv, "tools": {"init": INIT}}
        return on.start(Job(**{**usual, **job, **words}))

    return run


def wait(host: Host, handle: Handle) -> JobStatus:
    limit = time.monotonic() + 300
    status: JobStatus
    while (status := host.call("status", (handle,))[handle]).phase not in ("exited", "gone"):
        assert time.monotonic() < limit
        time.sleep(0.05)
    return status


def test_a_secret_reaches_the_job_and_no_command_line(
    host: Host, link: Any, start: Callable[..., Handle], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_WORD", "swordfish")
    handle = start("sh", "-c", "echo $SECRET_WORD", resources=Resources(time_limit=60.0, secrets=("SECRET_WORD",)))
    wait(host, handle)
    assert b"".join(host.logs(handle, 0, False)) == b"swordfish\n"
    assert not any("swordfish" in command for command in link.commands)
    kept = [path for path in (tmp_path / "gpu1").rglob("*") if path.is_file() and b"swordfish" in path.read_bytes()]
    assert [path.name for path in kept] == ["output"]
    host.call("remove", handle)


def test_a_host_installs_from_the_controllers_mirror(
    host: Host, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "pip.conf").write_text("[global]\nindex-url = http://127.0.0.1:9/of-the-controller/simple\n")
    for name in ("PIP_INDEX_URL", "UV_DEFAULT_INDEX", "UV_INDEX_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PIP_CONFIG_FILE", str(tmp_path / "pip.conf"))
    with pytest.raises(BackendError, match=r"127\.0\.0\.1:9/of-the-controller"):
        host.build(Recipe(pip=("a-package-of-the-controllers-mirror",)), tmp_path / "build.log")


def test_data_are_sent_once_and_resumed_after_a_cut(host: Host, link: Any, dataset: Dataset) -> None:
    host.capacity()  # the program is there
    link.sent, link.cut_after = 0, 700_000
    folder = Path(host.send(dataset, lambda *_: None))
    assert (folder / "deeper" / "picture.bin").read_bytes() == bytes(range(256)) * 4000
    assert 1_024_000 < link.sent < 1_024_000 + 100_000
    link.sent = 0
    assert host.send(dataset, lambda *_: None) == str(folder)
    assert link.sent < 1000
    assert not [path for path in (folder.parent).rglob("*") if "answer" in path.name]
    assert folder.stat().st_mode & 0o222 == 0
    assert sorted(path.name for path in folder.parent.iterdir()) == [folder.name, f"{folder.name}.lock"]


def test_data_that_changed_since_their_manifest_are_not_accepted(host: Host, dataset: Dataset) -> None:
    from mle_backend_ssh import sending

    entries = list(sending._entries(dataset))
    (dataset.public / "train.csv").write_text("id,y\n1,3\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sending, "_entries", lambda _: iter(entries))
        with pytest.raises(BackendError, match=r"1 files arrived damaged, train\.csv"):
            host.send(dataset, lambda *_: None)


def test_a_host_that_can_store_no_more_says_so(host: Host, link: Any, dataset: Dataset) -> None:
    """While data are on their way to it, and not as a connection that broke."""
    link.cut_after = 500_000
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(host_module, "_TRIES", 1)
        with pytest.raises(BackendUnreachable):
            host.send(dataset, lambda *_: None)
    (part,) = link.home.rglob("*.mlecore-part")
    part.unlink()
    part.mkdir()
    while host.down is not None:
        time.sleep(0.01)
    with pytest.raises(DiskError, match="gpu1: data cannot be written"):
        host.send(dataset, lambda *_: None)


def test_files_that_came_are_not_sent_again(
    host: Host, link: Any, start: Callable[..., Handle], tmp_path: Path
) -> None:
    handle = start("sh", "-c", "for name in a b c; do head -c 600000 /dev/urandom > logs/$name; done")
    wait(host, handle)
    link.received, link.cut_out_after = 0, 1_000_000  # in the middle of b
    fetched = host.fetch(handle, ["logs/*"], tmp_path / "into", 2_000_000, 3)
    assert (fetched.files, fetched.bytes, fetched.refused) == (3, 1_800_000, ())
    for name in "abc":
        (there,) = link.home.rglob(f"logs/{name}")
        assert (tmp_path / "into" / "logs" / name).read_bytes() == there.read_bytes()
    assert link.received < 1_800_000 + 600_000 + 10_000
    host.call("remove", handle)


def test_an_error_there_is_the_same_error_here(host: Host) -> None:
    with pytest.raises(BackendError, match="gpu1: 'x y' cannot be a job's name") as error:
        host.call("home", "x y")
    assert not isinstance(error.value, BackendUnreachable)


def test_an_old_python_says_so(link: Any, tmp_path: Path) -> None:
    old = tmp_path / "python2"
    old.write_text(f"#!{sys.executable}\nimport sys; sys.version_info = (3, 8); exec(sys.argv[4])\n")
    old.chmod(0o755)
    with pytest.raises(BackendUnreachable, match=r"hosts need Python 3\.9 or later") as error:
        Host(HostSettings(address="gpu1", python=str(old)), link, {}).capacity()
    assert error.value.fix is not None and "`python =`" in error.value.fix


@pytest.mark.sandbox
def test_the_gateway_runs_beside_the_job_and_its_key_is_nowhere(
    link: Any, start: Callable[..., Handle], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the packages of this test's own Python, so that nothing is installed; mlecore is what was sent."""
    sandboxed = Host(HostSettings(address=link.name, python=sys.executable), link, {})
    monkeypatch.setenv("TEST_MODEL_KEY", KEY)
    monkeypatch.setattr(Host, "_gateway_python", lambda _: sys.executable)
    with scripted_model(Script(key=KEY, answers=(Answer(text="fine", times=0),))) as model:
        access = ModelAccess(endpoint=model.url, key="TEST_MODEL_KEY", models=("scripted",), budgets=("2calls",))
        script = ASK + "print(ask(), ask(), ask())"
        resources = Resources(time_limit=300.0, grace=1.0, network="llm", model=access)
        handle = start("python3", "-c", script, on=sandboxed, resources=resources)
        assert wait(sandboxed, handle).exit_code == 0
    assert b"".join(sandboxed.logs(handle, 0, False)) == b"fine fine 429\n"
    sandboxed.fetch(handle, ["logs"], tmp_path / "into", 10**6, 10)
    measured = measure(tmp_path / "into" / "logs" / "gateway.jsonl", ("2calls",))
    assert measured is not None and measured.calls == 2
    assert not any(KEY in command for command in link.commands)
    for path in link.home.rglob("*"):
        if path.is_file() and not path.is_symlink():
            assert KEY.encode() not in path.read_bytes(), path
    sandboxed.call("remove", handle)
