"""What needs no engine: what it is asked for, globs, hostile archives, options, problems before a run."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import tarfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import pytest
from attrs import evolve
from mle_backend_docker import container, fetching, network, system_calls
from mle_backend_docker.docker_backend import DockerBackend
from mle_backend_docker.gpus import Gpus
from mle_backend_docker.settings import read_gpus
from mle_backend_docker.users import OURS

from mlecore.errors import BackendError, BackendUnreachable, UsageError
from mlecore.model.backends import Job, Resources
from mlecore.util.globs import Glob
from mlecore_jobs.fetching import Receiver
from mlecore_sandboxes.containers import below_home, names
from mlecore_sandboxes.containers.engine import FULL, Engine, whole_lines
from mlecore_testing.backends.harness import shell_job

JOB = shell_job(name="mle-x-1", argv=("python", "agent/main.py"), tools={})


def asking(**resources: Any) -> Job:
    return evolve(JOB, resources=Resources(**resources))


def host(job: Job, **changes: Any) -> dict[str, Any]:
    given: dict[str, Any] = {
        "network": "none", "hosts": (), "gpus": (), "runtime": None, "engine_memory": 2**34, "volumes": [],
        "size": None, "selinux": False, "podman": False, "filtered": False, **changes,
    }  # fmt: skip
    return container.host_config(job, **given)


@pytest.mark.parametrize("name", ["../x", "/etc/x", "data/x", "agent/../../x", ""])
def test_files_cannot_be_put_elsewhere(name: str) -> None:
    with pytest.raises(BackendError, match="below home"):
        below_home(name)


@pytest.mark.parametrize(("host_name", "same"), [("localhost", True), ("host.docker.internal", False)])
def test_only_the_engine_s_name_for_this_machine_is_unknown_here(host_name: str, same: bool) -> None:
    assert DockerBackend({}, Here()).reaches_as_here(f"http://{host_name}:8000/v1") is same


def test_every_limit_and_right_of_a_container() -> None:
    config = host(asking(memory=2**30, cpus=1.5, processes=99), runtime="runsc")
    assert config["Memory"] == config["MemorySwap"] == config["ShmSize"] == 2**30
    assert (config["NanoCpus"], config["PidsLimit"], config["Runtime"]) == (1_500_000_000, 99, "runsc")
    assert config["CapDrop"] == ["ALL"] and config["SecurityOpt"] == ["no-new-privileges"]
    assert config["ReadonlyRootfs"] is True and config["Privileged"] is False
    assert "DeviceRequests" not in config and "StorageOpt" not in config
    assert host(JOB)["ShmSize"] == 2**33


def test_a_disk_limit_and_gpus_are_asked_for_where_they_can_be_had() -> None:
    config = host(asking(disk=7, writable_root=True), size=7, gpus=("1", "3"))
    assert config["StorageOpt"] == {"size": "7"} and config["ReadonlyRootfs"] is False
    assert config["DeviceRequests"] == [{"Driver": "nvidia", "DeviceIDs": ["1", "3"], "Capabilities": [["gpu"]]}]
    volumes = container.mounts(JOB, {}, 7)
    assert all(each["VolumeOptions"]["DriverConfig"]["Options"] == {"size": "7"} for each in volumes[:2])
    assert volumes[2]["ReadOnly"] is True


def test_an_agent_cannot_change_what_init_reads_and_keeps_its_proxy_settings() -> None:
    env = container.environment(
        evolve(asking(time_limit=60.0), env={"MLECORE_TIME_LIMIT": "9", "HTTPS_PROXY": "own"}),
        OURS,
        ("3", "5"),
        "http://relay:1",
    )
    assert (env["MLECORE_TIME_LIMIT"], env["MLECORE_HOME"], env["HTTPS_PROXY"]) == ("60.00", "/home", "own")
    assert (env["http_proxy"], env["CUDA_VISIBLE_DEVICES"]) == ("http://relay:1", "0,1")


def test_a_job_cannot_hide_its_labels() -> None:
    job = evolve(JOB, labels={names.JOB: "other", "competition": "toy"})
    assert names.labels(job, "agent", {names.GROUP: "other"}) == {
        names.JOB: "mle-x-1", names.GROUP: "g", names.ROLE: "agent", "competition": "toy",
    }  # fmt: skip


def unpack(tmp_path: Path, members: list[tarfile.TarInfo], limit: int = 1000, glob: str = "logs") -> Receiver:
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w") as tar:
        for member in members:
            tar.addfile(member, io.BytesIO(b"x" * member.size))
    archive.seek(0)
    receiver = Receiver(tmp_path / "out", limit, 100)
    fetching._unpack(archive, Glob(glob), receiver)
    return receiver


def member(name: str, size: int = 3, type: bytes = tarfile.REGTYPE, link: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.size, info.type, info.linkname = size, type, link
    return info


def test_an_archive_with_evil_names_writes_nothing_elsewhere(tmp_path: Path) -> None:
    receiver = unpack(
        tmp_path,
        [
            member("../evil"), member("/evil"), member("logs/../../evil"), member("logs/ok"),
            member("logs/l", 0, tarfile.SYMTYPE, "/etc"), member("logs/l/passwd"), member("logs/c", 0, tarfile.CHRTYPE),
            member("logs/h", 0, tarfile.LNKTYPE, "../../evil"), member("logs/h2", 0, tarfile.LNKTYPE, "logs/ok"),
            member("logs/ok", 5), member("logs/ok/below"), member("code/x"), member("logs/" + "n" * 300),
        ],
    )  # fmt: skip
    there = sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file())
    assert there == ["out/logs/h2", "out/logs/l/passwd", "out/logs/ok"]
    assert (receiver.files, receiver.bytes) == (3, 9)
    said = "\n".join(receiver.fetched().refused)
    for word in ("/evil: a name that leads elsewhere", "logs/c: a device", "logs/h: another name", "nnn"):
        assert word in said


def test_a_stream_of_unwanted_bytes_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetching, "SKIPPED", 5000)
    receiver = unpack(tmp_path, [member("logs/a", 4000), member("logs/b", 4000), member("logs/c", 1)], limit=100)
    fetched = receiver.fetched()
    assert (fetched.files, fetched.complete) == (0, False)
    assert "too much to go through" in fetched.refused[-1]


def test_lost_line_ends_are_given_back() -> None:
    part = b"x" * FULL
    found = [(1, part), (1, b"rest"), (2, b"err\n"), (1, b"next\n"), (1, part), (1, b"tail")]
    assert b"".join(whole_lines(found, FULL)) == part + b"resterr\n\nnext\n" + part + b"tail"
    assert b"".join(whole_lines(found, 0)) == part + b"resterr\nnext\n" + part + b"tail"


class Here(Engine):
    """An engine with prepared answers."""

    def __init__(self, containers: list[Mapping[str, Any]] | None = None, **info: Any) -> None:
        super().__init__("unix:///nowhere")
        self.info = {"OSType": "linux", "Runtimes": {"runc": {}}, "NCPU": 2, "MemTotal": 2**32, **info}
        self.version = {"Version": "20.10.24"}
        self.found = containers or []

    @property
    def api(self) -> Any:
        return self

    def containers(self, **_: Any) -> list[Mapping[str, Any]]:
        return self.found


def gpus(engine: Engine, option: str | None, here: tuple[str, ...]) -> Gpus:
    made = Gpus(engine, read_gpus(option) if option else None)
    made.here = here
    return made


@pytest.mark.parametrize(
    ("option", "here", "asked", "words"),
    [
        ("1", (), 0, "nvidia-smi shows none"),
        (None, (), 1, "nvidia-smi shows none"),
        (None, (), 0, ""),
        ("0,7", ("0", "1"), 0, "unknown GPU 7"),
        ("3", ("0", "1"), 0, "2 available"),
        ("0,1", ("0", "1"), 2, ""),
    ],
)
def test_gpus_that_are_not_there_or_too_many_are_problems_before_anything_starts(
    option: str | None, here: tuple[str, ...], asked: int, words: str
) -> None:
    backend = DockerBackend({"gpus": option} if option else {}, Here(Runtimes={"nvidia": {}}))
    backend.gpus.here = here
    found = [each.description for each in backend.preflight([Resources(gpus=asked)]) if each.fatal]
    assert [words in each for each in found] == [True] * bool(words)


def test_runs_that_are_to_have_no_gpu_get_none_by_the_option() -> None:
    """A plan that compares hardware: the option would give its runs without GPUs all of them."""
    for option, fatal in (("0,1", ["-B gpus would give 2 GPU(s) to runs whose plan gives them none"]), (None, [])):
        backend = DockerBackend({"gpus": option} if option else {}, Here(Runtimes={"nvidia": {}}))
        backend.gpus.here = ("0", "1")
        problems = backend.preflight([Resources(gpus=0), Resources(gpus=1), Resources(gpus=2)])
        assert [each.description for each in problems if each.fatal] == fatal


def test_an_engine_without_the_runtime_for_gpus_is_a_problem() -> None:
    backend = DockerBackend({"gpus": "1"}, Here())
    backend.gpus.here = ("0",)
    [problem] = backend.preflight()
    assert "cannot give GPUs" in problem.description and "NVIDIA Container Toolkit" in problem.fix


def test_two_runs_never_get_the_same_gpu() -> None:
    taken = {"Labels": {names.GPUS: "0"}}
    with gpus(Here([taken]), "1", ("0", "1")).claim(JOB) as ids:
        assert ids == ("1",)
    with gpus(Here([taken]), "0,1", ("0", "1")).claim(asking(gpus=1)) as ids:
        assert ids == ("1",)
    with gpus(Here([taken]), None, ("0", "1")).claim(JOB) as ids:
        assert ids == ()
    waiting = gpus(Here([taken]), "0,", ("0", "1"))
    with pytest.raises(BackendUnreachable, match="only 0 of 0 are free"), waiting.claim(asking(gpus=1)):
        pass
    with pytest.raises(BackendError, match="there are 1"), waiting.claim(asking(gpus=2)):
        pass


def test_problems_name_their_fix() -> None:
    def what(resources: Resources, **info: Any) -> str:
        return "; ".join(
            f"{each.description} {each.fix}" for each in DockerBackend({}, Here(**info)).preflight([resources])
        )

    assert "GiB" in what(Resources(memory=2**40))
    assert "--cpus 2" in what(Resources(cpus=3.0))
    assert "cannot limit memory" in what(Resources(memory=2**20), MemoryLimit=False)
    assert "swap" in what(Resources(memory=2**20), MemoryLimit=True, SwapLimit=False)
    assert "--endpoint" in what(Resources(network="llm"))
    local = what(Resources(network="llm", allow=("localhost:8000",)))
    assert "http://host.docker.internal:8000" in local
    [problem] = DockerBackend({"runtime": "kata"}, Here()).preflight()
    assert "'kata'" in problem.description and "runc" in problem.description


def test_podman_is_refused_what_it_would_not_hold() -> None:
    engine = Here()
    engine.version = {"Version": "4.3.1", "Components": [{"Name": "Podman Engine"}]}
    job = asking(network="llm", allow=("example.com",))
    [problem] = DockerBackend({}, engine).preflight([job.resources])
    assert problem.fatal and "Podman" in problem.description
    with pytest.raises(BackendError, match="Podman"):
        network.provide(engine, job, "image", {}, False)
    assert DockerBackend({}, engine).preflight([JOB.resources]) == []


@pytest.mark.parametrize(
    ("name", "value"),
    [("labels", "nonsense"), ("user", "root"), ("user", "0:5"), ("ca-bundle", "/none"), ("gpus", "x")],
)
def test_a_bad_value_is_refused_with_the_option_s_name(name: str, value: str) -> None:
    with pytest.raises(UsageError, match=f"backend docker: option {name}={value}: "):
        DockerBackend({name: value})


def test_loading_the_plugin_imports_no_client() -> None:
    program = (
        "import sys, mle_backend_docker as m; m.backend({}); print('docker' in sys.modules, 'requests' in sys.modules)"
    )
    out = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert out.split() == ["False", "False"]


def test_a_profile_lets_process_1_alone() -> None:
    """Every way of writing its number; the kernel looks at the lower half of the argument only."""
    profile = json.loads(system_calls.profile())

    def allowed(call: str, *arguments: int) -> bool:
        for rule in profile["syscalls"]:
            if call not in rule["names"] or rule["action"] != "SCMP_ACT_ALLOW" or "caps" in rule.get("includes", {}):
                continue
            for test in rule.get("args", ()):
                value = arguments[test["index"]]
                masked = test["op"] == "SCMP_CMP_MASKED_EQ"
                if (value & test["value"]) != test["valueTwo"] if masked else value != test["value"]:
                    break
            else:
                return True
        return False

    for one in (1, 1 + 2**32, 1 + 2**63):
        assert not allowed("ptrace", 16, one) and not allowed("process_vm_writev", one)
        assert not allowed("process_vm_readv", one) and not allowed("prlimit64", one, 0, 8)
        assert allowed("prlimit64", one, 0, 0)
    for other in (0, 2, 3, 77, 4096, 2**31):
        assert allowed("ptrace", 16, other) and allowed("prlimit64", other, 0, 8)
    assert allowed("read") and not allowed("keyctl") and not allowed("io_uring_setup")


def test_a_profile_that_somebody_chose_stays() -> None:
    class Chosen:
        is_podman = False
        info: ClassVar = {"SecurityOptions": ["name=seccomp,profile=/etc/docker/own.json"]}

    assert not system_calls.is_ours(Chosen())  # type: ignore[arg-type]
    Chosen.info["SecurityOptions"] = ["name=apparmor", "name=seccomp,profile=builtin"]
    assert system_calls.is_ours(Chosen())  # type: ignore[arg-type]
    assert "seccomp" not in str(host(asking())) and "seccomp=" in str(host(asking(), filtered=True))
