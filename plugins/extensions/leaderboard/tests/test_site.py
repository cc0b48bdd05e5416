"""The site: every figure computed a second way, nothing of an entry is markup, and browsers show it."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
from collections import defaultdict
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest
from attrs import evolve
from boards import build, call, shown
from mle_ext_leaderboard.board import open_board
from mle_ext_leaderboard.disclosures import HARDWARE
from mle_ext_leaderboard.tables import standings, tables, titles

from mlecore_testing.browser import Browser
from mlecore_testing.looks import Look

pytestmark = pytest.mark.slow

HOSTILE = '<script>alert(1)</script>"><img src=x onerror=alert(2)>'


def test_figures_are_those_of_the_exports(full: Path) -> None:
    """Computed again from the grade.json of each export, without this package."""
    site = build(full)
    shown = json.loads((site / "leaderboard.json").read_text())
    assert [len(table["rows"]) for table in shown["tables"]] == [3, 1]
    main_table = shown["tables"][0]
    assert main_table["goal"] == "any_medal" and main_table["conditions"]["time limit"] == "24h"
    for row in [row for table in shown["tables"] for row in table["rows"]]:
        grades, percentiles, hours, usd = read_export(full / "entries" / row["entry"] / "export.zip")
        shares = [sum(won) / len(won) for won in grades.values()]
        assert row["rate"] == pytest.approx(100 * sum(shares) / len(shares), abs=1e-9)
        places = [sum(place or 0 for place in each) / len(each) for each in percentiles.values()]
        assert row["percentile"] == pytest.approx(sum(places) / len(places))
        assert sum(share for _, share in row["medals"]) == pytest.approx(row["rate"], abs=1e-9)
        assert row["runs"] == sum(map(len, grades.values())) and row["seeds"] == len(next(iter(grades.values())))
        assert row["hours"] == pytest.approx(sum(hours) / len(hours)) and row["usd"] == pytest.approx(sum(usd))
    assert main_table["marks"] == {"sample": 5, "median": 50, "bronze": 90, "silver": 95, "gold": 99}
    assert "the median human at 50.0" in (site / "index.html").read_text()
    rows = list(csv.DictReader(io.StringIO((site / "entries.csv").read_text())))
    assert {row["entry"]: float(row["rate"]) for row in rows if "12 h" not in row["table"]} == {
        row["entry"]: row["rate"] for row in main_table["rows"]
    }
    runs = list(csv.DictReader((site / "runs.csv").open()))
    assert len({(run["entry"], run["competition"], run["seed"]) for run in runs}) == len(runs)
    assert {run["entry"] for run in runs} == {"alpha", "beta", "gamma", "gamma-2", "longer", "gone"}


def test_a_percentile_needs_each_competition(full: Path) -> None:
    """So that an entry cannot leave out those where it is low."""
    path = full / "entries" / "alpha" / "results.json"
    values = json.loads(path.read_text())
    run = min((run for run in values["runs"] if run["submission"] == "valid"), key=lambda run: run["percentile"])
    run["percentile"] = None
    path.write_text(json.dumps(values))
    (table, _) = json.loads((build(full) / "leaderboard.json").read_text())["tables"]
    known = {row["entry"]: row["percentile"] is not None for row in table["rows"]}
    assert known == {"alpha": False, "beta": True, "gamma-2": True}


def read_export(path: Path) -> tuple[dict[str, list[bool]], dict[str, list[float | None]], list[float], list[float]]:
    """Competition -> medals; competition -> percentiles; hours; dollars."""
    import zipfile

    grades: dict[str, list[bool]] = defaultdict(list)
    percentiles: dict[str, list[float | None]] = defaultdict(list)
    hours, usd = [], []
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            if name.endswith("run.json"):
                record = json.loads(archive.read(name))
                grade = json.loads(archive.read(name.replace("run.json", "grade.json")))
                medals = grade["gold_medal"] or grade["silver_medal"] or grade["bronze_medal"]
                grades[record["competition"]].append(medals)
                percentiles[record["competition"]].append(grade["percentile"])
                hours.append(record["seconds"] / 3600)
                usd.append(record["usage"]["cost_usd"])
    return grades, percentiles, hours, usd


def test_what_is_in_no_table(full: Path) -> None:
    site = build(full)
    others = {each["name"]: each for each in json.loads((site / "leaderboard.json").read_text())["entries"]}
    assert not others["gamma"]["ranked"] and others["gamma"]["why"] == "corrected by gamma-2"
    assert not others["gone"]["ranked"] and others["gone"]["why"] == "retracted by gone-away"
    assert not others["bad"]["ranked"] and "at least 2 are needed" in others["bad"]["why"]
    page = (site / "entries" / "gone.html").read_text()
    assert "This entry was retracted by gone-away" in page
    index = (site / "index.html").read_text()
    assert "it read the answers" in index and "Published, not checked" in index and "Disarray" in index


def test_tags(full: Path) -> None:
    rows = shown(full)["tables"][0]["rows"]
    tags = {row["entry"]: set(row["tags"]) for row in rows}
    assert "source" in tags["beta"] and "source" not in tags["alpha"]
    assert "signed" in tags["alpha"] and "regraded" not in tags["alpha"] and "judged" not in tags["alpha"]
    assert "no-web" not in tags["alpha"]  # no record says that the network was closed


def test_a_table_shows_the_tags_that_tell_entries_apart(full: Path) -> None:
    board = open_board(full)
    first, second = tables(board, standings(board))
    assert [each.title.split(", ")[:2] for each in (first, second)] == [["Three", "24 h"], ["Three", "12 h"]]
    assert first.telling and [first.telling_tags(row) for row in first.rows if row.standing.name == "beta"] == [
        ["source"]
    ]
    assert not second.telling and "signed" in second.shared_tags
    index = (build(full) / "index.html").read_text()
    assert index.count(">source</a>") == 1


def test_tables_of_the_same_title_say_what_else_differs() -> None:
    key = {"competitions": "low (22)", "time limit": "24h", HARDWARE: "8 CPUs", "edition": "v1", "data": "published"}
    keys = [{**key, "network": "closed", "data digest": digest} for digest in ("a", "b")]
    assert titles([*keys, {**keys[0], "edition": "v2"}]) == [
        "Low, 24 h, 8 CPUs, v1, data digest a",
        "Low, 24 h, 8 CPUs, v1, data digest b",
        "Low, 24 h, 8 CPUs, v2",
    ]


def test_an_entry_has_its_setups_label(board: Path, make_export, add) -> None:
    path = add("alpha", make_export("a", change=lambda run: evolve(run, label="aide with search")))
    assert 'agent = "aide with search"' in path.read_text()


def test_an_export_that_was_replaced_is_not_ranked(full: Path) -> None:
    shutil.copy(full / "entries" / "beta" / "export.zip", full / "entries" / "alpha" / "export.zip")
    entries = shown(full)["entries"]
    (alpha,) = [each for each in entries if each["name"] == "alpha"]
    assert not alpha["ranked"] and "the SHA-256 of its bundle.json is" in alpha["why"]


def test_the_feed(full: Path) -> None:
    feed = ElementTree.parse(build(full) / "feed.xml").getroot()
    atom = "{http://www.w3.org/2005/Atom}"
    titles = [entry.findtext(f"{atom}title") for entry in feed.findall(f"{atom}entry")]
    assert "gone was retracted" in titles and "third 1.0, which corrects gamma" in titles
    ids = [entry.findtext(f"{atom}id") for entry in feed.findall(f"{atom}entry")]
    assert len(set(ids)) == len(ids) == 7  # not the rejected one
    assert feed.findtext(f"{atom}title") == "Test & <b>board</b>"


def test_a_build_replaces_only_what_it_built(full: Path, tmp_path: Path) -> None:
    site = build(full)
    (site / "old.html").touch()
    build(full)
    assert not (site / "old.html").exists()
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").touch()
    assert call("build", "--board", full, "--to", tmp_path / "mine").exit_code == 2
    assert (tmp_path / "mine" / "thesis.tex").exists()


class Markup(HTMLParser):
    """Elements of a page, and addresses that it names."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.links: set[str] = set()
        self.ids: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.ids |= {value or "" for name, value in attrs if name == "id"}
        self.links |= {value or "" for name, value in attrs if name in ("href", "src")}


