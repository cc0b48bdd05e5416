"""Which files next to a Python script it imports: they are copied along with it. Those that it only names are not."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath

MOST = 1_000
_OF_THE_SANDBOX = ("data", "submission", "code", "logs", "agent")  # what such a name means there


def imported(script: Path) -> Iterator[Path]:
    """Modules and packages in the script's folder that it imports, and those that they import, as Python files.

    What the script opens (configuration, weights) does not come along: that needs the option ``files``.
    """
    seen, waiting = {script}, [script]
    while waiting and len(seen) <= MOST:
        for name in _names(waiting.pop()):
            for path in _files(script.parent, name):
                if path not in seen:
                    seen.add(path)
                    waiting.append(path)
                    yield path


def named(modules: Iterable[Path], folder: Path) -> list[str]:
    """Files and folders of ``folder`` whose names stand as text in these modules, but for modules: relative paths."""
    texts = {
        node.value
        for module in modules
        for node in ast.walk(_parsed(module))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and 0 < len(node.value) < 200
    }
    return sorted(text for text in texts if _is_there(text, folder))


def _is_there(text: str, folder: Path) -> bool:
    path = PurePosixPath(text)
    if path.is_absolute() or not path.parts or path.parts[0] in (*_OF_THE_SANDBOX, "..") or path.suffix == ".py":
        return False
    try:
        return (folder / path).exists()
    except (OSError, ValueError):
        return False


def _parsed(module: Path) -> ast.AST:
    """An empty module if the file cannot be parsed."""
    try:
        return ast.parse(module.read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError):
        return ast.Module(body=[], type_ignores=[])


def _names(module: Path) -> set[str]:
    """The first parts of all that a file imports."""
    tree = _parsed(module)
    found = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    found |= {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module}
    return {name.partition(".")[0] for name in found}


def _files(folder: Path, name: str) -> list[Path]:
    module, package = folder / f"{name}.py", folder / name
    if package.is_dir():
        return sorted(path for path in package.rglob("*.py") if path.is_file() and "__pycache__" not in path.parts)
    return [module] if module.is_file() else []
