"""`mlecore check` and `mlecore grade` on the practice competition: words, JSON, exit codes, hostile files."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner, Result

from mlecore.cli import main

ID = "optical-digits"
Invoke = Callable[..., Result]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data directory with the practice competition prepared."""
    data = tmp_path_factory.mktemp("data")
    result = CliRunner().invoke(main, ["prepare", ID, "--data", str(data)])
    assert result.exit_code == 0, result.output
    return data


@pytest.fixture
def answers(data: Path) -> pd.DataFrame:
    return pd.read_csv(data / ID / "prepared" / "private" / "test.csv")


@pytest.fixture
def invoke(data: Path) -> Invoke:
    def call(*arguments: object) -> Result:
        return CliRunner().invoke(main, [*map(str, arguments), "--data", str(data)])

    return call


def test_a_good_submission(invoke: Invoke, answers: pd.DataFrame, tmp_path: Path) -> None:
    path = tmp_path / "submission.csv"
    answers.to_csv(path, index=False)
    result = invoke("check", path, ID)
    assert (result.exit_code, result.output) == (0, f"{path} is well-formed for {ID}.\n")
    result = invoke("grade", path, ID)
    assert result.exit_code == 0
    assert result.output.startswith(f"{ID}: score 1.0 (higher is better), beats the sample submission (0.")
    assert "no medals: the competition has no human leaderboard" in result.output
    report = json.loads(invoke("grade", path, ID, "--json").output)
    assert (report["score"], report["valid_submission"], report["any_medal"]) == (1.0, True, False)


def test_a_bad_one(invoke: Invoke, answers: pd.DataFrame, tmp_path: Path) -> None:
    path = tmp_path / "submission.csv"
    bad = answers.astype({"digit": object})
    bad.loc[[3, 7], "digit"] = ["eight", None]
    bad.to_csv(path, index=False)
    result = invoke("check", path, ID)
    assert result.exit_code == 1
    assert "'digit' must hold whole numbers" in result.output and "eight" in result.output
    values = json.loads(invoke("check", path, ID, "--json").output)
    assert values["valid"] is False and "eight" in values["reason"]
    result = invoke("grade", path, ID)
    assert result.exit_code == 1 and "invalid" in result.output
    result = invoke("grade", tmp_path / "none.csv", ID)
    assert result.exit_code == 2 and f"there is no file {tmp_path / 'none.csv'}" in result.output


def test_wrong_usage(invoke: Invoke, tmp_path: Path) -> None:
    path = tmp_path / "submission.csv"
    path.write_text("id\n")
    result = invoke("check", path, "optical-digit")
    assert result.exit_code == 2 and "Did you mean optical-digits?" in result.output
    result = invoke("check", path, "spaceship-titanic", "--synthetic")
    assert result.exit_code == 2 and "mlecore prepare spaceship-titanic --synthetic" in result.output
    assert invoke("grade", path).exit_code == 2
    assert invoke("grade", path, ID, "--edition", "v9").exit_code == 2


@pytest.mark.slow
def test_a_batch(invoke: Invoke, answers: pd.DataFrame, tmp_path: Path) -> None:
    good, bad = tmp_path / "good.csv", tmp_path / "bad.csv"
    answers.to_csv(good, index=False)
    bad.write_text("id\n1\n")
    lines = [
        f'{{"competition_id": "{ID}", "submission_path": {json.dumps(str(p) if p else None)}}}'
        for p in (good, bad, None)
    ]
    listing, out = tmp_path / "all.jsonl", tmp_path / "report.json"
    listing.write_text("# three\n" + "\n".join(lines) + "\n")
    result = invoke("grade", "--jsonl", listing, "--output", out)
    assert result.exit_code == 1 and "3 submissions: 1 valid, 0 medals, 0 above the median" in result.output
    header, *rows = result.output.splitlines()[:4]
    assert (
        header.endswith("REASON")
        and "no medals: " in rows[0]
        and "lacks 1 column: 'digit'" in rows[1]
        and "there is no submission" in rows[2]
    )
    batch = json.loads(out.read_text())
    assert (batch["total_runs"], batch["total_runs_with_submissions"], batch["total_valid_submissions"]) == (3, 2, 1)
    listing.write_text(lines[0] + "\n")
    assert invoke("grade", "--jsonl", listing).exit_code == 0
    listing.write_text(lines[0] + '\n{"competition_id": "nope", "submission_path": "x"}\n')
    result = invoke("grade", "--jsonl", listing)
    assert result.exit_code == 2 and "nope" in result.output
    assert "1 submission: 1 valid" in result.output  # the others are graded all the same


@pytest.mark.parametrize(
    ("content", "why"),
    [(b"[" * 200_000, "line 1: "), (b"\xff\n", "cannot be read"), (None, "has more than 64 MiB")],
    ids=["deep", "no text", "without an end"],
)
def test_a_hostile_listing_is_refused_in_words(invoke: Invoke, tmp_path: Path, content: bytes | None, why: str) -> None:
    listing = Path("/dev/zero") if content is None else tmp_path / "all.jsonl"
    if content is not None:
        listing.write_bytes(content)
    result = invoke("grade", "--jsonl", listing)
    assert result.exit_code == 2 and why in result.output
