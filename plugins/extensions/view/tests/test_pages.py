"""The pages say what the records say."""

from __future__ import annotations

import json
from pathlib import Path

import groups_on_disk
from mle_ext_report.sources import read_sources
from mle_ext_report.summary import summarise
from mle_ext_view.app import make_app
from mle_ext_view.group_page import groups_page
from mle_ext_view.run_page import run_page
from mle_ext_view.site import Site
from starlette.testclient import TestClient

from mlecore.model.facts import Reference
from mlecore_testing.drawn_groups import write_group
from mlecore_testing.grades import report

RUN = "g/finished/alpha--optical-digits--0"


def text(client: TestClient, address: str) -> str:
    answer = client.get(address)
    assert answer.status_code == 200, answer.text
    return answer.text


def test_groups(client: TestClient) -> None:
    page = text(client, "index.html")
    assert "5 medals · 7 beat the sample" in page
    assert "1 failed · 7 waiting" in page
    assert "no medal · none beats the sample · 8 without a valid submission" in page
    assert 'aria-label="8 without a valid submission"' in page


def test_groups_can_be_chosen_by_the_address(client: TestClient) -> None:
    page = text(client, "index.html?text=FINISH")
    assert ">finished<" in page and ">working<" not in page
    assert ">failing<" in text(client, "index.html?text=crash")  # an agent
    page = text(client, "index.html?state=not+ended")
    assert ">working<" in page and ">finished<" not in page
    assert "None of " in text(client, "index.html?text=nothing-has-this")


def test_a_group_says_what_failed_and_why(client: TestClient) -> None:
    page = text(client, "g/failing/index.html")
    found = page[page.index('id="failed"') : page.index('id="setups"')]
    assert "time limit reached" in found and "KeyError: weights" in found
    assert "it has 3 rows, not 5" in found  # the only reason of its kind, in the grader's words
    assert 'href="../../g/failing/memory--optical-digits--0/index.html"' in found


def test_setups_have_the_letters_colours_and_rates_of_the_report(client: TestClient) -> None:
    page = text(client, "g/finished/index.html")
    rates = page[page.index('class="rates"') : page.index('id="matrix"')]
    assert rates.index('series-1">B<') < rates.index("100.0 %") < rates.index('series-0">A<') < rates.index("50.0 %")
    assert 'series-1">B<' in text(client, "g/finished/beta--optical-digits--0/index.html")


def test_setups_have_the_mean_percentile_of_the_report(tmp_path: Path) -> None:
    write_group(tmp_path, "drawn", competitions=("leaf-classification", "dog-breed-identification"))
    (setup,) = summarise(read_sources(["drawn"], [], tmp_path)).setups
    assert setup.planned_rates is not None
    rate = setup.planned_rates.rates.rates["percentile"]
    client = TestClient(make_app(tmp_path, "t0ken"), base_url="http://127.0.0.1/t0ken/")
    page = text(client, "g/drawn/index.html")
    assert rate is not None and f'data-label="Percentile">{rate.mean:.1f}<' in page


def test_a_group_has_its_agents_its_matrix_and_its_runs(client: TestClient) -> None:
    page = text(client, "g/finished/index.html")
    assert page.count('class="q gold') == 2 + 1  # and the legend
    assert page.count('class="q gold flagged"') == 1 and "flagged by a detector" in page
    assert "alpha, optical-digits, seed 0: gold, 0.92, flagged" in page
    assert "8 runs." in page
    assert "$1.68" in page  # four runs at 0.42


def test_runs_can_be_chosen_and_ordered_by_the_address(client: TestClient) -> None:
    page = text(client, "g/finished/index.html?agent=beta&competition=spaceship-titanic&sort=score")
    assert "2 runs." in page
    rows = page[page.index('<h2 id="runs">') :]
    assert rows.index(">beta--spaceship-titanic--1<") < rows.index(">beta--spaceship-titanic--0<")
    assert "alpha--" not in rows
    assert "0 runs." in text(client, "g/finished/index.html?text=nothing-has-this")
    text(client, "g/finished/index.html?page=-1&sort=x&self=1&group=2")


