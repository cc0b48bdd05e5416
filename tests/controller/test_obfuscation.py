"""A run whose agent is not to know which competition it works on: what it is shown, and what is kept about that."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor

import pluggy
import pytest
from attrs import evolve
from mle_ext_obfuscation.hiding import renaming_of
from mle_ext_obfuscation.uses import unsettled, uses

from mlecore.controller import collect, shown
from mlecore.controller.job import make_job, make_task, tools
from mlecore.controller.shown import show
from mlecore.errors import DataError, UsageError
from mlecore.hookspecs import ExtensionSpec
from mlecore.plugins import loading


@pytest.fixture
def hidden(lab):
    """A run of a worker on `coins`, obfuscated."""
    lab.make(("worker", {}), data={"obfuscate": "description"})
    experiment = lab.experiment()
    return experiment, experiment.agents["worker"], experiment.inputs["coins"]


def test_a_task_names_neither_id_nor_title(hidden, tmp_path):
    experiment, loaded_agent, inputs = hidden
    task = make_task(experiment, loaded_agent, inputs, 0, "mle-u-1")
    assert (task.competition[:5], task.title, task.metric) == ("task-", "A machine-learning task", "accuracy")
    assert task.description == "Ten things were thrown. Which side is up? Hand in the columns id and side.\n"
    job = make_job(experiment, loaded_agent, inputs, 0, "mle-u-1", "gu").job
    known = [
        job.dataset.competition,
        job.dataset.public.relative_to(experiment.data.first),
        job.env,
        job.stdin,
        job.argv,
    ]
    for word in ("coins", "competition", "leaderboard", "kaggle", "medal"):
        assert word not in str(known).lower()
        assert word not in task.instructions.lower() and word not in job.files["instructions.txt"].decode().lower()


def test_the_data_are_those_of_the_competition_with_another_description(hidden, tmp_path):
    _, _, inputs = hidden
    inputs.shown.provide(tmp_path)
    there, public = inputs.shown.dataset.public, inputs.data.public
    assert {path.name for path in there.iterdir()} == {path.name for path in public.iterdir()}
    for path in there.iterdir():
        same = path.read_bytes() == (public / path.name).read_bytes()
        assert same == (path.name != "description.md"), path
    assert (there / "description.md").read_text() == inputs.shown.description
    assert (public / "description.md").read_text() == inputs.facts.description
    assert (there / "sample.csv").samefile(public / "sample.csv")  # a link: data of any size


def test_controllers_that_begin_at_once_agree_on_the_names(hidden, tmp_path):
    experiment, _, inputs = hidden
    dirs = evolve(experiment.data, dirs=(tmp_path / "fresh",))
    with ThreadPoolExecutor(8) as pool:
        tasks = list(pool.map(lambda _: show(inputs.facts, inputs.data, dirs, "full").competition, range(16)))
    assert len(set(tasks)) == 1
    made = sorted(path.name for path in (tmp_path / "fresh" / "obfuscated").iterdir())
    assert len(made) == 2 and made[0].endswith(".seed") and made[1] == tasks[0]


def test_a_damaged_seed_is_named_and_kept(hidden, tmp_path):
    experiment, _, inputs = hidden
    dirs = evolve(experiment.data, dirs=(tmp_path / "fresh",))
    show(inputs.facts, inputs.data, dirs, "description")
    (seed,) = (tmp_path / "fresh" / "obfuscated").glob("*.seed")
    seed.write_bytes(b"half")
    with pytest.raises(DataError, match=r"\.seed: it is damaged"):
        show(inputs.facts, inputs.data, dirs, "description")
    assert seed.read_bytes() == b"half"


def test_a_competition_without_an_obfuscated_description_is_rejected(hidden, tmp_path):
    experiment, _, inputs = hidden
    folder = tmp_path / "bare"
    folder.mkdir()
    with pytest.raises(UsageError, match=r"coins has no description_obfuscated\.md"):
        show(evolve(inputs.facts, folder=folder), inputs.data, experiment.data, "description")


@pytest.mark.parametrize("how", ["description", "full"])
def test_without_an_extension_the_package_to_install_is_named(hidden, monkeypatch, how):
    experiment, _, inputs = hidden
    without = pluggy.PluginManager("mlecore")
    without.add_hookspecs(ExtensionSpec)
    monkeypatch.setattr(shown, "load_extensions", lambda: (without, ()))
    monkeypatch.setattr(loading, "find", lambda *_: None)
    loading.load.cache_clear()
    with pytest.raises(UsageError, match=r"pip install mle-ext-obfuscation"):
        show(inputs.facts, inputs.data, experiment.data, how)


def test_from_finished_files_nothing_can_be_hidden(lab, tmp_path):
    lab.make(("finished", {"file": "x"}), data={"obfuscate": "description"})
    experiment = lab.experiment()
    with pytest.raises(UsageError, match="hands in finished files"):
        make_job(experiment, experiment.agents["finished"], experiment.inputs["coins"], 0, "j", "g")


@pytest.fixture
def fully(lab):
    lab.make(("worker", {}), data={"obfuscate": "full"})
    return lab


def names_in(shown):
    return renaming_of(shown.facts, shown.prepared, shown.dataset.public.parents[1], shown.competition)


def test_in_full_an_agent_gets_other_names(fully, tmp_path):
    experiment = fully.experiment()
    inputs = experiment.inputs["coins"]
    names = names_in(inputs.shown)
    job = make_job(experiment, experiment.agents["worker"], inputs, 0, "mle-u-1", "gu").job
    header = tools(inputs, tmp_path)["sample.csv"].read_text().partition("\n")[0]
    assert header.split(",") == sorted((names.columns["id"], names.columns["side"]))
    form = json.loads(tools(inputs, tmp_path)["submission.json"])
    assert (form["id"], list(form["columns"])) == (names.columns["id"], [names.columns["side"]])
    assert sorted(path.name for path in job.dataset.public.iterdir()) == ["description.md", "table_1.csv"]
    assert job.dataset.public.parent.name == job.dataset.competition != "coins"


def test_a_submission_in_other_names_is_kept_in_those_of_the_competition(fully, monkeypatch):
    experiment = fully.experiment()
    inputs = experiment.inputs["coins"]
    names = names_in(inputs.shown)
    rows = "".join(f"{names.ids[str(n)]},{n % 2}\n" for n in range(10))
    written = f"{names.columns['id']},{names.columns['side']}\n{rows}"
    lay_out = collect.lay_out

    def as_an_agent_wrote_it(record):
        (collect.attempt_folder(record) / "result/submission/submission.csv").write_text(written)
        return lay_out(record)

    monkeypatch.setattr(collect, "lay_out", as_an_agent_wrote_it)
    assert fully.run().complete
    (record,) = fully.records().values()
    assert record.submission.read_text() == "id,side\n" + "".join(f"{n},{n % 2}\n" for n in range(10))
    assert (collect.attempt_folder(record) / "result/submission/submission.csv").read_text() == written
    assert record.report.valid_submission and record.digests.submission


def test_a_submission_whose_names_are_lost_waits_until_they_are_back(fully, monkeypatch):
    seeds = {path: path.read_bytes() for path in (fully.experiment().data.first / "obfuscated").glob("*.seed")}
    lay_out = collect.lay_out

    def lose_the_seed(record):
        for path in seeds:
            path.write_bytes(b"x" * 32)
        return lay_out(record)

    monkeypatch.setattr(collect, "lay_out", lose_the_seed)
    (left,) = fully.run().unfinished
    monkeypatch.undo()
    (record,) = fully.records().values()
    assert f"the names that the agent was given ({record.task}) are lost" in left and record.state == "collecting"
    for path, content in seeds.items():
        path.write_bytes(content)
    assert fully.run().complete
    (record,) = fully.records().values()
    assert record.state == "graded" and len(record.attempts) == 1


def test_no_file_of_a_group_holds_the_seed(fully):
    assert fully.run().complete
    (record,) = fully.records().values()
    seeds = [path.read_bytes() for path in (fully.experiment().data.first / "obfuscated").glob("*.seed")]
    assert seeds and record.task and record.task.startswith("task-")
    for path in record.folder.parent.rglob("*"):
        content = path.read_bytes() if path.is_file() else b""
        assert not any(seed in content or seed.hex().encode() in content.lower() for seed in seeds), path


def kept_for(lab):
    """Obfuscated data that this test's group uses, of those of all tests, and the groups."""
    group = next(iter(lab.records().values())).folder.parent.absolute()
    return [each for each in uses(lab.experiment().data.first) if group in each.groups], group


@pytest.mark.parametrize("how", ["description", "full"])
def test_data_are_needed_until_the_last_run_is_settled(lab, how):
    lab.make(("worker", {}), data={"obfuscate": how})
    inputs = lab.experiment().inputs["coins"]
    assert kept_for(lab)[0] == []
    inputs.shown.provide(kept_for(lab)[1])
    ((kept,), group) = kept_for(lab)
    assert (kept.competition, kept.needed) == ("coins", True) and unsettled(group)
    assert kept.path == inputs.shown.dataset.public.parent
    assert lab.run().complete
    assert not unsettled(group) and kept_for(lab)[0]
