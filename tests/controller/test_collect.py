"""What comes out of a sandbox is hostile: it stays in its folder, bounded, and is reported."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from attrs import evolve

from mlecore.controller import collect
from mlecore.controller.ending import attempt_end, exit_code, settle_doubt, time_used
from mlecore.controller.start import copy_finished
from mlecore.model.agents import FinishedSubmission
from mlecore.model.backends import Handle, JobStatus
from mlecore.model.model_access import ModelAccess
from mlecore.model.record import Attempt, RunRecord
from mlecore.runs.secrets import remember
from mlecore.util.globs import Glob
from mlecore_jobs import INSIDE
from mlecore_jobs.fetching import Fetched
from mlecore_testing.records import a_run

HANDLE = Handle(name="j", id="i")


@pytest.fixture
def record(tmp_path: Path) -> RunRecord:
    attempt = Attempt(number=1, job="j", handle=HANDLE)
    out = a_run(tmp_path / "r", attempts=(attempt,), candidates=("submission/submission.csv", "best/*.csv"))
    out.folder.mkdir()
    return out


class Sandbox:
    """A backend that fetches what a test has put into a folder, links and all."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.output = [b"hello\n"]

    def put(self, name: str, content: str = "x") -> Path:
        path = self.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
        return path

    def fetch(self, handle, globs, into: Path, max_bytes: int, max_files: int) -> Fetched:
        into.mkdir()
        for glob in map(Glob, globs):
            for path in self.home.rglob("*"):
                name = path.relative_to(self.home)
                if (path.is_dir() and not path.is_symlink()) or not glob.matches(name.as_posix()):
                    continue
                if (into / name).is_symlink() or (into / name).exists():
                    continue
                (into / name).parent.mkdir(parents=True, exist_ok=True)
                if path.is_fifo():
                    os.mkfifo(into / name)
                else:
                    shutil.copy(path, into / name, follow_symlinks=False)
        return Fetched(files=3, bytes=9, refused=("submission/huge.csv: 100 GB",))

    def logs(self, handle):
        yield from self.output


@pytest.fixture
def sandbox(tmp_path: Path) -> Sandbox:
    return Sandbox(tmp_path / "home")


def collected(sandbox: Sandbox, record: RunRecord) -> RunRecord:
    collect.fetch(sandbox, HANDLE, record, 10**6)
    return collect.lay_out(record)


def test_links_and_pipes_do_not_come_along(sandbox, record):
    sandbox.put("code/main.py")
    (sandbox.home / "code" / "answers").symlink_to("/etc/passwd")
    (sandbox.home / "code" / "folder").symlink_to("/etc")
    os.mkfifo(sandbox.home / "code" / "fifo")
    sandbox.put("code/locked/x")
    (sandbox.home / "code" / "locked").chmod(0o500)
    done = collected(sandbox, record)
    assert sorted(p.name for p in (record.folder / "code").iterdir()) == ["locked", "main.py"]
    refused = " ".join(done.collected.refused)
    assert "answers: not a regular file" in refused and "fifo: not" in refused and "huge.csv: 100 GB" in refused
    assert (record.folder / "code" / "locked").stat().st_mode & 0o700 == 0o700


def test_a_link_is_no_submission(sandbox, record):
    (sandbox.home / "submission").mkdir(parents=True)
    (sandbox.home / "submission" / "submission.csv").symlink_to("/etc/passwd")
    done = collected(sandbox, record)
    assert done.collected.candidate is None and done.submission is None
    assert "submission/submission.csv: not a regular file" in done.collected.refused
    why = "submission/submission.csv: not a regular file"
    assert why in collect.why_no_submission(done)
    assert why in collect.why_no_submission(evolve(done, candidates=("submission/**",)))
    assert collect.why_no_submission(evolve(done, candidates=("best/*",))) == ""


@pytest.mark.parametrize(
    "place",
    [
        "submission/v3/submission.csv",
        "submission/my.parquet",
        "working/Submission.csv",
    ],
)
def test_what_may_have_been_meant_as_the_submission_is_kept_and_named(sandbox, record, place):
    sandbox.put(place, "x" * 2500)
    done = collected(sandbox, record)
    assert done.submission is None
    assert f"no submission/submission.csv, but {place} (2.5 kB)" in collect.why_no_submission(done)
    assert (collect.attempt_folder(done) / "result" / place).stat().st_size == 2500


