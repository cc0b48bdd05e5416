"""What `make generate` writes is up to date, and leaves what is written by hand alone."""

from __future__ import annotations

import importlib.util
import re
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

from mlecore.competitions import installed, of_split

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("mlecore_generate", ROOT / "scripts" / "generate.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_everything_is_up_to_date(script: ModuleType) -> None:
    old = [str(path.relative_to(ROOT)) for path in script.outdated()]
    assert not old, f"run `make generate`, which writes {', '.join(old)}"


def test_a_changed_fact_is_noticed(script: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    from attrs import evolve

    changed = [evolve(facts, metric="beauty") for facts in script.competitions()]
    monkeypatch.setattr(script, "competitions", lambda: changed)
    names = {path.name for path in script.outdated()}
    assert names == {"competitions.md"}


def test_known_issues_are_those_of_the_facts(script: ModuleType) -> None:
    page = script.known_issues_page()
    for facts in script.competitions():
        assert facts.id in page
        for issue in facts.known_issues:
            assert f"| {issue.what} | {issue.effect} |" in page
            assert not issue.mended or f"**{issue.mended}**: {issue.fix}" in page
            assert "|" not in issue.what + issue.effect + (issue.fix or ""), "it would end the table's cell"


def test_the_test_part_of_each_competition_on_kaggle_is_told(script: ModuleType) -> None:
    lines = script.test_parts().splitlines()
    for facts in script.competitions():
        told = [line for line in lines if line.startswith(f"| {facts.id} |")]
        v2 = facts.editions["v2"].test_part if "v2" in facts.editions else None
        assert told == ([f"| {facts.id} | {v2 or facts.test_part} |"] if facts.kaggle else [])
        for text in (facts.test_part, v2):
            assert text is None or (text.endswith(".") and "|" not in text)


def test_what_is_written_by_hand_stays(script: ModuleType, tmp_path: Path) -> None:
    begin, end = script.MARKS
    page = tmp_path / "pyproject.toml"
    page.write_text(f"by hand\n\n{begin}\nold\n{end}\n\nalso by hand\n")
    assert script.with_block(page, "new") == f"by hand\n\n{begin}\nnew\n{end}\n\nalso by hand\n"
    page.write_text(f"by hand\n{begin}\nold\n")
    with pytest.raises(SystemExit, match=r"pyproject\.toml: expected the lines"):
        script.with_block(page, "new")


def test_extras_name_the_splits(script: ModuleType) -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    low = {competition.plugin.distribution for competition in of_split("lite")}
    assert len(low) == 22
    assert set(extras["lite"]) == low
    (splits,) = [name for name in extras["all"] if name.startswith("mlecore[")]
    named = {name for extra in re.findall(r"\w+", splits)[1:] for name in extras[extra]}
    assert named | set(extras["all"]) - {splits} == {competition.plugin.distribution for competition in installed()}
