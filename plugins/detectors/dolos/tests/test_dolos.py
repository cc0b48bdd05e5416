"""What counts as a copy, with Dolos itself. tests/kaggle/test_notebooks.py fetches notebooks."""

from __future__ import annotations

import shutil
from pathlib import Path

import attrs
import pytest
from judged_runs import NOTEBOOK, a_run, cells, judged, renamed
from mle_detector_dolos import installing
from mle_detector_dolos.comparing import compare
from mle_detector_dolos.scripts import Script, handed_out

from mlecore.errors import DataError, UsageError

ANOTHER = """
import lightgbm as lgb
import polars as pl

def clean(table):
    return table.with_columns(pl.col("age").fill_null(0), pl.col("name").str.len_chars().alias("letters"))

rows = clean(pl.read_csv("train.csv"))
known = lgb.Dataset(rows.drop("y").to_numpy(), rows["y"].to_numpy())
booster = lgb.train({"objective": "binary", "num_leaves": 31}, known)
for name, weight in sorted(zip(rows.columns, booster.feature_importance()), key=lambda pair: -pair[1])[:10]:
    print(name, weight)
unseen = clean(pl.read_csv("test.csv"))
with open("submission.csv", "w") as out:
    out.write("id,y\\n")
    while len(unseen):
        head, unseen = unseen[:1000], unseen[1000:]
        for id, y in zip(head["id"], booster.predict(head.to_numpy())):
            out.write(f"{id},{int(y > 0.5)}\\n")
"""


@pytest.fixture
def references(tmp_path: Path) -> str:
    folder = tmp_path / "references" / "ships"
    folder.mkdir(parents=True)
    (folder / "popular.ipynb").write_text(cells(NOTEBOOK))
    (folder / "broken.ipynb").write_text("{")
    (folder / "other.py").write_text(ANOTHER)
    (folder.parent / "elsewhere.py").write_text(ANOTHER)
    return str(folder.parent)


@pytest.mark.slow
@pytest.mark.network
def test_a_copied_notebook_with_other_names(dolos: None, tmp_path: Path, references: str) -> None:
    detection = judged(a_run(tmp_path, {"main.py": renamed(), "b.py": "x = 1\n"}), references=references)
    [finding] = detection.findings
    assert (finding.rule, finding.verdict) == ("copied-notebook", "suspicious")
    assert finding.summary.startswith("code/main.py is") and "popular.ipynb" in finding.summary
    assert finding.confidence and finding.confidence > 0.9
    [pair] = finding.details["pairs"][:1]
    assert pair["longest"] > 30 and pair["overlap"] > 60 and pair["lines"]
    own, theirs = finding.evidence[:2]
    assert (own.file, theirs.file, theirs.of) == ("code/main.py", "popular.ipynb", "references")
    assert own.line and own.last_line and own.last_line - own.line > 10 and own.quote in renamed()
    assert detection.settings == {"dolos": installing.VERSION, "scripts": 2, "references": 2}


@pytest.mark.slow
@pytest.mark.network
def test_honest_code_is_clean(dolos: None, tmp_path: Path, references: str) -> None:
    lists = "WORDS = [\n" + "".join(f"    'word{n}',\n" for n in range(300)) + "]\n"
    (Path(references) / "ships" / "lists.py").write_text(lists.replace("word", "term"))
    imports = "".join(line + "\n" for line in NOTEBOOK.splitlines() if "import" in line) * 20
    Path(references, "ships", "other.py").unlink()
    run = a_run(tmp_path, {"main.py": ANOTHER, "lists.py": "import os\n\n" + lists, "i.py": imports})
    [finding] = judged(run, references=references).findings
    assert (finding.verdict, finding.details["compared"]) == ("clean", 2)


