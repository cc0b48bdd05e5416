"""The program for hosts is complete by itself, and no part of it asks for more than Python 3.9."""

from __future__ import annotations

import ast
import subprocess
import sys

import pytest
from mle_backend_ssh import bundle

_NEW = {  # module -> names that Python 3.9 lacks
    "itertools": {"pairwise", "batched"},
    "enum": {"StrEnum"},
    "datetime": {"UTC"},
    "typing": {"Self", "ParamSpec", "TypeAlias", "assert_never", "override", "Unpack", "NotRequired"},
    "types": {"UnionType", "NoneType", "EllipsisType"},
    "dataclasses": {"KW_ONLY"},
    "contextlib": {"chdir", "aclosing"},
    "asyncio": {"timeout", "TaskGroup", "Runner"},
    "hashlib": {"file_digest"},
}


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """What the program loads where nothing is installed: paths in the archive, whole ones for files from elsewhere."""
    folder = tmp_path_factory.mktemp("host")
    for name, content in bundle.contents().items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); "
        "import mle_backend_ssh.remote.serve, mlecore_jobs.relay, packaging.specifiers; "
        "print(*{m.__file__ for m in list(sys.modules.values()) if getattr(m, '__file__', None)}, sep='\\n')"
    )
    argv = [sys.executable, "-I", "-S", "-c", code, str(folder)]
    done = subprocess.run(argv, capture_output=True, text=True, check=True)
    return {path.removeprefix(f"{folder}/") for path in done.stdout.splitlines()}


def test_it_imports_nothing_that_it_does_not_bring(loaded: set[str]) -> None:
    assert "mlecore_sandboxes/machine.py" in loaded
    assert not [path for path in loaded if "site-packages" in path]


def test_what_it_loads_is_python_3_9(loaded: set[str]) -> None:
    contents = bundle.contents()
    ours = {name for name in contents if name.startswith(("mlecore_jobs/", "mlecore_sandboxes/"))}
    for name in ours | {name for name in loaded & contents.keys() if name.startswith("mle")}:
        _check(contents[name])


def _check(content: bytes) -> None:
    tree = ast.parse(content, feature_version=(3, 9))
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level == 0:
            assert not {alias.name for alias in node.names} & _NEW.get(node.module or "", set())
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            assert node.attr not in _NEW.get(node.value.id, set())
        if isinstance(node, ast.Call):
            assert not any(key.arg == "strict" for key in node.keywords if getattr(node.func, "id", "") == "zip")
        if isinstance(node, ast.Assign):  # evaluated when imported, unlike annotations
            types = [each for each in ast.walk(node.value) if isinstance(each, ast.BinOp)]
            assert not [each for each in types if isinstance(each.op, ast.BitOr) and _is_none(each.right)]


def _is_none(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def test_the_same_files_make_the_same_archive() -> None:
    digest, packed = bundle.archive()
    bundle.archive.cache_clear()
    assert bundle.archive() == (digest, packed)
    assert len(packed) < 1_000_000
