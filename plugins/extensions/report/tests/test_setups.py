"""Runs by setup, their seeds, and what differs between them."""

from __future__ import annotations

from typing import Any

from mle_ext_report.conditions import between, conditions, differences
from mle_ext_report.graded import Graded
from mle_ext_report.headline import result
from mle_ext_report.sections import sections
from mle_ext_report.setups import seeds, setups
from mle_ext_report.summary import summarise

from mlecore.model.backends import Hardware
from mlecore.model.model_access import ModelAccess
from mlecore.model.provenance import PluginUse
from mlecore.model.record import Limits


def test_setups_are_kept_apart(graded) -> None:
    items = [
        graded(seed=1),
        graded(seed=0),
        graded(agent=PluginUse(name="baseline", version="1.0", options={"x": "1"})),
        graded(data_kind="synthetic"),
        graded(model="m"),
    ]
    found = setups(items)
    assert [len(setup.runs) for setup in found] == [2, 1, 1, 1]
    assert [item.run.seed for item in found[0].runs] == [0, 1]
    assert [setup.name for setup in found] == [
        f"baseline ({words})" for words in ("published", "x=1", "synthetic", "m")
    ]


def test_halves_of_an_experiment_are_one_seed(graded) -> None:
    halves = [graded("a", group="one"), graded("b", group="two")]
    assert {seed: set(runs) for seed, runs in seeds(halves).items()} == {"0": {"a", "b"}}


def test_the_same_experiment_twice_is_more_seeds(graded) -> None:
    twice = [graded("a", group="one"), graded("b", group="one"), graded("a", group="two"), graded("a", 1, group="two")]
    found = {seed: set(runs) for seed, runs in seeds(twice).items()}
    assert found == {"0": {"a", "b"}, "0 of two": {"a"}, "1": {"a"}}


def test_missing_runs_belong_to_their_seeds(graded) -> None:
    lost = [graded("a", state="failed", made=None), graded("b", 1, state="planned", made=None, data_kind=None)]
    assert {seed: {id: item.outcome.missing for id, item in runs.items()} for seed, runs in seeds(lost).items()} == {
        "0": {"a": True},
        "1": {"b": True},
    }
    (waiting,) = seeds([graded("a", state="collected", made=None)])["0"].values()
    assert not waiting.outcome.missing  # ours to grade again


def test_a_seed_that_was_planned_twice_is_two_seeds(graded) -> None:
    """Though one of the two groups has not got to that competition."""
    items = [graded("a", group="one"), graded("b", group="one", state="failed", made=None), graded("b", group="two")]
    assert {seed: set(runs) for seed, runs in seeds(items).items()} == {"0": {"a", "b"}, "0 of two": {"b"}}


def test_a_run_that_has_not_begun_shares_the_data_of_its_group(graded) -> None:
    items = [
        graded("a", data_kind="published", group="one"),
        graded("a", data_kind="unverified", group="two"),
        graded("b", data_kind=None, state="planned", made=None, group="two"),
    ]
    assert [[item.run.competition for item in setup.runs] for setup in setups(items)] == [["a"], ["a", "b"]]


def test_a_run_that_has_not_begun_has_the_options_of_its_group(graded) -> None:
    """Records have all options, plans only those that were given."""
    begun = graded("a", agent=PluginUse(name="aide", version="1.0", options={"steps": "50"}), label="l")
    planned = graded("b", agent=PluginUse(name="aide"), label="l", state="planned", made=None)
    (setup,) = setups([begun, planned])
    assert len(setup.runs) == 2
    elsewhere = graded("b", agent=PluginUse(name="aide"), label="l", group="two", state="planned", made=None)
    assert len(setups([begun, elsewhere])) == 2


def test_differences_are_named(run) -> None:
    same = [run(seed=0), run(seed=1), run("leaf-classification", data_digest="other")]
    assert differences(same) == {}
    found = differences([*same, run(seed=2, limits=Limits(time=60.0)), run(seed=3, data_digest="new")])
    assert found == {"time limit": ["24h", "1m"], "data of spaceship-titanic": ["unknown", "new"]}