def test_checks_are_counted_up_to_a_bound(sandbox, record, monkeypatch):
    sandbox.put(".mlecore/checks", "...")
    collected(sandbox, record)
    assert collect.read_checks(record) == 3
    monkeypatch.setattr(collect, "MOST_CHECKS", 2)
    assert collect.read_checks(record) == 2


def test_checks_that_are_no_file_count_nothing(sandbox, record):
    (sandbox.home / ".mlecore" / "checks").mkdir(parents=True)
    collected(sandbox, record)
    assert collect.read_checks(record) == 0


@pytest.mark.parametrize(
    ("candidates", "chosen"),
    [
        (("submission/**",), "submission/a/1.csv"),
        (("submission",), "submission/a/1.csv"),
        (("submission/*.csv", "submission/**"), "submission/b.csv"),
        (("**/*.csv",), "submission/a/1.csv"),
        (("*",), "submission/a/1.csv"),
        (("**/2.csv",), None),
    ],
)
def test_what_a_glob_fetches_is_what_is_chosen_from(sandbox, record, candidates, chosen):
    sandbox.put("submission/a/1.csv", "one")
    sandbox.put("submission/b.csv", "two")
    sandbox.put(".mlecore/snapshots/2.csv", "a snapshot")
    done = collected(sandbox, evolve(record, candidates=candidates))
    assert done.collected.candidate == chosen and done.collected.snapshots == 1


def test_output_has_its_limit(sandbox, record, monkeypatch):
    monkeypatch.setattr(collect, "OUTPUT_LIMIT", 10)
    sandbox.output = [b"12345678", b"12345678", b"x" * 100]
    done = collected(sandbox, record)
    assert (record.folder / "logs" / "output.log").read_bytes() == b"1234567812"
    assert not done.collected.complete and "output: more than 10 bytes" in done.collected.refused[-1]


@pytest.mark.parametrize("name", ["logs", ".mlecore", ".mlecore/snapshots"])
def test_a_file_in_the_place_of_a_folder(sandbox, record, name):
    sandbox.put("submission/submission.csv", "x")
    sandbox.put(name)
    done = collected(sandbox, record)
    assert f"{name}: a file, not a folder" in done.collected.refused and done.submission.read_text() == "x"
    assert (record.folder / "logs" / "output.log").read_text() == "hello\n"
    assert collect.lay_out(record).collected == done.collected


def test_an_output_log_of_the_agents_own(sandbox, record):
    sandbox.put("logs/output.log", "mine")
    collected(sandbox, record)
    assert (record.folder / "logs" / "output.log").read_text() == "hello\n"
    assert (record.folder / "logs" / "output.log.of-agent").read_text() == "mine"


@pytest.mark.parametrize(
    "text",
    [
        "[]",
        '{"exit_code": true, "seconds": true}',
        '{"exit_code": 1e99, "seconds": 1e999}',
        '{"exit_code": NaN, "seconds": -1}',
        '{"seconds": 1' + "0" * 5000 + "}",
        '{"a":' * 5000,
        '{"x": "' + "x" * 200_000 + '"}',
        r'{"exit_code": "\ud800", "gpu": "\ud800"}',
    ],
)
def test_a_forged_exit_says_nothing(sandbox, record, text):
    sandbox.put(".mlecore/exit.json", text)
    collected(sandbox, record)
    reported = collect.read_exit(record)
    assert (reported.exit_code, reported.seconds) == (None, None)


def test_init_keeps_no_more_snapshots_than_are_believed():
    init = (INSIDE / "init").read_text()
    assert f"copies_most={collect.MAX_SNAPSHOTS}\n" in init
    assert f"code_files_most={collect.MAX_CODE_FILES}\ncode_bytes_most={collect.MAX_CODE_BYTES}\n" in init


def test_code_that_init_cannot_have_kept_is_dropped(sandbox, record):
    for name in ("15", "30", "45"):
        sandbox.put(f".mlecore/snapshots/{name}.csv")
    sandbox.put(".mlecore/code_snapshots/15/deep/main.py", "1")
    sandbox.put(".mlecore/code_snapshots/30/huge.py", "x" * (collect.MAX_CODE_BYTES + 1))
    for number in range(collect.MAX_CODE_FILES + 1):
        sandbox.put(f".mlecore/code_snapshots/45/{number}.py")
    for name in ("16/main.py", "x.py", "part/main.py"):
        sandbox.put(f".mlecore/code_snapshots/{name}")
    done = collected(sandbox, record)
    assert [path.relative_to(done.folder).as_posix() for path in (done.folder / "code_snapshots").rglob("*.py")] == [
        "code_snapshots/15/deep/main.py"
    ]
    assert (done.collected.snapshots, done.collected.code_snapshots) == (3, 1)
    assert ".mlecore/code_snapshots: 4 copies that init cannot have taken" in done.collected.refused
    assert collect.lay_out(record).collected == done.collected


