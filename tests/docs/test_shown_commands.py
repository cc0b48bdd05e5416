"""Every command that README, docs and the plugins' pages show can be given, and runs where nothing else is needed.

Each is parsed. Those of a page run one after the other, as a reader would give them, in a folder with prepared data, a
submission and the groups that the pages speak of; ``NEEDS`` says which need more than that. docs/agents.md and
docs/publishing.md run in tests of their own (tests/packages).
"""

from __future__ import annotations

import re
import shlex
import shutil
import traceback
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

import mlecore
from mlecore.cli import main

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "plugins").glob("*/*/README.md"))]
FENCE = re.compile(r"^[ ]*```(\w*)\n(.*?)^[ ]*```", re.M | re.S)
SYNOPSIS = re.compile(r"[|\[\]]|\.\.\.")


def shown(text: str) -> Iterator[str]:
    """The commands in the fenced blocks of a page, lines that go on joined, without comments; no synopses."""
    for language, block in FENCE.findall(text):
        if language in ("", "sh", "bash", "shell", "console"):
            for line in re.sub(r"\s*\\\n\s*", " ", block).splitlines():
                words = line.strip().removeprefix("$ ").removeprefix(".venv/bin/")
                if words.startswith("mlecore ") and not SYNOPSIS.search(words.partition(" #")[0]):
                    yield re.split(r"\s{2,}(?=\S)|\s+(?:#|&&|>|2>)", words)[0]


NEEDS = {
    r"prepare (?!.*--synthetic|.*optical-digits)": "a Kaggle account",
    r"grade .*--edition": "data of that edition",
    r".*(tumours|my-churn|my-lab)": "a table of the reader's",
    r"run .*--(model|backend|plan|network)": "a model, an image or a cluster",
    r"run .*(baseline|pip=)": "packages of a registry",
    r"run .*-B gpus": "GPUs",
    r"run .*--split": "the data of a split",
    r"runs (export .*--sign|verify .*--countersign)": "an SSH key",
    r"leaderboard (add|check)": "a signed export",
    r"runs logs": "a run that printed something",
    r"runs trace": "a run that called a model",
    r"detect .*(--detector NAME|-D )": "a model, or a detector of the reader's",
    r"runs cancel .*/RUN": "a run that has not ended",
    r"runs resume .*--competition": "a competition of the reader's",
    r"runs (adopt|grade .*--runs)": "a group from elsewhere",
    r"runs import (logs/|jobs/|scores)": "results of another harness",
    r"report logs": "a group from elsewhere",
    r"report .*--trained-on": "a file of the reader's",
    r"export harbor": "prepared data of a split",
    r"data .* s3:": "a bucket",
    r"data leaderboard": "a Kaggle account, or a file of the reader's",
    r"view(?!.*--static)": "an interruption: it serves until then",
    r"demo": "minutes: test_demo.py runs it",
    r"doctor": "a while: it asks all backends, and Kaggle",
}

TRIED = "start.md"  # from its first command to its last, by test_start_page.py

COMMANDS = [
    pytest.param(command, id=f"{page.relative_to(ROOT)}: {command}")
    for page in PAGES
    for command in dict.fromkeys(shown(page.read_text(encoding="utf-8")))
]


def parsed(words: list[str]) -> click.Context:
    """The context of the innermost command. Raises UsageError of click."""
    context = main.make_context("mlecore", words)
    while isinstance(context.command, click.Group) and context._protected_args + context.args:
        name, command, rest = context.command.resolve_command(context, context._protected_args + context.args)
        assert command is not None
        context = command.make_context(name, rest, parent=context)
    return context