def test_a_waiting_run_says_why(client: TestClient) -> None:
    assert "2 of 2 GPUs are in use" in text(client, "g/working/index.html")
    assert "2 of 2 GPUs are in use" in text(client, "g/working/alpha--optical-digits--0/index.html")
    assert "The engine was killed" in text(client, "g/working/alpha--optical-digits--1/index.html")
    assert "Nothing has happened yet" in text(client, "g/working/beta--optical-digits--0/index.html")


def test_a_run(client: TestClient) -> None:
    page = text(client, f"{RUN}/index.html")
    for words in ("0.92", "gold medal", "rank 17 of 1000", "it submitted its work", "5 events", "id</th>", "0.7</td>"):
        assert words in page, words
    assert "Score over time" in page and "score by minutes" in page
    assert 'href="../../../g/finished/alpha--optical-digits--0/file.html?path=code%2Ftrain.py#L-3"' in page
    assert "changes.html?a=snapshots%2F60.csv&amp;b=snapshots%2F1800.csv" in page


def test_a_run_that_failed_starts_with_the_reason_and_the_end_of_its_log(client: TestClient) -> None:
    page = text(client, "g/failing/crash--optical-digits--0/index.html")
    main = page[page.index('<main id="main">') :]
    assert main.index("Crashed") < main.index("KeyError: weights") < main.index("mlecore runs logs")
    assert "epoch 81" in page and "epoch 80\n" not in page  # 20 lines


def test_scores_of_agents_are_no_medals(tmp_path: Path) -> None:
    record, *_ = groups_on_disk.new_group(tmp_path, "group")
    done = groups_on_disk.finish(record, data_kind="no_leaderboard")
    scores = Reference(
        gold=0.9, silver=0.8, bronze=0.7, median=0.6, agents=("react 1",), seeds=3, date="2026-11-28", data=""
    )
    none = dict.fromkeys(f"{name}_threshold" for name in ("gold", "silver", "bronze", "median"))
    made = report(0.95, **none, reference=scores, reference_place="gold")
    (done.folder / "grade.json").write_text(json.dumps(made.to_json()))
    site = Site(tmp_path)
    page = run_page(site, "group", record.name)
    assert "reference gold" in page and "react 1" in page and "reference median</dt><dd>0.60000" in page
    assert "best human" not in page and "gold medal" not in page
    assert "1 beats the sample" in groups_page(site, {}) and "medal ·" not in groups_page(site, {})


def test_code_changes_between_snapshots(client: TestClient) -> None:
    page = text(client, f"{RUN}/index.html")
    assert "After 1m" in page and "train.py (new)" in page and "train.py +1 −1" in page
    assert '<span class="removed">-model = 0.1</span><span class="added">+model = 0.5</span>' in page
    assert "At the end" in page and '<span class="added">+model = 0</span>' in page


def test_the_conversation(client: TestClient) -> None:
    page = text(client, f"{RUN}/calls.html")
    for words in (
        "You are good.",
        "I look at the data. 2",
        "Calls shell",
        "command: ls",
        "result 1",
        "100 in, 20 out",
        "$0.0100",
        "1.5 s",
    ):
        assert words in page, words
    assert client.get("g/finished/beta--optical-digits--0/calls.html").status_code == 404


def test_two_runs_side_by_side(client: TestClient) -> None:
    page = text(client, "compare.html?a=finished/alpha--optical-digits--0&b=finished/alpha--optical-digits--1")
    assert '<span class="removed">-model = 0</span><span class="added">+model = 1</span>' in page
    assert "differs" in page and "score by minutes" in page
    assert "Snapshots side by side" in page and "Steps side by side" in page
    assert "I look at the data. 2" in page and "calls.html#step-3" in page and "result 1" in page
    assert client.get("compare.html?a=finished&b=finished/x").status_code == 404
    assert client.get("compare.html").status_code == 404