def test_snapshots_that_init_cannot_have_taken_are_dropped(sandbox, record):
    for name in ("15.csv", "30.csv", "4000.csv", "x.csv", "7.txt"):
        sandbox.put(f".mlecore/snapshots/{name}")
    collect.fetch(sandbox, HANDLE, record, 10**6, seconds=31.0)
    done = collect.lay_out(record)
    assert sorted(path.name for path in (done.folder / "snapshots").iterdir()) == ["15.csv", "30.csv"]
    assert ".mlecore/snapshots: 3 files that init cannot have written" in done.collected.refused


def test_finished_files_stay_in_their_folders(record, tmp_path):
    file = tmp_path / "f.csv"
    file.write_text("x")
    done = copy_finished(record, FinishedSubmission(submission=file, files={"logs/a/b.txt": file}))
    assert done.submission.read_text() == "x" and (record.folder / "logs/a/b.txt").exists()
    for name in ("../x", "/x", "run.json", "grade.json", "attempts/1/x", "."):
        with pytest.raises(ValueError, match="not a path"):
            copy_finished(record, FinishedSubmission(submission=None, files={name: file}))


@pytest.mark.parametrize(
    ("status", "ended"),
    [
        ({"exit_code": 124, "seconds": 60.4}, "timed_out"),
        ({"exit_code": 124, "seconds": 59.0}, "timed_out"),  # clocks differ, and some count whole seconds
        ({"exit_code": 124, "seconds": 30.0}, "crashed"),  # the agent's own code
        ({"exit_code": 124}, "timed_out"),  # nobody kept its time
        ({"exit_code": 137, "timed_out": True, "seconds": 70.0}, "timed_out"),
        ({"exit_code": 137, "seconds": 70.0}, "crashed"),
        ({"exit_code": 247, "seconds": 5.0}, "crashed"),
        ({"exit_code": 137, "oom": True, "seconds": 5.0}, "oom"),
        ({"exit_code": 0, "seconds": 60.1}, "finished"),
    ],
)
@pytest.mark.parametrize(
    "forged",
    [
        "",
        '{"exit_code": 124, "timed_out": true, "stopped": true, "seconds": 60}',
    ],
)
def test_no_forged_report_changes_how_it_ended(sandbox, record, status, ended, forged):
    sandbox.put(".mlecore/exit.json", forged)
    record = evolve(record, limits=evolve(record.limits, time=60.0))
    collected(sandbox, record)
    found = attempt_end(record, JobStatus(phase="exited", **status), cancelled=False, fetched=True)
    assert (found.ended, found.infra_failure, found.in_doubt) == (ended, False, False)


def test_a_limit_is_not_up_where_not_enough_time_has_passed_by_any_clock(record):
    times = {"started_at": "2026-01-01T00:00:00+00:00", "ended_at": "2026-01-01T00:00:09+00:00"}
    record = evolve(record, limits=evolve(record.limits, time=60.0)).with_attempt(**times)
    found = attempt_end(record, JobStatus(phase="exited", exit_code=124), cancelled=False, fetched=False)
    assert (found.ended, found.reason) == ("crashed", "exit code 124 before its time was up")


def test_an_end_that_nobody_knows_is_in_doubt_and_counts_the_second_time(record):
    unknown = JobStatus(phase="exited", reason="its node says nothing")
    found = attempt_end(record, unknown, cancelled=False, fetched=False)
    assert (found.ended, found.infra_failure, found.in_doubt) == ("lost", True, True)
    assert settle_doubt(found, record) == found
    again = evolve(record, attempts=(evolve(record.attempts[0], in_doubt=True), Attempt(number=2, job="k")))
    second = settle_doubt(found, again)
    assert (second.ended, second.infra_failure, second.in_doubt) == ("crashed", False, True)
    assert "its node says nothing; whose doing that was is in doubt for the second time" in second.reason
    assert settle_doubt(found, evolve(again, retry_from=1)) == found  # somebody asked for more attempts


@pytest.mark.parametrize(
    ("seen", "reported", "code"),
    [(247, None, 137), (247, 247, 247), (247, 0, 137), (254, 255, 255), (254, 254, 254), (3, 5, 3), (None, 5, None)],
)
def test_the_agents_exit_code_is_distinguished_from_inits(seen, reported, code):
    status = JobStatus(phase="exited", exit_code=seen)
    assert exit_code(status, collect.Exit(exit_code=reported)) == code