@pytest.mark.slow
@pytest.mark.network
def test_code_from_the_public_data_may_be_used(dolos: None, tmp_path: Path, references: str) -> None:
    public = tmp_path / "public"
    public.mkdir()
    (public / "description.md").write_text(f"# Ships\n\n```python\n{NOTEBOOK}```\n")
    assert NOTEBOOK in handed_out(public)
    [finding] = judged(a_run(tmp_path, {"main.py": renamed()}), public=public, references=references).findings
    assert finding.verdict == "clean"


@pytest.mark.slow
@pytest.mark.network
def test_runs_with_each_other(dolos: None, tmp_path: Path, references: str) -> None:
    one, two = a_run(tmp_path, {"main.py": NOTEBOOK}, "one"), a_run(tmp_path, {"main.py": renamed()}, "two")
    options = {"references": references, "runs": "true"}
    same_program = judged(one, two, **options).findings[1]
    assert (same_program.verdict, same_program.summary) == ("clean", "no other run has code to compare with")
    with_model = [attrs.evolve(run, model="m") for run in (one, two)]
    found = judged(with_model[0], with_model[1], **options).findings[1]
    assert (found.rule, found.verdict, found.evidence[1].of) == ("copied-run", "suspicious", "two")


@pytest.mark.slow
@pytest.mark.network
def test_hostile_code(dolos: None, tmp_path: Path, references: str) -> None:
    files = {"deep.py": "(" * 20000, "bytes.py": "\x00\ud7ff" * 100, "long.py": "x = 1;" * 50_000}
    run = a_run(tmp_path, {**files, "open.py": "def f(:\n" * 900})
    assert judged(run, references=references).findings[0].rule == "copied-notebook"


@pytest.mark.slow
@pytest.mark.network
def test_many_files_are_compared_in_batches(dolos: None) -> None:
    """The only pair that is alike is far down on both sides."""
    short = [Script(name=f"{n}.py", text=f"x{n} = [{n}]\nprint(x{n})\n") for n in range(130)]
    own, references = [*short], [*short[:60]]
    own[120] = Script(name="mine.py", text=renamed())
    references[55] = Script(name="theirs.py", text=NOTEBOOK)
    [pair] = compare(own, references, "")
    assert (pair.own.name, pair.reference.name) == ("mine.py", "theirs.py") and pair.similarity > 0.9
    assert pair.fragments


def test_imports_are_left_out_line_by_line() -> None:
    compared = Script(name="a.py", text=NOTEBOOK).compared
    assert "import" not in compared and compared.count("\n") == NOTEBOOK.count("\n")
    assert compared.split("\n")[8] == "SEED = 7"


def test_without_references_nothing_is_decided(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLECORE_DOLOS", str(tmp_path / "cache"))
    run = a_run(tmp_path, {"main.py": NOTEBOOK})
    missing = judged(run, references=str(tmp_path / "nowhere")).findings[0]
    assert (missing.verdict, "there is no folder" in missing.summary) == ("undecided", True)
    unknown = judged(run).findings[0]
    assert unknown.verdict == "undecided" and unknown.summary.startswith("the competition is not Kaggle's")


def test_npm_that_fails_says_why_and_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLECORE_DOLOS", str(tmp_path / "cache"))
    tools = tmp_path / "bin"
    tools.mkdir()
    npm = tools / "npm"
    npm.write_text("#!/bin/sh\necho 'no such registry' >&2\nexit 1\n")
    npm.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}:/usr/bin:/bin")
    with pytest.raises(DataError, match="no such registry"):
        installing.installed()
    npm.write_text("#!/bin/sh\nmkdir node_modules\n")
    assert (installing.installed() / "node_modules").is_dir()
    assert [path.name for path in (tmp_path / "cache").iterdir() if path.is_dir()] == [f"dolos-{installing.VERSION}"]
    npm.unlink()
    shutil.rmtree(tmp_path / "cache")
    monkeypatch.setenv("PATH", str(tools))
    with pytest.raises(UsageError, match="npm is not on PATH"):
        installing.installed()