def test_hostile_entries_are_text(board: Path, make_export, add) -> None:
    """Also in results.json, which a stranger may write as they like."""
    quoted = json.dumps(HOSTILE)
    path = add("alpha", make_export("a"), agent=quoted, version=quoted, authors=f"[{quoted}]")
    path.write_text(path.read_text() + f"comment = {quoted}\n")
    results = path.parent / "results.json"
    values = json.loads(results.read_text())
    values["conditions"][HOSTILE] = [HOSTILE]
    values["detectors"][HOSTILE] = {HOSTILE: 1}
    for run in values["runs"]:
        run["findings"] = [f"suspicious: {HOSTILE}"]
        run["score"] = f"=cmd|{HOSTILE}"
    results.write_text(json.dumps(values))
    site = build(board)
    for page in site.rglob("*.html"):
        markup = Markup()
        text = page.read_text()
        markup.feed(text)
        assert "img" not in markup.tags and not {name for name in markup.attributes if name.startswith("on")}
        assert "style" not in markup.attributes
        assert text.count("<script") == 1 and "<b>board" not in text
        outside = {link for link in markup.links if re.match(r"(?i)\s*(?!data:image/svg)[a-z]+:|//", link)}
        assert outside == set(), outside
    assert "alpha" in (site / "index.html").read_text()
    assert not re.search(r"(?m)[,\n\"]=cmd", (site / "runs.csv").read_text())


