"""Wrong commands end with exit code 2 and what to do; an interrupt ends any of them with 130."""

from __future__ import annotations

import json
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from mle_ext_report.benchmark import split_ids

from mlecore.cli import main
from mlecore.cli.shared import competitions_named
from mlecore.runs.planning import make_plan

RUN = "run --agent dummy --competition optical-digits --dry-run"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("MLECORE_DATA", "MLECORE_RUNS"):
        monkeypatch.setenv(name, str(tmp_path / name))
    (tmp_path / "s.csv").write_text("id,digit\n")
    (tmp_path / "empty").touch()
    return tmp_path


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (f"{RUN} --time-limit 24", "24h, 24m or 24s"),
        (f"{RUN} --seeds 4294967296,", "from 0 to"),
        (f"{RUN} --seeds -1", "which: whole numbers"),
        (f"{RUN} -G budget=5usd", "did you mean budgets?"),
        (f"{RUN} -G nonsense=1", "available: key, models, any_model"),
        (f"{RUN} --competition spaceshiptitanic,a", "Did you mean spaceship-titanic?"),
        (f"{RUN} --competitions empty", "one id a line"),
        ("report g --split huge", "available: low, medium"),
        ("prepare spaceship-titanic --synthetic --size nan", "above 0"),
        (f"{RUN} --allow *", "host:port"),
        (f"{RUN} -G prices.m=1,2,3", "web_search=0.01"),
        (f"{RUN} -G prices=1,2", "expected a table"),
        ("prepare spaceship-titanic --archive .", "--raw"),
        ("grade optical-digits s.csv", "mlecore grade s.csv optical-digits"),
        ("runs list --runs=", "it is empty"),
    ],
)
def test_wrong_usage(words: str, told: str) -> None:
    done = CliRunner().invoke(main, words.split())
    assert done.exit_code == 2, done.output
    assert isinstance(done.exception, SystemExit) and told in done.output


def test_competitions_from_a_file_and_a_list(folder: Path) -> None:
    (folder / "ids.txt").write_text("\ufeffa  # dev\n\n# no more\r\nb,d\n", encoding="utf-8")

    @click.command()
    @competitions_named("--competition", help="It")
    def option(competition: tuple[str, ...]) -> None:
        click.echo(competition)

    @click.command()
    @competitions_named("ids")
    def argument(ids: tuple[str, ...]) -> None:
        click.echo(ids)

    address = "https://www.kaggle.com/c/e/data"
    for command, words in ((option, ["--competition", "c, a", "--competition", address]), (argument, ["c,a", address])):
        assert CliRunner().invoke(command, words).output == "('c', 'a', 'e')\n"
        assert (
            CliRunner().invoke(command, [*words, "--competitions", "ids.txt"]).output == "('c', 'a', 'e', 'b', 'd')\n"
        )


def test_splits_mean_the_same_everywhere() -> None:
    listed = CliRunner().invoke(main, ["competitions", "list", "--split", "all", "--json"])
    ids = [row["id"] for row in json.loads(listed.output)]
    assert sorted(ids) == sorted(split_ids("all"))
    plan = make_plan({"agents": [{"name": "dummy"}], "split": ["all", "lite"]})
    assert sorted(plan.competitions) == sorted(ids)


def test_an_interrupt(monkeypatch: pytest.MonkeyPatch) -> None:
    @click.command()
    def works() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(main, "get_command", lambda *_: works)
    done = CliRunner().invoke(main, ["works"])
    assert (done.exit_code, done.output) == (130, "Interrupted.\n")
