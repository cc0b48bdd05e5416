"""Competitions that a model was trained on count nowhere, and the report names them."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner
from mle_ext_report.benchmark import split_ids
from mle_ext_report.command import command
from mle_ext_report.sources import read_sources
from mle_ext_report.summary import summarise

from mlecore.errors import UsageError


def test_they_are_left_out_of_everything_and_named(two_groups: Path) -> None:
    runs = read_sources(["good", "bad"], [], two_groups)
    trained, kept = split_ids("medium"), {*split_ids("low"), *split_ids("high")}
    found = summarise(runs, trained_on=["medium", "spaceship-titanic"])
    expected = summarise([item for item in runs if item.run.competition in kept], competitions=sorted(kept))
    assert found.setups == expected.setups and found.comparisons == expected.comparisons
    assert found.trained_on == tuple(sorted((*trained, "spaceship-titanic")))
    # of a chosen split, those that nobody ran are left out, too
    some = summarise(runs, competitions=split_ids("mle-bench-30"), trained_on=["medium"], pad_missing=True)
    (row,) = some.setups[0].rates
    assert set(row.rates.ids) == {*split_ids("mle-bench-30")} - {*trained}


def test_one_that_nobody_ran_changes_no_rate(two_groups: Path) -> None:
    runs = read_sources(["good"], [], two_groups)
    assert summarise(runs, trained_on=["spaceship-titanic"]).setups == summarise(runs).setups


@pytest.mark.parametrize("words", [["leaf-clasification"], ["leaf-classification", "lowe"], ["all"]])
def test_what_cannot_be_left_out(two_groups: Path, words: list[str]) -> None:
    with pytest.raises(UsageError):
        summarise(read_sources(["good"], [], two_groups), trained_on=words)


def test_the_command_reads_them_from_a_file(two_groups: Path, tmp_path: Path) -> None:
    path = tmp_path / "trained.txt"
    path.write_text("# for the policy of May\nleaf-classification\nhigh  # all 15\n")
    arguments = ["good", "--runs", str(two_groups), "--trained-on", str(path)]
    for form in ("text", "markdown", "html"):
        printed = CliRunner().invoke(command, [*arguments, "--format", form])
        assert printed.exit_code == 0, printed.output
        assert "leaf-classification" in printed.output and "59 competitions" in printed.output