def test_a_page_links_only_to_what_is_there(full: Path) -> None:
    """To a file, and to a part of it: so every figure leads to its evidence."""
    site = build(full)
    pages = {page: Markup() for page in site.rglob("*.html")}
    for page, markup in pages.items():
        markup.feed(page.read_text())
    for page, markup in pages.items():
        for link in markup.links:
            if not link.startswith(("https:", "data:")):
                file, _, part = link.partition("#")
                target = (page.parent / file).resolve() if file else page
                assert target.is_file() and (not part or part in pages[target].ids), (page, link)
    assert {"entries/beta.html#results", "entries/beta.html#runs", "entries/beta.html#links"} <= pages[
        site / "index.html"
    ].links


@pytest.mark.browser
@pytest.mark.network
@pytest.mark.parametrize("page", ["index", "entries/alpha"])
def test_a_page_as_readers_see_it(full: Path, look: Look, page: str) -> None:
    look(f"leaderboard-{page.replace('/', '-')}", build(full) / f"{page}.html")


@pytest.mark.browser
def test_filters_work_by_keyboard(full: Path, browser: Browser) -> None:
    site = build(full)
    browser.open(site / "index.html")
    count = "[...document.querySelectorAll('tr[data-tags]')].filter((row) => !row.hidden).length"
    assert browser.ask(count) == 4
    browser.ask("document.querySelector('details.filters').open = true")
    box = "document.querySelector('input[value=source]')"
    browser.ask(f"{box}.focus()")
    browser.call("Input.dispatchKeyEvent", type="keyDown", key=" ", code="Space", windowsVirtualKeyCode=32, text=" ")
    browser.call("Input.dispatchKeyEvent", type="keyUp", key=" ", code="Space", windowsVirtualKeyCode=32)
    assert browser.ask(count) == 1 and browser.ask("document.getElementById('shown').textContent") == "1 of 4 rows"
    assert browser.problems == []