def test_there_are_commands_and_wrong_ones_are_noticed() -> None:
    assert len(COMMANDS) > 50
    assert list(shown("```\nmlecore run \\\n  --agent x   # y\nmlecore runs list [GROUP]\n```\n")) == [
        "mlecore run --agent x"
    ]
    for words in (["nosuch"], ["run", "--nosuch"], ["runs", "nosuch"], ["report", "--output"]):
        with pytest.raises(click.UsageError):
            parsed(words)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_that_is_shown_can_be_given(command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    try:
        parsed(shlex.split(command)[1:])
    except click.exceptions.Exit:
        return  # --help, --version
    except click.BadParameter as error:
        assert "does not exist" in error.message, error.message  # a file that a reader has


def unmet(command: str) -> str | None:
    """What a command needs that a test does not have."""
    return next((why for pattern, why in NEEDS.items() if re.match(f"mlecore {pattern}", command)), None)


def running(page: Path) -> list[str]:
    """The commands of a page that run here."""
    if page.name in ("agents.md", "publishing.md"):
        return []
    return [command for command in dict.fromkeys(shown(page.read_text(encoding="utf-8"))) if unmet(command) is None]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a reader has: two competitions' data (one made up, and taken for real), submissions, finished groups."""
    folder = tmp_path_factory.mktemp("reader")
    data = folder / "data"
    call("prepare", "optical-digits", "--data", str(data))
    call("prepare", "spaceship-titanic", "--synthetic", "--data", str(folder / "source"))
    raw = folder / "source" / "spaceship-titanic" / "synthetic" / "raw"
    call("prepare", "spaceship-titanic", "--raw", str(raw), "--skip-verification", "--data", str(data))
    sample = next((data / "spaceship-titanic" / "prepared" / "public").glob("sample_submission.csv"))
    (folder / "DIR").mkdir()
    header, *rows = sample.read_text().splitlines()
    predictions = [f"{row.partition(',')[0]},{number % 3 == 0}" for number, row in enumerate(rows)]
    for name in ("DIR/spaceship-titanic.csv", "submission.csv"):
        (folder / name).write_text("\n".join([header, *predictions, ""]))
    (folder / "submissions.jsonl").write_text(
        '{"competition_id": "spaceship-titanic", "submission_path": "submission.csv"}\n'
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        call("grade", "--jsonl", "submissions.jsonl", "--output", "grading_report.json", "--data", str(data))
    for group in ("GROUP", "first-try"):
        mlecore.run(
            agent="submissions",
            options={"from": str(folder / "DIR")},
            competition="spaceship-titanic",
            group=group,
            runs=folder / "runs",
            data=data,
            detect=False,
        )
    return folder


def call(*words: str) -> None:
    done = CliRunner().invoke(main, list(words))
    assert done.exit_code == 0, done.output


@pytest.mark.xdist_group("pages")  # so that what a reader has is created once
@pytest.mark.parametrize(
    "page",
    [pytest.param(page, id=str(page.relative_to(ROOT))) for page in PAGES if running(page) and page.name != TRIED],
)
def test_the_commands_of_a_page_run(page: Path, made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(made, tmp_path / "here")
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setenv("MLECORE_DATA", str(tmp_path / "here" / "data"))
    for name in ("KAGGLE_USERNAME", "KAGGLE_KEY", "KAGGLE_API_TOKEN", "MLECORE_RUNS"):
        monkeypatch.delenv(name, raising=False)
    for group in ("GROUP", "first-try"):
        call("runs", "adopt", group)
    for command in running(page):
        group = "GROUP" if "GROUP" in command else "first-try"
        (run,) = (path.parent.name for path in (Path("runs") / group).glob("*/run.json"))
        words = shlex.split(command.replace("/RUN", f"/{run}"))[1:]
        words = [each for word in words for each in (map(str, Path().glob(word)) if "*" in word else [word])]
        done = CliRunner().invoke(main, words)
        good = {"detect": (0, 3), "audit": (0, 1)}.get(words[0], (0,))
        if done.exit_code not in good:
            detail = "".join(traceback.format_exception(*done.exc_info)) if done.exc_info else ""
            pytest.fail(f"{command}: exit code {done.exit_code}\n{done.output}\n{detail}")
