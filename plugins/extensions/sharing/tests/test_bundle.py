"""Bundles: what goes in, what never does, and what verifying sees."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import zipfile
from pathlib import Path

import pytest
from attrs import evolve
from click.testing import CliRunner
from mle_ext_sharing.bundle import OpenBundle
from mle_ext_sharing.exporting import export_group
from mle_ext_sharing.signed import add_signature

from mlecore.cli import main
from mlecore.errors import DataError, UsageError
from mlecore.runs.journal import Journal
from mlecore.runs.secrets import remember
from mlecore.runs.store import load_group, write_record
from mlecore.util.child_environment import child_environment
from mlecore_testing import drawn_groups


def verify(path: Path, *words: str):
    return CliRunner().invoke(main, ["runs", "verify", str(path), *words])


@pytest.fixture(params=["folder", "zip"])
def bundle(request, group: Path, tmp_path: Path) -> Path:
    path = tmp_path / ("bundle.zip" if request.param == "zip" else "bundle")
    export_group(group, path)
    return path


def names(path: Path) -> set[str]:
    with OpenBundle(path) as source:
        return set(source.names())


def test_other_archives_and_lost_submissions_are_named(group: Path, tmp_path: Path) -> None:
    def export(name: str) -> tuple[int, str]:
        words = ["runs", "export", "g", "--runs", str(group.parent), "--to", str(tmp_path / name)]
        done = CliRunner().invoke(main, words)
        return done.exit_code, done.output

    assert export("x.tar.gz")[0] == 2 and not (tmp_path / "x.tar.gz").exists()
    run = next(record for record in load_group(group) if record.submission)
    write_record(run)  # with digests
    assert export("whole")[0] == 0
    (run.folder / "submission" / "submission.csv").unlink()
    code, output = export("x.ZIP")
    assert code == 1 and run.name in output and zipfile.is_zipfile(tmp_path / "x.ZIP"), output


def test_what_goes_in(bundle: Path, group: Path, tmp_path: Path) -> None:
    inside = {name.split("/", 1)[1] for name in names(bundle) if "/" in name}
    assert inside == {"run.json", "grade.json", "snapshots.json", "submission/submission.csv"}
    assert {name for name in names(bundle) if "/" not in name} == {
        "bundle.json",
        "bundle.files",
        "group.json",
        "plan.toml",
    }
    export_group(group, tmp_path / "with-logs", logs=True)
    more = {name.split("/", 1)[1] for name in names(tmp_path / "with-logs") if "/" in name} - inside
    assert more == {
        "logs/agent.log",
        "code/main.py",
        "code_snapshots/60/main.py",
    }  # no link, no answers, nothing of unknown names


def test_a_whole_bundle(bundle: Path) -> None:
    result = verify(bundle)
    assert result.exit_code == 0 and "4 runs, all 18 files" in result.output, result.output


def test_private_details_stay_here(group: Path, tmp_path: Path) -> None:
    record = load_group(group)[0]
    changed = evolve(record, endpoint="https://me:pass@models.example.org/v1?key=abc")
    (record.folder / "run.json").write_bytes(changed.dumps())
    head = json.loads((group / "group.json").read_text())
    (group / "group.json").write_text(json.dumps({**head, "data": ["/home/somebody/data"]}))
    export_group(group, tmp_path / "b")
    told = "".join(path.read_text() for path in (tmp_path / "b").rglob("*") if path.is_file())
    assert "pass@" not in told and "key=abc" not in told and "/home/somebody" not in told
    assert "https://models.example.org/v1" in told


def test_no_run_is_left_out_for_a_record_that_cannot_be_read(group: Path, tmp_path: Path) -> None:
    edit(run_of(group) / "run.json", '"seed": ', '"seed": 12345678901234567890123')
    with pytest.raises(DataError, match=r"cannot be exported: .*run\.json"):
        export_group(group, tmp_path / "b")
    assert not (tmp_path / "b").exists()


def test_a_key_keeps_a_file_out(group: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "sk-abcdef123456")
    log = next(group.glob("*--*/logs/agent.log"))
    log.write_bytes(b"x" * (2**20 - 5) + b"sk-abcdef123456")  # across two chunks
    export_group(group, tmp_path / "quiet.zip")
    with pytest.raises(DataError, match=r"logs/agent\.log contains the value of SOME_API_KEY") as caught:
        export_group(group, tmp_path / "b", logs=True)
    assert "sk-abcdef" not in str(caught.value)
    assert not list(tmp_path.glob("*b*partial")) and not (tmp_path / "b").exists()


def test_a_run_s_own_secret_keeps_a_file_out(group: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever its variable is called, and although it is no longer set."""
    monkeypatch.delenv("MY_LLM", raising=False)
    log = next(group.glob("*--*/logs/agent.log"))
    record = next(record for record in load_group(group) if record.folder == log.parent.parent)
    record = evolve(record, given_secrets=("MY_LLM",))
    write_record(record)
    remember(record.folder, ["MY_LLM"], {"MY_LLM": "my-own-0123456789"})
    log.write_text("x my-own-0123456789 y")
    with pytest.raises(DataError, match=r"logs/agent\.log contains the value of MY_LLM"):
        export_group(group, tmp_path / "b", logs=True)
    assert record.collected
    write_record(evolve(record, collected=evolve(record.collected, unsearched=("MY_LLM",))))
    (record.folder / ".secrets.json").unlink()
    with pytest.raises(DataError, match="were not searched for MY_LLM"):
        export_group(group, tmp_path / "b", logs=True)
    export_group(group, tmp_path / "b")
    assert not list((tmp_path / "b").rglob(".secrets.json"))


