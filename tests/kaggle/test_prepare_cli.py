"""`mlecore prepare` with the real client in separate processes."""

from __future__ import annotations

import random
import signal
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def _data(tmp_path: Path, cli: Any) -> None:
    cli.env["MLECORE_DATA"] = str(tmp_path / "data")


def test_from_kaggle_to_prepared_and_verified(
    kaggle: Any, token: None, cli: Any, raw_files: dict[str, bytes], tmp_path: Path
) -> None:
    cli.install("tiny", kaggle.add("tiny", raw_files, scores=[3.0, 2.0, 1.0]))
    (row,) = cli.json("prepare", "tiny")
    assert row["state"] == "prepared" and row["source"] == "kaggle" and row["notes"] == []
    folder = tmp_path / "data" / "tiny"
    assert sorted(path.name for path in folder.iterdir()) == [".lock", "leaderboard.csv", "prepared"]
    assert (folder / "prepared/public/description.md").read_text() == "# tiny\n"
    (again,) = cli.json("prepare", "tiny")
    assert again["state"] == "unchanged" and again["digest"] == row["digest"]
    assert cli("data", "verify", "tiny").returncode == 0
    (folder / "leaderboard.csv").unlink()  # as where MLE-bench prepared the data
    assert "tiny: 3 teams in" in cli("data", "leaderboard", "tiny").stdout
    assert (folder / "leaderboard.csv").read_text() == "score\n3.0\n2.0\n1.0\n"
    (folder / "prepared/private/test.csv").write_text("id,y\n0,1\n")
    bad = cli("data", "verify", "tiny")
    assert bad.returncode == 1 and "private/test.csv: has" in bad.stdout


def test_with_all_the_others_go_on_and_the_list_comes_at_the_end(
    kaggle: Any, token: None, cli: Any, raw_files: dict[str, bytes]
) -> None:
    for name in ("good", "rules-one", "rules-two", "shut", "changed", "broken"):
        md5 = kaggle.add(name, raw_files)
        more = 'splits = ["mine"]' + ('\nclosed = "Ask a participant of 2012."' if name == "shut" else "")
        plugin = "import no_such_module" if name == "broken" else None
        cli.install(name, "0" * 32 if name == "changed" else md5, more, **({"plugin": plugin} if plugin else {}))
    kaggle.accepted -= {"rules-one", "rules-two", "shut"}
    done = cli("prepare", "--split", "mine")
    assert done.returncode == 3
    end = done.stderr.partition(" ready. What to do about the others")[2]
    assert "competitions/rules-one/rules" in end and "competitions/rules-two/rules" in end
    assert "shut: Ask a participant of 2012." in end
    assert "changed: It is kept as" in end
    rows = {row["id"]: row for row in cli.json("prepare", "good", "rules-one", "rules-two", "shut", "changed")}
    assert {name: row.get("error", {}).get("kind") for name, row in rows.items()} == {
        "good": None,
        "rules-one": "RulesNotAccepted",
        "rules-two": "RulesNotAccepted",
        "shut": "CannotJoin",
        "changed": "DataError",
    }
    everything = cli("prepare", "--split", "mine", "--synthetic")  # none of these has synthetic data
    assert "good: skipped" in everything.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("prepare",),
        ("prepare", "nothing-like-it"),
        ("prepare", "tiny", "--synthetic", "--raw", "."),
        ("data", "verify"),
        ("data", "verify", "tiny"),
    ],
)
def test_wrong_usage_is_reported_with_its_exit_code(cli: Any, arguments: tuple[str, ...]) -> None:
    cli.install("tiny", "0" * 32)
    cli.install("other", "0" * 32)
    done = cli(*arguments)
    assert done.returncode == 2 and "Traceback" not in done.stderr


def test_two_at_once_download_once(kaggle: Any, token: None, cli: Any, tmp_path: Path) -> None:
    md5 = kaggle.add("tiny", {"train.csv": b"id,y\n1,2\n2,3\n3,4\n", "bulk": random.Random(0).randbytes(600_000)})
    cli.install("tiny", md5)
    kaggle.sending.clear()
    first = cli.start("prepare", "tiny")
    assert kaggle.begun.wait(300), first.poll()
    second = cli.start("prepare", "tiny")
    assert second.stderr and any("waiting: process" in line for line in second.stderr)
    kaggle.sending.set()
    outputs = [process.communicate()[1] for process in (first, second)]
    assert (first.returncode, second.returncode) == (0, 0), outputs
    assert kaggle.sent["tiny"] == (kaggle.folder / "tiny.zip").stat().st_size


def test_an_interrupt_says_that_nothing_is_lost(kaggle: Any, token: None, cli: Any) -> None:
    cli.install("tiny", kaggle.add("tiny", {"bulk": random.Random(0).randbytes(900_000)}))
    kaggle.sending.clear()  # however slow this machine is, the download is under way when the signal comes
    running = cli.start("prepare", "tiny")
    assert kaggle.begun.wait(300), running.poll()
    running.send_signal(signal.SIGINT)
    _, said = running.communicate(timeout=300)
    assert running.returncode == 130 and "Nothing is lost" in said


def test_a_plugin_that_dies_takes_nothing_with_it(
    kaggle: Any, token: None, cli: Any, raw_files: dict[str, bytes]
) -> None:
    good = "from mlecore import hookimpl\n@hookimpl\ndef grade(submission, private): return 0.0\n"
    crash = good + "@hookimpl\ndef prepare(raw, public, private):\n    import os; os.kill(os.getpid(), 11)\n"
    cli.install("crash", kaggle.add("crash", raw_files), plugin=crash)
    cli.install("tiny", kaggle.add("tiny", raw_files))
    rows = {row["id"]: row for row in cli.json("prepare", "crash", "tiny")}
    assert rows["tiny"]["state"] == "prepared"
    assert "preparing crash ended without a result (signal 11)" in rows["crash"]["error"]["message"]
    assert Path(cli.env["MLECORE_DATA"], "crash/crash.zip").exists()  # the download is not lost


@pytest.mark.parametrize(
    ("command", "asked"),
    [
        (("prepare", "one", "two"), "DownloadDataFiles"),
        (("doctor", "one"), "ListCompetitions"),
    ],
)
def test_a_wait_that_kaggle_asks_for_is_told_and_can_be_interrupted(
    command: tuple[str, ...], asked: str, kaggle: Any, token: None, cli: Any, raw_files: dict[str, bytes], fault: Any
) -> None:
    for name in ("one", "two"):
        cli.install(name, kaggle.add(name, raw_files))
    kaggle.faults[asked] = [fault(429, headers={"Retry-After": "1800"})] * 20
    running = cli.start(*command)
    assert running.stderr
    line = next(line for line in running.stderr if "asks to wait" in line)
    assert "next try at" in line and "7 more" in line
    running.send_signal(signal.SIGINT)
    running.communicate(timeout=300)
    assert running.returncode in (1, 130)
