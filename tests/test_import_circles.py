"""No module of mlecore needs one that needs it: at its top, inside its functions, or in its annotations."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import mlecore

Graph = dict[str, set[str]]

CONTRACT = "mlecore.hookspecs"
"""Names the types of every hook and uses none of them: what it only annotates is no layer below it."""


def modules(root: Path) -> dict[str, Path]:
    """Module name -> file, of a package."""
    names = {path: path.relative_to(root.parent).with_suffix("").parts for path in sorted(root.rglob("*.py"))}
    return {".".join(parts[:-1] if parts[-1] == "__init__" else parts): path for path, parts in names.items()}


def imports(name: str, path: Path, known: dict[str, Path], *, annotations: bool) -> set[str]:
    """Modules that one imports anywhere in it; with ``annotations`` also those under ``if TYPE_CHECKING``."""
    found: set[str] = set()
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    for node in _nodes(ast.parse(path.read_text(encoding="utf-8")), annotations):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            members = {f"{base}.{alias.name}" for alias in node.names}
            found |= {member if member in known else base for member in members}
    return found & known.keys() - {name}


def _nodes(node: ast.AST, annotations: bool) -> Iterator[ast.AST]:
    yield node
    for child in ast.iter_child_nodes(node):
        if annotations or not (isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test)):
            yield from _nodes(child, annotations)


def graph(root: Path, *, annotations: bool = False) -> Graph:
    known = modules(root)
    return {name: imports(name, path, known, annotations=annotations) for name, path in known.items()}


def circle(needs: Graph) -> str:
    """One circle in words; empty if there is none."""
    try:
        TopologicalSorter(needs).prepare()
    except CycleError as error:
        return " <- ".join(error.args[1])
    return ""


def test_nothing_that_is_imported_imports_its_importer() -> None:
    needs = graph(Path(mlecore.__file__).parent)
    assert len(needs) > 150 and "mlecore.controller.loop" in needs["mlecore.controller.api"]
    assert not circle(needs)


def test_no_folder_needs_one_that_needs_it() -> None:
    """Also folders, and files beside them, come one above the other: data above competitions, grading above data."""
    folders: Graph = {}
    for name, needs in graph(Path(mlecore.__file__).parent).items():
        own = folders.setdefault(_folder(name), set())
        own.update(_folder(each) for each in needs)
    del folders[""]  # the package itself, which names what it offers
    for name, needs in folders.items():
        needs -= {"", name}
    assert len(folders) > 8 and "data" in folders["grading"]
    assert not circle(folders)


def _folder(module: str) -> str:
    return f"{module}.".split(".")[1]


def test_annotations_keep_to_the_layers() -> None:
    root = Path(mlecore.__file__).parent
    needs, used = graph(root, annotations=True), graph(root)
    needs[CONTRACT] = used[CONTRACT]
    assert not circle(needs)