@pytest.mark.parametrize(
    ("inside", "outside", "used", "doubted"),
    [
        (None, None, 7.0, False),  # what the controller saw
        (12.5, None, 12.5, False),  # it saw the job for a part of that
        (0.5, None, 7.0, True),
        (90.0, None, 7.0, True),  # more than from the start to the end
        (None, 13.0, 13.0, False),
        (12.5, 13.0, 12.5, False),
        (0.5, 38.0, 38.0, True),  # a report that was forged
        (86_000.0, 86_400.0, 86_000.0, False),
        (90.0, 38.0, 38.0, True),
    ],
)
def test_the_clock_outside_decides(record, inside, outside, used, doubted):
    times = {"started_at": "2026-01-01T00:00:00+00:00", "ended_at": "2026-01-01T00:00:59+00:00"}
    status = JobStatus(phase="exited", seconds=outside)
    seconds, doubt = time_used(record.with_attempt(**times), status, collect.Exit(seconds=inside), 7.0)
    assert seconds == used
    assert ("reported" in doubt) is doubted


KEY = "sk-real-0123456789abcdef"


@pytest.fixture
def with_key(record: RunRecord, monkeypatch: pytest.MonkeyPatch) -> RunRecord:
    """A run whose gateway was given a key, by a shell that is closed by now."""
    access = ModelAccess(endpoint="https://x.example/v1", key="MY_LLM")
    record = evolve(record, access=access, given_secrets=("HF_TOKEN",))
    remember(record.folder, record.secrets, {"MY_LLM": KEY, "HF_TOKEN": "hf_0123456789"})
    monkeypatch.delenv("MY_LLM", raising=False)
    monkeypatch.delenv("HF_TOKEN", raising=False)
    return record


def test_secrets_are_masked_in_all_but_submissions(sandbox: Sandbox, with_key: RunRecord) -> None:
    for name in ("logs/deep/agent.log", "code/main.py", "submission/submission.csv", ".mlecore/hardware.json"):
        sandbox.put(name, f"before {KEY} after hf_0123456789")
    sandbox.put(".mlecore/snapshots/0001.csv", KEY)
    sandbox.put(".mlecore/code_snapshots/0001/snapshots/main.py", KEY)
    sandbox.put(f"logs/{KEY}.txt", "x")
    sandbox.output = [b"x" * 100, KEY[:10].encode(), KEY[10:].encode()]
    collect.fetch(sandbox, HANDLE, with_key, 1000)
    done = collect.lay_out(with_key)
    masked = f"before {'*' * len(KEY)} after {'*' * 13}"
    for name in ("logs/deep/agent.log", "code/main.py"):
        assert (with_key.folder / name).read_text() == masked
    assert (with_key.folder / "logs/output.log").read_bytes() == b"x" * 100 + b"*" * len(KEY)
    assert (collect.attempt_folder(with_key) / "result/.mlecore/hardware.json").read_text() == masked
    assert KEY in (with_key.folder / "submission/submission.csv").read_text(), "what is graded is not changed"
    assert (with_key.folder / "snapshots/0001.csv").read_text() == KEY
    assert (with_key.folder / "code_snapshots/0001/snapshots/main.py").read_text() == "*" * len(KEY)
    assert not (with_key.folder / "logs" / f"{KEY}.txt").exists()
    assert done.collected
    assert sorted(done.collected.secrets) == [
        ".mlecore/code_snapshots/0001/snapshots/main.py: MY_LLM",
        ".mlecore/hardware.json: HF_TOKEN, MY_LLM",
        ".mlecore/snapshots/0001.csv: MY_LLM (not masked)",
        "code/main.py: HF_TOKEN, MY_LLM",
        "logs/deep/agent.log: HF_TOKEN, MY_LLM",
        "logs/output.log: MY_LLM",
        "submission/submission.csv: HF_TOKEN, MY_LLM (not masked)",
    ]
    assert "a file whose name holds a secret" in done.collected.refused and done.collected.unsearched == ()


def test_a_secret_that_nobody_knows_is_named(sandbox: Sandbox, with_key: RunRecord) -> None:
    (with_key.folder / ".secrets.json").unlink()
    sandbox.put("logs/agent.log", KEY)
    collect.fetch(sandbox, HANDLE, with_key, 1000)
    done = collect.lay_out(with_key)
    assert done.collected and done.collected.unsearched == ("HF_TOKEN", "MY_LLM")
