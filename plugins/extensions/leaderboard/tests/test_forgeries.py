"""Forged entries, whose authors computed all digests again and signed: none is accepted or ranked like a true one."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from boards import check, shown, sign_as
from click.testing import CliRunner
from mle_ext_sharing.bundle import open_bundle
from mle_ext_sharing.exporting import export_group
from mle_ext_sharing.signed import add_signature
from mle_ext_sharing.statement import Comparison

from mlecore.cli import main
from mlecore.runs.store import load_group
from mlecore_testing.graded_groups import COMPETITION, forge, prepare_published, write_graded_group

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    prepare_published(folder)
    return folder


@pytest.fixture
def enter(board: Path, add, key: Path, data: Path) -> Callable[..., Path]:
    """Put a signed export on the board: of true runs, or with keys of each record and grade edited."""
    rules = board / "leaderboard.toml"
    rules.write_text(rules.read_text().replace("[sets]", f'[sets]\none = ["{COMPETITION}"]\n#'))

    def enter(name: str, *, right: float = 0.9, **edits: dict[str, Any]) -> Path:
        group = write_graded_group(board.parent / "runs", name, data, agent=name, right=right)
        for run in group.glob("*--*"):
            forge(run, **edits)
        export_group(group, board.parent / f"{name}.zip")
        add_signature(board.parent / f"{name}.zip", group, key)
        add(name, board.parent / f"{name}.zip")
        return board / "entries" / name / "export.zip"

    return enter


def tags(board: Path) -> set[str]:
    (table,) = shown(board)["tables"]
    (row,) = table["rows"]
    return set(row["tags"])


def test_edited_grades_are_rejected(board: Path, data: Path, enter) -> None:
    """All of a report is compared in tests/sharing; here, what the tables show of it."""
    enter("honest")
    enter("sample", right=0.3, grade={"sample_score": 0.1, "beats_sample": True})
    enter("medal", grade={"gold_threshold": 0.1, "data_kind": "published", "percentile": 100.0})
    enter("percentile", grade={"percentile": 99.0})
    enter("marks", grade={"threshold_percentiles": {"gold": 60.0, "silver": 50.0, "bronze": 40.0, "median": 20.0}})
    enter("practice", record={"data_kind": "no_leaderboard"}, grade={"data_kind": "no_leaderboard"})
    code, said = check(board, "honest", "--regrade", "--data", data)
    assert code == 0 and "2 runs with the same result" in said and "claims" not in said, said
    for name in ("sample", "medal", "percentile", "marks", "practice"):
        code, said = check(board, name, "--regrade", "--data", data)
        assert code == 1 and "error, regrading" in said, (name, said)


def test_runs_on_other_data_are_undecided_and_have_their_own_tables(board: Path, data: Path, enter) -> None:
    honest = enter("honest")
    enter("too", right=0.8)
    with open_bundle(honest) as opened:
        digest = load_group(opened.group)[0].data_digest or ""
    enter("evil0", record={"answers_digest": None})
    enter("evil1", record={"data_digest": digest[:-1] + ("1" if digest.endswith("0") else "0")})
    enter("evil2", grade={"plugin_source": "1" * 64})
    for number in range(3):
        code, said = check(board, f"evil{number}", "--regrade", "--data", data)
        assert code == 3 and "undecided, regrading" in said, said
    members = sorted(sorted(row["entry"] for row in table["rows"]) for table in shown(board)["tables"])
    assert members == [["evil0"], ["evil1"], ["evil2"], ["honest", "too"]], members


def test_one_run_on_other_data_is_enough(board: Path, data: Path, key: Path, add, enter) -> None:
    """The others do not lend it their digests."""
    enter("honest")
    group = write_graded_group(board.parent / "runs", "mixed", data, agent="mixed")
    forge(sorted(group.glob("*--*"))[0], record={"answers_digest": "0" * 64})
    export_group(group, board.parent / "mixed.zip")
    add_signature(board.parent / "mixed.zip", group, key)
    add("mixed", board.parent / "mixed.zip")
    code, said = check(board, "mixed")
    assert code == 1 and "differ between its runs" in said, said


def test_without_data_nothing_is_decided(board: Path, enter, tmp_path: Path) -> None:
    enter("alpha")
    code, said = check(board, "alpha")
    assert code == 0 and re.search(r"scores and medals +claim", said)
    code, said = check(board, "alpha", "--regrade", "--data", tmp_path / "none")
    assert code == 3 and "2 runs could not be graded again here" in said, said


def test_who_ran_it_cannot_vouch_for_the_scores(board: Path, enter, allow, bob: Path) -> None:
    export = enter("alpha")
    allow("alice@example.org", bob)
    sign_as(export, bob, "graded again", Comparison(runs=2))
    code, said = check(board, "alpha")
    assert code == 1 and "not a second party's: alice@example.org" in said, said
    assert not shown(board)["entries"][0]["ranked"]
    rules = board / "leaderboard.toml"
    rules.write_text(rules.read_text().replace("signed = true", "signed = false"))
    assert "claimed" in tags(board) and "regraded" not in tags(board)


def test_a_second_party_vouches_for_the_scores(board: Path, enter, data: Path, allow, bob: Path) -> None:
    export = enter("alpha")
    assert "claimed" in tags(board) and "regraded" not in tags(board)
    allow("bob@example.org", bob)
    signers = board / "allowed_signers"
    words = ("--regrade", "--countersign", bob, "--allowed-signers", signers, "--data", data)
    done = CliRunner().invoke(main, ["runs", "verify", *map(str, (export, *words))])
    assert done.exit_code == 0, done.output
    code, said = check(board, "alpha")
    assert code == 0 and "claims" not in said, said
    assert "regraded" in tags(board) and "claimed" not in tags(board)
    rules = board / "leaderboard.toml"
    rules.write_text(rules.read_text().replace("signed = true", "signed = false"))
    signers.unlink()
    assert "claimed" in tags(board) and "regraded" not in tags(board)  # nobody knows whose keys these are
