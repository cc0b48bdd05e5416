"""Groups that somebody edited, or made to harm: every verb says what is wrong, shows the rest, and comes back."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from attrs import evolve
from click.testing import CliRunner

from mlecore.cli import main
from mlecore.model.backends import Handle, Hardware
from mlecore.runs import requests
from mlecore.runs.digests import with_own_digest
from mlecore.runs.store import read_record, write_record
from mlecore.util import locks
from mlecore_testing.hostile import in_time

RUN, OTHER = "worker--coins--0", "worker--coins--1"
DEEP_TOML = b"x = " + b"[" * 50_000
HANGS = 120.0  # seconds; only what hangs takes so long: a busy machine needs over 10 for a resume that grades again


def content(data: bytes) -> Callable[[Path], None]:
    def put(path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)

    return put


def link_to(target: str) -> Callable[[Path], None]:
    def put(path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.symlink_to(target)

    return put


def fifo(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    os.mkfifo(path)


def huge(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as sparse:
        sparse.truncate(1 << 40)


TAMPERED = {
    "null": content(b"null"),
    "list": content(b'[{"x": 1}]'),
    "deep": content(b"[" * 100_000),
    "deep toml": content(DEEP_TOML),
    "not text": content(b"\xff\xfe\x00"),
    "half a pair": content(rb'{"run": "\ud800", "event": "\ud800", "status": "\ud800", "host": "\ud800"}'),
    "huge": huge,
    "fifo": fifo,
    "zeros": link_to("/dev/zero"),
    "loop": link_to("."),
    "folder": lambda path: path.mkdir(parents=True),
}
FILES = (
    "group.json",
    "plan.toml",
    "cancelled.json",
    "events.jsonl",
    "controller.lock",
    "controller.lock.holder",
    "requests",
    "requests/cancel",
    "builds",
    ".cache",
    f"{RUN}/run.json",
    f"{RUN}/grade.json",
    f"{RUN}/attempts",
    f"{RUN}/logs",
    f"{RUN}/submission",
    f"{RUN}/snapshots",
    f"{RUN}/snapshots.json",
    f"{RUN}/findings",
    RUN,
)
VERBS = (
    ("runs", "list"),
    ("runs", "list", "g"),
    ("runs", "show", f"g/{RUN}"),
    ("runs", "logs", f"g/{RUN}"),
    ("runs", "verify", "g"),
    ("runs", "retry", f"g/{RUN}"),
    ("runs", "cancel", "g"),
    ("runs", "resume", "g"),
    ("report", "g"),
)


def remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


@pytest.fixture
def verb(finished_group, data, monkeypatch):
    """A function that calls a verb on the group; ``verb.group`` is its folder, which may be changed."""
    monkeypatch.setenv("MLECORE_DATA", str(data))
    monkeypatch.setattr(locks, "PATIENCE", 0.2)
    runs, kept = finished_group.parent, finished_group.parent.parent / "kept"
    if not kept.exists():
        shutil.copytree(runs, kept, symlinks=True)
    remove(runs)
    shutil.copytree(kept, runs, symlinks=True)

    def call(*words: str) -> tuple[int, str]:
        arguments = [words[0], *words[1:], "--runs", str(runs)]
        result = in_time(lambda: CliRunner().invoke(main, arguments), HANGS)
        fine = result.exception is None or isinstance(result.exception, SystemExit)
        assert fine, f"{words}: {result.exc_info}"
        return result.exit_code, result.output

    call.group = runs / "g"  # type: ignore[attr-defined]
    return call


OF_FOLDERS = ("null", "fifo", "loop")
SLOW = ("events.jsonl", "huge")  # of which every verb reads as much as a journal may have


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "how"),
    [(file, how) for file in FILES for how in (TAMPERED if "." in file else OF_FOLDERS) if (file, how) != SLOW],
)
def test_no_verb_breaks(verb, file, how):
    path = verb.group / file
    failed = []
    for words in VERBS:
        remove(path)
        TAMPERED[how](path)
        try:
            verb(*words)
        except AssertionError as error:
            failed.append(str(error))
        except Exception as error:
            failed.append(f"{words}: {error!r}")
    assert not failed, "\n".join(failed)


@pytest.mark.parametrize(
    "name",
    [
        ".run.json.tmp",
        "run.json",
        "attempts",
        "submission",
        "",
    ],
)
def test_no_link_in_a_run_is_written_through(lab, tmp_path, name):
    group = lab.make(("worker", {"faults": "9"}), execution={"retries": 0})
    lab.run()
    outside = tmp_path / "outside"
    outside.mkdir()
    target = outside / "mine"
    target.write_text("mine")
    path = lab.folder(RUN) / name
    is_folder = "." not in name
    remove(path)
    path.symlink_to(outside if is_folder else target)
    requests.leave(group.folder, RUN, "retry")
    lab.run()
    assert target.read_text() == "mine" and [each.name for each in outside.iterdir()] == ["mine"]


@pytest.mark.parametrize(
    "name",
    ["events.jsonl", "controller.lock", "controller.lock.holder", ".cache", "builds", "requests", "requests/retry"],
)
def test_no_link_in_a_group_is_written_through(verb, tmp_path, name):
    target = tmp_path / "mine"
    if name in ("events.jsonl", "controller.lock", "controller.lock.holder"):
        target.write_text("mine")
    else:
        target.mkdir()
    path = verb.group / name
    remove(path)
    path.parent.mkdir(exist_ok=True)
    path.symlink_to(target)
    record = verb.group / RUN / "run.json"
    record.write_text(record.read_text().replace('"state": "graded"', '"state": "failed"'))
    code, output = verb("runs", "resume", "g")
    assert code == 3 and f"{path} is a symbolic link" in output, output
    assert target.read_text() == "mine" if target.is_file() else not list(target.iterdir())


def test_a_link_is_no_submission_of_a_run(verb, tmp_path):
    outside = tmp_path / "submission.csv"
    outside.write_text("id,x\n")
    submission = verb.group / RUN / "submission" / "submission.csv"
    assert read_record(verb.group / RUN).submission == submission
    submission.unlink()
    submission.symlink_to(outside)
    assert read_record(verb.group / RUN).submission is None
    remove(submission.parent)
    submission.parent.symlink_to(tmp_path)
    assert read_record(verb.group / RUN).submission is None


ESCAPE = "\x1b]0;owned\x07\x1b[2J\u202e"


@pytest.mark.parametrize("words", [each for each in VERBS if each[1] not in ("retry", "cancel", "resume")])
def test_no_escape_reaches_the_terminal(verb, words):
    folder = verb.group / RUN
    record = read_record(folder)
    hardware = Hardware(cpu=ESCAPE, gpus=(ESCAPE,))
    refused = evolve(record.collected, refused=(f"logs/{ESCAPE}: a link",))
    use = evolve(record.agent, version=ESCAPE, options={ESCAPE: ESCAPE})
    write_record(
        evolve(record, label=ESCAPE, reason=ESCAPE, hardware=hardware, collected=refused, agent=use, model=ESCAPE)
    )
    (folder / "logs" / "output.log").write_text(f"before\r{ESCAPE}after\nlast\tline\n")
    (folder / "logs" / ESCAPE).touch()
    with (verb.group / "events.jsonl").open("a") as events:
        events.write(json.dumps({"run": RUN, "event": ESCAPE, "why": ESCAPE}) + "\n")
    code, output = verb(*words)
    assert code in (0, 1, 2) and not set(output) & set("\x1b\x07\r\u202e"), output
    if words[1] == "logs":
        assert output == "before\n\\x1b]0;owned\\x07\\x1b[2J\\u202eafter\nlast\tline\n"
    elif words[1] == "show":
        assert output.count("owned") >= 5


@pytest.mark.parametrize("words", [("resume", "g"), ("cancel", f"g/{RUN}")])
def test_a_group_from_elsewhere_is_left_alone_until_it_is_adopted(verb, tmp_path, monkeypatch, words):
    record = read_record(verb.group / RUN)
    write_record(evolve(record, state="running" if words[0] == "cancel" else "failed"))
    monkeypatch.setenv("MLECORE_STATE", str(tmp_path / "another-user"))
    before = {path: path.read_bytes() for path in verb.group.rglob("*") if path.is_file()}
    code, output = verb("runs", *words)
    assert code == 2 and "read-only" in output and "mlecore runs adopt g" in output, output
    assert {path: path.read_bytes() for path in verb.group.rglob("*") if path.is_file()} == before
    assert verb("runs", "adopt", "g")[0] == 0
    assert "read-only" not in verb("runs", *words)[1]


@pytest.mark.parametrize("change", [{"name": "mle-other-1"}, {"job": "mle-other-1"}])
def test_jobs_of_others_are_not_touched(verb, change):
    record = read_record(verb.group / RUN)
    job = change.get("job", record.attempt.job)
    handle = Handle(name=change.get("name", job), id="/etc")
    write_record(evolve(record.with_attempt(job=job, handle=handle), state="running"))
    code, output = verb("runs", "resume", "g")
    assert code == 3 and "a job that is not this run's" in output
    code, output = verb("runs", "logs", f"g/{RUN}")
    assert code == 3 and "a job that is not this run's" in output


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def strip(run: Path, digest: str) -> None:
    """Take one digest out of a record, and make the record's own anew."""
    record = read_record(run)
    digests = evolve(record.digests, **{digest: None})
    (run / "run.json").write_bytes(with_own_digest(evolve(record, digests=digests)).dumps())


