"""A plugin that was found in order is not examined again, in no process, until one of its files changes."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import platformdirs
import pytest

from mlecore import cache as kept
from mlecore.registry import discovery, imports, inspection, verdicts
from mlecore.registry.plugin import Plugin

pytestmark = pytest.mark.usefixtures("cache")


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The user's cache folder. Files that a test has just written count as old."""
    folder = tmp_path / "cache"
    monkeypatch.setattr(platformdirs, "user_cache_path", lambda name, appauthor: folder / name)
    monkeypatch.setattr(kept, "SETTLED", -60.0)
    verdicts._opened.cache_clear()
    yield folder / "mlecore" / "plugins"
    verdicts._opened.cache_clear()


@pytest.fixture
def examined(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the plugins that were examined."""
    names: list[str] = []

    def examine(plugin: Plugin) -> Plugin:
        names.append(plugin.name)
        return original(plugin)

    original = inspection.examine
    monkeypatch.setattr(inspection, "examine", examine)
    return names


@pytest.fixture
def module(put_competition: Callable[..., Path], tmp_path: Path) -> Path:
    """The file of the competition tiny."""
    (tmp_path / "site" / "tiny_needs").mkdir()
    (tmp_path / "site" / "tiny_needs" / "__init__.py").touch()
    file = put_competition("tiny", before="import tiny_needs\n")
    package = file.rename(file.with_name("__init__.py"))
    points = next((tmp_path / "site").glob("*.dist-info")) / "entry_points.txt"
    points.write_text("[mlecore.competitions]\ntiny = tiny_comp\n")
    return package


def look() -> Plugin:
    """As another process would."""
    for cached in (discovery._all_entries, discovery._of_kind, discovery.find, imports.importable, verdicts._opened):
        cached.cache_clear()
    from mlecore.facts import read_facts

    read_facts.cache_clear()
    plugin = discovery.find("competition", "tiny")
    assert plugin
    return plugin


def test_it_is_examined_once(module: Path, examined: list[str]) -> None:
    first = look()
    assert (first.state, examined) == ("ok", ["tiny"])
    assert first.competition and first.competition.title == "Title of tiny"
    assert look() == first
    assert examined == ["tiny"]


CHANGES: dict[str, Callable[[Path], object]] = {
    "implements an unknown hook: other": lambda file: file.write_text(
        file.read_text().replace("def grade", "def other")
    ),
    "description.md is missing": lambda file: file.with_name("description.md").unlink(),
    "description.md is empty": lambda file: file.with_name("description.md").write_text(" "),
    "synthetic.py: fails to import": lambda file: file.with_name("synthetic.py").write_text("("),
    "unknown key colour": lambda file: file.with_name("competition.toml").write_text("colour = 1\n"),
    "no module named 'tiny_needs'": lambda file: shutil.rmtree(file.parents[1] / "tiny_needs"),
}


@pytest.mark.parametrize("reason", CHANGES)
def test_a_change_is_seen(module: Path, examined: list[str], reason: str) -> None:
    assert look().state == "ok"
    CHANGES[reason](module)
    for _ in range(2):  # what is wrong is never remembered
        assert reason in look().reason
    assert examined == ["tiny"] * 3


def test_a_change_of_neither_size_nor_modification_time_is_seen(module: Path, examined: list[str]) -> None:
    look()
    before = module.stat()
    module.write_text(module.read_text().replace("def grade", "def grads"))
    os.utime(module, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert (module.stat().st_size, module.stat().st_mtime_ns) == (before.st_size, before.st_mtime_ns)
    assert look().state == "broken"


def test_what_has_just_changed_is_not_remembered(
    module: Path, examined: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()  # also ``examined``, hence the next line
    monkeypatch.syspath_prepend(str(module.parents[1]))
    assert look().state == "ok"
    assert not any(" tiny_comp " in key for key in verdicts._verdicts().entries)


def test_another_mlecore_examines_anew(module: Path, examined: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    look()
    monkeypatch.setattr(kept, "_modules", lambda folder: ["another"])
    look()
    assert examined == ["tiny"] * 2


def test_a_folder_that_cannot_be_written_is_no_error(module: Path, examined: list[str], cache: Path) -> None:
    cache.parent.parent.write_text("a file in its place")
    assert [look().state for _ in range(2)] == ["ok", "ok"]
    assert examined == ["tiny"] * 2


def test_commands_that_check_examine_anew(module: Path, examined: list[str]) -> None:
    look()
    discovery.plugins("competition", afresh=True)
    assert examined.count("tiny") == 2


SECOND = """
import contextlib, io, sys
from mlecore.cli import main
with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
    main(sys.argv[1:])
print(*sys.modules)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the variable names the cache folder on Linux only")
@pytest.mark.parametrize("words", [("plugins", "list"), ("competitions", "list")])
def test_a_second_listing_imports_nothing_to_examine_with(words: tuple[str, ...], tmp_path: Path) -> None:
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path)}
    for number in range(2):
        done = subprocess.run(
            [sys.executable, "-c", SECOND, *words], env=environment, capture_output=True, text=True, check=True
        )
        heavy = {"mlecore.registry.inspection", "mlecore.facts", "cattrs", "tomllib", "pluggy"} & {*done.stdout.split()}
        assert bool(heavy) == (number == 0)


@pytest.mark.parametrize("odd", [5, "x", [], {}, {"files": 5}, {"files": {"a\0b": None}}, {"files": {}, "imports": 5}])
def test_an_entry_that_was_made_by_hand_is_examined_anew(module: Path, examined: list[str], odd: object) -> None:
    look()
    found = verdicts._verdicts()
    kept.write_entries(found.path, dict.fromkeys(found.entries, odd), *verdicts._SOURCES)
    assert look().state == "ok" and examined == ["tiny", "tiny"]
