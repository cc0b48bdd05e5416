"""What `make generate` writes is up to date, leaves what is written by hand alone, and is fit for a package index."""

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
    assert names == {"README.md", "competitions.md"}


def test_known_issues_are_those_of_the_facts(script: ModuleType) -> None:
    page = script.known_issues_page()
    for facts in script.competitions():
        assert facts.id in page
        for issue in facts.known_issues:
            assert f"| {issue.what} | {issue.effect} | {issue.fix or ''} |" in page
            assert "|" not in issue.what + issue.effect + (issue.fix or ""), "it would end the table's cell"


def test_what_is_written_by_hand_stays(script: ModuleType, tmp_path: Path) -> None:
    page = tmp_path / "README.md"
    page.write_text("# title\n\nBy hand.\n\n<begin>\nold\n<end>\n\nAlso by hand.\n")
    marks = ("<begin>", "<end>")
    assert script.with_block(page, "new", marks) == "# title\n\nBy hand.\n\n<begin>\nnew\n<end>\n\nAlso by hand.\n"
    page.write_text("# title\n")
    assert script.with_block(page, "new", marks) == "# title\n\n<begin>\nnew\n<end>\n"
    page.write_text("# title\n\n<begin>\nold\n")
    with pytest.raises(SystemExit, match=r"README\.md: .*<end>.* is missing"):
        script.with_block(page, "new", marks)


def test_extras_name_the_splits(script: ModuleType) -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    low = {competition.plugin.distribution for competition in of_split("lite")}
    assert len(low) == 22
    assert set(extras["lite"]) == low
    (splits,) = [name for name in extras["all"] if name.startswith("mlecore[")]
    named = {name for extra in re.findall(r"\w+", splits)[1:] for name in extras[extra]}
    assert named | set(extras["all"]) - {splits} == {competition.plugin.distribution for competition in installed()}


def test_an_index_can_show_every_readme(script: ModuleType) -> None:
    pages = [ROOT / "docs" / "index.md", *(folder / "README.md" for folder in script.members())]
    for page in pages:
        assert not re.findall(r"\]\((?!https://)[^)]*\)", page.read_text(encoding="utf-8")), f"{page}: a relative link"


def test_links_lead_to_the_repository_once_there_is_one(script: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    core = {**script.project(ROOT), "urls": {"Repository": "https://example.org/mlecore"}}
    monkeypatch.setattr(script, "project", lambda folder: core)
    assert "[docs/design.md](https://example.org/mlecore/blob/main/docs/design.md)" in script.index_page()