@pytest.mark.parametrize(
    ("digest", "words"),
    [("grade", "does not say which grade.json"), ("submission", "does not say which submission")],
)
def test_a_record_without_its_digests_is_reported(verb, digest, words):
    strip(verb.group / RUN, digest)
    code, output = verb("runs", "verify", "g")
    assert code == 1 and words in output and f"{OTHER}: " not in output


@pytest.mark.parametrize(
    ("how", "words"),
    [
        (lambda run: edit(run / "run.json", '"seed": 0', '"seed": 7'), "run.json was changed"),
        (lambda run: edit(run / "grade.json", '"score": ', '"score": 1'), "grade.json is not the one"),
        (lambda run: (run / "grade.json").unlink(), "grade.json is not the one"),
        (lambda run: (run / "submission" / "submission.csv").write_text("id,x\n"), "submission.csv is not the one"),
        (lambda run: shutil.copy(run.parent / OTHER / "run.json", run), "belongs to another run|is a copy of"),
    ],
)
def test_later_changes_are_reported(verb, how, words):
    assert verb("runs", "verify", "g") == (0, "g: 2 runs, all as they were written\n")
    how(verb.group / RUN)
    code, output = verb("runs", "verify", "g")
    assert code == 1 and re.search(words, output) and f"{OTHER}: " not in output, output
    if "changed" in words or "grade.json" in words:
        assert "graded (altered)" in verb("runs", "list", "g")[1]
    if "copy" not in words:
        assert words in verb("report", "g", "--format", "json")[1]