def test_nothing_is_overwritten(bundle: Path, group: Path) -> None:
    with pytest.raises(UsageError, match="already exists"):
        export_group(group, bundle)


@pytest.fixture
def folder(group: Path, tmp_path: Path) -> Path:
    export_group(group, tmp_path / "b")
    return tmp_path / "b"


def run_of(folder: Path) -> Path:
    return next(folder.glob("*--leaf*--0"))


def test_every_change_is_seen(folder: Path, tmp_path: Path) -> None:
    def change(how) -> str:
        copy = tmp_path / "copy"
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(folder, copy)
        how(copy)
        result = verify(copy)
        assert result.exit_code == 1, result.output
        return result.output

    assert "grade.json: has other content" in change(
        lambda b: (run_of(b) / "grade.json").write_bytes((run_of(b) / "grade.json").read_bytes().replace(b"0", b"1"))
    )
    assert "has more than its" in change(lambda b: (run_of(b) / "grade.json").open("a").write("x" * 10**6))
    assert "has fewer than its" in change(lambda b: (run_of(b) / "grade.json").write_text(""))
    assert "is missing" in change(lambda b: (run_of(b) / "grade.json").unlink())
    assert "more.csv: is not in the list" in change(lambda b: (run_of(b) / "more.csv").write_text(""))
    assert "link: is not in the list" in change(lambda b: (run_of(b) / "link").symlink_to("/"))
    assert "is not the list" in change(lambda b: (b / "bundle.files").open("a").write("x"))
    assert "cannot be read" in change(lambda b: (b / "bundle.json").write_text("[" * 10**5))


def edit(path: Path, old: str, new: str) -> None:
    path.write_text(path.read_text().replace(old, new))


def unlist(folder: Path) -> None:
    """As if the list of hashes had never been there."""
    (folder / "bundle.json").unlink()
    (folder / "bundle.files").unlink()


def test_an_export_without_its_list_is_undecided(folder: Path) -> None:
    unlist(folder)
    result = verify(folder)
    assert result.exit_code == 3 and "no bundle.json, which `mlecore runs export` writes" in result.output
    assert "as they were" not in result.output
    shutil.rmtree(run_of(folder))
    result = verify(folder)
    assert result.exit_code == 3 and "1 of 4 planned runs have no record" in result.output, result.output


