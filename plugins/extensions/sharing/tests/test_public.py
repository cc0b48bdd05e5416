"""An export tells nothing of the machine that it comes from: paths are planted wherever one may be."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from attrs import evolve
from click.testing import CliRunner
from mle_ext_sharing.exporting import export_group
from mle_ext_sharing.public import Public

from mlecore.cli import main
from mlecore.model.backends import Handle
from mlecore.model.detectors import Evidence, Finding, NotRead
from mlecore.model.findings import Findings
from mlecore.model.provenance import PluginUse
from mlecore.model.record import Attempt, RunRecord
from mlecore.runs.digests import with_digest
from mlecore.runs.findings import write_findings
from mlecore.runs.planning import write_plan
from mlecore.runs.store import Group, load_group, open_group, write_info, write_record
from mlecore_testing import drawn_groups

PLANTED = ("unique-home", "unique-cwd", "unique-runs", "unique-data", "unique-option", "unique-root", "unique cage")
QUOTE = "pd.read_csv('/kaggle/input/train.csv')"


@pytest.fixture
def planted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Group:
    """A group of two runs whose files name folders of this machine."""
    home, cwd, runs, data, option, root, cage = (tmp_path / name for name in PLANTED)
    for folder in (home, cwd, cage):
        folder.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.chdir(cwd)
    group = open_group(drawn_groups.write_group(runs, "g", competitions=["spaceship-titanic"], seeds=2))
    words = f"python {option}/agent.py -v{home}/x:/y --cache={data}"
    [agent] = group.plan.agents
    detectors = {
        "dolos": {"references": str(option)},
        "rules": {"endpoint": "https://me:pass@judge.example.org/v1?key=k"},
    }
    plan = evolve(
        group.plan,
        agents=(evolve(agent, options={"argv": words}, model=f"{root}/Llama-3"),),
        backend=evolve(group.plan.backend, options={"root": str(root), "image": f"file://{home}/image.sif"}),
        execution=evolve(group.plan.execution, detectors=detectors),
    )
    group = evolve(group, plan=plan, info=evolve(group.info, data=(str(data),)))
    (group.folder / "plan.toml").write_text(write_plan(plan))
    write_info(group.folder, group.info)
    for record in load_group(group.folder):
        plant(record, words, root, data, cage)
    return group


def plant(record: RunRecord, words: str, root: Path, data: Path, cage: Path) -> None:
    grade = json.loads((record.folder / "grade.json").read_text())
    grade |= {"submission_path": str(record.folder / "submission.csv"), "reason": f"no such file: '{data}/train.csv'"}
    (record.folder / "grade.json").write_text(json.dumps(grade))
    (record.folder / "grade_error.json").write_text(json.dumps({"error": f"cannot read {root.parent}/unique-root/a"}))
    points = [{"seconds": 1.0, "status": "graded", "score": 0.5, "medal": None, "reason": str(record.folder)}]
    (record.folder / "snapshots.json").write_bytes(with_digest({"points": points}))
    attempt = Attempt(
        number=1,
        job=f"mle-{record.uid}-1",
        handle=Handle(name=f"mle-{record.uid}-1", id=f"{root}/jobs/7"),
        reason=f"[Errno 28] No space left on device: '{root}/jobs/7/home'",
    )
    record = write_record(
        evolve(
            record,
            digests=None,
            attempts=(attempt,),
            model=f"{root}/Llama-3",
            agent=evolve(record.agent, options={"argv": words, "config": str(cage)}),
            backend=evolve(record.backend, options={"root": str(root)}),
        )
    )
    found = Findings(
        run=record.uid,
        detector=PluginUse(name="dolos", options={"references": str(root)}),
        created_at="now",
        seconds=1.0,
        group="x",
        findings=(
            Finding(
                rule="r",
                verdict="undecided",
                summary=f"there are no notebooks in {root}/n",
                evidence=(Evidence(file="code/a.py", quote=QUOTE),),
            ),
        ),
        not_read=(NotRead(file="a", why=f"{record.folder}/a: too large"),),
        settings={"cache": str(Path.home() / ".cache")},
    )
    write_findings(record, found)


@pytest.mark.parametrize("name", ["b", "b.zip"])
def test_no_path_of_this_machine_is_in_an_export(planted: Group, tmp_path: Path, name: str) -> None:
    export_group(planted.folder, tmp_path / name)
    done = CliRunner().invoke(main, ["runs", "verify", str(tmp_path / name)])
    wrong = [line for line in done.output.splitlines() if "plan.toml is not" not in line]
    assert not any("was changed" in line or "is not the one" in line or "missing" in line for line in wrong), (
        done.output
    )
    if name == "b.zip":
        import zipfile

        with zipfile.ZipFile(tmp_path / name) as archive:
            files = {info.filename: archive.read(info) for info in archive.infolist()}
    else:
        files = {path.name: path.read_bytes() for path in (tmp_path / name).rglob("*") if path.is_file()}
    everything = b"\n".join(files.values()).decode()
    for word in (*PLANTED, tmp_path.name, "pass@", "key=k"):
        assert word not in everything, (word, [each for each, content in files.items() if word.encode() in content])
    assert "python <path>/agent.py" in everything and QUOTE in everything and '"Llama-3"' in everything


@pytest.mark.parametrize(
    "text",
    [
        "POST /v1/images/*",
        "https://models.example.org/v1/chat",
        "/usr/bin/python -m x",
        "a/b and 3 / 4",
        "./run.sh ../x */submission.csv",
        "docker.io/library/python:3.11",
        "<path>/agent.py",
    ],
)
def test_what_is_no_path_of_this_machine_stays(planted: Group, text: str) -> None:
    assert Public(planted).values_of({"x": [text]}) == {"x": [text]}