@pytest.mark.parametrize(
    ("how", "words"),
    [
        (lambda run: (run / "logs" / "output.log").write_text("fine"), "logs/ is not as it was collected"),
        (lambda run: (run / "logs" / "link").symlink_to("/etc/passwd"), "logs/ is not as it was collected"),
        (lambda run: shutil.rmtree(run / "logs"), "logs/ is missing"),
        (lambda run: (run / "snapshots.json").write_text('{"points": []}'), "snapshots.json was changed"),
        (lambda run: shutil.rmtree(run), "had started, and its record is missing"),
        (lambda run: edit(run.parent / "plan.toml", "retries = ", "retries = 1"), "plan.toml is not the one"),
    ],
)
def test_verify_covers_all_that_a_result_rests_on(verb, how, words):
    assert verb("runs", "verify", "g")[0] == 0
    how(verb.group / RUN)
    code, output = verb("runs", "verify", "g")
    assert code == 1 and words in output and f"{OTHER}: " not in output, output


def test_planned_runs_without_a_journal_are_undecided(verb):
    shutil.rmtree(verb.group / RUN)
    (verb.group / "events.jsonl").unlink()
    code, output = verb("runs", "verify", "g")
    assert code == 3 and "1 of 2 planned runs have no record" in output and "no events.jsonl" in output, output
