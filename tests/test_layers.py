"""The core is built in layers, and each room keeps to its area.

A room is a folder of mlecore, or one of its few modules. All imports count: those inside functions and those under
TYPE_CHECKING, too.
"""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
LIBRARIES = ROOT / "plugins" / "libraries"

LAYERS = (
    {"errors"},
    {"util"},
    {"mlecore_toolkit", "mlecore_jobs"},
    {"model"},
    {"hookspecs", "workers"},
    {"plugins"},
    {"data"},
    {"grading", "runs"},
    {"detecting", "api"},
    {"controller"},
    {"cli"},
)
"""From the bottom up: a room imports from layers below its own."""

_PLUGINS = ("mle_agent_", "mle_backend_", "mle_comp_", "mle_detector_", "mle_ext_", "mlecore_testing", "mlecore_audit")
_HEIGHT = {room: height for height, rooms in enumerate(LAYERS) for room in rooms}

Edge = tuple[str, str]


def _modules(root: Path) -> dict[str, Path]:
    """Module name -> file, of a package."""
    names = {path: path.relative_to(root.parent).with_suffix("").parts for path in sorted(root.rglob("*.py"))}
    return {".".join(parts[:-1] if parts[-1] == "__init__" else parts): path for path, parts in names.items()}


PACKAGES = [ROOT / "mlecore", LIBRARIES / "toolkit" / "mlecore_toolkit", LIBRARIES / "jobs" / "mlecore_jobs"]
MODULES = {name: path for package in PACKAGES for name, path in _modules(package).items()}


def _imports(name: str, path: Path) -> Iterator[str]:
    package = name.split(".") if path.name == "__init__.py" else name.split(".")[:-1]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            members = (f"{base}.{alias.name}" for alias in node.names)
            yield from (member if member in MODULES else base for member in members)


def _room(module: str) -> str:
    package, _, rest = module.partition(".")
    return rest.partition(".")[0] if package == "mlecore" else package


Needs = dict[str, set[str]]


@pytest.fixture(scope="module")
def needs() -> Needs:
    """Module -> what it imports. Not a constant, which each worker of pytest-xdist would read all modules for."""
    return {name: set(_imports(name, path)) - {name} for name, path in MODULES.items()}


def test_imports_go_downwards(needs: Needs) -> None:
    assert len(needs) > 150
    assert {_room(name) for name in needs} - {""} == set(_HEIGHT), "name a new room's layer, or give it back"
    upwards = [
        f"{name} -> {needed}"
        for name, found in needs.items()
        for needed in sorted(found & MODULES.keys())
        if _room(name) and _room(needed) != _room(name) and _HEIGHT[_room(name)] <= _HEIGHT.get(_room(needed), 99)
    ]
    assert upwards == []


def test_the_contract_names_values_only(needs: Needs) -> None:
    assert {_room(needed) for needed in needs["mlecore.hookspecs"] & MODULES.keys()} <= {"model", "mlecore_toolkit"}


def test_the_core_imports_no_plugin(needs: Needs) -> None:
    assert [
        f"{name} -> {needed}" for name, found in needs.items() for needed in found if needed.startswith(_PLUGINS)
    ] == []


def test_no_module_needs_one_that_needs_it(needs: Needs) -> None:
    graph = {name: found & MODULES.keys() for name, found in needs.items()}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" <- ".join(error.args[1]))


def test_rooms_keep_to_their_area() -> None:
    """Raising a number in pyproject.toml is a commit of its own, which says why."""
    areas: dict[str, int] = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["mlecore"]["area"]
    lines: dict[str, int] = {}
    for name, path in MODULES.items():
        if name.partition(".")[0] == "mlecore":
            lines[_room(name)] = lines.get(_room(name), 0) + len(path.read_text(encoding="utf-8").splitlines())
    assert lines.keys() - {""} == areas.keys() - {"all"}
    lines["all"] = sum(lines.values())
    over = {room: f"{count} lines of {areas[room]}" for room, count in lines.items() if count > areas.get(room, 50)}
    assert over == {}, "remove lines, or move what is not the core's to a plugin (CONTRIBUTING.md)"


def test_files_are_short() -> None:
    product = [*(ROOT / "mlecore").rglob("*.py"), *(ROOT / "plugins").glob("*/*/mle*/**/*.py")]
    assert len(product) > 600
    assert [str(path) for path in product if len(path.read_text(encoding="utf-8").splitlines()) > 400] == []
