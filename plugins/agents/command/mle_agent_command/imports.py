"""Which files next to a Python script it imports: they come along with it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

MOST = 1_000


def imported(script: Path) -> Iterator[Path]:
    """Modules and packages in the script's folder that it imports, and those that they import, as Python files.

    What the script opens (configuration, weights) is not known: that needs the option ``files``.
    """
    seen, waiting = {script}, [script]
    while waiting and len(seen) <= MOST:
        for name in _names(waiting.pop()):
            for path in _files(script.parent, name):
                if path not in seen:
                    seen.add(path)
                    waiting.append(path)
                    yield path


def _names(module: Path) -> set[str]:
    """The first parts of all that a file imports; empty if it cannot be parsed."""
    try:
        tree = ast.parse(module.read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError):
        return set()
    found = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    found |= {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module}
    return {name.partition(".")[0] for name in found}


def _files(folder: Path, name: str) -> list[Path]:
    module, package = folder / f"{name}.py", folder / name
    if package.is_dir():
        return sorted(path for path in package.rglob("*.py") if path.is_file() and "__pycache__" not in path.parts)
    return [module] if module.is_file() else []
