"""A competition names splits of its own; those of the benchmark stay as they are."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from mle_ext_report.benchmark import further_splits, split_ids
from mle_ext_report.rates import Outcome, all_rates

from mlecore.errors import UsageError
from mlecore.plugins import discovery
from mlecore.plugins.competitions import of_split, split_names, working
from mlecore.runs.planning import make_plan

from .conftest import FACTS, forget

Put = Callable[..., Path]


def put_with(put_competition: Put, id: str, line: str) -> None:
    facts = put_competition(id).with_name("competition.toml")
    facts.write_text(f"{line}\n{FACTS.format(id=id)}")
    forget()


def test_a_split_of_its_own(put_competition: Put) -> None:
    put_with(put_competition, "churn", 'splits = ["my-lab"]')
    put_with(put_competition, "sales", 'splits = ["my-lab", "tables"]')
    assert [found.id for found in of_split("my-lab")] == ["churn", "sales"]
    assert split_names()[-2:] == ["my-lab", "tables"] and further_splits() == ["mle-bench-30", "my-lab", "tables"]
    assert make_plan({"split": ["my-lab"], "agents": [{"name": "dummy"}]}).competitions == ("churn", "sales")
    with pytest.raises(UsageError, match=r"available: .*all.*my-lab, tables"):
        of_split("my-lap")
    # a report's rates are over the whole split, though only one of its competitions was planned
    (row, these) = all_rates({"0": {"churn": Outcome(valid=True)}}, pad=True, kinds=["valid"])
    assert (row.split, row.ids, these.split) == ("my-lab", split_ids("my-lab"), "these")
    assert set(row.unranked) == {"churn", "sales"}  # neither has a leaderboard, planned or not
    assert row.rates["valid"] and row.rates["valid"].mean == 50


def test_mle_bench_30() -> None:
    ids = split_ids("mle-bench-30")
    assert len(ids) == 30 and set(ids) < set(split_ids("all"))
    assert split_ids("systemcard") == ids and [plugin.name for plugin in working("systemcard")] == sorted(ids)
    rows = all_rates({"0": dict.fromkeys(split_ids("all"), Outcome(valid=True))}, kinds=["valid"])
    assert [row.split for row in rows] == ["Low", "Medium", "High", "All", "mle-bench-30"]


@pytest.mark.parametrize("name", ["low", "all", "systemcard", "lite", "these", "My Lab", "", "a/b", "x" * 101, "<b>"])
def test_a_name_that_no_split_can_have(put_competition: Put, name: str) -> None:
    put_with(put_competition, "churn", f'splits = ["{name}"]')
    plugin = discovery.find("competition", "churn")
    assert plugin and plugin.state == "broken" and "splits" not in plugin.reason and "none of low" in plugin.reason


def test_nobody_else_can_join_a_split_of_the_benchmark(put_competition: Put) -> None:
    before = [plugin.name for plugin in working("low")]
    put_with(put_competition, "churn", 'split = "low"')
    assert [plugin.name for plugin in working("low")] == before