def test_runs_are_compared_with_the_plan(group: Path, tmp_path: Path) -> None:
    """Of an export: a run that had not begun is accounted for; one that had is missing."""
    for record in load_group(group):
        Journal(group).note("starting", record.name)
    gone = run_of(group)
    shutil.rmtree(gone)
    export_group(group, tmp_path / "b")
    result = verify(tmp_path / "b")
    assert result.exit_code == 1 and f"{gone.name}: had started, and its record is missing" in result.output
    events = group / "events.jsonl"
    events.write_text("".join(line for line in events.open() if gone.name not in line))
    export_group(group, tmp_path / "c.zip")
    result = verify(tmp_path / "c.zip")
    assert result.exit_code == 0 and "3 runs, 1 planned that had not started, all" in result.output, result.output
    events.unlink()
    export_group(group, tmp_path / "d")
    result = verify(tmp_path / "d")
    assert result.exit_code == 3 and "nothing tells whether they had started" in result.output, result.output


def test_hostile_lists(folder: Path) -> None:
    for path in ("../outside", "/etc/passwd", "a\\b", ""):
        listed = f"{'0' * 64} 1 {json.dumps(path)}\n"
        (folder / "bundle.files").write_text(listed)
        head = json.loads((folder / "bundle.json").read_text())
        head["files_sha256"] = hashlib.sha256(listed.encode()).hexdigest()
        (folder / "bundle.json").write_text(json.dumps(head))
        result = verify(folder)
        assert result.exit_code == 1 and "leads out of the bundle" in result.output


def test_no_bundle(tmp_path: Path) -> None:
    (tmp_path / "x.zip").write_text("no zip")
    assert verify(tmp_path / "x.zip").exit_code == 2
    assert verify(tmp_path).exit_code == 1


@pytest.mark.slow
def test_grades_are_made_again(tmp_path: Path) -> None:
    """A real submission on synthetic data: the same grade; with a grade that was improved: seen."""
    data = ["--data", str(tmp_path / "data")]
    made = CliRunner().invoke(main, ["prepare", "spaceship-titanic", "--synthetic", *data])
    assert made.exit_code == 0, made.output
    folder = drawn_groups.write_group(tmp_path / "runs", "g", competitions=["spaceship-titanic"], seeds=2, medals=False)
    public = tmp_path / "data" / "spaceship-titanic" / "synthetic" / "prepared" / "public"
    for record in load_group(folder):
        submission = record.folder / "submission" / "submission.csv"
        submission.parent.mkdir(exist_ok=True)
        shutil.copy(public / "sample_submission.csv", submission)
        words = ["grade", str(submission), "spaceship-titanic", "--synthetic", *data, "--json"]
        graded = CliRunner().invoke(main, words)
        assert graded.exit_code == 0, graded.output
        (record.folder / "grade.json").write_text(graded.output)
        head = json.loads((public.parent / "manifest.json").read_text())
        text = hashlib.sha256((public / "description.md").read_bytes()).hexdigest()
        digests = {"data_digest": head["public"]["digest"], "answers_digest": head["private"]["digest"]}
        write_record(evolve(record, description_digest=text, digests=None, **digests))
    export_group(folder, tmp_path / "true.zip")
    result = verify(tmp_path / "true.zip", "--regrade", *data)
    assert result.exit_code == 0 and "graded again: 2 the same" in result.output, result.output
    if shutil.which("ssh-keygen"):
        for name in ("author", "key"):
            words = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(tmp_path / name)]
            subprocess.run(words, check=True, env=child_environment())
        add_signature(tmp_path / "true.zip", folder, tmp_path / "author")
        result = verify(tmp_path / "true.zip", "--regrade", "--countersign", str(tmp_path / "key"), *data)
        assert result.exit_code == 0 and "I graded 2 submissions of the group g again" in result.output, result.output
        result = verify(tmp_path / "true.zip")
        assert result.exit_code == 0 and "the same results" in result.output
    (first, _) = load_group(folder)
    grade = json.loads((first.folder / "grade.json").read_text())
    (first.folder / "grade.json").write_text(json.dumps({**grade, "score": 1.0, "score_text": "1.0"}))
    write_record(evolve(first, digests=None))  # all digests are computed again
    export_group(folder, tmp_path / "better.zip")
    result = verify(tmp_path / "better.zip", "--regrade", *data)
    assert result.exit_code == 1 and "score_text: 1.0 then," in result.output, result.output
    nowhere = verify(tmp_path / "true.zip", "--regrade", "--data", str(tmp_path / "empty"))
    assert nowhere.exit_code == 3 and "2 undecided" in nowhere.output