def test_imported_runs_know_no_conditions(run) -> None:
    found = differences([run(), run(seed=1, imported_from="MLE-bench")])
    assert found["time limit"] == ["24h", "unknown"] and found["network"] == ["closed", "unknown"]


def test_the_network_is_the_one_that_a_run_had(run) -> None:
    plain, relayed = run(), run(model="m", endpoint="http://m/v1", limits=Limits(network="llm"))
    assert (plain.network, relayed.network) == ("none", "llm (the model at http://m/v1)")
    assert conditions(relayed)["network"] == "closed" and conditions(relayed)["gateway"] == "http://m/v1"
    assert between([plain], [relayed]) == {}, "the gateway to its model belongs to an agent"
    wider = run(limits=Limits(network="llm", allow=("mirror.example.com",)))
    assert wider.network == "llm (mirror.example.com)"
    assert between([plain], [wider]) == {"network": ["closed", "closed except mirror.example.com"]}


def test_what_the_gateway_let_through_is_a_condition(run) -> None:
    limits, endpoint = Limits(network="llm"), "http://m/v1"
    plain, more = ModelAccess(endpoint=endpoint), ModelAccess(endpoint=endpoint, allow=("POST /v1/images/*",))
    tools = ModelAccess(endpoint=endpoint, server_tools=True)
    runs = [run(seed=n, limits=limits, endpoint=endpoint, access=each) for n, each in enumerate((plain, more, tools))]
    assert differences(runs) == {
        "gateway rules": ["none", "POST /v1/images/*"],
        "server tools": ["not allowed", "allowed"],
    }
    assert between(runs[:1], runs[2:]) == {"server tools": ["not allowed", "allowed"]}


def test_what_one_plan_varies_is_named_and_needs_no_mix(graded) -> None:
    """Setups of one group differ in limits because its plan says so; those of two groups may differ by accident."""

    def side(gpus: int, group: str = "g", model: str = "NVIDIA H200", got: int = 0, **limits: Any) -> list[Graded]:
        hardware = Hardware(cpus=8, gpus=(model,) * (got or gpus))
        more = {"limits": Limits(gpus=gpus, **limits), "hardware": hardware, "group": group}
        return [graded(f"c{n}", label=f"{gpus}-gpus", medal="gold" if gpus else None, **more) for n in range(8)]

    document = summarise([*side(0), *side(1), *side(2)])
    one_none, _, two_one = document.comparisons
    assert one_none.by_plan == {"GPUs": ("no GPU", "1 GPU"), "hardware class": ("8 CPUs", "8 CPUs, 1 x NVIDIA H200")}
    assert two_one.by_plan["GPUs"] == ("1 GPU", "2 GPUs")
    assert all(found.differences and not found.differ for found in document.comparisons)
    assert "By plan they differ: 1 GPU against no GPU." in result(summarise([*side(0), *side(1)]))
    notes = next(section for section in sections(document) if section.id == "pairs").notes
    assert "B - C differ by plan: 1 GPU against 2 GPUs." in " ".join(notes)

    (apart,) = summarise([*side(0), *side(1, group="h")]).comparisons
    assert not apart.differences and apart.differ.keys() == {"GPUs", "hardware class"} and not apart.by_plan
    (other,) = summarise([*side(1), *side(2, model="NVIDIA A10")]).comparisons
    assert not other.differences and other.differ.keys() == {"hardware class"}, "another model of GPU was not planned"
    (wrong,) = summarise([*side(0, got=8), *side(1)]).comparisons
    assert not wrong.differences and wrong.differ.keys() == {"hardware class"}, "the runs without GPUs had some"
    (longer,) = summarise([*side(1, time=86400.0), *side(0, time=360000.0)]).comparisons
    assert longer.by_plan["time limit"] == ("24h", "100h")
